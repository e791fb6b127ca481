"""The folder of a batch run: its files, whose run it holds, and how far that has come. docs/run-folder.md describes it.

RunFolder  the paths, and what is done with them: lock, prepare, read what is known
Inputs     the bags of a run and the labels of its words
Entry      what is known of one bag: its outcome, seconds and peak memory
Run        a finished run, for reading: bags, outcomes, lattices, best strings, length of the n-best lists
open_run   open one
words_of   the words of bags
labels     the label of every word of a run
to_line    one line of a JSON Lines file
first_difference  where two JSON values are not the same
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gyro.errors import InputError, MachineError, machine_fault
from gyro.files import write_atomically, write_json
from gyro.run.line_file import json_lines
from gyro.run.outcome import Outcome
from gyro.run.paths import RunPaths
from gyro.run.record import FLAT_FORMAT, FORMAT, read_run
from gyro.text.bag import Bag
from gyro.text.bag_file import bag_to_record, record_to_bag
from gyro.text.corpus import read_lines
from gyro.version import __version__

if TYPE_CHECKING:
    from gyro.lattice.lattice import Lattice

Told = TypeVar("Told", bound=Outcome)
# The words of a run's lattices: those of its bags (None), others, or what each bag gives.
Words = Iterable[str] | Callable[[Bag], Iterable[str]] | None


class Entry(NamedTuple):
    """What is known of one bag."""

    outcome: Outcome
    seconds: float
    memory: int

    @property
    def ok(self) -> bool:
        return self.outcome.ok


class Inputs(NamedTuple):
    """The bags of a run, read from its folder when they are asked for, and the labels of its words."""

    bags: Sequence[Bag]
    labels: dict[str, int]


class RunFolder(RunPaths):
    """The files of a run and the rules by which they change."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder where it is missing and keep other processes off it; an empty one that was made goes again.

        A fault of the machine within is told in one line.
        """
        is_new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._present()  # before the lock is written into a folder that is not ours
            file = self.lock.open("a")
        except OSError as error:
            raise InputError(f"cannot make the run's folder: {error.strerror}", path=self.path) from error
        with file:
            try:
                # A record lock, not flock: it is the process' own, so a worker that outlives it does not hold it.
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError("another run is at work in this folder", path=self.path) from error
            try:
                yield
            except OSError as error:
                if machine_fault(error) is None:
                    raise
                raise MachineError(f"{error.filename or self.path}: {error.strerror}") from error
            finally:
                with suppress(OSError):
                    if is_new and list(self.path.iterdir()) == [self.lock]:
                        self.lock.unlink()
                        self.path.rmdir()

    # ---- the start of a run

    def prepare(
        self,
        bags: Iterable[Bag],
        settings: Mapping[str, Any],
        nbest: int,
        limits: Mapping[str, Any],
        *,
        overwrite: bool,
        words: Words = None,
    ) -> Inputs:
        """Write the files that a run starts with, or see that those there are of the same run.

        Another length of the n-best lists and other limits do not make another run; those of the last start are kept.
        The bags are taken one by one, and are read from the folder after that.
        """
        try:
            facts, symbols, have_references = self._write_bags(bags, words)
            wanted = {"format": FORMAT, "gyro": __version__, **_settings_facts(settings), **facts}
            self._start(wanted, {"nbest": nbest, "limits": dict(limits)}, overwrite=overwrite)
        finally:
            self.given.unlink(missing_ok=True)
        if self.lattices.is_symlink():
            raise InputError("found a link; the lattices of a run are in a folder of its own", path=self.lattices)
        self.lattices.mkdir(exist_ok=True)
        self.remove_temporaries()
        if not self.words.exists():
            with write_atomically(self.words, "w") as file:
                file.writelines(f"{word}\t{label}\n" for word, label in {"<eps>": 0, **symbols}.items())
        known = self.read_bags()
        if have_references and not self.references.exists():
            with write_atomically(self.references, "w") as file:
                file.writelines(" ".join(bag.reference or ()) + "\n" for bag in known)
        return Inputs(known, symbols)

    def _write_bags(self, bags: Iterable[Bag], words: Words) -> tuple[dict[str, Any], dict[str, int], bool]:
        """Write the bags; give what tells them from others, the labels of the words, and if all have references."""
        whole, count, have_references = sha256(), 0, True
        given: set[str] = set() if words is None or callable(words) else set(words)
        words_of_bag = words if callable(words) else None if words is not None else _words_of_bag
        with write_atomically(self.given) as file:
            for bag in bags:
                line = to_line(bag_to_record(bag)).encode()
                file.write(line)
                whole.update(line)
                count += 1
                have_references = have_references and bag.reference is not None
                if words_of_bag is not None:
                    given.update(words_of_bag(bag))
        facts = {"bags": count, "bags_sha256": whole.hexdigest()}
        return facts, labels(given), have_references

    def _start(self, wanted: dict[str, Any], last: dict[str, Any], *, overwrite: bool) -> None:
        """Go on with the run that is there, or put the new one's first files there."""
        present = self._present()
        difference = self._difference(present, wanted) if present else None
        if present and difference is not None:
            if not overwrite:
                message = f"the folder holds another run: {difference}; choose another folder, or overwrite this one"
                raise InputError(message, path=self.path)
            bags = present.get("bags")
            self.clear(bags if isinstance(bags, int) else 0)
            present = None
        if present is None or present.get("nbest") != last["nbest"]:
            # The lists go first: those that are there when run.json tells their length are of that length.
            for path in (self.nbest_moses, self.nbest_jsonl):
                path.unlink(missing_ok=True)
        if present is None or any(present.get(key) != value for key, value in last.items()):
            write_json(self.run, {**wanted, **last})
        if not self.bags.exists():
            os.replace(self.given, self.bags)

    def read_bags(self) -> Sequence[Bag]:
        return json_lines(self.bags, record_to_bag)

    def entries(self) -> Iterator[Entry]:
        """What results.jsonl and times.jsonl know of each bag."""
        if not self.results.exists():
            return
        outcomes = json_lines(self.results, lambda record, line: Outcome.from_json(record, self.results, line))
        times = json_lines(self.times, lambda record, line: record) if self.times.exists() else []
        for line, (outcome, spent) in enumerate(zip_longest(outcomes, times, fillvalue=None), 1):
            match outcome, spent:
                case Outcome(), {"seconds": int() | float() as seconds, "memory": int() as memory}:
                    yield Entry(outcome, seconds, memory)
                case Outcome(), None:
                    yield Entry(outcome, 0.0, 0)
                case _:
                    raise InputError("found no seconds and memory of a result", path=self.times, line=line)

    # ---- whose files these are

    def _present(self) -> dict[str, Any] | None:
        """The run.json of the folder; None when the folder is empty; an error when it is somebody else's."""
        if not self.run.exists():
            ours = (path for path in self.path.iterdir() if path != self.lock and not self.is_temporary(path))
            foreign = sorted(path.name for path in ours)
            if foreign:
                raise InputError(f"found {foreign[0]!r} but no run.json; an empty folder is allowed", path=self.path)
            return None
        return read_run(self.run)

    def _difference(self, present: dict[str, Any], wanted: dict[str, Any]) -> str | None:
        """The first thing in which the folder's run is not the wanted one."""
        for key in ("format", "gyro", "settings"):
            if difference := first_difference(present.get(key), wanted[key], key):
                return difference
        if any(present.get(key) != wanted[key] for key in ("bags", "bags_sha256")):
            return self._bag_difference(wanted["bags"])
        return None

    def _bag_difference(self, count: int) -> str:
        there = 0
        if self.bags.exists():
            for number, (old, new) in enumerate(zip_longest(read_lines(self.bags), read_lines(self.given)), 1):
                there += old is not None
                if old is not None and new is not None and old != new:
                    return f"bag {number} is {old:.80} there and {new:.80} here"
        return f"it has {there} bags and {count} are given"


