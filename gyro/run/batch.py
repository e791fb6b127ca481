"""Many bags into one run folder, by worker processes; a run that was stopped goes on where it was.

run_batch    order bags into a folder and sum up
Summary      how a run went (gyro.run.summary)
Work, Features  what is done on a bag (gyro.run.bag_work)
write_nbest  the n-best lists of a finished run, in one of the formats of gyro.lattice.nbest

The same bags and settings give the same bytes whatever the number of processes and however often the run was stopped,
but for times.jsonl. With `executors` the work is done by those of Spark, and this process writes all files. Memory does
not grow with the number of bags, but for a few bytes each. A fault of the machine, a full disk for one, ends the run as
a MachineError: it is no failure of a bag. docs/run-folder.md describes the files.
"""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import IO, Any

from gyro.errors import GyroError, InputError, MachineError
from gyro.files import sync_file_system, write_atomically
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import WRITERS, cost_feature, read_moses
from gyro.pool import Ended, Failure, run_tasks
from gyro.run.bag_work import BagWork, Features, HandOver, Work, list_text, load_compiled, no_lists
from gyro.run.checksum import write_sums
from gyro.run.executor import Executors, unpack
from gyro.run.folder import Entry, Inputs, Run, RunFolder, Words, to_line
from gyro.run.journal import Journal, Lists
from gyro.run.outcome import Outcome
from gyro.run.progress import Progress
from gyro.run.summary import Summary, summarise
from gyro.text.bag import Bag
from gyro.text.bag_file import bag_to_record

__all__ = ["Features", "Summary", "Work", "run_batch", "write_nbest"]

# Results are put on the disk together, after so many seconds, and longer where the disk is slow: that may take a share
# of the time, no more.
_COMMIT_SECONDS = 0.25
_COMMIT_SHARE = 0.1
_LISTS_TOGETHER = 256


def run_batch(
    bags: Iterable[Bag],
    folder: str | os.PathLike[str],
    work: Work,
    *,
    settings: Mapping[str, Any],
    words: Words = None,
    features: Features | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    nbest: int = 100,
    overwrite: bool = False,
    retry_failed: bool = False,
    gzip: bool = False,
    verify: Callable[[], None] = lambda: None,
    log: IO[str] | None = None,
    executors: Executors | None = None,
    hand_over: bool = False,
) -> Summary:
    """Order every bag into the folder with `work`, in processes of their own or in executors of Spark.

    `settings` is all that decides the results but for the limits. A folder that holds the same run is continued; one
    that holds another is refused, or with `overwrite` started anew. Failures stay as they are unless
    `retry_failed`. `words` are those of the lattices, if they are not the bags'. `features` makes the columns of the
    n-best lists (LM, minus the cost), also in the worker processes. With `gzip` lattices are gzipped. `verify` compares
    models and other input with their checksums; it is called for a run that is made anew. Progress goes to `log`
    (standard error): a bar on a terminal, else a line a bag. With `hand_over`, in an executor, nothing is done, and the
    work is raised as a HandOver.
    """
    if nbest < 1:
        raise InputError(f"found n-best lists of {nbest}; at least 1 is allowed")
    run = RunFolder(folder, is_gzipped=gzip)
    settings = {**settings, "gzip": True} if gzip else settings
    bag_work = BagWork(work, features or _cost_features, nbest)
    if hand_over:
        for _ in islice(bags, 1):  # systems load their compiled code with it
            raise HandOver(bag_work, settings)
    with run.locked():
        limits = {"time_limit": time_limit, "memory_limit": memory_limit}
        inputs = run.prepare(bags, settings, nbest, limits, overwrite=overwrite, words=words)
        if (summary := _summary_of_finished(run, retry_failed)) is not None:
            return summary
        with Journal(run.journal, len(inputs.bags)) as journal:
            batch = _Batch(run, inputs, journal, bag_work, settings, jobs, executors)
            batch.take_over()
            if journal.is_empty:
                verify()
            batch.order(limits, retry_failed, log or sys.stderr)
        sync_file_system(run.path)  # what takes the journal's place is on the disk before that goes
        run.journal.unlink()
        run.remove_temporaries()
        return summarise(run.path, run.entries())


