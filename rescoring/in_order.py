"""Work on every lattice of a source in many processes, with the results in the order of the lattices.

each_in_order  what a function makes of each lattice
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gyro.errors import GyroError
from gyro.lattice.lattice import Lattice
from gyro.pool import Failure, run_tasks
from rescoring.source import LatticeSource


def each_in_order(
    source: LatticeSource, work: Callable[[int, Lattice | None], Any], jobs: int = 1, **limits: Any
) -> Iterator[Any]:
    """What `work` makes of the number of each lattice and of the lattice itself, None where there is none.

    It is a JSON value. The limits are those of `gyro.pool.run_tasks`; the first lattice that fails ends the work.
    """
    early: dict[int, Any] = {}
    ends = run_tasks(range(len(source)), lambda number: work(number, source[number].lattice()), jobs=jobs, **limits)
    for number in range(len(source)):
        while number not in early:
            ended = next(ends)
            if isinstance(ended.result, Failure):
                raise GyroError(f"lattice {source[ended.task].id}: {ended.result.reason}")
            early[ended.task] = ended.result
        yield early.pop(number)
