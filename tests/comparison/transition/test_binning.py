"""Bins at their edges; with the weights of one feature of bins alone the beam orders by it."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from comparison.learning.hashing import SEED
from comparison.transition.binning import BINS, DIVISORS, LOW, bin_value, cost_bins
from comparison.transition.decoder import Decoder
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.state import Singles
from comparison.transition.template import BIN_TEMPLATES
from lm.kenlm.model import KenlmModel
from tests.comparison.transition.bank import plain, trees, twin_actions, twin_begin
from tests.comparison.transition.twin import Action, State, action_number, beam, mixed

EDGES = [(0.0, 0), (-0.624, 0), (-0.625, 1), (-1.2499, 1), (-1.25, 2), (-12.499, 19), (-12.5, LOW), (-99.0, LOW)]


@pytest.mark.parametrize(("log10", "number"), EDGES)
def test_bins_at_their_edges(log10: float, number: int) -> None:
    assert cost_bins(np.array([-log10 * math.log(10)])).tolist() == [number]
    # The same as a language model has it: a single that is multiplied.
    single = np.float32(log10)
    assert cost_bins(np.array([single], dtype=np.float64) * -math.log(10)).tolist() == [number]


def test_infinite_costs_are_low() -> None:
    assert cost_bins(np.array([math.inf])).tolist() == [LOW]


def test_four_features_have_20_10_5_and_2_values_and_low() -> None:
    found = [[int(bin_value(kind, number)) for number in range(BINS)] for kind in range(4)]
    assert [len(set(values)) for values in found] == [21, 11, 6, 3]
    assert len({values[LOW] for values in found}) == 1
    assert [DIVISORS[kind] * (len(set(values)) - 1) for kind, values in enumerate(found)] == [20] * 4
    assert found[3][:10] == [1] * 10
    assert found[3][10:20] == [2] * 10


def nlm_20_weights(grammar: TransitionGrammar, words: str) -> Singles:
    """Minus the bin for each word, whatever feature of the shift the bins go with."""
    weights = np.zeros(1 << 20, dtype=np.float32)
    tagged = [("shift", word, tag) for word in set(words.split()) for tag in grammar.tags_of(word, None)]
    actions = [mixed(int(SEED), 303)] if grammar.features.bins == "bare" else list(map(action_number, tagged))
    for number in range(BINS):
        for action in actions:
            weights[mixed(int(SEED), BIN_TEMPLATES[0], number + 1, action) % len(weights)] = -number
    return weights


@pytest.mark.parametrize("bins", ["lexical", "bare"])
@pytest.mark.parametrize("size", [1, 4, 32])
def test_with_one_feature_alone_it_orders_like_a_beam_over_bins(bins: str, size: int, model: KenlmModel) -> None:
    words = "the old dog saw cats"
    grammar = TransitionGrammar.from_trees(trees(), Features(bins=bins))
    decoded = Decoder(grammar, nlm_20_weights(grammar, words), size, model).decode(plain(words))

    def score(state: State, action: Action) -> float:
        if action[0] != "shift":
            return 0.0
        before = [word for word, _ in state.words]
        cost = model.score([*before, action[1]], eos=False) - model.score(before, eos=False)
        return -float(cost_bins(np.array([round(cost, 5)]))[0])

    expected = beam(twin_begin(decoded.prepared), score, size)
    assert list(decoded.scores) == [total for total, _ in expected]
    assert [twin_actions(decoded.prepared, actions) for actions in decoded.actions] == [done for _, done in expected]


def test_an_unlimited_beam_has_the_best_sum_of_bins(model: KenlmModel) -> None:
    words = "the old dog barks"
    grammar = TransitionGrammar.from_trees(trees(), Features(bins="bare"))
    decoded = Decoder(grammar, nlm_20_weights(grammar, words), 100_000, model).decode(plain(words))

    def total(order: tuple[str, ...]) -> int:
        costs = [model.score(order[:i], eos=False) for i in range(len(order) + 1)]
        return int(cost_bins(np.round(np.diff(costs), 5)).astype(int).sum())

    sums = {order: total(order) for order in permutations(words.split())}
    assert decoded.scores[0] == -min(sums.values())
    assert sums[decoded.words()] == min(sums.values())
