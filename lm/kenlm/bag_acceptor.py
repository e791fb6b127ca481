"""G_Ω: the language model restricted to the words of one bag, as a small deterministic automaton.

log10_to_cost          KenLM's log10 probabilities as natural-log costs: the one place where they are converted
automaton_from_log10   the automaton of tables of next states and log10 probabilities
find_bag_states        such tables from a probing file, by looking up only the n-grams that the bag can make

A state is a context that the model continues, as in KenLM. The row of a state is the row of its longest shorter suffix
that is a state, plus the backoff, with the n-grams that begin with the context written over it. So an n-gram is looked
up only when both the n-gram without its last word and that without its first are in the model. Sums are made in single
precision and from short to long, as KenLM makes them: the results are equal to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.lattice.automaton import WordAutomaton
from lm.kenlm.probing import ProbingFile
from lm.kenlm.probing_kernel import bag_states


class BagStates(NamedTuple):
    """The states of G_Ω, numbered in breadth-first order from the start, which is 0."""

    next_state: NDArray[np.int32]  # states × words
    log10: NDArray[np.float32]  # states × words
    end_log10: NDArray[np.float32]  # states; zeros when the string does not end a sentence


def log10_to_cost(log10: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Natural-log costs of log10 probabilities."""
    cost = log10.astype(np.float64)
    cost *= -math.log(10)
    cost += 0.0  # no negative zeros
    return cost


def automaton_from_log10(words: Sequence[str], states: BagStates) -> WordAutomaton:
    """The automaton of the tables."""
    cost, end_cost = log10_to_cost(states.log10), log10_to_cost(states.end_log10)
    return WordAutomaton(tuple(words), 0, states.next_state, cost, end_cost)


def find_bag_states(file: ProbingFile, words: Sequence[str], *, start: bool, end: bool) -> BagStates:
    """The states of G_Ω for these words; the same as KenLM's own, reached from <s> or from nothing."""
    numbers = file.word_numbers(words)
    begin_sentence = file.begin_sentence if start else -1
    end_sentence = file.end_sentence if end else -1
    return BagStates(*bag_states(file.tables, numbers, begin_sentence, end_sentence))
