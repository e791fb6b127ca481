"""The templates as tables, and their compiled hashes against plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first import template as t
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import (
    FIRST_TAG,
    FIRST_WORD,
    LAST_TAG,
    LAST_WORD,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    SECOND_TAG,
    SECOND_WORD,
    SIZE,
)
from comparison.best_first.problem import prepare
from comparison.best_first.template import MOST_FEATURES, NUM_VALUES, Table, bucket, pack, put_ends, write, write_joint
from comparison.best_first.workspace import Workspace
from tests.comparison.best_first import twin
from tests.comparison.best_first.bags import BAGS, bag
from tests.comparison.best_first.enumeration import write_top
from tests.comparison.best_first.searched import Searched

Weights = Callable[[int], NDArray[np.float32]]
HASHES = st.integers(0, (1 << 64) - 1)
SPACE = Workspace(1)


def shifted(table: Table, first: int) -> Table:
    return [(first + number, *values) for number, *values in table]


def of_both(joint: int, boundary: int) -> list[Table]:
    return [*(shifted(table, joint) for table in t.JOINT_PARTS), shifted(t.BOUNDARY, boundary)]


DEPENDENCY = [t.LEAF, t.ARC, t.AROUND, t.BORDER, *of_both(t.DEPENDENCY_JOINT, t.DEPENDENCY_BOUNDARY)]
CCG = [t.CONSTITUENT, t.LARGE, t.BINARY, t.UNARY, *of_both(t.CCG_JOINT, t.CCG_BOUNDARY)]
TEMPLATES = {"dependency": [*chain(*DEPENDENCY), (t.LABELLED_ARC,)], "ccg": [*chain(*CCG)]}


@pytest.mark.parametrize("grammar", TEMPLATES)
def test_no_two_templates_of_a_grammar_have_one_number(grammar: str) -> None:
    numbers = Counter(number for number, *_ in TEMPLATES[grammar])
    assert max(numbers.values()) == 1


@pytest.mark.parametrize(
    "tables",
    [
        [t.LEAF, t.BOUNDARY],
        [t.ARC, t.AROUND, t.BORDER, *t.JOINT_PARTS, t.BOUNDARY],
        [t.CONSTITUENT, t.LARGE, t.BINARY, *t.JOINT_PARTS, t.BOUNDARY],
        [t.CONSTITUENT, t.LARGE, t.UNARY, t.BOUNDARY],
    ],
)
def test_no_edge_has_the_same_values_twice(tables: Sequence[Table]) -> None:
    values = Counter(frozenset(values) for table in tables for _, *values in table)
    assert max(values.values()) == 1


def test_every_value_is_used_and_has_a_place_of_its_own() -> None:
    used = {value for templates in TEMPLATES.values() for _, *values in templates for value in values}
    assert used == set(range(NUM_VALUES))


@given(st.data())
def test_features_are_the_hashes_of_number_and_values(data: st.DataObject) -> None:
    values = data.draw(st.lists(HASHES, min_size=NUM_VALUES, max_size=NUM_VALUES))
    places = st.lists(st.integers(0, NUM_VALUES - 1), min_size=1, max_size=5)
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1000), places), min_size=1, max_size=8))
    table = [(number, *chosen) for number, chosen in rows]
    first, before = data.draw(st.integers(0, 1000)), data.draw(st.integers(0, 5))
    out = np.zeros(before + len(table) + 1, dtype=np.uint64)
    assert write(pack(table, first), np.array(values, dtype=np.uint64), out, before) == before + len(table)
    assert out[before:-1].tolist() == twin.apply(table, dict(enumerate(values)), first)
    assert not out[:before].any()
    assert out[-1] == 0


def test_a_feature_has_the_hash_that_trained_models_know_it_by() -> None:
    values = np.zeros(NUM_VALUES, dtype=np.uint64)
    values[[t.HW, t.HT, t.LENGTH]] = twin.text_hash("dog"), twin.text_hash("NN"), 1
    out = np.zeros(len(t.LEAF), dtype=np.uint64)
    write(pack(t.LEAF), values, out, 0)
    # Of plain Python, once.
    assert [hex(value) for value in out] == ["0xe4df32811dd927c6", "0x74ed3abc9a10dcc8", "0x476cb53b1e36e2bc"]


def put(row: Any, words: Sequence[int], tags: Sequence[int]) -> None:
    """Write what an edge of these words and tags has at its ends; 0 for what there is not."""
    row[SIZE] = len(words)
    row[[FIRST_WORD, SECOND_WORD]] = [*words, 0][:2]
    row[[PENULTIMATE_WORD, LAST_WORD]] = [0, *words][-2:]
    row[[FIRST_TAG, SECOND_TAG]] = [*tags, 0][:2]
    row[[PENULTIMATE_TAG, LAST_TAG]] = [0, *tags][-2:]


@given(data=st.data())
def test_where_two_edges_meet_and_end(data: st.DataObject, dependency: DependencyGrammar) -> None:
    problem = prepare(BAGS["four words"], dependency).problem
    word, tag = st.integers(1, len(problem.words) - 1), st.integers(1, len(problem.tags) - 1)
    edges, sizes = SPACE.edges, [data.draw(st.integers(1, 4)) for _ in range(2)]
    words, tags = ([data.draw(st.lists(each, min_size=n, max_size=n)) for n in sizes] for each in (word, tag))
    for row in range(2):
        put(edges.columns[row], words[row], tags[row])
    values, out = np.zeros(NUM_VALUES, dtype=np.uint64), np.zeros(MOST_FEATURES, dtype=np.uint64)
    count = write_joint(tuple(map(pack, t.JOINT_PARTS)), problem, edges, 0, 1, values, out, 0)
    wanted: dict[int, int] = {}
    for known, (a, b), hashes in (
        ((t.W1, t.W2, t.W3, t.W4), words, problem.words),
        ((t.T1, t.T2, t.T3, t.T4), tags, problem.tags),
    ):
        wanted |= {value: int(hashes[i]) for value, i in zip(known, [*[0, *a][-2:], *[*b, 0][:2]], strict=True)}
    tables = [t.JOINT, *[t.JOINT_W1] * (sizes[0] > 1), *[t.JOINT_W4] * (sizes[1] > 1)]
    tables += [t.JOINT_W1_W4] * (min(sizes) > 1)
    assert out[:count].tolist() == [value for table in tables for value in twin.apply(table, wanted)]
    # The ends of both together, and of the left one alone.
    rows = edges.columns
    for (first, last), single, string, tagged in (
        ((rows[0], rows[1]), False, [*words[0], *words[1]], [*tags[0], *tags[1]]),
        ((rows[0], rows[0]), True, words[0], tags[0]),
    ):
        put_ends(problem, first, last, single, values)
        assert values[[t.W_FIRST, t.W_LAST]].tolist() == problem.words[[string[0], string[-1]]].tolist()
        assert values[[t.T_FIRST, t.T_LAST]].tolist() == problem.tags[[tagged[0], tagged[-1]]].tolist()
        next_to = [*tagged, 0][1], [0, *tagged][-2]
        assert values[[t.T_SECOND, t.T_PENULTIMATE]].tolist() == problem.tags[list(next_to)].tolist()


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        *((range(n, n + 1), n) for n in range(5)),
        (range(5, 7), 5),
        (range(7, 10), 6),
        (range(10, 15), 7),
        (range(15, 30), 8),
        (range(30, 200), 9),
    ],
)
def test_classes_of_lengths(numbers: range, found: int) -> None:
    assert {int(bucket(number)) for number in numbers} == {found}


def most_features(search: Searched) -> int:
    """The most features that the top of an edge has; written where there is more room than in a Workspace."""
    out = np.zeros(4 * MOST_FEATURES, dtype=np.uint64)
    problem, edges, tables = search.prepared.problem, search.workspace.edges, search.grammar.tables
    return max(write_top(tables, problem, edges, edge, True, out) for edge in search.edges)


def test_there_is_room_for_the_features_of_every_edge(
    dependency: DependencyGrammar, labelled: DependencyGrammar, inventory: CcgInventory, random_weights: Weights
) -> None:
    given_bag = bag("she sees the old dog .")
    grammars = (labelled, dependency, inventory)
    found = [most_features(Searched(grammar, given_bag, random_weights(0), edges=2000)) for grammar in grammars]
    assert max(found) == found[0] == MOST_FEATURES
    # What each has where two edges of several words become a whole sentence.
    everywhere = sum(map(len, t.JOINT_PARTS)) + len(t.BOUNDARY)
    assert found[1] == len(t.ARC) + len(t.AROUND) + len(t.BORDER) + everywhere
    assert found[2] == len(t.CONSTITUENT) + len(t.LARGE) + len(t.BINARY) + everywhere
