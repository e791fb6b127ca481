"""LMBR decisions against the formula on every string."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.posterior import Posteriors, string_posteriors
from tests.rescoring.paths import cheapest

WORDS = ("a", "b", "c")
string_lists = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=7).map(tuple), st.integers(0, 30).map(lambda n: n / 8)),
    min_size=1,
    max_size=8,
    unique_by=lambda pair: pair[0],
)
spans = st.sampled_from([(1, 4), (1, 1), (2, 3), (4, 4), (1, 6), (5, 7), (1, 9)])
parameter_sets = st.builds(
    lambda span, **others: MbrParameters(min_order=span[0], max_order=span[1], **others),
    spans,
    scale=st.sampled_from([0.0, 0.4, 1.5]),
    precision=st.sampled_from([0.3, 0.74]),
    ratio=st.sampled_from([0.4, 0.62, 1.0]),
    tokens=st.sampled_from([1.0, 10.0]),
    word_penalty=st.sampled_from([-0.1, 0.0, 0.05]),
    prune=st.just(math.inf),
    alpha=st.sampled_from([0.0, 0.25, 1.0]),
)


def gain_of(tokens: tuple[str, ...], posteriors: Mapping[tuple[str, ...], float], parameters: MbrParameters) -> float:
    """The formula, n-gram by n-gram."""
    p, r, t = parameters.precision, parameters.ratio, parameters.tokens
    total = (-1 / t - parameters.word_penalty) * len(tokens)
    for n in range(parameters.min_order, parameters.max_order + 1):
        theta = 1 / (4 * t * p * r ** (n - 1))
        total += theta * sum(posteriors.get(tokens[i : i + n], 0.0) for i in range(len(tokens) - n + 1))
    return total


def make(strings: Sequence[tuple[tuple[str, ...], float]]) -> Lattice:
    return Lattice.from_strings(WORDS, [Hypothesis(tokens, cost) for tokens, cost in strings])


@settings(max_examples=120, deadline=None)
@given(string_lists, parameter_sets)
def test_the_string_with_the_highest_gain_is_chosen(
    strings: list[tuple[tuple[str, ...], float]], parameters: MbrParameters
) -> None:
    lattice = make(strings)
    order = parameters.max_order
    weights = [math.exp(-parameters.scale * cost) for _, cost in strings]
    posteriors = string_posteriors([tokens for tokens, _ in strings], weights, order)
    gains = {
        tokens: gain_of(tokens, posteriors, parameters) - parameters.first_pass / parameters.tokens * cost
        for tokens, cost in strings
    }
    decoder = MbrDecoder(lattice, order)
    chosen = decoder.decode(parameters)
    assert -chosen.cost == pytest.approx(max(gains.values()), rel=1e-6, abs=1e-6)
    assert gains[chosen.tokens] == pytest.approx(max(gains.values()), rel=1e-6, abs=1e-6)
    assert MbrDecoder(lattice, order).decode(parameters, posteriors).cost == pytest.approx(
        chosen.cost, rel=1e-6, abs=1e-6
    )
    assert MbrDecoder(lattice, 9).decode(parameters) == chosen  # made ready for more than is asked for
    listed = {h.tokens: -h.cost for h in decoder.to_lattice(parameters).strings()}
    assert listed == pytest.approx(gains, rel=1e-6, abs=1e-6)


# Words and costs at each place of a string; a word may come twice at one place, and then a string has several paths.
place = st.tuples(st.sampled_from(WORDS), st.integers(0, 30).map(lambda n: n / 8))
networks = st.lists(st.lists(place, min_size=1, max_size=3), min_size=1, max_size=6)


@settings(max_examples=80, deadline=None)
@given(networks, parameter_sets)
def test_all_strings_of_a_network_are_searched(
    network: list[list[tuple[str, float]]], parameters: MbrParameters
) -> None:
    rows = [(i, WORDS.index(word), i + 1, cost) for i, column in enumerate(network) for word, cost in column]
    source, word, target, cost = zip(*rows, strict=True)
    lattice = Lattice.from_arrays(WORDS, 0, source, word, target, cost, [len(network)], [0.0])
    paths = cheapest([(tuple(w for w, _ in path), sum(c for _, c in path)) for path in product(*network)])
    weights = [math.exp(-parameters.scale * cost) for _, cost in paths]
    posteriors = string_posteriors([tokens for tokens, _ in paths], weights, parameters.max_order)
    gains = [
        gain_of(tokens, posteriors, parameters) - parameters.first_pass / parameters.tokens * cost
        for tokens, cost in paths
    ]
    decoder = MbrDecoder(lattice, parameters.max_order)
    chosen = decoder.decode(parameters)
    assert -chosen.cost == pytest.approx(max(gains), rel=1e-6, abs=1e-6)
    assert gain_of(chosen.tokens, posteriors, parameters) == pytest.approx(max(gains), abs=1e-3)
    best = decoder.to_lattice(parameters).best()
    assert best.tokens == chosen.tokens
    assert best.cost == pytest.approx(chosen.cost, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(string_lists, string_lists, parameter_sets)
def test_evidence_of_others_is_mixed_in(
    strings: list[tuple[tuple[str, ...], float]],
    others: list[tuple[tuple[str, ...], float]],
    parameters: MbrParameters,
) -> None:
    order = parameters.max_order
    lattice, mt = make(strings), string_posteriors([(*tokens, "z") for tokens, _ in others], order=order)
    decoder = MbrDecoder(lattice, order)
    own = ngram_posteriors(lattice, order=order, scale=parameters.scale)
    chosen = decoder.decode(parameters, mt=mt)
    assert chosen.cost == pytest.approx(
        MbrDecoder(lattice, order).decode(parameters, own.mix(mt, parameters.alpha)).cost, rel=1e-6, abs=1e-6
    )
    if parameters.alpha == 1.0:
        assert chosen == decoder.decode(parameters)
    if parameters.alpha == 0.0:
        assert chosen == decoder.decode(parameters, mt)


def test_the_whole_lattice_is_searched_and_decisions_change() -> None:
    """Three strings that share their parts beat the cheapest one, which stands alone."""
    strings = [(("c", "c", "c"), 1.0), (("a", "b", "a"), 1.2), (("a", "b", "b"), 1.2), (("b", "a", "b"), 1.2)]
    lattice = make(strings)
    assert lattice.best().tokens == ("c", "c", "c")
    assert MbrDecoder(lattice).decode(MbrParameters(scale=1.0)).tokens != ("c", "c", "c")
    assert MbrDecoder(lattice).decode(MbrParameters(scale=50.0)).tokens == ("c", "c", "c")


def test_a_string_on_two_paths_counts_once() -> None:
    """Counted by paths, "a b" would have the probability of two."""
    chains = [("a", "b", 1.0), ("a", "b", 1.0), ("b", "a", 0.8)]
    source = [0, 1, 0, 2, 0, 3]
    word = [WORDS.index(word) for chain in chains for word in chain[:2]]
    cost = [cost for chain in chains for cost in (chain[2], 0.0)]
    lattice = Lattice.from_arrays(WORDS, 0, source, word, [1, 4, 2, 4, 3, 4], cost, [4], [0.0])
    decoder = MbrDecoder(lattice)
    assert decoder.decode(MbrParameters(scale=1.0)).tokens == ("b", "a")
    share = math.exp(-0.8) / (math.exp(-0.8) + math.exp(-1.0))
    assert decoder.posteriors(1.0)["b", "a"] == pytest.approx(share)
    assert decoder.to_lattice(MbrParameters(scale=1.0)).num_arcs == 4


def test_equal_gains_go_to_the_cheaper_string() -> None:
    lattice = make([(("a", "b"), 2.0), (("b", "a"), 1.0)])
    nothing = Posteriors.from_mapping({})
    assert MbrDecoder(lattice).decode(MbrParameters(), nothing).tokens == ("b", "a")
    assert MbrDecoder(lattice).to_lattice(MbrParameters(), nothing).best().tokens == ("b", "a")


def test_word_penalty_makes_strings_shorter() -> None:
    lattice = make([(("a", "b", "c"), 0.0), (("a",), 0.0)])
    chosen = [len(MbrDecoder(lattice).decode(MbrParameters(word_penalty=wp)).tokens) for wp in (-1.0, 1.0)]
    assert chosen == [3, 1]


def test_thetas() -> None:
    thetas = MbrParameters(precision=0.8, ratio=0.5, tokens=10).thetas
    assert thetas == pytest.approx((-0.1, 1 / 32, 1 / 16, 1 / 8, 1 / 4))
    others = MbrParameters(precision=0.8, ratio=0.5, tokens=10, min_order=2, max_order=6).thetas
    assert others == pytest.approx((-0.1, 0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": 0.0},
        {"ratio": -1.0},
        {"tokens": math.inf},
        {"scale": -0.1},
        {"alpha": 1.1},
        {"prune": math.nan},
        {"word_penalty": math.nan},
        {"first_pass": -1.0},
        {"min_order": 0},
        {"min_order": 5},
        {"max_order": 10},
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(changes))} = {next(iter(changes.values()))}"):
        MbrParameters(**changes)


def test_empty_lattices_and_wrong_orders() -> None:
    with pytest.raises(InputError, match="empty"):
        MbrDecoder(make([]))
    with pytest.raises(InputError, match="1 to 9 are allowed"):
        MbrDecoder(make([(("a",), 0.0)]), order=10)
    with pytest.raises(InputError, match="max_order = 5 for a lattice made ready for 4"):
        MbrDecoder(make([(("a",), 0.0)])).decode(MbrParameters(max_order=5))
    assert MbrDecoder(make([((), 0.5)])).decode(MbrParameters()).tokens == ()


def test_many_scales_in_turn_give_what_each_gives_alone() -> None:
    lattice = make([(("a", "b", "c"), 1.0), (("b", "a", "c"), 1.5), (("c", "a", "b"), 1.6), (("c", "b", "a"), 1.7)])
    decoder = MbrDecoder(lattice)
    for scale in [*np.linspace(0, 3, 12), *np.linspace(0, 3, 12)]:
        parameters = MbrParameters(scale=float(scale))
        assert decoder.decode(parameters) == MbrDecoder(lattice).decode(parameters)
