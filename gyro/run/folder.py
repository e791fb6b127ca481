"""The folder of a batch run: its files, whose run it holds, and how far that has come. docs/run-folder.md describes it.

RunFolder  the paths, and what is done with them: lock, prepare, read what is known
Journal    the results of a run as they come
Entry      what is known of one bag: its outcome, seconds and peak memory
Run        a finished run, for reading: bags, outcomes, lattices, best strings, length of the n-best lists
open_run   open one
words_of   the words of bags
labels     the label of every word of a run
to_line    one line of a JSON Lines file
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from gyro.errors import InputError
from gyro.files import parse_object, write_json, write_text
from gyro.run.outcome import Outcome
from gyro.run.record import FORMAT, SUMS, parse_journal, read_run
from gyro.text.bag import Bag
from gyro.text.bag_file import bag_to_record, record_to_bag
from gyro.text.corpus import read_lines
from gyro.version import __version__

if TYPE_CHECKING:
    from gyro.lattice.lattice import Lattice

Told = TypeVar("Told", bound=Outcome)


class Entry(NamedTuple):
    """What is known of one bag."""

    outcome: Outcome
    seconds: float
    memory: int

    @property
    def ok(self) -> bool:
        return self.outcome.ok


class RunFolder:
    """The files of a run and the rules by which they change."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.run, self.bags, self.words = self._names("run.json", "bags.jsonl", "words.syms")
        self.results, self.times, self.journal = self._names("results.jsonl", "times.jsonl", "journal.jsonl")
        self.best, self.nbest_moses, self.nbest_jsonl = self._names("best.txt", "nbest.txt", "nbest.jsonl")
        self.lattices, self.references, self._lock = self._names("lattices", "references.txt", ".lock")

    def _names(self, *names: str) -> Iterator[Path]:
        return (self.path / name for name in names)

    def lattice(self, number: int) -> Path:
        """The lattice of a bag; `number` counts from 0, the names from 1."""
        return self.lattices / f"{number + 1:06d}.fst"

    @property
    def is_finished(self) -> bool:
        """Whether the last start came to its end."""
        final = (self.bags, self.words, self.results, self.times, self.best, self.nbest_moses, self.nbest_jsonl)
        return all(path.exists() for path in final) and not self.journal.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder where it is missing and keep other processes off it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._present()  # before the lock is written into a folder that is not ours
            file = self._lock.open("a")
        except OSError as error:
            raise InputError(f"cannot make the run's folder: {error.strerror}", path=self.path) from error
        with file:
            try:
                # A record lock, not flock: it is the process' own, so a worker that outlives it does not hold it.
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError("another run is at work in this folder", path=self.path) from error
            yield

    def prepare(
        self,
        bags: Sequence[Bag],
        settings: Mapping[str, Any],
        nbest: int,
        limits: Mapping[str, Any],
        *,
        overwrite: bool,
        words: Iterable[str] | None = None,
    ) -> None:
        """Write the files that a run starts with, or see that those there are of the same run.

        Another length of the n-best lists and other limits do not make another run; those of the last start are kept.
        `words` are those of the run if they are not the bags'.
        """
        lines = [to_line(bag_to_record(bag)) for bag in bags]
        wanted = _identity(lines, settings)
        present = self._present()
        difference = self._difference(present, wanted, lines) if present else None
        if difference is not None:
            if not overwrite:
                message = f"the folder holds another run: {difference}; choose another folder, or overwrite this one"
                raise InputError(message, path=self.path)
            self._clear()
            present = None
        if present is None or present.get("nbest") != nbest:
            # The lists go first: those that are there when run.json tells their length are of that length.
            for path in (self.nbest_moses, self.nbest_jsonl):
                path.unlink(missing_ok=True)
        last = {"nbest": nbest, "limits": dict(limits)}
        if present is None or any(present.get(key) != value for key, value in last.items()):
            write_json(self.run, {**wanted, **last})
        self.lattices.mkdir(exist_ok=True)
        self.remove_temporaries()
        self._write_inputs(bags, lines, words_of(bags) if words is None else words)

    def _write_inputs(self, bags: Sequence[Bag], lines: Sequence[str], words: Iterable[str]) -> None:
        if not self.bags.exists():
            write_text(self.bags, "".join(lines))
        if not self.words.exists():
            symbols = {"<eps>": 0, **labels(words)}
            write_text(self.words, "".join(f"{word}\t{label}\n" for word, label in symbols.items()))
        references = [" ".join(bag.reference) + "\n" for bag in bags if bag.reference is not None]
        if len(references) == len(bags) and not self.references.exists():
            write_text(self.references, "".join(references))

    def remove_temporaries(self) -> None:
        """Remove what killed processes left half written."""
        for path in (*self.path.glob(".*.tmp"), *self.lattices.glob(".*.tmp")):
            path.unlink(missing_ok=True)

    def read_entries(self, bags: Sequence[Bag]) -> dict[int, Entry]:
        """What is known of each bag by its number; a result whose lattice is gone is not."""
        entries: dict[int, Entry] = {}
        if self.results.exists():
            times = list(_read_jsonl(self.times)) if self.times.exists() else []
            for number, result in enumerate(_read_jsonl(self.results)):
                spent = times[number] if number < len(times) else {"seconds": 0.0, "memory": 0}
                entries[number] = _to_entry({"bag": number, "result": result, **spent}, self.results, number)
        if self.journal.exists():
            _drop_half_line(self.journal)
            for number, line in enumerate(_read_jsonl(self.journal)):
                entries[parse_journal(line, self.journal, number + 1).bag] = _to_entry(line, self.journal, number)
        return {
            number: entry
            for number, entry in entries.items()
            if 0 <= number < len(bags) and (not entry.ok or self.lattice(number).exists())
        }

    def _present(self) -> dict[str, Any] | None:
        """The run.json of the folder; None when the folder is empty; an error when it is somebody else's."""
        if not self.run.exists():
            foreign = sorted(p.name for p in self.path.iterdir() if p != self._lock and not p.match(".run.json.*.tmp"))
            if foreign:
                raise InputError(f"found {foreign[0]!r} but no run.json; an empty folder is allowed", path=self.path)
            return None
        return read_run(self.run)

    def _clear(self) -> None:
        """Remove the run's own files and no others; run.json stays until the new one takes its place."""
        for path in (*self.lattices.glob("*.fst"), *self.path.glob("oracle-*.txt")):
            path.unlink()
        self.remove_temporaries()
        finals = (self.results, self.times, self.best, self.nbest_moses, self.nbest_jsonl)
        for path in (self.journal, self.path / SUMS, *finals, self.bags, self.references, self.words):
            path.unlink(missing_ok=True)

    def _difference(self, present: dict[str, Any], wanted: dict[str, Any], lines: Sequence[str]) -> str | None:
        """The first thing in which the folder's run is not the wanted one."""
        for key in ("gyro", "settings"):
            if difference := _first_difference(present.get(key), wanted[key], key):
                return difference
        if any(present.get(key) != wanted[key] for key in ("bags", "bags_sha256")):
            return self._bag_difference(lines)
        return None

    def _bag_difference(self, lines: Sequence[str]) -> str:
        there = list(read_lines(self.bags)) if self.bags.exists() else []
        for number, (old, new) in enumerate(zip(there, lines, strict=False), 1):
            if old != new.rstrip("\n"):
                return f"bag {number} is {old:.80} there and {new.rstrip():.80} here"
        return f"it has {len(there)} bags and {len(lines)} are given"


