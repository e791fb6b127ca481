"""Evidence from machine translation: n-gram posteriors of what other systems say a sentence is.

Evidence         what all kinds have: the ids of sentences, and the posteriors and words of each
LatticeEvidence  lattices of other systems
read_evidence    these, strings (rescoring.string_evidence) or posteriors (rescoring.posterior_file) of a format
EvidenceFiles    the files of evidence and how they are read
align            which sentence of the evidence belongs to which lattice: by order or by id
shared_words_warning   when lattices and their evidence have no words in common, as labels beside words
missing_orders_warning when posteriors in a file have no n-grams of an order that counts

A sentence that was cut into pieces to be ordered is one lattice again by the time it gets here: it goes with the
evidence of the whole sentence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, Protocol

from gyro.errors import InputError
from gyro.lattice.file_format import OWN_FORMAT, LatticeFormat
from gyro.text.corpus import Normalisation
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.posterior import ORDER, Posteriors, string_posteriors
from rescoring.posterior_file import PosteriorEvidence, read_posteriors
from rescoring.source import LatticeItem, id_places, open_lattices
from rescoring.string_evidence import AnyPath, Weights, read_nbest, read_outputs, read_texts

FORMATS = ("outputs", "text", "moses", "tsv", "lattices", "posteriors")
ALIGNMENTS = ("id", "order")
_ID, _ORDER = (f'--mt-by {by} (in [mt]: by = "{by}")' for by in ALIGNMENTS)


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


def read_evidence(
    paths: Sequence[AnyPath],
    format: str,
    normalisation: Normalisation,
    *,
    field: str = "outputs",
    weights: Weights | None = None,
    scale: float = 1.0,
    prune: float | None = None,
    order: int = ORDER,
    lattices: LatticeFormat = OWN_FORMAT,
) -> Evidence:
    """Evidence of a format of FORMATS, for n-grams of up to `order` words.

    `scale` is for lattices and n-best lists, `prune` and `lattices` are for lattices.
    """
    if format not in FORMATS:
        raise InputError(f"found the format {format!r} of evidence; allowed are {', '.join(FORMATS)}")
    if weights and format not in ("outputs", "text"):
        raise InputError(f"found weights of systems for evidence of the format {format!r}; outputs or text is needed")
    if format == "text":
        return read_texts(paths, normalisation, weights=weights, order=order)
    if len(paths) != 1:
        raise InputError(f"found {len(paths)} files of evidence; several are allowed for the format text alone")
    if format == "outputs":
        return read_outputs(paths[0], normalisation, field=field, weights=weights, order=order)
    if format in ("moses", "tsv"):
        return read_nbest(paths[0], normalisation, scale=scale, order=order, format=format)
    if format == "posteriors":
        return read_posteriors(paths[0])
    return LatticeEvidence(open_lattices(paths[0], format=lattices), scale, prune, order)


@dataclass(frozen=True)
class EvidenceFiles:
    """Files of evidence and how they are read (`read_evidence`); `by` is what brings sentences and lattices together.

    `scale` is that of lattices and n-best lists (default: the scale of our own posteriors).
    """

    files: tuple[str, ...]
    normalisation: Normalisation
    format: str = "outputs"
    field: str = "outputs"
    by: str = "id"
    scale: float | None = None
    # Not `field`, which is a field of this class.
    weights: Weights = dataclasses.field(default_factory=dict)
    lattices: LatticeFormat = OWN_FORMAT

    def read(self, scale: float, prune: float, order: int = ORDER) -> Evidence:
        """The evidence; `scale`, `prune` and `order` are those of our own posteriors."""
        return read_evidence(
            self.files,
            self.format,
            self.normalisation,
            field=self.field,
            weights=self.weights,
            scale=scale if self.scale is None else self.scale,
            prune=prune,
            order=order,
            lattices=self.lattices,
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
            **self.lattices.settings(),
        }


def _digest(path: Path) -> str:
    if path.is_dir():
        return open_lattices(path).signature
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error


def align(evidence: Evidence, ids: Sequence[str], by: str = "id") -> list[int]:
    """The number of the evidence's sentence for each lattice, whose ids are given.

    By order there must be as many of both; by id (`rescoring.source.id_places`) the evidence may have more.
    """
    if by not in ALIGNMENTS:
        raise InputError(f"found the alignment {by!r} of evidence; allowed are {', '.join(ALIGNMENTS)}")
    if by == "order":
        if len(evidence.ids) != len(ids):
            found = f"found evidence for {len(evidence.ids)} sentences and {len(ids)} lattices"
            raise InputError(f"{found}; as many of both are needed, or {_ID}")
        return list(range(len(ids)))
    number = id_places(evidence.ids, ids)
    if len(number) < len(evidence.ids):
        again = next(id for place, id in enumerate(evidence.ids) if number[id] != place)
        raise InputError(f"found the id {again!r} twice in the evidence; each may come once")
    for id in ids:
        if id not in number:
            example = f", as {evidence.ids[0]!r:.60}" if evidence.ids else ""
            found = f"found no evidence for the lattice {id!r:.60} among {len(evidence.ids)} sentences{example}"
            raise InputError(f"{found}; the same ids are needed, or {_ORDER}")
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


def missing_orders_warning(evidence: Evidence, least: int, most: int) -> str | None:
    """What is wrong when posteriors out of a file have no n-grams of an order that counts; None when they have."""
    if not isinstance(evidence, PosteriorEvidence):
        return None
    missing = [str(n) for n in range(least, most + 1) if n not in evidence.orders]
    return f"the evidence has no n-grams of {' and '.join(missing)} words" if missing else None
