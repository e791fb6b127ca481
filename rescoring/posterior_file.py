"""Files of n-gram posteriors: a line `7<TAB>the dog<TAB>0.75` for each n-gram of the sentence 7.

posterior_lines    the lines of one sentence
read_posteriors    read a file of them
PosteriorEvidence  posteriors as they were read: evidence for minimum Bayes risk

The n-grams of a sentence stand together, those of fewer words first and then in the order of their words. Numbers are
written so that they read back as the same float. A sentence without n-grams is a line with its id alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from typing import Any, NamedTuple

from gyro.errors import InputError
from gyro.text.corpus import read_lines
from rescoring.posterior import MOST_ORDER, Ngram, Posteriors


@dataclass(frozen=True)
class PosteriorEvidence:
    """The posteriors of many sentences; `orders` are those of which there are n-grams."""

    ids: tuple[str, ...]
    sentences: tuple[Posteriors, ...]
    orders: frozenset[int]

    def posteriors(self, number: int) -> Posteriors:
        return self.sentences[number]

    def words(self, number: int) -> frozenset[str]:
        return frozenset(self.sentences[number].words)


def posterior_lines(id: str, posteriors: Mapping[Ngram, float], *, min_order: int = 1, least: float = 0.0) -> str:
    """The lines of a sentence: n-grams of `min_order` words or more with a probability of `least` or more.

    >>> posterior_lines("7", {("the", "dog"): 0.75, ("dog",): 1.0}).splitlines()
    ['7\\tdog\\t1.0', '7\\tthe dog\\t0.75']
    """
    if not id or any(character in id for character in "\t\n\r"):
        raise InputError(f"found the id {id!r:.60}; a file of posteriors has ids without tabs and ends of lines")
    chosen = [(gram, value) for gram, value in posteriors.items() if len(gram) >= min_order and value >= least]
    for word in {word for gram, _ in chosen for word in gram}:
        if word.split() != [word]:
            raise InputError(f"found the word {word!r:.60}; in a file of posteriors a word has no blanks")
    chosen.sort(key=lambda pair: (len(pair[0]), pair[0]))
    return "".join(f"{id}\t{' '.join(gram)}\t{float(value)!r}\n" for gram, value in chosen) or f"{id}\n"


def read_posteriors(path: str | PathLike[str]) -> PosteriorEvidence:
    """The posteriors of all sentences of a file, plain or packed."""
    sentences: dict[str, Posteriors] = {}
    orders: set[int] = set()
    for id, lines in groupby(_read(path), key=lambda line: line.id):
        grams: dict[Ngram, float] = {}
        only = None  # the line that has the id alone
        for line in lines:
            place: dict[str, Any] = {"path": path, "line": line.number}
            if id in sentences:
                raise InputError(f"found the id {id!r:.60} after another; its lines stand together", **place)
            if only or (line.gram is None and grams):
                raise InputError(f"found the id {id!r:.60} alone and with n-grams; one of both is allowed", **place)
            if line.gram is None:
                only = line
            elif line.gram in grams:
                raise InputError(f"found the n-gram {' '.join(line.gram)!r:.60} again; each may come once", **place)
            else:
                grams[line.gram] = line.value
        orders.update(map(len, grams))
        try:
            sentences[id] = Posteriors.from_mapping(grams, max(map(len, grams), default=1))
        except InputError as error:
            raise InputError(f"sentence {id!r:.60}: {error}", path=path) from error
    return PosteriorEvidence(tuple(sentences), tuple(sentences.values()), frozenset(orders))


class _Line(NamedTuple):
    number: int
    id: str
    gram: Ngram | None
    value: float


def _read(path: str | PathLike[str]) -> Iterator[_Line]:
    for number, line in enumerate(read_lines(path), 1):
        id, *columns = line.split("\t")
        try:
            if not id:
                raise InputError(f"found {line!r:.60} without an id; id, n-gram and posterior are needed")
            yield _Line(number, id, *(_parse(columns) if columns else (None, 0.0)))
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


def _parse(columns: list[str]) -> tuple[Ngram, float]:
    if len(columns) != 2:
        raise InputError(f"found {len(columns) + 1} columns; id, n-gram and posterior with tabs between are needed")
    gram = tuple(columns[0].split(" "))
    if len(gram) > MOST_ORDER or not all(word.split() == [word] for word in gram):
        raise InputError(
            f"found the n-gram {columns[0]!r:.60}; 1 to {MOST_ORDER} words with a blank between are needed"
        )
    try:
        value = float(columns[1])
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise InputError(f"found the posterior {columns[1]!r:.40}; 0 to 1 is allowed")
    return gram, value
