"""Beginnings of strings whose keys and values are kept.

Prefixes  extends them by words, and tells what they cost
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gyro.text.detokenise import Glue, glue, spaced, written
from lm.neural.model import DIGITS, NeuralModel, Tokens
from lm.neural.trie import make_trie


class Prefixes:
    """Beginnings of strings whose states are kept: extending one by a word computes that word's pieces alone.

    prefixes = Prefixes(model)
    [the], [cost] = prefixes.extend([0], [["the"]])   # 0 is the empty beginning
    [the_cat], [cost] = prefixes.extend([the], [["cat"]])

    The words of an extension are spaced among themselves; a blank stands before them but at the beginning of a string
    and where detokenising glues the first of them to the last word of the beginning.
    """

    def __init__(self, model: NeuralModel, *, exact: bool = True) -> None:
        self._model = model
        self._engine = model.engine(exact)
        self._states = self._engine.start
        self._parent, self._depth = np.full(1, -1, np.int64), np.zeros(1, np.int64)
        self._node = [0]  # of each beginning
        self._cost = [0.0]
        self._last: list[str | None] = [None]

    def __len__(self) -> int:
        return len(self._node)

    def extend(self, numbers: Sequence[int], words: Sequence[Tokens]) -> tuple[list[int], NDArray[np.float64]]:
        """Extend beginnings, each by some words: the numbers of the new ones, and their whole costs, without an end."""
        before = [self._last[number] for number in numbers]
        texts = []
        for last, tokens in zip(before, words, strict=True):
            blank = last is not None and glue(last, tokens[0]) is not Glue.NONE
            texts.append(" " * blank + "".join(spaced(tokens)))
        pieces = self._model.encode_behind(["" if last is None else written(last) for last in before], texts)
        roots = np.array([self._node[number] for number in numbers], np.int64)
        trie = make_trie(pieces, roots, self._parent, self._depth)
        states = self._engine.compute(trie, self._states)
        spent = np.zeros(len(trie.parent))
        spent[trie.kept :] = self._engine.costs(states, trie.parent[trie.kept :], trie.piece)
        made = []
        for place, (number, tokens) in enumerate(zip(numbers, words, strict=True)):
            path = trie.path(place)
            made.append(len(self._node))
            self._node.append(int(path[-1]))
            self._cost.append(self._cost[number] + float(spent[path[1:]].sum()))
            self._last.append(tokens[-1])
        self._states = replace(
            states,
            keys=np.concatenate([self._states.keys, states.keys], axis=1),
            values=np.concatenate([self._states.values, states.values], axis=1),
        )
        self._parent = trie.parent
        self._depth = np.concatenate([self._depth, trie.depth])
        return made, np.round([self._cost[number] for number in made], DIGITS)

    def end_costs(self, numbers: Sequence[int]) -> NDArray[np.float64]:
        """What these beginnings cost as whole strings, with the end."""
        nodes = np.array([self._node[number] for number in numbers], np.int64)
        end = self._engine.costs(self._states, nodes, np.full(len(nodes), self._model.checkpoint.end))
        return np.round(np.array([self._cost[number] for number in numbers]) + end, DIGITS)
