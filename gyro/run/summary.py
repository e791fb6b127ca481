"""How a run went.

Summary    counts, times and failures, with a table of them
summarise  the summary of what is known of each bag
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gyro.errors import printable
from gyro.run.folder import Entry
from gyro.run.outcome import Outcome

# What the cost of a reference says: where it is below that of the order found, a better search would have found it.
REFERENCES = FOUND, CHEAPER, DEARER = "found", "cheaper (search error)", "dearer (model error)"


@dataclass(frozen=True)
class Summary:
    """How a run went: counts, seconds of all bags together and of the slowest, and the highest memory of a bag.

    `rungs`, `proved` and `cut` are of the first pass, whose lattices the `unproved` orders of a later stage were made
    of. `references` counts those whose cost is known, by what it says of search and model.
    """

    folder: Path
    ok: int
    failures: tuple[tuple[str, str], ...]
    rungs: Mapping[str, int]
    proved: int
    unproved: int
    cut: int
    references: Mapping[str, int]
    seconds: float
    slowest: float
    memory: int

    def __repr__(self) -> str:
        return f"Summary({str(self.folder)!r}, {self.ok} bags ordered, {self.failed} failed)"

    @property
    def failed(self) -> int:
        return len(self.failures)

    @property
    def exit_code(self) -> int:
        """0 when every bag has an order, else 1."""
        return 1 if self.failures else 0

    def text(self, most_failures: int = 10) -> str:
        """A short table."""
        bags = self.ok + self.failed
        rows = [("bags", f"{bags}"), ("ordered", _share(self.ok, bags))]
        rows += [(f"  by {rung}", _share(count, self.ok)) for rung, count in self.rungs.items()]
        if self.rungs:  # there was a search
            rows.append(("  optimum proved", _share(self.proved, self.ok) + " in the first pass" * bool(self.unproved)))
        if self.cut:
            rows.append(("  cut into pieces", f"{_share(self.cut, self.ok)}: not proved as a whole"))
        if self.unproved:
            rows.append(("  not proved", _share(self.unproved, self.ok)))
        known = sum(self.references.values())
        if 0 < known < self.ok:
            rows.append(("  reference cost known", _share(known, self.ok)))
        rows += [(f"  reference {what}", _share(count, known)) for what, count in self.references.items()]
        rows.append(("failed", _share(self.failed, bags)))
        mean = self.seconds / max(bags, 1)
        rows.append(("time", f"{self.seconds:.1f} s in all, {mean:.2f} s a bag, {self.slowest:.2f} s the slowest"))
        rows.append(("peak memory", f"{self.memory / 2**20:.0f} MB a bag"))
        width = max(len(name) for name, _ in rows) + 2
        lines = [f"{name:<{width}}{value}" for name, value in rows]
        lines += [printable(f"bag {id}: {reason}") for id, reason in self.failures[:most_failures]]
        if self.failed > most_failures:
            lines.append(f"and {self.failed - most_failures} more failures; all are in {self.folder / 'results.jsonl'}")
        return "\n".join(lines)


def summarise(folder: Path, entries: Iterable[Entry]) -> Summary:
    """The summary of what is known of each bag, taken one by one."""
    rungs: Counter[str] = Counter()
    references: Counter[str] = Counter()
    failures: list[tuple[str, str]] = []
    ok = proved = unproved = cut = memory = 0
    seconds = slowest = 0.0
    for outcome, spent, held in entries:
        seconds, slowest, memory = seconds + spent, max(slowest, spent), max(memory, held)
        if not outcome.ok:
            failures.append((outcome.id, str(outcome.reason)))
            continue
        ok += 1
        first = outcome.first_pass or outcome
        proved += first.proved is True
        unproved += outcome.rung is None and outcome.proved is False
        cut += bool(first.pieces)
        if first.rung is not None:
            rungs[first.rung] += 1
        if outcome.reference_cost is not None:
            references[_compared(outcome)] += 1
    found = {what: references[what] for what in REFERENCES} if references else {}
    counts = (dict(rungs.most_common()), proved, unproved, cut, found)
    return Summary(folder, ok, tuple(failures), *counts, seconds, slowest, memory)


def _compared(outcome: Outcome) -> str:
    """What the cost of the reference says."""
    cost, reference = outcome.cost or 0.0, outcome.reference_cost or 0.0
    return FOUND if reference == cost else CHEAPER if reference < cost else DEARER


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / max(total, 1):.1f} %)"
