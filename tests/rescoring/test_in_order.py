from __future__ import annotations

import time

import pytest

from gyro.errors import GyroError, InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from rescoring.in_order import each_in_order
from rescoring.source import LatticeItem, LatticeSource


def source(*texts: str | None) -> LatticeSource:
    def read(text: str | None) -> Lattice | None:
        tokens = tuple((text or "").split())
        return None if text is None else Lattice.from_strings(sorted(set(tokens)), [Hypothesis(tokens, 0.0)])

    items = [LatticeItem(f"s{n}", lambda text=text: read(text)) for n, text in enumerate(texts)]  # type: ignore[misc]
    return LatticeSource("memory", items, "none")


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_lattices(jobs: int) -> None:
    def work(number: int, lattice: Lattice | None) -> list[object]:
        time.sleep(0.2 if number == 0 else 0.0)  # the first ends last
        return [number, None if lattice is None else lattice.best().tokens]

    found = list(each_in_order(source("a b", None, "c"), work, jobs))
    assert found == [[0, ["a", "b"]], [1, None], [2, ["c"]]]


def test_the_lattice_that_fails_is_named() -> None:
    def work(number: int, _lattice: Lattice | None) -> int:
        if number == 1:
            raise InputError("the file is gone")
        return number

    with pytest.raises(GyroError, match=r"lattice s1: .*the file is gone"):
        list(each_in_order(source("a", "b"), work))