@dataclass(frozen=True)
class Run:
    """A finished run, for reading; bags and outcomes are read from its files when they are asked for."""

    folder: RunFolder
    bags: Sequence[Bag]
    settings: dict[str, Any]
    outcomes: Sequence[Outcome]
    nbest: int

    def __len__(self) -> int:
        return len(self.bags)

    def __repr__(self) -> str:
        return f"Run({str(self.folder.path)!r}, {len(self)} bags)"

    def lattice(self, number: int) -> Lattice | None:
        """The lattice of a bag, counted from 0; None for one that failed."""
        from gyro.lattice.lattice import Lattice  # those who read no lattice do not pay for OpenFst

        return Lattice.read(self.folder.lattice(number)) if self.outcomes[number].ok else None

    def outcomes_as(self, kind: type[Told]) -> list[Told]:
        """The outcomes with what the system that made the run tells besides."""
        told = enumerate(self.outcomes, 1)
        return [kind.from_json(outcome.to_json(), self.folder.results, line) for line, outcome in told]

    def best(self) -> list[str]:
        """The best string of each bag, empty for one that failed."""
        return list(read_lines(self.folder.best))


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a finished run."""
    folder = RunFolder(path)
    if not folder.run.exists():
        raise InputError("no run.json here; the folder of a run is needed", path=path)
    run = read_run(folder.run)
    folder.is_flat = run["format"] == FLAT_FORMAT
    if not folder.is_finished:
        raise InputError("the run is not finished; start it again and it goes on where it was", path=path)
    folder.is_gzipped = run["settings"].get("gzip") is True
    bags = folder.read_bags()
    outcomes = json_lines(folder.results, lambda record, line: Outcome.from_json(record, folder.results, line))
    for _ in zip(bags, outcomes, strict=False):
        pass  # what is damaged is told here, and not in the middle of something
    if not len(bags) == len(outcomes) == run.get("bags"):
        raise InputError(
            f"found {len(bags)} bags and {len(outcomes)} results; run.json has {run.get('bags')}", path=path
        )
    return Run(folder, bags, run["settings"], outcomes, int(run.get("nbest", 0)))


def words_of(bags: Iterable[Bag]) -> set[str]:
    """The distinct words of all bags."""
    return {word for bag in bags for word in bag.words}


def labels(words: Iterable[str]) -> dict[str, int]:
    """The label of every word of a run: 1, 2, … in the order of the words."""
    return {word: label for label, word in enumerate(sorted(set(words)), 1)}


def to_line(value: object) -> str:
    """One line of a JSON Lines file."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _words_of_bag(bag: Bag) -> tuple[str, ...]:
    return bag.words


def _settings_facts(settings: Mapping[str, Any]) -> dict[str, Any]:
    text = json.dumps(settings, ensure_ascii=False, sort_keys=True)
    return {"settings": json.loads(text), "settings_sha256": sha256(text.encode()).hexdigest()}


def first_difference(there: Any, here: Any, place: str = "") -> str | None:
    """The first place, by name, in which two JSON values are not the same, and what they have there."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            name = f"{place}.{key}" if place else key
            if key not in here or key not in there:
                return f"{name} is given only {'there' if key in there else 'here'}"
            if difference := first_difference(there[key], here[key], name):
                return difference
        return None
    if there == here:
        return None
    return f"{place} is {json.dumps(there, ensure_ascii=False)} there and {json.dumps(here, ensure_ascii=False)} here"
