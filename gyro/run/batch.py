"""Many bags into one run folder, by worker processes; a run that was stopped goes on where it was.

run_batch    order bags into a folder and sum up
Summary      how a run went
write_nbest  the n-best lists of a finished run, in one of the formats of gyro.lattice.nbest

The same bags and settings give the same bytes whatever the number of processes and however often the run was stopped,
but for times.jsonl. docs/run-folder.md describes the files.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from gyro.errors import GyroError, InputError, printable
from gyro.files import write_atomically, write_text
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import WRITERS, cost_feature, entries, read_moses
from gyro.pool import Ended, Failure, run_tasks
from gyro.run.checksum import write_sums
from gyro.run.folder import Entry, Journal, Run, RunFolder, labels, to_line, words_of
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag

# The work on a bag and its number, counted from 0; a bag without an order has an outcome alone.
Work = Callable[[int, Bag], Ordering | Outcome]
# The named scores of each hypothesis in the n-best list of a bag, given by its number: higher is better.
Features = Callable[[int, Sequence[Hypothesis]], Sequence[Mapping[str, float]]]
NbestList = tuple[list[Hypothesis], list[dict[str, float]]]


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


def run_batch(
    bags: Sequence[Bag],
    folder: str | os.PathLike[str],
    work: Work,
    *,
    settings: Mapping[str, Any],
    words: Iterable[str] | None = None,
    features: Features | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    nbest: int = 100,
    overwrite: bool = False,
    retry_failed: bool = False,
    verify: Callable[[], None] = lambda: None,
    log: IO[str] | None = None,
) -> Summary:
    """Order every bag into the folder with `work`, in processes of their own.

    `settings` is all that decides the results but for the limits. A folder that holds the same run is continued; one
    that holds another is refused, or with `overwrite` started anew. Failures stay as they are unless
    `retry_failed`. `words` are those of the lattices, if they are not the bags'. `features` makes the columns of the
    n-best lists (LM, minus the cost), also in the worker processes. `verify` compares models and other input with
    their checksums; it is called for a run that is made anew. Progress goes to `log` (standard error): a bar on a
    terminal, else a line a bag.
    """
    if nbest < 1:
        raise InputError(f"found n-best lists of {nbest}; at least 1 is allowed")
    run = RunFolder(folder)
    with run.locked():
        limits = {"time_limit": time_limit, "memory_limit": memory_limit}
        symbols = labels(words_of(bags) if words is None else words)
        run.prepare(bags, settings, nbest, limits, overwrite=overwrite, words=symbols)
        known = run.read_entries(bags)
        if not known:
            verify()
        if retry_failed:
            known = {number: entry for number, entry in known.items() if entry.ok}
        todo = [number for number in range(len(bags)) if number not in known]
        if todo or not run.is_finished:
            progress = _Progress(bags, len(known), log or sys.stderr)
            with progress:
                for number, entry in _generate(run, bags, todo, work, symbols, jobs, limits):
                    known[number] = entry
                    progress.show(number, entry)
            lists = _nbest_lists(run, [known[number].ok for number in range(len(bags))], nbest, features, jobs)
            _assemble(run, bags, [known[number] for number in range(len(bags))], lists)
        return _summarise(run, [known[number] for number in range(len(bags))])


def write_nbest(run: Run, n: int, format: str, file: IO[str], jobs: int = 1) -> None:
    """Write the n-best lists of a finished run; `format` is "moses" or "jsonl".

    Lists that are longer than the run's own are made of its lattices, unless they have the scores of several models,
    which only the run itself can make.
    """
    if format not in WRITERS:
        raise InputError(f"found the n-best format {format!r}; allowed are {', '.join(WRITERS)}")
    stored = (entry for entry in read_moses(run.folder.nbest_moses) if entry.rank <= n)
    if n <= run.nbest:
        WRITERS[format](file, (replace(entry, id=run.bags[entry.sentence].id) for entry in stored))
        return
    names = list(next((entry.features for entry in stored), {"LM": ()}))
    if len(names) != 1:
        found = f"the n-best lists have the scores {', '.join(names)} and {run.nbest} strings a bag"
        raise InputError(f"{found}; for {n}, start the run again with -n {n}", path=run.folder.path)
    ok = [outcome.ok for outcome in run.outcomes]
    lists = _nbest_lists(run.folder, ok, n, lambda _, hypotheses: cost_feature(names[0], hypotheses), jobs)
    for number, (hypotheses, features) in enumerate(lists):
        WRITERS[format](file, entries(number, run.bags[number].id, hypotheses, features))


def _generate(
    run: RunFolder,
    bags: Sequence[Bag],
    todo: Sequence[int],
    work: Work,
    label_of: Mapping[str, int],
    jobs: int,
    limits: Mapping[str, Any],
) -> Iterator[tuple[int, Entry]]:
    """Work on the bags that are to do; each result is in the journal before it is yielded."""

    def order(number: int) -> dict[str, Any]:
        return _store(work(number, bags[number]), bags[number], run.lattice(number), label_of).to_json()

    for number in todo:
        run.lattice(number).unlink(missing_ok=True)  # of a worker that was killed before its result was known
    with Journal(run) as journal:
        for ended in run_tasks(todo, order, jobs=jobs, **limits):
            entry = _entry(ended, bags[ended.task], run.journal)
            if not entry.ok:
                run.lattice(ended.task).unlink(missing_ok=True)
            journal.append(ended.task, entry)
            yield ended.task, entry


def _store(found: Ordering | Outcome, bag: Bag, path: Path, label_of: Mapping[str, int]) -> Outcome:
    """In the worker: put the lattice on the disk; what came of the bag goes on."""
    if isinstance(found, Outcome):
        return found
    if found.lattice.empty():
        return Outcome.failed(bag, "no order was found")
    found.lattice.write(path, label_of)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return found.outcome


def _entry(ended: Ended[int, dict[str, Any]], bag: Bag, path: Path) -> Entry:
    if isinstance(ended.result, Failure):
        outcome = Outcome.failed(bag, ended.result.reason)
    else:
        outcome = Outcome.from_json(ended.result, path, ended.task + 1)
    return Entry(outcome, round(ended.seconds, 3), ended.memory)


def _assemble(run: RunFolder, bags: Sequence[Bag], known: Sequence[Entry], lists: Iterable[NbestList]) -> None:
    """Write the final files in the order of the bags; results.jsonl comes last and takes the journal's place."""
    with ExitStack() as files:
        names = {"moses": run.nbest_moses, "jsonl": run.nbest_jsonl}
        targets = {format: files.enter_context(write_atomically(path, "w")) for format, path in names.items()}
        best = files.enter_context(write_atomically(run.best, "w"))
        for number, (hypotheses, features) in enumerate(lists):
            for format, file in targets.items():
                WRITERS[format](file, entries(number, bags[number].id, hypotheses, features))
            best.write(" ".join(hypotheses[0].tokens if hypotheses else ()) + "\n")
    spent = ({"id": e.outcome.id, "seconds": e.seconds, "memory": e.memory} for e in known)
    write_text(run.times, "".join(map(to_line, spent)))
    write_text(run.results, "".join(to_line(entry.outcome.to_json()) for entry in known))
    write_sums(run.path, [run.lattice(number) for number, entry in enumerate(known) if entry.ok])
    run.journal.unlink(missing_ok=True)
    run.remove_temporaries()


