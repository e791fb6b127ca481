"""The decoder without limits against a list of all derivations; its scores against sums in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.problem import Input, InputToken
from gyro.text.corpus import ROOT
from tests.comparison.best_first.bags import BAGS, BROKEN_BAGS, CCG_BAGS, POS, bag
from tests.comparison.best_first.enumeration import MOST_GOALS, all_trees, goals, no_limits
from tests.comparison.best_first.treebank import ambiguous
from tests.comparison.best_first.twin import category_of, score, signature, words

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
FOREVER = Limits(seconds=1e6)


def check_all(given: Input, grammar: Grammar, weights: NDArray[np.float32], scaled: int) -> None:
    decoded = Decoder(grammar, weights, no_limits(scaled=scaled), limits=FOREVER).decode(given)
    wanted = all_trees(given, grammar)
    assert len(wanted) == len(set(wanted)) < MOST_GOALS
    if not wanted:
        assert decoded.how != "goal"
        return
    found = goals(decoded, grammar)
    assert set(found) == set(wanted)
    for tree, key in found.items():
        assert key == pytest.approx(score(tree, grammar, weights, scaled), abs=1e-5)
    assert not decoded.timed_out


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", BAGS)
def test_all_dependency_trees_of_a_bag(
    name: str, scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    check_all(BAGS[name], dependency, random_weights(1), scaled)


@pytest.mark.parametrize("name", BROKEN_BAGS)
def test_given_structure_of_words_that_may_be_used_again_or_not(
    name: str, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    check_all(BROKEN_BAGS[name], dependency, random_weights(1), 0)


def test_equal_words_under_the_same_head_are_alike(dependency: DependencyGrammar, random_weights: Weights) -> None:
    given = bag("the the the the", tokens={"head": [None, None, 0, 0]})
    check_all(given, dependency, random_weights(1), 0)


LABELLED = {
    "no labels given": bag("the dog barks"),
    "a label": bag("the dog barks", tokens={"label": ["det", None, None]}),
    "one never seen there": bag("the dog barks", tokens={"label": ["obj", None, "punct"]}),
    "labels and heads": bag("the dog barks .", tokens={"head": [1, 2, ROOT, 2], "label": ["det", "nsubj", None, None]}),
    "a unit": bag("she sees the old dog", units=((2, 3, 4),)),
}


@pytest.mark.parametrize("name", LABELLED)
def test_all_labelled_trees_of_a_bag(name: str, labelled: DependencyGrammar, random_weights: Weights) -> None:
    check_all(LABELLED[name], labelled, random_weights(2), 0)


@st.composite
def inputs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Input:
    """Bags of at most four words, with what may be given of them."""
    size = draw(st.integers(1, 4))
    places = range(size)
    names = draw(st.lists(st.sampled_from(["the", "dog", "saw", "barks"]), min_size=size, max_size=size))
    rank = draw(st.permutations(places))  # heads have lower ranks, chains go upward: no circles
    chain = tuple(sorted(draw(st.sets(st.sampled_from(places))), key=rank.__getitem__))
    kind = draw(st.sampled_from(["plain", "heads", "selection", "unit"]))
    heads: list[int | None] = [None] * size
    if kind == "heads":
        heads = [draw(st.sampled_from([None, ROOT, *(h for h in places if rank[h] < rank[i])])) for i in places]
    tokens = []
    for i, name in enumerate(names):
        free = kind == "selection" and i not in chain
        again = 4 - size - sum(token.count - 1 for token in tokens)  # of five words there are too many trees
        count = draw(st.integers(1, 2)) if free and again > 0 else 1
        pos = draw(st.sampled_from([None, POS[name]])) if size < 4 else POS[name]
        tokens.append(InputToken((name,), pos, heads[i], count=count, optional=free and draw(st.booleans())))
    unit = tuple(draw(st.permutations([i for i in places if i not in chain]))[:2]) if kind == "unit" else ()
    return Input(tuple(tokens), (unit,) if len(unit) == 2 else (), (chain,) if len(chain) > 1 else ())


@settings(max_examples=60)
@given(given_bag=inputs(), seed=st.integers(0, 1000), scaled=st.sampled_from([0, 1]))
def test_random_bags_have_exactly_their_dependency_trees(
    given_bag: Input, seed: int, scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    check_all(given_bag, dependency, random_weights(seed), scaled)


@pytest.mark.slow
def test_five_words_have_all_their_trees(dependency: DependencyGrammar, random_weights: Weights) -> None:
    given_bag = bag("the old dog the barks")
    decoded = Decoder(dependency, random_weights(3), no_limits(), limits=FOREVER).decode(given_bag)
    assert len(goals(decoded, dependency)) == 143 * 60  # projective trees of five words, orders with one word twice


def check_classes(
    given_bag: Input, grammar: CcgInventory, weights: NDArray[np.float32], scaled: int, *, exact: bool
) -> None:
    """The goals are derivations of the bag, and have one of each class; if the pruning is exact, its best one."""
    wanted = all_trees(given_bag, grammar)
    decoded = Decoder(grammar, weights, no_limits(scaled=scaled), limits=FOREVER).decode(given_bag)
    assert bool(wanted) == (decoded.how == "goal")
    if not wanted:
        return
    found = goals(decoded, grammar)
    assert set(found) <= set(wanted)
    best: dict[object, float] = {}
    for tree, key in found.items():
        assert key == pytest.approx(score(tree, grammar, weights, scaled), abs=1e-5)
        kind = signature(tree, grammar.dp)
        best[kind] = max(best.get(kind, key), key)
    assert set(best) == {signature(tree, grammar.dp) for tree in wanted}
    for tree in wanted if exact else ():
        assert score(tree, grammar, weights, scaled) <= best[signature(tree, grammar.dp)] + 1e-5


@pytest.mark.parametrize("dp", [True, False])
@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", CCG_BAGS)
def test_all_ccg_derivations_of_a_bag(
    name: str, scaled: int, dp: bool, inventory: CcgInventory, random_weights: Weights
) -> None:
    grammar = CcgInventory(inventory.grammar, inventory.dictionary, ("NP",), dp)
    assert bool(all_trees(CCG_BAGS[name], grammar)) == (name != "no derivation")
    # With linear scores, and one category a word, no better derivation is lost to an equivalent one.
    exact = not scaled and name not in ("unit", "categories")
    check_classes(CCG_BAGS[name], grammar, random_weights(4), scaled, exact=exact)


@pytest.mark.parametrize("dp", [True, False])
@pytest.mark.parametrize("text", ["a c e", "a b c", "a c e d", "a b a b"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_of_equivalent_derivations_is_found(text: str, dp: bool, seed: int, random_weights: Weights) -> None:
    grammar = CcgInventory.from_derivations(ambiguous(), cutoff=0, dp=dp)
    check_classes(bag(text), grammar, random_weights(seed), 0, exact=True)


@settings(max_examples=30)
@given(
    names=st.lists(st.sampled_from(["the", "dog", "old", "she", "sees", "dogs", "."]), min_size=1, max_size=5),
    seed=st.integers(0, 100),
)
def test_the_best_ccg_derivation_of_random_bags(
    names: list[str], seed: int, inventory: CcgInventory, random_weights: Weights
) -> None:
    weights = random_weights(seed)
    given_bag = Input(tuple(InputToken((name,), pos=POS.get(name, "NNS")) for name in names))
    wanted = [score(tree, inventory, weights, 0) for tree in all_trees(given_bag, inventory)]
    decoded = Decoder(inventory, weights, no_limits(), limits=FOREVER).decode(given_bag)
    assert bool(wanted) == (decoded.how == "goal")
    if wanted:
        assert decoded.hypotheses[0][0] == pytest.approx(max(wanted), abs=1e-5)


def test_the_root_may_be_of_a_unary_rule(inventory: CcgInventory, random_weights: Weights) -> None:
    decoded = Decoder(inventory, random_weights(0), no_limits(), limits=FOREVER).decode(bag("old dogs~"))
    assert "NP" in {category_of(tree) for tree in goals(decoded, inventory)}


def test_an_optional_word_can_be_the_last_to_be_attached(dependency: DependencyGrammar) -> None:
    decoded = Decoder(dependency, np.zeros(1 << 14, dtype=np.float32), no_limits()).decode(bag("the? dog"))
    assert {words(tree) for tree in goals(decoded, dependency)} == {("dog",), ("the", "dog"), ("dog", "the")}


def test_a_bag_of_many_words_needs_more_counters(dependency: DependencyGrammar, random_weights: Weights) -> None:
    decoder = Decoder(dependency, random_weights(7), no_limits(goals=1, beam=4, scaled=1), limits=Limits(1e6, 5000))
    names = [f"w{number}" for number in range(80)]
    assert decoder.decode(bag("the dog")).prepared.problem.bias.size == 1
    many = decoder.decode(Input(tuple(InputToken((name,), pos="NN") for name in names)))
    assert many.prepared.problem.bias.size == 3  # 32 counters of one use and its guard in 64 bits
    assert sorted(many.words) == sorted(set(many.words))
    assert decoder.decode(bag("the dog")).words in (("the", "dog"), ("dog", "the"))


@pytest.mark.parametrize("limit", [5, 8, 20, 50, 200])
def test_without_a_goal_the_output_is_of_edges_that_fit(
    limit: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    given_bag = bag("the dog sees the old")
    options = no_limits(goals=1, scaled=1)
    decoded = Decoder(dependency, random_weights(8), options, limits=Limits(1e6, limit)).decode(given_bag)
    if decoded.how == "goal":
        assert not decoded.timed_out
        assert len(decoded.words) == 5
        return
    assert decoded.timed_out
    assert 0 < len(decoded.words) <= 5
    assert not set(decoded.words) - {"the", "dog", "sees", "old"}
    assert decoded.words.count("the") <= 2
    assert (len(decoded.hypotheses[0][1]) == 2) or decoded.how == "greedy"


@pytest.mark.parametrize("limits", [Limits(1e6, 1), Limits(1e-9, 0)])
def test_a_limit_that_leaves_no_time_for_an_edge(limits: Limits, dependency: DependencyGrammar) -> None:
    weights = np.zeros(1 << 14, dtype=np.float32)
    decoded = Decoder(dependency, weights, no_limits(goals=1), limits=limits).decode(bag("the dog barks"))
    assert decoded.timed_out
    assert decoded.words == ()


def test_decoding_is_the_same_each_time(dependency: DependencyGrammar, random_weights: Weights) -> None:
    options = no_limits(goals=3, beam=8, scaled=1)
    first = Decoder(dependency, random_weights(9), options, limits=FOREVER)
    second = Decoder(dependency, random_weights(9), options, limits=FOREVER)
    names = bag("the old dog sees the dog .")
    assert [first.decode(names).hypotheses for _ in range(2)] == [second.decode(names).hypotheses] * 2
