"""How much is said on standard error, and by what."""

from __future__ import annotations

import io
import sys

import pytest

from gyro.bar import Bar
from gyro.notice import Volume, at_volume, is_verbose
from gyro.pool import run_tasks


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("volume", Volume)
@pytest.mark.parametrize("log", [Terminal, io.StringIO])
def test_a_count_is_a_bar_or_lines_or_nothing(
    volume: Volume, log: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = log()
    monkeypatch.setattr(sys, "stderr", file)
    with at_volume(volume):
        assert is_verbose() == (volume is Volume.VERBOSE)
        with Bar(iter("abc"), desc="reading", unit=" letters") as bar:
            assert list(bar) == ["a", "b", "c"]
    assert not is_verbose()
    said = file.getvalue()
    if volume is Volume.VERBOSE:
        assert "\r" not in said
        assert said.splitlines()[-1].startswith("reading: 3 letters")
    elif volume is Volume.USUAL and log is Terminal:
        assert "\rreading: 3 letters" in said
    else:
        assert said == ""


def test_when_quiet_nothing_is_said_by_workers_either(capfd: pytest.CaptureFixture[str]) -> None:
    def work(number: int) -> int:
        print("a worker's note", file=sys.stderr, flush=True)
        return number

    for volume, notes in ((Volume.QUIET, 0), (Volume.USUAL, 2)):
        with at_volume(volume):
            print("a note", file=sys.stderr)
            assert sorted(number for number, *_ in run_tasks([3, 4], work, jobs=2)) == [3, 4]
        said = capfd.readouterr().err
        assert said.count("a worker's note\n") == notes
        assert said.count("a note\n") == notes // 2


def test_the_usual_comes_back_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), at_volume(Volume.QUIET):
        print(1 / 0)
    print("heard", file=sys.stderr)
    assert capsys.readouterr().err == "heard\n"
