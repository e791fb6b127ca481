"""The phrases of a bag, L(Ω): the n-grams of the text index that the bag's tokens can make.

find_phrases  all of them, with their counts, by one bulk look-up for each length
PhraseSet     phrases as arrays over the bag's words
Phrase        one phrase: its words and how often the text has them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.index.reader import TextIndex
from gyro.text.bag import Bag

Grams = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Phrase:
    """An n-gram and how often the text has it."""

    words: tuple[str, ...]
    count: int


@dataclass(frozen=True, eq=False)
class PhraseSet:
    """Phrases over the distinct words of a bag.

    Row i of `grams[n-1]` is a phrase of n words, as indices into `words`, and occurs `counts[n-1][i]` times; the rows
    are sorted and distinct.

    >>> phrases = PhraseSet.from_phrases(("a", "b"), {("b", "a"): 3, ("a",): 7})
    >>> list(phrases)
    [Phrase(words=('a',), count=7), Phrase(words=('b', 'a'), count=3)]
    """

    words: tuple[str, ...]
    grams: tuple[Grams, ...]
    counts: tuple[Counts, ...]

    @classmethod
    def from_phrases(cls, words: Sequence[str], phrases: Mapping[tuple[str, ...], int]) -> PhraseSet:
        """The set of the given phrases, all of whose words must be among `words`."""
        number = {word: i for i, word in enumerate(words)}
        longest = max(map(len, phrases), default=1)
        rows: list[dict[tuple[int, ...], int]] = [{} for _ in range(longest)]
        for phrase, count in phrases.items():
            if not phrase or not all(word in number for word in phrase):
                raise InputError(f"found the phrase {' '.join(phrase)!r}; one or more of the bag's words are allowed")
            rows[len(phrase) - 1][tuple(number[word] for word in phrase)] = count
        grams = tuple(np.array(sorted(level), np.int32).reshape(-1, n) for n, level in enumerate(rows, 1))
        counts = tuple(np.array([level[row] for row in sorted(level)], np.int64) for level in rows)
        return cls(tuple(words), grams, counts)

    def __len__(self) -> int:
        return sum(map(len, self.counts))

    def __iter__(self) -> Iterator[Phrase]:
        for rows, counts in zip(self.grams, self.counts, strict=True):
            for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
                yield Phrase(tuple([self.words[i] for i in row]), count)

    def of_lengths(self, low: int, high: int) -> PhraseSet:
        """The phrases of `low` to `high` words; the other levels are there but empty."""
        sizes = [len(rows) if low <= n <= high else 0 for n, rows in enumerate(self.grams, 1)]
        grams = tuple(rows[:size] for rows, size in zip(self.grams, sizes, strict=True))
        return PhraseSet(self.words, grams, tuple(c[:size] for c, size in zip(self.counts, sizes, strict=True)))

    def with_unigrams(self, which: Iterable[int]) -> PhraseSet:
        """The same and, where missing, the words of these indices as 1-grams of count 0."""
        known = self.grams[0][:, 0]
        new = np.setdiff1d(np.fromiter(which, np.int32), known)
        if len(new) and not 0 <= new[0] <= new[-1] < len(self.words):
            raise ValueError(f"found the word indices {new.tolist()}; 0 to {len(self.words) - 1} are allowed")
        ones = np.concatenate([known, new])
        by_word = np.argsort(ones)
        counts = np.concatenate([self.counts[0], np.zeros(len(new), np.int64)])[by_word]
        return PhraseSet(self.words, (ones[by_word].reshape(-1, 1), *self.grams[1:]), (counts, *self.counts[1:]))


def find_phrases(index: TextIndex, bag: Bag, max_order: int = 5) -> PhraseSet:
    """All n-grams of the index, up to `max_order` words, that use no word more often than the bag has it.

    A phrase of n words starts with one of n-1, so each length is found from the one before: every phrase with every
    word that it leaves in the bag, looked up at once.
    """
    if max_order < 1:
        raise ValueError(f"found the order {max_order}; 1 or more is allowed")
    numbers = [index.word_id(word) for word in bag.words]
    known = np.array([i for i, number in enumerate(numbers) if number is not None], np.int32)
    word_ids = np.array([number for number in numbers if number is not None], np.int64)
    # left[p, w] is how many of the known word w the phrase p leaves in the bag.
    left = np.tile(np.array(bag.counts, np.int64)[known], (len(known), 1)) - np.eye(len(known), dtype=np.int64)
    ranks, rows = word_ids, known.reshape(-1, 1)
    grams, counts = [rows], [index.counts(1, ranks)]
    for order in range(2, min(max_order, index.order) + 1):
        phrase, word = np.nonzero(left)  # row by row, so that phrases stay sorted and the keys ascend
        found = index.extend(order, ranks[phrase], word_ids[word])
        is_found = found >= 0
        phrase, word, ranks = phrase[is_found], word[is_found], found[is_found]
        left = left[phrase]
        left[np.arange(len(word)), word] -= 1
        rows = np.column_stack([rows[phrase], known[word]])
        grams.append(rows)
        counts.append(index.counts(order, ranks))
    for order in range(len(grams) + 1, max_order + 1):
        grams.append(np.empty((0, order), np.int32))
        counts.append(np.empty(0, np.int64))
    return PhraseSet(bag.words, tuple(grams), tuple(counts))
