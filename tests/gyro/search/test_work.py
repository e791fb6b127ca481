"""The work that a search may do."""

from __future__ import annotations

import time

from gyro.search.work import Work, read_clock


def test_steps_are_counted() -> None:
    work = Work(10)
    work.take(4)
    assert work.left == 6
    work.take(40)
    assert (work.left, work.taken) == (0, 44)


def test_a_share_is_of_what_is_left_and_has_the_same_deadline() -> None:
    work = Work(100, seconds=50)
    work.take(20)
    shared = work.share(0.25)
    assert (shared.steps, shared.deadline) == (20, work.deadline)
    shared.take(7)
    assert (shared.left, work.left) == (13, 80)


def test_only_the_clock_makes_it_late_and_it_stays_so() -> None:
    assert not Work(0).is_late()
    late = Work(seconds=-1.0)
    assert not late.was_late  # nobody has looked
    assert late.is_late()
    late.deadline += 100
    assert late.is_late()
    assert late.was_late


def test_the_clock_of_compiled_code_is_that_of_python() -> None:
    before, now, after = time.monotonic(), read_clock(), time.monotonic()
    assert before <= now <= after