def write_nbest(run: Run, n: int, format: str, file: IO[str], jobs: int = 1, before: int = 0) -> None:
    """Write the n-best lists of a finished run; `format` is a name of WRITERS, "moses", "jsonl" or "tsv".

    Lists that are longer than the run's own are made of its lattices, unless they have the scores of several models,
    which only the run itself can make. Sentences are numbered from `before`.
    """
    if format not in WRITERS:
        raise InputError(f"found the n-best format {format!r}; allowed are {', '.join(WRITERS)}")
    write = WRITERS[format]
    stored = (entry for entry in read_moses(run.folder.nbest_moses) if entry.rank <= n)
    if n <= run.nbest:
        written = 0
        for sentence, some in groupby(stored, key=lambda entry: entry.sentence):
            for _ in range(written, sentence):  # bags that failed
                write(file, ())
            id = run.bags[sentence].id
            write(file, (replace(entry, id=id, sentence=before + sentence) for entry in some))
            written = sentence + 1
        for _ in range(written, len(run)):
            write(file, ())
        return
    names = list(next((entry.features for entry in stored), {"LM": ()}))
    if len(names) != 1:
        found = f"the n-best lists have the scores {', '.join(names)} and {run.nbest} strings a bag"
        raise InputError(f"{found}; for {n}, start the run again with -n {n}", path=run.folder.path)

    def make(number: int) -> str:
        hypotheses = Lattice.read(run.folder.lattice(number)).nbest(n)
        return list_text(format, before + number, run.bags[number].id, hypotheses, cost_feature(names[0], hypotheses))

    good = [outcome.ok for outcome in run.outcomes]
    early: dict[int, str] = {}
    ends = _made(run.folder, run_tasks([number for number, ok in enumerate(good) if ok], make, jobs=jobs))
    for number, ok in enumerate(good):
        if not ok:
            write(file, ())
            continue
        while number not in early:
            task, text = next(ends)
            early[task] = text
        file.write(early.pop(number))


def _summary_of_finished(run: RunFolder, retry_failed: bool) -> Summary | None:
    """The summary of a finished run; None when it is not finished, or something of it is to be made again."""
    if not run.is_finished:
        return None
    again = 0

    def looked_at() -> Iterator[Entry]:
        nonlocal again
        for number, entry in enumerate(run.entries()):
            again += not run.lattice(number).exists() if entry.ok else retry_failed
            yield entry

    summary = summarise(run.path, looked_at())
    return None if again else summary


