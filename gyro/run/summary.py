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


@dataclass(frozen=True)
class Summary:
    """How a run went: counts, seconds of all bags together and of the slowest, and the highest memory of a bag."""

    folder: Path
    ok: int
    failures: tuple[tuple[str, str], ...]
    rungs: Mapping[str, int]
    proved: int
    cut: int
    seconds: float
    slowest: float
    memory: int

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
            rows.append(("  optimum proved", _share(self.proved, self.ok)))
        if self.cut:
            rows.append(("  cut into pieces", f"{_share(self.cut, self.ok)}: not proved as a whole"))
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
    failures: list[tuple[str, str]] = []
    ok = proved = cut = memory = 0
    seconds = slowest = 0.0
    for outcome, spent, held in entries:
        seconds, slowest, memory = seconds + spent, max(slowest, spent), max(memory, held)
        if not outcome.ok:
            failures.append((outcome.id, str(outcome.reason)))
            continue
        ok += 1
        proved += outcome.proved is True
        cut += bool(outcome.pieces)
        if outcome.rung is not None:
            rungs[outcome.rung] += 1
    return Summary(folder, ok, tuple(failures), dict(rungs.most_common()), proved, cut, seconds, slowest, memory)


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / max(total, 1):.1f} %)"
