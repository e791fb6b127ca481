"""Models that remember the words before them, as overlapping phrases need it.

remember_contexts  an automaton whose states know which contexts their strings end with
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.grammar import Context
from gyro.lattice.automaton import WordAutomaton, intersect


def remember_contexts(
    automaton: WordAutomaton, contexts: tuple[Context, ...]
) -> tuple[WordAutomaton, NDArray[np.bool_]]:
    """The same strings at the same costs, and for each state and context whether the words before end with it.

    A state is one of the automaton and the longest beginning of a context that the words before end with (Aho and
    Corasick 1975).
    """
    if contexts == ((),):
        return automaton, np.ones((automaton.num_states, 1), np.bool_)
    beginnings = {context[:length]: 0 for context in contexts for length in range(len(context) + 1)}
    for number, beginning in enumerate(beginnings):
        beginnings[beginning] = number
    next_state = np.empty((len(beginnings), len(automaton.words)), np.int32)
    for beginning, number in beginnings.items():
        for word in range(len(automaton.words)):
            longer = (*beginning, word)
            cuts = (longer[cut:] for cut in range(len(longer) + 1))
            next_state[number, word] = next(beginnings[ending] for ending in cuts if ending in beginnings)
    zeros = np.zeros(next_state.shape)
    memory = WordAutomaton(automaton.words, beginnings[()], next_state, zeros, np.zeros(len(beginnings)))
    whole = intersect(memory, automaton)
    remembered = list(beginnings)
    ends = np.array([[context == b[len(b) - len(context) :] for context in contexts] for b in remembered])
    return whole, ends[_first_states(whole, memory)]


def _first_states(whole: WordAutomaton, memory: WordAutomaton) -> NDArray[np.int64]:
    """The state of the memory in each state of the intersection: one walk over it from the start."""
    found = np.full(whole.num_states, -1, np.int64)
    found[whole.start] = memory.start
    waiting = [whole.start]
    while waiting:
        state = waiting.pop()
        for word in np.flatnonzero(whole.next_state[state] >= 0):
            after = int(whole.next_state[state, word])
            if found[after] < 0:
                found[after] = memory.next_state[found[state], word]
                waiting.append(after)
    return found
