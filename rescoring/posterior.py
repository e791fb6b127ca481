"""n-gram posteriors: the probability that a string contains an n-gram at least once.

Posteriors         n-grams of all orders and their probabilities; a mapping from tuples of words
string_posteriors  of weighted strings: the share of those that contain the n-gram
check_orders       refuse orders of n-grams that are not known here

Those of lattices are in rescoring.lattice_posterior, the files of them in rescoring.posterior_file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from gyro.errors import InputError
from rescoring.ngram_paths import Floats, Keys, check_vocabulary, pack, unpack

ORDER = 4
MOST_ORDER = 9

Ngram = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Posteriors(Mapping[Ngram, float]):
    """The n-grams of orders 1, 2, … and their probabilities; those that are not there have probability 0.

    `packed[n - 1]` are the n-grams of n words as sorted numbers (rescoring.ngram_paths); `probabilities` go with them.

    >>> posteriors = string_posteriors([("a", "b"), ("b", "a")], [3, 1])
    >>> posteriors["a", "b"], posteriors["a",], posteriors.probability(("b", "b"))
    (0.75, 1.0, 0.0)
    """

    words: tuple[str, ...]
    packed: tuple[Keys, ...]
    probabilities: tuple[Floats, ...]

    @property
    def order(self) -> int:
        return len(self.packed)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Ngram, float], order: int = ORDER) -> Posteriors:
        """Posteriors of n-grams given one by one."""
        words = tuple(sorted(set(chain.from_iterable(mapping))))
        base = check_vocabulary(words, order)
        number = {word: i + 1 for i, word in enumerate(words)}
        grams: list[list[Ngram]] = [[] for _ in range(order)]
        for gram in mapping:
            if not 1 <= len(gram) <= order:
                raise InputError(f"found the n-gram {' '.join(gram)!r}; 1 to {order} words are allowed")
            grams[len(gram) - 1].append(gram)
        keys, values = [], []
        for n, of_order in enumerate(grams, 1):
            packed = pack(np.array([[number[word] for word in gram] for gram in of_order]).reshape(-1, n), base)
            place = np.argsort(packed)
            keys.append(packed[place])
            values.append(np.array([mapping[gram] for gram in of_order], np.float64)[place])
        return cls(words, tuple(keys), tuple(values))

    def probability(self, gram: Sequence[str]) -> float:
        """The probability of an n-gram, 0 when it is not there."""
        return self.get(tuple(gram), 0.0)

    def __getitem__(self, gram: Ngram) -> float:
        numbers = [self._number.get(word, 0) for word in gram]
        if 1 <= len(numbers) <= self.order and all(numbers):
            keys = self.packed[len(numbers) - 1]
            key = pack(np.array([numbers]), len(self.words) + 1)[0]
            place = int(np.searchsorted(keys, key))
            if place < len(keys) and keys[place] == key:
                return float(self.probabilities[len(numbers) - 1][place])
        raise KeyError(gram)

    def __iter__(self) -> Iterator[Ngram]:
        for n, keys in enumerate(self.packed, 1):
            for row in unpack(keys, len(self.words) + 1, n).tolist():
                yield tuple(self.words[digit - 1] for digit in row)

    def __len__(self) -> int:
        return sum(map(len, self.packed))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i + 1 for i, word in enumerate(self.words)}

    def look_up(self, words: Sequence[str], n: int, keys: Keys) -> Floats:
        """The probabilities of n-grams of `n` words packed over other `words`; 0 for those that are not here."""
        if n > self.order or not len(self.packed[n - 1]):
            return np.zeros(len(keys))
        table = np.array([0, *(self._number.get(word, 0) for word in words)], np.int64)
        mine = table[unpack(keys, len(words) + 1, n)]
        packed = pack(mine, len(self.words) + 1)
        known = self.packed[n - 1]
        place = np.minimum(np.searchsorted(known, packed), len(known) - 1)
        found = (known[place] == packed) & (mine > 0).all(axis=1)
        return np.where(found, self.probabilities[n - 1][place], 0.0)

    def mix(self, other: Posteriors, alpha: float) -> Posteriors:
        """α times these plus 1 - α times the others."""
        if not 0.0 <= alpha <= 1.0:
            raise InputError(f"found the share α = {alpha}; 0 to 1 is allowed")
        words = tuple(sorted({*self.words, *other.words}))
        order = max(self.order, other.order)
        base = check_vocabulary(words, order)
        keys, values = [], []
        for n in range(1, order + 1):
            parts = [part._keys_over(words, base, n) for part in (self, other)]
            union = np.unique(np.concatenate(parts))
            keys.append(union)
            values.append(alpha * self.look_up(words, n, union) + (1 - alpha) * other.look_up(words, n, union))
        return Posteriors(words, tuple(keys), tuple(values))

    def _keys_over(self, words: Sequence[str], base: int, n: int) -> Keys:
        if n > self.order:
            return np.empty(0, np.int64)
        number = {word: i + 1 for i, word in enumerate(words)}
        table = np.array([0, *(number[word] for word in self.words)], np.int64)
        return pack(table[unpack(self.packed[n - 1], len(self.words) + 1, n)], base)


def string_posteriors(
    strings: Sequence[Sequence[str]], weights: Sequence[float] | None = None, order: int = ORDER
) -> Posteriors:
    """The weighted share of the strings that contain each n-gram at least once; weights need not sum to 1."""
    shares = [1.0] * len(strings) if weights is None else [float(weight) for weight in weights]
    if len(shares) != len(strings):
        raise InputError(f"found {len(shares)} weights for {len(strings)} strings")
    total = sum(shares)
    if strings and not (min(shares) >= 0 and 0 < total < np.inf):
        raise InputError(f"found the weights {shares!r:.60}; none below 0 and one above 0 are needed")
    probabilities: dict[Ngram, float] = {}
    for string, share in zip(strings, shares, strict=True):
        tokens = tuple(string)
        grams = {tokens[i : i + n] for n in range(1, order + 1) for i in range(len(tokens) - n + 1)}
        for gram in grams if share else ():
            probabilities[gram] = probabilities.get(gram, 0.0) + share / total
    return Posteriors.from_mapping(probabilities, order)


def check_orders(least: int, most: int) -> None:
    """Refuse orders of n-grams that are not known here."""
    if not 1 <= least <= most <= MOST_ORDER:
        found = f"found n-grams of min_order = {least} to max_order = {most}"
        raise InputError(f"{found}; 1 to {MOST_ORDER} are allowed, the smaller first")
