"""Small bags with phrases and a model for tests of the published algorithms.

Case              a bag, its phrases and the model; it knows all of its strings by brute force
cases             such cases, for hypothesis
soft_cases        such cases with phrase costs and overlapping phrases
is_segmentable    whether tokens can be cut into phrases
random_automaton  random costs and transitions
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from grammars.phrase.closure import PhraseCosts, parse_phrase_costs
from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton
from gyro.text.bag import Bag
from tests.grammars.phrase.cutting import cheapest_chain


@dataclass(frozen=True)
class Case:
    bag: Bag
    phrases: frozenset[tuple[str, ...]]
    automaton: WordAutomaton
    costs: PhraseCosts = field(default_factory=PhraseCosts)
    overlap: int = 0

    @property
    def counted(self) -> dict[tuple[str, ...], int]:
        """The phrases with counts: the longer ones are rarer."""
        return {phrase: 7 - len(phrase) for phrase in self.phrases}

    @property
    def grammar(self) -> PhraseGrammar:
        phrases = PhraseSet.from_phrases(self.bag.words, self.counted)
        return PhraseGrammar(self.bag, phrases, costs=self.costs, overlap=self.overlap)

    def strings(self) -> dict[tuple[str, ...], float]:
        """All orders of the bag that phrases make and that the automaton accepts, with their costs."""
        found = {}
        for tokens in set(itertools.permutations(self.bag.tokens)):
            cost = self.automaton.score(tokens) + cheapest_chain(tokens, self.counted, self.costs, self.overlap)
            if cost != np.inf:
                found[tokens] = cost
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


@st.composite
def soft_cases(draw: st.DrawFn, *, total: bool = False, tokens: int = 6) -> Case:
    costs = draw(st.sampled_from(["", "phrase=1", "phrase=0.5,length1=0.75,count=0.25"]))
    overlap = draw(st.integers(0, 3))
    return replace(draw(cases(total=total, tokens=tokens)), costs=parse_phrase_costs(costs), overlap=overlap)