def _nbest_lists(
    run: RunFolder, ok: Sequence[bool], n: int, features: Features | None, jobs: int
) -> Iterator[NbestList]:
    """The n-best list of each bag in order, made in worker processes; those of failed bags are empty."""

    def make(number: int) -> NbestList:
        hypotheses = Lattice.read(run.lattice(number)).nbest(n)
        scores = cost_feature("LM", hypotheses) if features is None else features(number, hypotheses)
        return hypotheses, [dict(score) for score in scores]

    numbers = [number for number, good in enumerate(ok) if good]
    if numbers:
        # Compiled code is loaded at its first use: here once, for all workers. An error comes again there, and is told.
        with suppress(GyroError, OSError):
            make(min(numbers, key=lambda number: run.lattice(number).stat().st_size))
    ends = run_tasks(numbers, make, jobs=jobs)
    early: dict[int, NbestList] = {}
    for number, good in enumerate(ok):
        while good and number not in early:
            ended = next(ends)
            if isinstance(ended.result, Failure):
                place = run.lattice(ended.task)
                raise GyroError(f"no n-best list of {place}: {ended.result.reason}; without the file it is made anew")
            hypotheses, scores = ended.result
            early[ended.task] = [Hypothesis(tuple(tokens), cost) for tokens, cost in hypotheses], scores
        yield early.pop(number, ([], []))


class _Bar(tqdm):  # type: ignore[misc]
    monitor_interval = 0  # tqdm's monitor is a thread, and processes with threads should not fork


class _Progress:
    """A bar on a terminal, else a line for each bag."""

    def __init__(self, bags: Sequence[Bag], done: int, file: IO[str]) -> None:
        self.bags = bags
        self.done = done
        self.failed = 0
        self.file = file
        self.bar = (
            _Bar(total=len(bags), initial=done, unit=" bags", file=file, desc="ordering") if file.isatty() else None
        )

    def __enter__(self) -> _Progress:
        if self.bar is None and self.done:
            print(f"going on: {self.done} of {len(self.bags)} bags are known", file=self.file, flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self, number: int, entry: Entry) -> None:
        self.done += 1
        self.failed += not entry.ok
        if self.bar is not None:
            self.bar.set_postfix(failed=self.failed, refresh=False)
            self.bar.update()
            return
        bag = self.bags[number]
        facts = f"cost {entry.outcome.cost:.2f}" if entry.ok else f"({printable(str(entry.outcome.reason))})"
        size = f"{len(bag)} tokens " if len(bag) else ""
        line = f"{self.done}/{len(self.bags)} id={printable(bag.id)} {entry.outcome.status} {size}{facts}"
        print(f"{line} {entry.seconds:.2f} s", file=self.file, flush=True)


def _summarise(run: RunFolder, known: Sequence[Entry]) -> Summary:
    good = [entry.outcome for entry in known if entry.ok]
    rungs = Counter(outcome.rung for outcome in good if outcome.rung is not None)
    return Summary(
        folder=run.path,
        ok=len(good),
        failures=tuple((entry.outcome.id, str(entry.outcome.reason)) for entry in known if not entry.ok),
        rungs=dict(rungs.most_common()),
        proved=sum(outcome.proved is True for outcome in good),
        cut=sum(bool(outcome.pieces) for outcome in good),
        seconds=sum(entry.seconds for entry in known),
        slowest=max((entry.seconds for entry in known), default=0.0),
        memory=max((entry.memory for entry in known), default=0),
    )


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / max(total, 1):.1f} %)"
