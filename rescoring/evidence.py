"""Evidence from machine translation: n-gram posteriors of what other systems say a sentence is.

Evidence         what all kinds have: a number of sentences, their ids, and the posteriors of each
StringEvidence   weighted strings; the posterior of an n-gram is the share of those that contain it
LatticeEvidence  lattices of other systems
read_outputs     the outputs of several systems in JSON Lines, as {"outputs": {"system": "text"}}
read_texts       the outputs of several systems, a file each, one sentence a line
read_nbest       scored n-best lists, of Moses or as JSON Lines; a string weighs exp(scale · score)
read_evidence    any of them, or lattices, by the name of the format
EvidenceFiles    the files of evidence and how they are read
shared_words_warning   when lattices and their evidence have no words in common, as labels beside words
align            which sentence of the evidence belongs to which lattice: by order or by id
parse_weights    weights of systems, written like `Online-A=2,UEdin=0`

A sentence that was cut into pieces to be ordered is one lattice again by the time it gets here: it goes with the
evidence of the whole sentence.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from gyro.errors import InputError
from gyro.files import parse_object
from gyro.lattice.nbest import read_jsonl, read_moses
from gyro.text.corpus import Normalisation, read_lines, tokenize
from rescoring.posterior import ORDER, Posteriors, ngram_posteriors, string_posteriors
from rescoring.source import LatticeItem, open_lattices

AnyPath = str | PathLike[str]
Weights = Mapping[str, float]
Tokens = tuple[str, ...]

FORMATS = ("outputs", "text", "moses", "lattices")
ALIGNMENTS = ("order", "id")


class Evidence(Protocol):
    """Posteriors of many sentences."""

    @property
    def ids(self) -> Sequence[str]: ...

    def posteriors(self, number: int) -> Posteriors:
        """Those of a sentence, counted from 0."""
        ...

    def words(self, number: int) -> frozenset[str]:
        """The words of its strings."""
        ...


@dataclass(frozen=True)
class StringEvidence:
    """For each sentence, strings and their weights; a sentence without strings has no n-grams."""

    ids: tuple[str, ...]
    strings: tuple[tuple[Tokens, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    order: int = ORDER

    def posteriors(self, number: int) -> Posteriors:
        return string_posteriors(self.strings[number], self.weights[number], self.order)

    def words(self, number: int) -> frozenset[str]:
        return frozenset(token for string in self.strings[number] for token in string)


@dataclass(frozen=True)
class LatticeEvidence:
    """Lattices that are read when they are asked for; their words are taken as they are."""

    items: Sequence[LatticeItem]
    scale: float = 1.0
    prune: float | None = None
    order: int = ORDER

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.items)

    def posteriors(self, number: int) -> Posteriors:
        lattice = self.items[number].lattice()
        if lattice is None:
            return string_posteriors([], order=self.order)
        return ngram_posteriors(lattice, order=self.order, scale=self.scale, prune=self.prune)

    def words(self, number: int) -> frozenset[str]:
        return self.items[number].words()


def read_outputs(
    path: AnyPath, normalisation: Normalisation, *, field: str = "outputs", weights: Weights | None = None
) -> StringEvidence:
    """The outputs of several systems: an object a line, with the texts by system under `field`.

    A system without a weight has weight 1. The id of a line is its `id` or, without one, its number from 1.
    """
    chosen = dict(weights or {})
    unused = set(chosen)
    ids, strings, shares = [], [], []
    for number, line in enumerate(read_lines(path), 1):
        value = parse_object(line, path, number)
        texts = value.get(field)
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            found = f"found {field} {texts!r:.60}; an object of texts by system is needed"
            raise InputError(found, path=path, line=number)
        ids.append(str(value.get("id", number)))
        strings.append(tuple(tuple(tokenize(text, normalisation)) for text in texts.values()))
        shares.append(tuple(chosen.get(system, 1.0) for system in texts))
        if texts and not any(shares[-1]):
            raise InputError("found no system with a weight above 0", path=path, line=number)
        unused.difference_update(texts)
    if unused:
        raise InputError(f"found a weight for {sorted(unused)[0]!r}, which is no system there", path=path)
    return StringEvidence(tuple(ids), tuple(strings), tuple(shares))


def read_texts(
    paths: Sequence[AnyPath], normalisation: Normalisation, *, weights: Weights | None = None
) -> StringEvidence:
    """The outputs of several systems, a file each; weights are given by the names of the files."""
    chosen = dict(weights or {})
    names = [Path(path).name for path in paths]
    for name in chosen:
        if name not in names:
            raise InputError(f"found a weight for {name!r}; the files are {', '.join(names)}")
    columns = [[tuple(tokenize(line, normalisation)) for line in read_lines(path)] for path in paths]
    for path, column in zip(paths, columns, strict=True):
        if len(column) != len(columns[0]):
            raise InputError(f"found {len(column)} lines; {paths[0]} has {len(columns[0])}", path=path)
    shares = tuple(chosen.get(name, 1.0) for name in names)
    if not any(shares):
        raise InputError("found no system with a weight above 0")
    strings = tuple(zip(*columns, strict=True))
    return StringEvidence(_numbered(len(strings)), strings, (shares,) * len(strings))


def read_nbest(path: AnyPath, normalisation: Normalisation, *, scale: float = 1.0) -> StringEvidence:
    """Scored n-best lists (.jsonl, else Moses' format): a string weighs exp(scale · score), as often as it is listed.

    Sentences count from 0, as Moses does it; one without strings between others is left without evidence.
    """
    if not 0.0 <= scale < math.inf:
        raise InputError(f"found the scale {scale} of an n-best list; a number from 0 is allowed")
    is_jsonl = ".jsonl" in Path(path).suffixes
    lists: dict[int, list[tuple[Tokens, float]]] = {}
    ids: dict[int, str] = {}
    for entry in (read_jsonl if is_jsonl else read_moses)(path):
        tokens = tuple(tokenize(" ".join(entry.tokens), normalisation))
        lists.setdefault(entry.sentence, []).append((tokens, entry.cost))
        ids[entry.sentence] = entry.id
    strings, shares = [], []
    for sentence in range(max(lists, default=-1) + 1):
        found = lists.get(sentence, [])
        least = min((cost for _, cost in found), default=0.0)
        strings.append(tuple(tokens for tokens, _ in found))
        shares.append(tuple(math.exp(-scale * (cost - least)) for _, cost in found))
    names = tuple(ids.get(sentence, str(sentence + 1)) for sentence in range(len(strings)))
    return StringEvidence(names, tuple(strings), tuple(shares))


def read_evidence(
    paths: Sequence[AnyPath],
    format: str,
    normalisation: Normalisation,
    *,
    field: str = "outputs",
    weights: Weights | None = None,
    scale: float = 1.0,
    prune: float | None = None,
    marks: Collection[int] = (),
) -> Evidence:
    """Evidence of a format of FORMATS; `scale`, `prune` and `marks` are those of lattices and n-best lists."""
    if format not in FORMATS:
        raise InputError(f"found the format {format!r} of evidence; allowed are {', '.join(FORMATS)}")
    if weights and format not in ("outputs", "text"):
        raise InputError(f"found weights of systems for evidence of the format {format!r}; outputs or text is needed")
    if format == "text":
        return read_texts(paths, normalisation, weights=weights)
    if len(paths) != 1:
        raise InputError(f"found {len(paths)} files of evidence; several are allowed for the format text alone")
    if format == "outputs":
        return read_outputs(paths[0], normalisation, field=field, weights=weights)
    if format == "moses":
        return read_nbest(paths[0], normalisation, scale=scale)
    return LatticeEvidence(open_lattices(paths[0], marks=marks), scale, prune)


@dataclass(frozen=True)
class EvidenceFiles:
    """Files of evidence and how they are read (`read_evidence`); `by` is what brings sentences and lattices together.

    `scale` is that of lattices and n-best lists (default: the scale of our own posteriors).
    """

    files: tuple[str, ...]
    normalisation: Normalisation
    format: str = "outputs"
    field: str = "outputs"
    by: str = "order"
    scale: float | None = None
    # Not `field`, which is a field of this class.
    weights: Weights = dataclasses.field(default_factory=dict)
    marks: tuple[int, ...] = ()

    def read(self, scale: float, prune: float) -> Evidence:
        """The evidence; `scale` and `prune` are those of our own posteriors."""
        return read_evidence(
            self.files,
            self.format,
            self.normalisation,
            field=self.field,
            weights=self.weights,
            scale=scale if self.scale is None else self.scale,
            prune=prune,
            marks=self.marks,
        )

    def settings(self) -> dict[str, Any]:
        """What tells one evidence from another: how it is read, and the contents of its files."""
        return {
            "by": self.by,
            "format": self.format,
            "field": self.field,
            "scale": self.scale,
            "weights": dict(self.weights),
            **self.normalisation.to_json(),
            "files": [_digest(Path(path)) for path in self.files],
            **({"marks": list(self.marks)} if self.marks else {}),
        }


def _digest(path: Path) -> str:
    if path.is_dir():
        return open_lattices(path).signature
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error


def align(evidence: Evidence, ids: Sequence[str], by: str = "order") -> list[int]:
    """The number of the evidence's sentence for each lattice, whose ids are given.

    By order there must be as many sentences as lattices; by id the evidence may have more.
    """
    if by not in ALIGNMENTS:
        raise InputError(f"found the alignment {by!r} of evidence; allowed are {', '.join(ALIGNMENTS)}")
    if by == "order":
        if len(evidence.ids) != len(ids):
            found = f"found evidence for {len(evidence.ids)} sentences and {len(ids)} lattices"
            raise InputError(f"{found}; as many of both are needed, or ids by which they are brought together")
        return list(range(len(ids)))
    number = {id: place for place, id in enumerate(evidence.ids)}
    if len(number) < len(evidence.ids):
        again = next(id for place, id in enumerate(evidence.ids) if number[id] != place)
        raise InputError(f"found the id {again!r} twice in the evidence; each may come once")
    for id in ids:
        if id not in number:
            raise InputError(f"found no evidence for the lattice {id!r} among {len(evidence.ids)} sentences")
    return [number[id] for id in ids]


def shared_words_warning(evidence: Evidence, lattices: Sequence[LatticeItem], sentence: Sequence[int]) -> str | None:
    """What is wrong when lattices have no word in common with their evidence; None when all have.

    `sentence[k]` is the number of the evidence's sentence for the kth lattice.
    """
    alone: list[str] = []
    compared = words = shared = 0
    for item, number in zip(lattices, sentence, strict=True):
        ours, theirs = item.words(), evidence.words(number)
        if not ours or not theirs:
            continue
        compared, words, shared = compared + 1, words + len(theirs), shared + len(ours & theirs)
        if ours.isdisjoint(theirs):
            alone.append(f"lattice {item.id!r} has {min(ours)!r}, its evidence {min(theirs)!r}")
    if not alone:
        return None
    found = f"the evidence shares no word with {len(alone)} of {compared} lattices"
    return f"{found}; {shared} of its {words} words are in theirs; {alone[0]}"


def parse_weights(text: str) -> dict[str, float]:
    """Read weights of systems.

    >>> parse_weights("Online-A=2,UEdin=0.5")
    {'Online-A': 2.0, 'UEdin': 0.5}
    """
    return dict(_parse_weight(part) for part in text.split(",") if part.strip())


def _parse_weight(part: str) -> tuple[str, float]:
    name, _, number = part.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not name.strip() or not 0.0 <= weight < math.inf:
        raise InputError(f"found the weight {part!r}; SYSTEM=NUMBER is allowed, with a number from 0")
    return name.strip(), weight


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))
