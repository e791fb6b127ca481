from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.run.batch import run_batch
from gyro.run.checksum import verify_run
from gyro.run.outcome import Ordering, Outcome
from gyro.run.paths import SUMS
from gyro.text.bag import Bag
from tests.orders import failed, ordered
from tests.outside import needs_xxhsum

BAGS = [Bag(tuple(text.split()), id=str(n)) for n, text in enumerate(["a b", "c d", "none", "e f"], 1)]


def work(_number: int, bag: Bag) -> Ordering | Outcome:
    return failed(bag, "no order") if "none" in bag.words else ordered(bag, [Hypothesis(bag.tokens, 1.0)])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run_batch(BAGS, tmp_path / "run", work, settings={"a": 1}, log=(tmp_path / "log").open("w"))
    return tmp_path / "run"


def lattices(run: Path) -> list[Path]:
    return sorted((run / "lattices").rglob("*.fst*"))


def test_a_run_is_as_it_was_written(run: Path) -> None:
    assert verify_run(run) == 3 + 6  # lattices; bags, words, results, best strings and two lists
    run_batch(BAGS, run, work, settings={"a": 1}, nbest=7, time_limit=9.0)
    assert verify_run(run) == 9


@needs_xxhsum
def test_the_tool_of_xxhash_checks_them_too(run: Path) -> None:
    subprocess.run(["xxhsum", "-c", SUMS], cwd=run, check=True)


def swap(run: Path) -> None:
    first, second, *_ = lattices(run)
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)


def change_settings(run: Path) -> None:
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(facts | {"settings": {"a": 2}}))


def change_list(run: Path) -> None:
    (run / "best.txt").write_text((run / "best.txt").read_text().replace("a", "b"))


def point_outside(run: Path) -> None:
    (run / SUMS).write_text("00  ../../outside\n")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (swap, r"1\.fst.*: the file is damaged or was changed"),
        (change_list, r"best\.txt: the file is damaged"),
        (change_settings, r"run\.json: the settings were changed"),
        (lambda run: lattices(run)[1].unlink(), r"2\.fst.*: cannot read"),
        (lambda run: (run / SUMS).unlink(), "an older version made the run"),
        (lambda run: (run / "best.txt").unlink(), "the run is not finished"),
        (point_outside, "a checksum and a file are needed"),
    ],
)
def test_damage_is_found(run: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(run)
    with pytest.raises(InputError, match=message):
        verify_run(run)


def test_input_is_verified_when_a_run_is_made_anew_and_only_then(tmp_path: Path) -> None:
    calls: list[str] = []

    def start(**options: object) -> None:
        run_batch(BAGS, tmp_path / "run", work, verify=lambda: calls.append("x"), **options)  # type: ignore[arg-type]

    start(settings={"a": 1})
    start(settings={"a": 1})
    assert calls == ["x"]
    start(settings={"a": 2}, overwrite=True)
    assert calls == ["x", "x"]
