"""The checks of coverage against counting; structures against whole numbers of Python's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from inspect import signature
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof
from numpy.typing import NDArray

from comparison.best_first import ccg_edge, dependency_edge, edge
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import (
    COLUMNS,
    FIRST_WORD,
    LAST_WORD,
    LEFT,
    NOTHING,
    OWN,
    RIGHT,
    RULE,
    Edges,
    ends,
    fits,
    is_complete,
    may_precede,
    structure,
)
from comparison.best_first.problem import Input, InputToken, Prepared, prepare
from comparison.best_first.workspace import Workspace
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first import twin
from tests.comparison.best_first.bags import BAGS, CCG_BAGS, bag
from tests.comparison.best_first.searched import Searched

Weights = Callable[[int], NDArray[np.float32]]
Models = Callable[[int], KenlmModel]
HASHES = st.integers(0, (1 << 64) - 1)
SPACE = Workspace(1)


@st.composite
def bags(draw: st.DrawFn) -> Input:
    """Up to 70 words, so that their counters need up to three words of 64 bits; some are there again."""
    size = draw(st.integers(1, 70))
    counts = draw(st.lists(st.integers(1, 5), min_size=size, max_size=size))
    optional = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    tokens = [InputToken((f"w{i}",), "NN", count=counts[i], optional=optional[i]) for i in range(size)]
    again = draw(st.lists(st.integers(0, size - 1), max_size=5))
    return Input((*tokens, *(tokens[i] for i in again)))


def put(prepared: Prepared, strings: Sequence[Counter[str]]) -> Edges:
    """Edges that have these words, one a row, and nothing else."""
    SPACE.begin(prepared.problem.bias.size, len(prepared.leaves))
    for row, words in enumerate(strings):
        SPACE.edges.coverage[row], SPACE.edges.before[row] = 0, 0
        for leaf, (word,) in enumerate(leaf.words for leaf in prepared.leaves):
            for _ in range(words[word]):
                SPACE.edges.coverage[row] += prepared.problem.leaf_coverage[leaf]
                SPACE.edges.before[row] |= prepared.problem.leaf_before[leaf]
    return SPACE.edges


@given(data=st.data())
def test_words_of_two_edges_against_counting(data: st.DataObject, dependency: DependencyGrammar) -> None:
    given_bag = data.draw(bags())
    most, least = Counter[str](), Counter[str]()
    for token in given_bag.tokens:
        most[token.forms[0]] += token.count
        least[token.forms[0]] += not token.optional

    def some() -> Counter[str]:
        """Nothing, all that is required, all that there is, or at random: of 70 words chance alone never has all."""
        kind = data.draw(st.sampled_from(["none", "least", "most", "some"]))
        if kind == "some":
            return Counter({word: data.draw(st.integers(0, count)) for word, count in most.items()})
        return Counter({"none": {}, "least": least, "most": most}[kind])

    one, other = some(), some()
    for word in data.draw(st.lists(st.sampled_from(sorted(most)), max_size=2)):
        one[word] = max(0, one[word] - 1)
    prepared = prepare(given_bag, dependency)
    problem, edges = prepared.problem, put(prepared, [one, other])
    assert fits(problem, edges, 0, 1) == (one + other <= most)
    assert is_complete(problem, edges, 0, NOTHING, 0) == (least <= one)
    if one + other <= most:
        assert is_complete(problem, edges, 0, 1, 0) == (least <= one + other)
    for leaf in data.draw(st.sets(st.integers(0, len(prepared.leaves) - 1), max_size=3)):
        assert is_complete(problem, edges, NOTHING, NOTHING, leaf) == (least <= Counter(prepared.leaves[leaf].words))


@given(data=st.data())
def test_the_order_of_two_edges_against_the_places_in_the_chains(
    data: st.DataObject, dependency: DependencyGrammar
) -> None:
    size = data.draw(st.integers(1, 70))
    names = [f"w{i}" for i in range(size)]
    rank = data.draw(st.permutations(range(size)))  # chains go upward: no circles
    some = st.sets(st.sampled_from(range(size)), max_size=8)
    chains = [sorted(data.draw(some), key=rank.__getitem__) for _ in range(data.draw(st.integers(0, 3)))]
    given_bag = Input(tuple(InputToken((name,), "NN") for name in names), order=tuple(map(tuple, chains)))
    left, right = data.draw(some), data.draw(some)
    edges = put(prepare(given_bag, dependency), [Counter(names[i] for i in places) for places in (left, right)])
    pairs = [(chain, a, b) for chain in chains for a in left for b in right if a in chain and b in chain]
    late = any(chain.index(b) < chain.index(a) for chain, a, b in pairs)
    assert may_precede(edges, 0, 1) == (not late)


def test_the_ends_of_an_edge_have_its_first_and_last_words(
    dependency: DependencyGrammar, random_weights: Weights
) -> None:
    search = Searched(dependency, bag("she sees the old dog", units=((2, 3, 4),)), random_weights(0))
    problem, edges = search.prepared.problem, search.workspace.edges
    for number in search.edges:
        words, row = search.words(number), edges.columns[number]
        first, last = ends(problem, edges, row[LEFT], row[RIGHT], row[RULE])
        assert problem.words[first[FIRST_WORD]] == twin.word_hash(words[0])
        assert problem.words[last[LAST_WORD]] == twin.word_hash(words[-1])


@given(HASHES, HASHES, st.integers(0, 1000))
def test_structures_against_whole_numbers(one: int, other: int, small: int) -> None:
    wanted = twin.mix(twin.mix(twin.mix(twin.SEED, one), other), small + 1)
    assert structure(one, other, small) == wanted


WORD_COLUMNS = "HEAD_WORD FIRST_WORD SECOND_WORD THIRD_WORD FOURTH_WORD PENULTIMATE_WORD LAST_WORD"
TAG_COLUMNS = "HEAD_TAG FIRST_TAG SECOND_TAG PENULTIMATE_TAG LAST_TAG"
OTHER_COLUMNS = "LEFT RIGHT RULE SIZE ACTIONS HEAD_SLOT LM_STATE"
DEPENDENCY_COLUMNS = (
    "LEFT_VALENCY RIGHT_VALENCY LEFT_CHILD_WORD LEFT_CHILD_TAG RIGHT_CHILD_WORD RIGHT_CHILD_TAG HEAD_PLACE "
    "LEFT_SECOND_TAG RIGHT_SECOND_TAG BEFORE_TAG AFTER_TAG LEFT_TAGS RIGHT_TAGS"
)
CCG_COLUMNS = "CATEGORY FIRST_CATEGORY SECOND_CATEGORY PENULTIMATE_CATEGORY LAST_CATEGORY UNARY_RULES"


@pytest.mark.parametrize(("module", "own"), [(dependency_edge, DEPENDENCY_COLUMNS), (ccg_edge, CCG_COLUMNS)])
def test_each_column_of_a_record_has_a_place_of_its_own(module: ModuleType, own: str) -> None:
    shared = " ".join((WORD_COLUMNS, TAG_COLUMNS, OTHER_COLUMNS)).split()
    places = [getattr(edge, name) for name in shared] + [getattr(module, name) for name in own.split()]
    assert sorted(places) == list(range(len(places)))
    assert len(shared) == OWN
    assert len(places) <= COLUMNS


@pytest.mark.parametrize("name", ["binary_rules", "unary_rules", "put_values", "fill", "signature"])
def test_what_a_grammar_gives_is_for_compiled_code_alone(name: str) -> None:
    function = getattr(edge, name)
    nothing: list[Any] = [None] * len(signature(function).parameters)
    with pytest.raises(TypeError, match="only compiled code calls this"):
        function(*nothing)


def test_all_problems_are_of_one_type_for_compiled_code(
    dependency: DependencyGrammar, labelled: DependencyGrammar, inventory: CcgInventory, language_models: Models
) -> None:
    """Another type would be compiled anew: half a minute in the middle of a run."""
    found = {typeof(prepare(given_bag, dependency).problem) for given_bag in BAGS.values()}
    found |= {typeof(prepare(given_bag, inventory).problem) for given_bag in CCG_BAGS.values()}
    found |= {typeof(prepare(BAGS["heads"], labelled).problem)}
    found |= {typeof(prepare(BAGS["unit"], dependency, language_models(order)).problem) for order in (2, 5)}
    assert len(found) == 1
    assert typeof(dependency.tables) == typeof(labelled.tables)
