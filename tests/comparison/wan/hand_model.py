"""A language model that a test writes down: any function of a context and a word is its cost.

HandModel   the model; contexts are tuples of words, of which "<s>" is one
random_cost a function with a cost of its own for everything
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from gyro.lattice.automaton import WordAutomaton
from gyro.text.corpus import Normalisation
from lm.walker import AutomatonWalker, Walker

Context = tuple[str, ...]


def random_cost(seed: int = 0) -> Callable[[Context, str], float]:
    return cache(lambda context, word: 0.1 + random.Random(f"{seed} {context} {word}").random() * 10)


class HandModel:
    """A model whose every context counts, known or not; "</s>" is a word of it."""

    column, signature = "HAND", "by-hand"
    normalisation: Normalisation | None = None

    def __init__(self, order: int, cost: Callable[[Context, str], float]) -> None:
        self.order = order
        self.cost = cost

    def after(self, context: Context, word: str) -> Context:
        whole = (*context, word)
        return whole[max(0, len(whole) - self.order + 1) :]

    def score(self, tokens: Sequence[str], bos: bool = True, eos: bool = True) -> float:
        context: Context = ("<s>",) if bos and self.order > 1 else ()
        total = 0.0
        for token in [*tokens, "</s>"] if eos else tokens:
            total += self.cost(context, token)
            context = self.after(context, token)
        return total

    def acceptor(self, words: Sequence[str], *, start: bool = True, end: bool = True) -> WordAutomaton:
        states: list[Context] = [("<s>",) if start and self.order > 1 else ()]
        number = {states[0]: 0}
        rows, costs = [], []
        for state in states:  # it grows
            for word in words:
                if (after := self.after(state, word)) not in number:
                    number[after] = len(states)
                    states.append(after)
            rows.append([number[self.after(state, word)] for word in words])
            costs.append([self.cost(state, word) for word in words])
        shape = (len(states), len(words))
        ends = [self.cost(state, "</s>") if end else 0.0 for state in states]
        next_state = np.array(rows, np.int32).reshape(shape)
        return WordAutomaton(tuple(words), 0, next_state, np.array(costs, float).reshape(shape), np.array(ends))

    def verify(self) -> None:
        pass

    def walkers(self) -> Callable[[Sequence[str]], Walker]:
        return lambda words: AutomatonWalker(self.acceptor(words))
