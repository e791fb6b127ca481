"""The templates as tables and groups; the values of ends and joints against lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.best_first import template as t
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.template import (
    MOST_FEATURES,
    NUM_VALUES,
    TEMPLATE_SETS,
    Group,
    Table,
    ccg_groups,
    dependency_groups,
    pack,
)
from comparison.best_first.workspace import Workspace
from tests.comparison.best_first import twin
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.enumeration import write_top
from tests.comparison.best_first.searched import Searched

Weights = Callable[[int], NDArray[np.float32]]
SPACE = Workspace(1)

SETS = {
    "ccg": ccg_groups(),
    **{name: dependency_groups(name) for name in TEMPLATE_SETS},
    "labelled": dependency_groups("all", labelled=True),
}


def templates(groups: Sequence[Group]) -> list[t.Template]:
    return [*chain.from_iterable(group.templates for group in groups)]


@pytest.mark.parametrize("name", SETS)
def test_no_two_templates_of_a_grammar_have_one_number(name: str) -> None:
    numbers = Counter(number for number, *_ in templates(SETS[name]))
    assert max(numbers.values()) == 1


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kinds", [t.LEAF_EDGE, t.UNARY_EDGE, t.BINARY_EDGE | t.LARGE_EDGE])
def test_no_edge_has_the_same_values_twice(name: str, kinds: int) -> None:
    chosen = [group for group in SETS[name] if group.kinds & (kinds | t.WHOLE_EDGE)]
    values = Counter(frozenset(values) for _, *values in templates(chosen))
    assert max(values.values()) == 1


def test_every_value_is_used() -> None:
    used = {value for name in ("ccg", "labelled") for _, *values in templates(SETS[name]) for value in values}
    assert used == set(range(NUM_VALUES)) - {t.BETWEEN}  # which has the values of BT


def test_sets_of_templates() -> None:
    """Table 2 of the paper has 41 templates of a new arc, of which one is here two; both sets have the shared ones."""
    numbers = {name: {number for number, *_ in templates(SETS[name])} for name in TEMPLATE_SETS}
    assert numbers["ours"] | numbers["table2"] == numbers["all"]
    both = numbers["ours"] & numbers["table2"]
    assert {number for number in both if number in range(110, 190)} == t.SHARED
    new = numbers["table2"] - numbers["ours"]
    assert len(t.SHARED) + len([number for number in new if number < 270]) == 41 - 1
    assert not [number for number in numbers["table2"] if number in {row[0] for row in t.BORDER}]


def test_labels_go_with_the_arc_and_all_that_is_new() -> None:
    for name in TEMPLATE_SETS:
        plain, labelled = (dependency_groups(name, labelled=each) for each in (False, True))
        named = {row[0]: row for row in templates(labelled)}
        assert {row[0] for row in templates(plain)} == {number for number in named if number < t.LABELLED}
        for number in (number for number in named if number > t.LABELLED):
            assert named[number] == (number, *named[number - t.LABELLED][1:], t.LABEL)
        wanted = {row[0] for row in t.ARC} & {*named} | {number for number in named if 240 <= number < 290}
        assert {number - t.LABELLED for number in named if number > t.LABELLED} == wanted


@pytest.mark.parametrize("name", SETS)
def test_code_says_what_the_groups_say(name: str) -> None:
    groups, code, at = SETS[name], pack(SETS[name]).tolist(), 0
    for group in groups:
        assert code[at + t.KINDS] == group.kinds
        assert code[at + t.EACH] == (t.BETWEEN in group.values)
        first = at + t.KEYS + code[at + t.NUM_KEYS]
        assert code[at + t.KEYS : first] == group.values
        for table, needed in group.parts:
            for number, *values in table:
                assert np.uint64(code[first] % (1 << 64)) == twin.mix(twin.SEED, number)
                assert {*code[first + t.NEED : first + t.NEED_TOO + 1]} == {*(needed or (-1,))}
                last = first + t.HASHED + code[first + t.NUM_HASHED]
                assert code[first + t.HASHED : last] == values
                first = last
        at = code[at + t.NEXT]
        assert first == at
    assert at == len(code)


def test_a_group_looks_at_all_values_of_its_templates() -> None:
    """What is remembered of a group is found by these."""
    for group in chain.from_iterable(SETS.values()):
        used = {value for _, *values in group.templates for value in values}
        used |= {value for _, needed in group.parts for value in needed}
        assert {t.BT if value == t.BETWEEN else value for value in group.values} == used


def most_features(search: Searched) -> int:
    """The most features that the top of an edge has; written where there is more room than in a Workspace."""
    out = np.zeros(4 * MOST_FEATURES, dtype=np.uint64)
    problem, edges, tables = search.prepared.problem, search.workspace.edges, search.grammar.tables
    return max(write_top(tables, problem, edges, edge, True, out) for edge in search.edges)


def size(*tables: Table) -> int:
    return sum(map(len, tables))


def test_there_is_room_for_the_features_of_every_edge(
    dependency: DependencyGrammar, labelled: DependencyGrammar, inventory: CcgInventory, random_weights: Weights
) -> None:
    given_bag = bag("she sees the old dog .")
    rich = DependencyGrammar(
        labelled.tags, labelled.labels, labelled.dictionary, labelled.pairs, templates="all", dp=False
    )
    grammars = (dependency, labelled, inventory, rich)
    found = [most_features(Searched(grammar, given_bag, random_weights(0), edges=2000)) for grammar in grammars]
    # What each has where two edges of several words become a whole sentence.
    everywhere = size(t.JOINT, t.JOINT_W1, t.JOINT_W4, t.JOINT_W1_W4, t.BOUNDARY)
    arc = size(t.ARC, t.SIBLINGS, t.GRANDCHILDREN, t.VALENCIES, t.DISTANCES, t.BORDER)
    assert found[:2] == [arc + everywhere, arc + len(t.ARC) + everywhere]
    assert found[2] == size(t.CONSTITUENT, t.LARGE, t.BINARY, t.LEXICAL) + everywhere
    assert found[3] < MOST_FEATURES
    assert 2 * t.MOST_TAGS + len(templates(SETS["labelled"])) - 2 <= MOST_FEATURES