@dataclass(frozen=True)
class _Batch:
    """A start of a run: what is to do and how."""

    run: RunFolder
    inputs: Inputs
    journal: Journal
    work: BagWork
    settings: Mapping[str, Any]
    jobs: int
    executors: Executors | None

    @property
    def nbest(self) -> int:
        return self.work.nbest

    def take_over(self) -> None:
        """Put the results of a finished run that are to be added to into the journal; their lists are made anew."""
        for number, entry in enumerate(self.run.entries()):
            if number < len(self.inputs.bags) and not self.journal.knows(number):
                self.journal.append(number, entry.outcome.to_json(), entry.seconds, entry.memory, 0)
        self.journal.commit()

    def order(self, limits: Mapping[str, Any], retry_failed: bool, log: IO[str]) -> None:
        """Do all that is left to do, and write the final files."""
        journal, numbers = self.journal, range(len(self.inputs.bags))
        todo = array("q", (number for number in numbers if self._is_to_do(number, retry_failed)))
        load_compiled()
        with Progress(len(numbers), len(numbers) - len(todo), log) as progress:
            self._search(todo, limits, progress)
        lists = array("q", (number for number in numbers if not journal.has_list(number, self.nbest)))
        for made, (number, texts) in enumerate(progress.over(self._made_lists(lists), "n-best lists", len(lists)), 1):
            known = journal.read(number).entry
            journal.append(number, known.outcome.to_json(), known.seconds, known.memory, self.nbest, texts)
            if made % _LISTS_TOGETHER == 0:
                journal.commit()
        journal.commit()
        self._assemble(progress)

    def _is_to_do(self, number: int, retry_failed: bool) -> bool:
        """Whether the bag is to be ordered: its result is not known, its lattice is gone, or it is to be retried."""
        if not self.journal.knows(number):
            return True
        return not self.run.lattice(number).exists() if self.journal.is_ok(number) else retry_failed

    def _search(self, todo: Sequence[int], limits: Mapping[str, Any], progress: Progress) -> None:
        """Work on the bags that are to do; what came of each is on the disk before it is shown."""
        journal, due = self.journal, 0.0
        shown: list[tuple[dict[str, Any], int, float]] = []

        def commit() -> None:
            nonlocal due
            begin = time.monotonic()
            journal.commit()
            for facts in shown:
                progress.show(*facts)
            shown.clear()
            now = time.monotonic()
            due = now + max(_COMMIT_SECONDS, (now - begin) / _COMMIT_SHARE)

        try:
            for number, result, seconds, memory in self._ends(todo, limits, commit):
                seconds = round(seconds, 3)
                if isinstance(result, Failure):
                    bag = self.inputs.bags[number]
                    result = no_lists(Outcome.failed(bag, result.reason), bag)
                outcome, tokens, lists = result
                if outcome["status"] != "ok":
                    self.run.lattice(number).unlink(missing_ok=True)
                best, moses, jsonl = (text.encode() for text in lists)
                journal.append(number, outcome, seconds, memory, self.nbest, (best, moses, jsonl))
                shown.append((outcome, tokens, seconds))
                if time.monotonic() > due:
                    commit()
        except BaseException:
            with suppress(GyroError, OSError):  # what ended the run is told, and what is lost is made again
                commit()
            raise
        commit()

    def _ends(
        self, todo: Sequence[int], limits: Mapping[str, Any], idle: Callable[[], None]
    ) -> Iterator[Ended[int, Any]]:
        """What came of each bag, whose lattice is written by then: outcome, tokens and lists."""
        if self.executors is None or not todo:
            yield from run_tasks(todo, self._order, jobs=self.jobs, idle=idle, **limits)
            return
        inputs, gzip = self.inputs, self.run.is_gzipped
        first = inputs.bags[todo[0]]
        with self.executors.pool(
            self.settings, inputs.labels, first, nbest=self.nbest, gzip=gzip, limits=limits
        ) as pool:
            for end in pool.run_tasks(todo, lambda number: [number, bag_to_record(inputs.bags[number])], idle=idle):
                if isinstance(end.result, Failure):
                    yield end
                    continue
                *result, lattices = end.result
                if (lattice := unpack(lattices)) is not None:
                    _write_lattice(lattice, self.run, end.task)
                yield end._replace(result=result)

    def _order(self, number: int) -> list[Any]:
        """In the worker: order a bag and write its lattice; outcome, tokens and lists go to the parent."""

        def keep(lattice: Lattice) -> None:
            _write_lattice(lattice.encode(self.inputs.labels, gzipped=self.run.is_gzipped), self.run, number)

        return self.work.order(number, self.inputs.bags[number], keep)

    def _made_lists(self, numbers: Sequence[int]) -> Iterator[tuple[int, Lists]]:
        """The lists of bags whose lattices are there, made in worker processes."""

        def make(number: int) -> list[str]:
            return self.work.lists(number, self.inputs.bags[number].id, Lattice.read(self.run.lattice(number)))

        for number, (best, moses, jsonl) in _made(self.run, run_tasks(numbers, make, jobs=self.jobs)):
            yield number, (best.encode(), moses.encode(), jsonl.encode())

    def _assemble(self, progress: Progress) -> None:
        """Write the final files in the order of the bags; results.jsonl comes last and takes the journal's place."""
        run, count = self.run, len(self.inputs.bags)
        with ExitStack() as files:
            # Of the files on a stack, the first is the last to take its name.
            names = (run.results, run.times, run.best, run.nbest_moses, run.nbest_jsonl)
            results, times, *lists = (files.enter_context(write_atomically(path)) for path in names)
            for number in progress.over(range(count), "final files", count):
                entry, _, texts = self.journal.read(number)
                for file, text in zip(lists, texts, strict=True):
                    file.write(text)
                spent = {"id": entry.outcome.id, "seconds": entry.seconds, "memory": entry.memory}
                times.write(to_line(spent).encode())
                results.write(to_line(entry.outcome.to_json()).encode())
        good = (number for number in progress.over(range(count), "checksums", count) if self.journal.is_ok(number))
        write_sums(run.path, map(run.lattice, good))


def _write_lattice(lattice: bytes, run: RunFolder, number: int) -> None:
    """Write the file of a lattice, which the journal's commit puts on the disk; an error is no fault of the bag's."""
    path = run.lattice(number)
    try:
        if path.parent != run.lattices:
            path.parent.mkdir(exist_ok=True)
        with write_atomically(path) as file:
            file.write(lattice)
    except OSError as error:
        raise MachineError(f"{path}: cannot write: {error.strerror}") from error
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise MachineError(str(error)) from error
        raise


def _made(run: RunFolder, ends: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """What was made of lattices that are there; one that cannot be read ends the run."""
    for number, result, _, _ in ends:
        if isinstance(result, Failure):
            place = run.lattice(number)
            raise GyroError(f"no n-best list of {place}: {result.reason}; without the file it is made anew")
        yield number, result


def _cost_features(_number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
    return cost_feature("LM", hypotheses)
