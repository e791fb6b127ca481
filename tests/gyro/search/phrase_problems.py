"""Small bags with phrases and a model for tests of the published algorithms.

Case              a bag, its phrases and the model; it knows all of its strings by brute force
cases             such cases, for hypothesis
is_segmentable    whether tokens can be cut into phrases
random_automaton  random costs and transitions
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton
from gyro.text.bag import Bag


@dataclass(frozen=True)
class Case:
    bag: Bag
    phrases: frozenset[tuple[str, ...]]
    automaton: WordAutomaton

    @property
    def grammar(self) -> PhraseGrammar:
        return PhraseGrammar(self.bag, PhraseSet.from_phrases(self.bag.words, dict.fromkeys(self.phrases, 1)))

    def strings(self) -> dict[tuple[str, ...], float]:
        """All orders of the bag that can be cut into phrases and that the automaton accepts, with their costs."""
        found = {}
        for tokens in set(itertools.permutations(self.bag.tokens)):
            if is_segmentable(tokens, self.phrases) and self.automaton.score(tokens) != np.inf:
                found[tokens] = self.automaton.score(tokens)
        return found


def is_segmentable(tokens: tuple[str, ...], phrases: frozenset[tuple[str, ...]]) -> bool:
    if not tokens:
        return True
    cuts = range(1, len(tokens) + 1)
    return any(tokens[:cut] in phrases and is_segmentable(tokens[cut:], phrases) for cut in cuts)


def random_automaton(words: tuple[str, ...], states: int, seed: int, *, total: bool) -> WordAutomaton:
    """Random costs and transitions; one that is not total refuses some words and some ends."""
    rng = np.random.default_rng(seed)
    next_state = rng.integers(0 if total else -1, states, (states, len(words))).astype(np.int32)
    end_cost = rng.random(states) * 3
    if not total:
        end_cost[rng.random(states) < 0.2] = np.inf
    return WordAutomaton(words, int(rng.integers(states)), next_state, rng.random((states, len(words))) * 6, end_cost)


@st.composite
def cases(draw: st.DrawFn, *, total: bool = False, tokens: int = 6) -> Case:
    bag = Bag(tuple(draw(st.lists(st.sampled_from("abcde"), max_size=tokens))))
    phrase = st.lists(st.sampled_from(bag.words), min_size=1, max_size=4).map(tuple)
    phrases = draw(st.frozensets(phrase, max_size=14)) if bag.words else frozenset()
    if draw(st.booleans()):
        phrases |= {(word,) for word in bag.words}
    automaton = random_automaton(bag.words, draw(st.integers(1, 5)), draw(st.integers(0, 2**32)), total=total)
    return Case(bag, phrases, automaton)