class Journal:
    """The results of a run as they come, each on the disk before the next is taken."""

    def __init__(self, folder: RunFolder) -> None:
        self._file: IO[str] = folder.journal.open("a", encoding="utf-8", newline="\n")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, number: int, entry: Entry) -> None:
        try:
            line = {"bag": number, "result": entry.outcome.to_json(), "seconds": entry.seconds, "memory": entry.memory}
            self._file.write(to_line(line))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=self._file.name) from error


@dataclass(frozen=True)
class Run:
    """A finished run, for reading."""

    folder: RunFolder
    bags: tuple[Bag, ...]
    settings: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    nbest: int

    def __len__(self) -> int:
        return len(self.bags)

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
    if not folder.is_finished:
        raise InputError("the run is not finished; start it again and it goes on where it was", path=path)
    bags = tuple(record_to_bag(record, number) for number, record in enumerate(_read_jsonl(folder.bags), 1))
    lines = enumerate(_read_jsonl(folder.results), 1)
    outcomes = tuple(Outcome.from_json(record, folder.results, line) for line, record in lines)
    if not len(bags) == len(outcomes) == run.get("bags"):
        raise InputError(
            f"found {len(bags)} bags and {len(outcomes)} results; run.json has {run.get('bags')}", path=path
        )
    return Run(folder, bags, run["settings"], outcomes, run.get("nbest", 0))


def words_of(bags: Iterable[Bag]) -> set[str]:
    """The distinct words of all bags."""
    return {word for bag in bags for word in bag.words}


def labels(words: Iterable[str]) -> dict[str, int]:
    """The label of every word of a run: 1, 2, … in the order of the words."""
    return {word: label for label, word in enumerate(sorted(set(words)), 1)}


def to_line(value: object) -> str:
    """One line of a JSON Lines file."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _identity(lines: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two runs the same."""
    text = json.dumps(settings, ensure_ascii=False, sort_keys=True)
    return {
        "format": FORMAT,
        "gyro": __version__,
        "settings": json.loads(text),
        "settings_sha256": sha256(text.encode()).hexdigest(),
        "bags": len(lines),
        "bags_sha256": sha256("".join(lines).encode()).hexdigest(),
    }


def _first_difference(there: Any, here: Any, place: str = "") -> str | None:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            name = f"{place}.{key}" if place else key
            if key not in here or key not in there:
                return f"{name} is given only {'there' if key in there else 'here'}"
            if difference := _first_difference(there[key], here[key], name):
                return difference
        return None
    if there == here:
        return None
    return f"{place} is {json.dumps(there, ensure_ascii=False)} there and {json.dumps(here, ensure_ascii=False)} here"


def _read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_lines(path), 1):
        yield parse_object(line, path, number)


def _to_entry(line: dict[str, Any], path: Path, number: int) -> Entry:
    known = parse_journal(line, path, number + 1)
    return Entry(Outcome.from_json(known.result, path, number + 1), known.seconds, known.memory)


def _drop_half_line(path: Path) -> None:
    """Cut off a last line that a kill left without its end."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
