"""Walking over the contexts of a language model in bulk, as far as somebody asks and no further.

Walker           the protocol: from contexts by words to further contexts, with costs
AutomatonWalker  the walker of an acceptor that is there as a whole
walkers_of       a function that makes a model's walker for given words, the best way that the model allows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gyro.automaton import WordAutomaton
from gyro.errors import InputError
from lm.kenlm_model import KenlmModel
from lm.model import LanguageModel
from lm.probing import open_probing, read_header
from lm.probing_walker import ProbingWalker

Numbers = NDArray[np.int64]
Costs = NDArray[np.float64]


class Walker(Protocol):
    """Contexts of a model, numbered as they are reached; words are indices into the words that the walker is for."""

    @property
    def start(self) -> int:
        """The context at the start of a sentence."""

    def step(self, contexts: Numbers, words: Numbers) -> tuple[Numbers, Costs]:
        """For each context and word the context after it, and the cost of the word."""

    def end(self, contexts: Numbers) -> Costs:
        """The cost of the end of the sentence in each context."""


@runtime_checkable
class Walkable(Protocol):
    """A model that makes walkers itself."""

    def walker(self, words: Sequence[str]) -> Walker: ...


class AutomatonWalker:
    """The states of an automaton that accepts every string of its words."""

    def __init__(self, automaton: WordAutomaton) -> None:
        self._automaton = automaton
        self.start = automaton.start

    def step(self, contexts: Numbers, words: Numbers) -> tuple[Numbers, Costs]:
        after = self._automaton.next_state[contexts, words].astype(np.int64)
        return after, self._automaton.cost[contexts, words]

    def end(self, contexts: Numbers) -> Costs:
        return self._automaton.end_cost[contexts]


def walkers_of(model: LanguageModel) -> Callable[[Sequence[str]], Walker]:
    """How to walk over the model: what it takes to begin, such as mapping a file, is done once, here."""
    if isinstance(model, Walkable):
        return model.walker
    if isinstance(model, KenlmModel) and model.reads_in_bulk:
        header = read_header(model.path)
        file = None if header is None else open_probing(model.path, header)
        if file is None:
            raise InputError("the model was changed while it was in use", path=model.path)
        return lambda words: ProbingWalker(file, words)
    return lambda words: AutomatonWalker(model.acceptor(words))
