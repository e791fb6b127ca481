"""What an index holds of a bag: phrases, parses, and the n-grams of the reference.

Piece           a bag, or a piece of one that was cut, in figures
from_json       read one back
measure_pieces  those of a sentence
REFERENCE       the lengths of the reference's own n-grams that are looked up
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammars.phrase.closure import PhraseCosts, phrase_closure
from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet, find_phrases
from gyro.index.reader import TextIndex
from gyro.notation import parse_span
from gyro.search.piece import cut
from gyro.text.bag import Bag

REFERENCE = (3, 4, 5)


@dataclass(frozen=True)
class Piece:
    """A piece of the sentence with this number; the others are lists by length, or by rules.

    `parses`: whether the rules cover the bag, where each word that the index does not know is a rule, as in a search;
    `strict_parses`: without those. `reference_cuts`: whether the reference itself can be cut into rules, with those.
    `held` and `ngrams`: how many of the reference's n-grams of 3, 4 and 5 words the index has, and how many there are;
    none of those that are too long for it.
    """

    sentence: int
    tokens: int
    unknown: int
    phrases: tuple[int, ...]
    parses: tuple[bool, ...]
    strict_parses: tuple[bool, ...]
    reference_cuts: tuple[bool, ...]
    held: tuple[int, ...]
    ngrams: tuple[int, ...]


def from_json(record: Mapping[str, Any]) -> Piece:
    """Lists of JSON are tuples here."""
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in record.items()}
    return Piece(**values)


def measure_pieces(
    index: TextIndex, sentence: int, reference: Sequence[str], rules: Sequence[str], max_tokens: int
) -> Iterator[Piece]:
    """The pieces that a sentence is cut into, each a bag of its own."""
    for piece in cut(tuple(reference), max_tokens):
        bag = Bag(piece)
        phrases = find_phrases(index, bag, index.order)
        unknown = np.setdiff1d(np.arange(len(bag.words)), phrases.grams[0][:, 0])
        strict = [phrases.of_lengths(*parse_span(each)) for each in rules]
        sets = [each.with_unigrams(unknown) for each in strict]
        parses = tuple(PhraseGrammar(bag, each).has_parse() for each in sets)
        spans = [[piece[i : i + n] for i in range(len(piece) - n + 1) if n <= index.order] for n in REFERENCE]
        yield Piece(
            sentence=sentence,
            tokens=len(bag),
            unknown=sum(bag.counts[word] for word in unknown.tolist()),
            phrases=tuple(map(len, phrases.counts)),
            parses=parses,
            strict_parses=parses if not len(unknown) else tuple(_has_parse(bag, each) for each in strict),
            reference_cuts=tuple(phrase_closure(each, costs=PhraseCosts()).score(piece) == 0 for each in sets),
            held=tuple(sum(index.count(span) > 0 for span in of_length) for of_length in spans),
            ngrams=tuple(map(len, spans)),
        )


def _has_parse(bag: Bag, phrases: PhraseSet) -> bool:
    """Without any rule for some word there is none, which is quickly seen."""
    used = {word for grams in phrases.grams for word in np.unique(grams).tolist()}
    return len(used) == len(bag.words) and PhraseGrammar(bag, phrases).has_parse()
