"""Evidence from strings that other systems say: outputs of several systems, and scored n-best lists.

StringEvidence  weighted strings; the posterior of an n-gram is the share of those that contain it
read_outputs    the outputs of several systems in JSON Lines, as {"outputs": {"system": "text"}}
read_texts      the outputs of several systems, a file each, one sentence a line
read_nbest      scored n-best lists, of Moses, as JSON Lines or as text and cost; a string weighs exp(scale · score)
parse_weights   weights of systems, written like `Online-A=2,UEdin=0`
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from gyro.errors import InputError
from gyro.files import parse_object
from gyro.lattice.nbest import read_jsonl, read_moses, read_tsv
from gyro.text.corpus import Normalisation, object_id, read_lines, tokenize
from rescoring.posterior import ORDER, Posteriors, string_posteriors

AnyPath = str | PathLike[str]
Weights = Mapping[str, float]
Tokens = tuple[str, ...]

_READERS = {".jsonl": read_jsonl, ".tsv": read_tsv}  # by the end of the name


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


def read_outputs(
    path: AnyPath,
    normalisation: Normalisation,
    *,
    field: str = "outputs",
    weights: Weights | None = None,
    order: int = ORDER,
) -> StringEvidence:
    """The outputs of several systems: an object a line, with the texts by system under `field`.

    A system without a weight has weight 1. The id of a line is that of gyro.text.corpus.object_id or,
    without one, its number from 1.
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
        ids.append(object_id(value) or str(number))
        strings.append(tuple(tuple(tokenize(text, normalisation)) for text in texts.values()))
        shares.append(tuple(chosen.get(system, 1.0) for system in texts))
        if texts and not any(shares[-1]):
            raise InputError("found no system with a weight above 0", path=path, line=number)
        unused.difference_update(texts)
    if unused:
        raise InputError(f"found a weight for {sorted(unused)[0]!r}, which is no system there", path=path)
    return StringEvidence(tuple(ids), tuple(strings), tuple(shares), order)


def read_texts(
    paths: Sequence[AnyPath], normalisation: Normalisation, *, weights: Weights | None = None, order: int = ORDER
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
    return StringEvidence(_numbered(len(strings)), strings, (shares,) * len(strings), order)


def read_nbest(
    path: AnyPath, normalisation: Normalisation, *, scale: float = 1.0, order: int = ORDER, format: str = "moses"
) -> StringEvidence:
    """Scored n-best lists: a string weighs exp(scale · score), as often as it is listed.

    Names with .jsonl and .tsv tell what they are; others are of the `format` "moses" or "tsv".
    Sentences count from 0, as Moses does it; one without strings between others is left without evidence.
    """
    if not 0.0 <= scale < math.inf:
        raise InputError(f"found the scale {scale} of an n-best list; a number from 0 is allowed")
    other = read_tsv if format == "tsv" else read_moses
    read = next((_READERS[end] for end in Path(path).suffixes if end in _READERS), other)
    lists: dict[int, list[tuple[Tokens, float]]] = {}
    ids: dict[int, str] = {}
    for entry in read(path):
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
    return StringEvidence(names, tuple(strings), tuple(shares), order)


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
