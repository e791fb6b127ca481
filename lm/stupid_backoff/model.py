"""Stupid backoff (Brants et al. 2007) straight from the counts of a text index: no training, any order up to its own.

StupidBackoff  the model: scores of strings, acceptors and walkers
open_named     a model for lm.loading: INDEX, INDEX:ORDER, or an order alone
BackoffWalker  its contexts in bulk, numbered as they are reached

With h a history of up to order - 1 words, <s> included, and f the counts,

    S(w | h) = f(h w) / f(h)             if f(h w) > 0
               α · S(w | h without its first word)   else            (their equation 5; α = 0.4)
    S(w)     = f(w) / N,   N = the tokens and sentence ends of the text

These are scores, not probabilities: they do not sum to one. A word that the text does not have counts as seen UNSEEN
times. Each word that is dropped from the history costs α even if the text does not have the history at all, so a score
depends on the longest known end of the history and on the history's length; the two together are a context here.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.index.reader import BEGIN, END, TextIndex, open_index
from gyro.lattice.automaton import WordAutomaton
from gyro.row_table import RowTable
from gyro.text.corpus import Normalisation, check_words
from lm.loading import OwnModels
from lm.stupid_backoff.acceptor import context_tables, tables_to_automaton
from lm.walker import Walker

UNSEEN = 0.5

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


class StupidBackoff:
    """A model over the counts of an index.

    model = StupidBackoff(open_index("news.index"))
    model.score("the cat sat .".split())         # -log of the product of S, with <s> and </s>
    """

    def __init__(self, index: TextIndex, order: int | None = None, alpha: float = 0.4) -> None:
        if order is not None and not 1 <= order <= index.order:
            raise InputError(f"found the order {order}; 1 to {index.order} is allowed", path=index.path)
        if not 0 < alpha <= 1:
            raise InputError(f"found α = {alpha}; a number over 0 and up to 1 is allowed")
        self.index = index
        self.order = index.order if order is None else order
        self.alpha = alpha
        self.backoff_cost = -math.log(alpha) + 0.0
        self._begin, self._end = int(self.word_ids([BEGIN])[0]), int(self.word_ids([END])[0])
        self._log_total = math.log(index.num_tokens + index.num_sentences)

    @property
    def normalisation(self) -> Normalisation | None:
        return self.index.normalisation

    @property
    def column(self) -> str:
        return f"SB{self.order}"

    @property
    def signature(self) -> str:
        facts = f"stupid backoff {self.index.signature} {self.order} {self.alpha!r}"
        return sha256(facts.encode()).hexdigest()[:12]

    def __repr__(self) -> str:
        return f"StupidBackoff({str(self.index.path)!r}, order {self.order}, α = {self.alpha})"

    def score(self, tokens: Sequence[str], bos: bool = True, eos: bool = True) -> float:
        """The cost of a string, with sentence start and end unless told otherwise."""
        words = self.word_ids(tokens)
        history = np.array([self._begin] if bos else [], np.int64)
        words = np.concatenate([history, words, np.array([self._end] if eos else [], np.int64)])
        costs, dropped = self.word_costs(words), np.minimum(np.arange(len(words)), self.order - 1)
        level, places = words, np.flatnonzero(words >= 0)
        for n in range(2, self.order + 1):
            places = places[(places > 0) & (level[places - 1] >= 0)]
            found = self.index.extend(n, level[places - 1], words[places])
            places, parents, found = places[found >= 0], level[places[found >= 0] - 1], found[found >= 0]
            costs[places] = self.ngram_costs(n, parents, found)
            dropped[places] -= 1
            level = np.full(len(words), -1, np.int64)
            level[places] = found
        first = len(history)
        return float(costs[first:].sum() + dropped[first:].sum() * self.backoff_cost)

    def acceptor(self, words: Sequence[str], *, start: bool = True, end: bool = True) -> WordAutomaton:
        """The model restricted to these distinct words, exact and deterministic.

        start: the string begins a sentence (else nothing is known of what was before); end: it ends one.
        """
        check_words(words)
        ids = self.word_ids(words)
        columns = np.append(ids, self._end) if end else ids
        tables = context_tables(
            self.index,
            columns,
            order=self.order,
            begin=self._begin if start else None,
            word_costs=self.word_costs(columns),
            backoff_cost=self.backoff_cost,
        )
        return tables_to_automaton(tuple(words), tables, self.order - 1, self.backoff_cost, begins=start, ends=end)

    def verify(self) -> None:
        """Compare the files of the index with their checksums."""
        self.index.verify()

    def walkers(self) -> Callable[[Sequence[str]], Walker]:
        """A function that makes the walker over the contexts of strings of given words."""
        return lambda words: BackoffWalker(self, self.word_ids(words), self._begin, self._end)

    def word_ids(self, words: Sequence[str]) -> Ints:
        """The numbers of words in the index; -1 for words that it does not have."""
        found = (self.index.word_id(word) for word in words)
        return np.array([-1 if number is None else number for number in found], np.int64)

    def word_costs(self, ids: Ints) -> Costs:
        """-log S(w) of words without history."""
        counts = np.full(len(ids), UNSEEN)
        counts[ids >= 0] = self.index.counts(1, ids[ids >= 0])
        costs: Costs = self._log_total - np.log(counts)
        return costs

    def ngram_costs(self, order: int, parents: Ints, ranks: Ints) -> Costs:
        """-log f(h w) / f(h) of n-grams of this order by their ranks and those of their histories."""
        cost: Costs = np.log(self.index.counts(order - 1, parents)) - np.log(self.index.counts(order, ranks))
        return cost


class BackoffWalker:
    """Contexts as rows: the length of the history, then the ranks of its last one, two … words, -1 for unknown ones."""

    def __init__(self, model: StupidBackoff, ids: Ints, begin: int, end: int) -> None:
        self._model = model
        self._ids = ids
        self._end = end
        self._contexts = RowTable(model.order)
        first = np.full((1, model.order), -1, np.int64)
        first[0, :2] = [min(1, model.order - 1), begin][: model.order]
        self.start = int(self._contexts.number(first)[0])

    def step(self, contexts: Ints, words: Ints) -> tuple[Ints, Costs]:
        after, costs = self._look_up(contexts, self._ids[words])
        return self._contexts.number(after), costs

    def end(self, contexts: Ints) -> Costs:
        return self._look_up(contexts, np.full(len(contexts), self._end, np.int64))[1]

    def _look_up(self, contexts: Ints, words: Ints) -> tuple[NDArray[np.int64], Costs]:
        """The rows after these words, and the words' costs: one bulk look-up for each length of history."""
        model, rows = self._model, self._contexts.rows[contexts]
        after = np.full(rows.shape, -1, np.int64)
        after[:, 0] = np.minimum(rows[:, 0] + 1, model.order - 1)
        after[:, 1:2] = words[:, None]
        costs, dropped = model.word_costs(words), rows[:, 0].copy()
        known = np.flatnonzero(words >= 0)
        for n in range(2, model.order + 1):
            # An n-gram is there only if the one without its first word is.
            known = known[rows[known, n - 1] >= 0]
            found = model.index.extend(n, rows[known, n - 1], words[known])
            known, found = known[found >= 0], found[found >= 0]
            costs[known] = model.ngram_costs(n, rows[known, n - 1], found)
            dropped[known] -= 1
            if n < model.order:
                after[known, n] = found
        return after, costs + dropped * model.backoff_cost


def open_named(place: str, own: OwnModels) -> StupidBackoff:
    """A model over an index by its folder, with or without an order; an order alone is over the index made together."""
    if place.isdecimal() and len(place) < 10 and own.index is not None:
        return StupidBackoff(open_index(own.index), int(place))
    match = None if os.path.isdir(place) else re.fullmatch(r"(.+):(\d{1,9})", place)
    return StupidBackoff(open_index(match[1] if match else place), int(match[2]) if match else None)
