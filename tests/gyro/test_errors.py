from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.errors import GyroError, InputError, ResourceError, exit_code


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("found x"), "found x"),
        (InputError("found x", path="a.txt"), "a.txt: found x"),
        (InputError("found x", path=Path("a.txt"), line=3), "a.txt:3: found x"),
        (InputError("found\n  'x';\ty is allowed"), "found 'x'; y is allowed"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(error: InputError, text: str) -> None:
    assert str(error) == text
    assert isinstance(error, GyroError)


def raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.mark.parametrize(
    ("work", "code", "line"),
    [
        (lambda: 0, 0, ""),
        (lambda: 1, 1, ""),
        (raising(InputError("found x", path="a", line=1)), 2, "gyro: a:1: found x\n"),
        (raising(ResourceError("no memory is left")), 2, "gyro: no memory is left\n"),
        (raising(InputError("found the id 'a\x1b[2Jb'")), 2, "gyro: found the id 'a\\x1b[2Jb'\n"),
        (raising(MemoryError()), 3, "gyro: the memory did not suffice\n"),
        (raising(OSError(12, "Cannot allocate memory")), 3, "gyro: the memory did not suffice\n"),
        (raising(ImportError("x.so: failed to map segment from it")), 3, "gyro: the memory did not suffice\n"),
        (raising(OSError(28, "No space left", "a.txt")), 2, "gyro: a.txt: cannot read or write: No space left\n"),
        (raising(KeyboardInterrupt()), 130, "gyro: stopped; the same command goes on where this one was\n"),
    ],
)
def test_exit_codes(capsys: pytest.CaptureFixture[str], work: Callable[[], int], code: int, line: str) -> None:
    assert exit_code("gyro", work) == code
    assert capsys.readouterr() == ("", line)


def test_a_fault_of_the_program_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_code("gyro", lambda: 1 // 0)


WRITER = """
import sys
from gyro.errors import exit_code

def work():
    for number in range(100_000):
        print(number)
    return 0

sys.exit(exit_code("gyro", work))
"""


def test_a_reader_that_has_gone_ends_the_program_quietly() -> None:
    """As `gyro … | head -1` does it."""
    with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"0\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
