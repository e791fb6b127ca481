from __future__ import annotations

import errno
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import InputError, MachineError, machine_fault
from gyro.run.folder import Entry
from gyro.run.journal import NO_LISTS, Journal, Lists, Record
from gyro.run.outcome import Outcome
from gyro.text.bag import Bag

BAG = Bag(("a", "b"), id="ä")
FAILED, ORDERED = Outcome.failed(BAG, "no parse"), Outcome.ordered(BAG, 2.5, rung="rules", more=[1])
LISTS: Lists = (b"a b\n", "0 ||| ä\n".encode(), b'{"bag": 7}\n{}\n')


def append(journal: Journal, number: int, outcome: Outcome, lists: Lists = NO_LISTS, nbest: int = 5) -> None:
    journal.append(number, outcome.to_json(), 0.25, 7, nbest, lists)


def test_the_last_record_of_a_bag_counts(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", 3) as journal:
        append(journal, 1, FAILED)
        append(journal, 0, ORDERED, LISTS)
        journal.commit()
        append(journal, 1, ORDERED, LISTS, nbest=4)
        journal.commit()
    with Journal(tmp_path / "journal", 3) as journal:
        assert [journal.knows(number) for number in range(3)] == [True, True, False]
        assert [journal.is_ok(number) for number in range(2)] == [True, True]
        assert journal.read(0) == Record(Entry(ORDERED, 0.25, 7), 5, LISTS)
        assert [journal.has_list(number, 5) for number in range(2)] == [True, False]


def test_a_bag_that_failed_needs_no_list(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", 1) as journal:
        append(journal, 0, FAILED, nbest=1)
        assert journal.has_list(0, 100)
        journal.commit()
        assert journal.read(0).lists == (b"\n", b"", b"")


def test_every_cut_leaves_the_whole_records_before_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path, 2) as journal:
        append(journal, 0, ORDERED, LISTS)
        journal.commit()
        first = path.stat().st_size
        append(journal, 1, ORDERED, LISTS)
        journal.commit()
    data = path.read_bytes()
    for size in range(first, len(data)):
        path.write_bytes(data[:size])
        with Journal(path, 2) as journal:
            assert journal.knows(0)
            assert not journal.knows(1)
            append(journal, 1, FAILED)
            journal.commit()
            assert journal.read(0).lists == LISTS
            assert not journal.read(1).entry.ok
        assert path.read_bytes()[:first] == data[:first]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "journal:1: found no record of a bag: Invalid JSON"),
        ("[]\n", "journal:1: found no record of a bag: Input should be an object"),
        ('{"bag": 0}\n', "journal:1: found no record of a bag: result: Field required"),
        ('{"bag": "x", "result": 1}\n', "journal:1: found no record of a bag: bag: Input should be a valid integer"),
    ],
)
def test_damage_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "journal").write_text(text)
    with pytest.raises(InputError, match=message):
        Journal(tmp_path / "journal", 1)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "journal").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="journal: cannot write: Too many levels of symbolic links"):
        Journal(tmp_path / "journal", 1)


def write_until_full(path: Path) -> int:
    """In a process that may write files of 2,000 bytes alone: how many records are there after the error."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    with Journal(path, 100) as journal:
        for number in range(100):
            append(journal, number, ORDERED, LISTS)
            try:
                journal.commit()
            except MachineError as error:
                fault: Any = machine_fault(error)
                return number if fault.errno == errno.EFBIG and "cannot write: File too large" in str(error) else -1
    return -1


def test_a_record_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(write_until_full(tmp_path / "journal"))
    whole = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with Journal(tmp_path / "journal", 100) as journal:
        assert [number for number in range(100) if journal.knows(number)] == list(range(whole))
    assert 5 < whole < 20
    assert (tmp_path / "journal").read_bytes().endswith(LISTS[2])
