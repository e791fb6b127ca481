"""What the algorithms over the RTN have in common."""

from __future__ import annotations

import pytest

from gyro.errors import GyroError
from gyro.search.network import STEPS_PER_ARC, OutOfSteps, RtnWork, cell_lattice
from gyro.search.work import Work


def test_a_cell_has_a_path_for_each_rule() -> None:
    lattice = cell_lattice([("a", "b"), ("10", "01"), ("c",), ("a", "b")])
    assert [h.tokens for h in lattice.strings()] == [("10", "01"), ("a", "b"), ("c",)]
    assert lattice.num_arcs == 7  # equal paths stay apart: each stands for a rule


def test_work_ends_with_its_steps_or_its_time() -> None:
    counter = RtnWork(Work(10 * STEPS_PER_ARC))
    counter.take(9)
    with pytest.raises(OutOfSteps, match=r"million steps \(--steps\)"):
        counter.take(1)
    with pytest.raises(GyroError, match="no order within the time limit"):
        RtnWork(Work(seconds=-1.0)).take(1)
