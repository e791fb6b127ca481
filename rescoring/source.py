"""Lattices from anywhere: our own runs, OpenFst files of other tools, n-best lists.

open_lattices  open a run folder, a folder of OpenFst files, one such file, or an n-best list ("-": of standard input)
join_sources   the sentences of several sources, one after the other
LatticeSource  a sequence of LatticeItem, and what tells one source from another
LatticeItem    one sentence: its id, its lattice, and its bag and reference where they are known
id_places      where the sentences with some ids are among others

Bare integer labels become words like "17", or those of a word map. The marks <s> and </s> that some tools put on arcs
are taken off, for models set them themselves; which bare labels are such marks has to be said. In the lattice of an
n-best list a string costs minus its score.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from gyro.errors import InputError
from gyro.lattice.file_format import OWN_FORMAT, LatticeFormat
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import NbestEntry, read_jsonl, read_moses, read_tsv
from gyro.run.checksum import verify_run
from gyro.run.folder import Run, open_run, words_of
from gyro.run.paths import SUMS
from gyro.text.bag import Bag

MARKS = ("<s>", "</s>")
FIRST_PASS = "LATTICE"  # the column of n-best lists with the cost that a string had before
NO_LATTICE = "there is no lattice: the bag failed before"
ALLOWED = "a run folder, a folder of .fst files, a .fst file, or an n-best list (.txt, .nbest, .jsonl, .tsv) is allowed"

AnyPath = str | PathLike[str]
Reader = Callable[[], Lattice | None]


@dataclass(frozen=True)
class LatticeItem:
    """One sentence of a source."""

    id: str
    read: Reader = field(repr=False)
    bag: Bag | None = None
    reference: tuple[str, ...] | None = None

    def lattice(self) -> Lattice | None:
        """The lattice, read anew; None for a bag that failed."""
        return self.read()

    def words(self) -> frozenset[str]:
        """The words of the bag or, where there is none, of the lattice."""
        if self.bag is not None:
            return frozenset(self.bag.words)
        lattice = self.lattice()
        return frozenset(() if lattice is None else lattice.words)


class LatticeSource(Sequence[LatticeItem]):
    """The sentences of one place, in order."""

    def __init__(
        self, path: AnyPath, items: Sequence[LatticeItem], signature: str, words: Iterable[str] | None = None
    ) -> None:
        self.path = Path(path)
        self.signature = signature
        self.whole = self  # what it is a part of
        self.first = 0  # the number there of its first item
        self.joined: Sequence[LatticeSource] = (self,)  # what it was made of
        self._items = items
        self._words = None if words is None else frozenset(words)

    def part(self, first: int, last: int | None) -> LatticeSource:
        """Only the sentences from the first to the last, counted from 1, both included."""
        items = self._items[first - 1 : last]
        bags = [item.bag for item in items]
        words = self._words if None in bags else words_of(bag for bag in bags if bag is not None)
        part = LatticeSource(self.path, items, self.signature, words)
        part.whole, part.first, part.joined = self, first - 1, self.joined
        return part

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, number: int) -> LatticeItem: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[LatticeItem]: ...
    def __getitem__(self, number: int | slice) -> LatticeItem | Sequence[LatticeItem]:
        return self._items[number]

    def words(self) -> frozenset[str]:
        """The words of all lattices; where nothing else tells them, each lattice is read once."""
        if self._words is None:
            self._words = frozenset().union(*(item.words() for item in self._items))
        return self._words

    def verify(self) -> None:
        """Compare the lattices of a run with the checksums that were noted with them."""
        for source in self.joined:
            if (source.path / SUMS).exists():
                verify_run(source.path)

    def bags(self) -> Iterator[Bag]:
        """The bags; one that is not known is an empty bag with the id."""
        return (Bag((), id=item.id) if item.bag is None else item.bag for item in self._items)


def open_lattices(
    path: AnyPath, *, weights: Mapping[str, float] | None = None, format: LatticeFormat = OWN_FORMAT
) -> LatticeSource:
    """Open whatever is there.

    With `weights`, the score of a string in an n-best list is the weighted sum of these features and not the total.
    `format` says how OpenFst files of other tools are read; those of a run are our own.
    """
    place = Path(path)
    if str(path) == "-":
        return _open_nbest(place, _list_of_stdin(), weights)
    if place.is_dir() and (place / "run.json").exists():
        return _open_run(place)
    if place.is_dir():
        return _open_folder(place, format)
    if not place.is_file():
        raise InputError(f"no such file or folder; {ALLOWED}", path=path)
    kind = place.name.removesuffix(".gz").rpartition(".")[2]
    if kind == "fst":
        return LatticeSource(place, [_file_item(place, format)], _signature([place], format.text()))
    if kind not in _LISTS:
        raise InputError(f"found a file of another kind; {ALLOWED}", path=path)
    return _open_nbest(place, _LISTS[kind], weights)


def join_sources(sources: Sequence[LatticeSource]) -> LatticeSource:
    """The sentences of several sources, whose ids must tell them apart."""
    if len(sources) == 1:
        return sources[0]
    owner: dict[str, Path] = {}
    for source in sources:
        for item in source:
            if item.id in owner:
                found = f"found the id {item.id!r:.60}, which is in {owner[item.id]} too"
                raise InputError(f"{found}; lattices that are read together have ids of their own", path=source.path)
            owner[item.id] = source.path
    known = [source._words for source in sources if source._words is not None]
    words = frozenset().union(*known) if len(known) == len(sources) else None
    signature = sha256(" ".join(source.signature for source in sources).encode()).hexdigest()[:12]
    joined = LatticeSource(sources[0].path, [item for source in sources for item in source], signature, words)
    joined.joined = tuple(sources)
    return joined


def id_places(known: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """The place of each known id or, where none of the wanted ones is known and all can be numbers from 1, of numbers.

    Bags of plain text are numbered; what others say of them may have ids of its own.

    >>> id_places(["x", "y"], ["y"]), id_places(["x", "y"], ["2"])
    ({'x': 0, 'y': 1}, {'1': 0, '2': 1})
    """
    places = {id: place for place, id in enumerate(known)}
    if not places.keys().isdisjoint(wanted):
        return places
    numbers = {str(place + 1): place for place in range(len(known))}
    return numbers if numbers.keys() >= set(wanted) else places


class _RunItems(Sequence[LatticeItem]):
    """The sentences of a run, made when they are asked for: a run may be large."""

    def __init__(self, run: Run, numbers: range) -> None:
        self._run, self._numbers = run, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, number: int) -> LatticeItem: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[LatticeItem]: ...
    def __getitem__(self, number: int | slice) -> LatticeItem | Sequence[LatticeItem]:
        if isinstance(number, slice):
            return _RunItems(self._run, self._numbers[number])
        place = self._numbers[number]
        bag = self._run.bags[place]
        return LatticeItem(bag.id, lambda: self._run.lattice(place), bag if len(bag) else None, bag.reference)


def _open_run(folder: Path) -> LatticeSource:
    run = open_run(folder)
    # Bags and settings decide the lattices, and what a limit changed shows in the results.
    settings = json.dumps(run.settings, ensure_ascii=False, sort_keys=True)
    signature = _signature([run.folder.bags, run.folder.results], settings)
    words = words_of(run.bags) if all(map(len, run.bags)) else None
    return LatticeSource(folder, _RunItems(run, range(len(run))), signature, words)


def _open_folder(folder: Path, format: LatticeFormat) -> LatticeSource:
    # The lattices of a large run are in folders of a thousand each, named by numbers.
    folders = [folder, *(p for p in folder.iterdir() if p.name.isdecimal() and p.is_dir())]
    files = (p for place in folders for p in place.iterdir() if p.name.endswith((".fst", ".fst.gz")))
    paths = sorted(files, key=_natural_key)
    if not paths:
        raise InputError("found no run.json and no files .fst or .fst.gz; one or the other is needed", path=folder)
    items = [_file_item(path, format) for path in paths]
    for item, other, path in zip(items, items[1:], paths[1:], strict=False):
        if item.id == other.id:
            raise InputError("found the same lattice gzipped and not; one of them is allowed", path=path)
    return LatticeSource(folder, items, _signature(paths, format.text()))


def _natural_key(path: Path) -> list[tuple[int, str]]:
    """Numbers in names count as numbers: 2.fst comes before 10.fst."""
    parts = re.split(r"(\d+)", _stem(path))
    return [(int(part), part) if part.isdecimal() else (-1, part) for part in parts]


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".fst")


def _file_item(path: Path, format: LatticeFormat) -> LatticeItem:
    return LatticeItem(_stem(path), lambda: _without_marks(Lattice.read(path, format)))


def _without_marks(lattice: Lattice) -> Lattice:
    """Sentence marks as epsilon, which lattices are freed of; their costs stay."""
    marks = [number for number, word in enumerate(lattice.words) if word in MARKS]
    if not marks:
        return lattice
    source, word, target, *rest = lattice.to_arrays()
    kept = np.array([number for number in range(len(lattice.words)) if number not in marks], np.int32)
    renumbered = np.full(len(lattice.words), -1, np.int32)  # from_arrays makes 0, epsilon, of -1
    renumbered[kept] = np.arange(len(kept))
    words = [lattice.words[number] for number in kept]
    return Lattice.from_arrays(words, 0 if lattice.num_states else -1, source, renumbered[word], target, *rest)


def _open_nbest(
    path: Path, read: Callable[[AnyPath], Iterator[NbestEntry]], weights: Mapping[str, float] | None
) -> LatticeSource:
    items: list[LatticeItem] = []
    words: set[str] = set()
    chosen = "" if weights is None else repr(sorted(weights.items()))
    contents = sha256(chosen.encode())
    for (_, id), group in groupby(read(path), key=lambda entry: (entry.sentence, entry.id)):
        strings = [Hypothesis(entry.tokens, _cost(entry, weights, path)) for entry in group]
        words.update(token for string in strings for token in string.tokens)
        contents.update(repr((id, strings)).encode())
        items.append(LatticeItem(id, _list_reader(strings)))
    again = [id for id, count in _counts(item.id for item in items).items() if count > 1]
    if again:
        raise InputError(f"sentence {again[0]} comes back after another; the strings of one stand together", path=path)
    signature = contents.hexdigest()[:12] if str(path) == "-" else _signature([path], chosen)
    return LatticeSource(path, items, signature, words - set(MARKS))


def _list_of_stdin() -> Callable[[AnyPath], Iterator[NbestEntry]]:
    """How the n-best list on standard input is read: that of Moses begins with a number, JSON Lines with a brace."""
    if sys.stdin is None:
        raise InputError("standard input is closed; give a file")
    reader: Any = sys.stdin.buffer
    is_json = reader.peek(1)[:1] == b"{"
    return read_jsonl if is_json else read_moses


def _counts(ids: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for id in ids:
        counts[id] = counts.get(id, 0) + 1
    return counts


def _list_reader(strings: Sequence[Hypothesis]) -> Reader:
    def read() -> Lattice:
        words = sorted({token for string in strings for token in string.tokens})
        return _without_marks(Lattice.from_strings(words, strings))

    return read


def _cost(entry: NbestEntry, weights: Mapping[str, float] | None, path: Path) -> float:
    if weights is None:
        return entry.cost
    for name in weights:
        if len(entry.features.get(name, ())) != 1:
            found = f"sentence {entry.id} has {len(entry.features.get(name, ()))} numbers for the feature {name!r}"
            raise InputError(f"{found}; one is needed, and there are {', '.join(entry.features) or 'none'}", path=path)
    return 0.0 - sum(weight * entry.features[name][0] for name, weight in weights.items())


def _signature(paths: Iterable[Path], text: str = "") -> str:
    """A short hash of the names and the contents of files."""
    whole = sha256(text.encode())
    for path in paths:
        with path.open("rb") as file:
            whole.update(f"{path.name} {file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:12]


_LISTS: dict[str, Callable[[AnyPath], Iterator[NbestEntry]]] = {
    "txt": read_moses,
    "nbest": read_moses,
    "jsonl": read_jsonl,
    "tsv": read_tsv,
}
