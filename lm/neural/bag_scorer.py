"""The strings of one bag under a neural model, and what it says of the words that may follow their beginnings.

BagScorer  scores strings of word numbers
Scored     what it says of some strings
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.text.detokenise import Glue, glue, spaced, written
from lm.neural.compiled import Engine, States
from lm.neural.model import DIGITS, NeuralModel, batches, string_costs, word_bounds
from lm.neural.trie import make_trie

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Scored:
    """`costs` of the strings; and for each of `prefixes`, beginnings that no string had before, a row of `next_cost`.

    A row has the cost of the first piece of each word, and of the end in its last column; NaN where a word is used up,
    or the end would come too early.
    """

    costs: NDArray[np.float64]
    prefixes: list[Numbers]
    next_cost: NDArray[np.float32]


class BagScorer:
    """Strings of word numbers over one bag, in eight bits; `decide` gives the costs of float32.

    `computed` counts the pieces that went through the model, whichever way: the measure of work.
    """

    def __init__(self, model: NeuralModel, words: Sequence[str]) -> None:
        self.model = model
        self.words = tuple(words)
        self.computed = 0
        self._seen: set[Numbers] = set()
        self._firsts = _FirstPieces(model, self.words)

    def decide(self, strings: Sequence[Numbers]) -> NDArray[np.float64]:
        """The costs in float32."""
        tokens = [[self.words[word] for word in string] for string in strings]
        costs, computed = self.model.count_costs(tokens)
        self.computed += computed
        return costs

    def score(self, strings: Sequence[Numbers]) -> Scored:
        """The costs in eight bits, and what the model says behind beginnings that were not seen before."""
        engine, end = self.model.engine(exact=False), self.model.checkpoint.end
        texts = [spaced([self.words[word] for word in string]) for string in strings]
        encoded = self.model.encode(["".join(text) for text in texts])
        pieces = [ids for ids, _ in encoded]
        costs = np.zeros(len(strings))
        prefixes: list[Numbers] = []
        rows = [np.empty((0, len(self.words) + 1), np.float32)]
        for some in batches(pieces):
            trie = make_trie([pieces[i] for i in some])
            states = engine.compute(trie)
            self.computed += len(trie)
            costs[some] = string_costs(engine, trie, states, end)
            new: dict[Numbers, int] = {}
            for place, i in enumerate(some):
                path, bounds = trie.path(place), word_bounds(texts[i], encoded[i][1])
                for length, bound in enumerate(bounds):
                    prefix = strings[i][:length]
                    if prefix not in self._seen:
                        self._seen.add(prefix)
                        new[prefix] = int(path[bound])
            whole = len(strings[some[0]])
            prefixes += new
            rows.append(self._next_costs(engine, states, new, strings[some[0]], whole))
        return Scored(np.round(costs, DIGITS), prefixes, np.concatenate(rows))

    def _next_costs(
        self, engine: Engine, states: States, new: dict[Numbers, int], string: Numbers, whole: int
    ) -> NDArray[np.float32]:
        """A row for each new beginning; all strings have the words of the first."""
        nodes = np.fromiter(new.values(), np.int64, len(new))
        firsts = self._firsts
        count = len(self.words)
        table = engine.table(states, nodes, firsts.pieces)
        first, glued, behind, ends = np.split(table, [count, 2 * count, 3 * count], axis=1)
        left = np.bincount(string, minlength=count)
        rows = np.full((len(new), count + 1), np.nan, np.float32)
        for row, prefix in enumerate(new):
            if prefix:
                after = firsts.after(prefix[-1])
                either = np.minimum(glued[row], behind[row])
                cost = np.where(after == Glue.BLANK, behind[row], np.where(after == Glue.NONE, glued[row], either))
            else:
                cost = first[row]
            cost = np.where(firsts.silent, 0, cost)
            free = left > np.bincount(prefix, minlength=count) if prefix else left > 0
            rows[row, :count][free] = cost[free]
            if len(prefix) == whole:
                rows[row, count] = ends[row, 0]
        return rows


class _FirstPieces:
    """The first piece of each word of a bag: at the beginning, glued to another word, behind a blank; and the end.

    A word of control characters may have no piece: the end stands in its place, and `silent` says so.
    """

    def __init__(self, model: NeuralModel, words: Sequence[str]) -> None:
        texts = [written(word) for word in words]
        first = [ids for ids, _ in model.encode(texts)]
        before = ["0"] * len(texts)  # few pieces go on behind a digit
        glued, behind = (model.encode_behind(before, [blank + text for text in texts]) for blank in ("", " "))
        end = model.checkpoint.end
        self.pieces = np.array([*(ids[0] if ids else end for ids in (*first, *glued, *behind)), end], np.int64)
        self.silent = np.array([not ids for ids in first], bool)
        self._words = words
        self._glue: dict[int, NDArray[np.int8]] = {}

    def after(self, before: int) -> NDArray[np.int8]:
        """For each word whether a blank stands before it behind this one."""
        if before not in self._glue:
            self._glue[before] = np.array([glue(self._words[before], each) for each in self._words], np.int8)
        return self._glue[before]
