"""The values of ends and joints against lists; the classes of lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first import template as t
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
from comparison.best_first.template import NUM_VALUES
from comparison.best_first.value import bucket, norm, put_ends, put_joint
from comparison.best_first.workspace import Workspace
from tests.comparison.best_first.bags import BAGS

SPACE = Workspace(1)


def put(row: NDArray[np.int64], words: Sequence[int], tags: Sequence[int]) -> None:
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
    rows, sizes = SPACE.edges.columns, [data.draw(st.integers(1, 4)) for _ in range(2)]
    words, tags = ([data.draw(st.lists(each, min_size=n, max_size=n)) for n in sizes] for each in (word, tag))
    for row in range(2):
        put(rows[row], words[row], tags[row])
    values = np.zeros(NUM_VALUES, dtype=np.uint64)
    put_joint(problem, rows[0], rows[1], values)
    for places, (a, b), hashes in (
        ([t.W1, t.W2, t.W3, t.W4], words, problem.words),
        ([t.T1, t.T2, t.T3, t.T4], tags, problem.tags),
    ):
        assert values[places].tolist() == hashes[[*[0, *a][-2:], *[*b, 0][:2]]].tolist()
    # The ends of both together, and of the left one alone.
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


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        *((range(n, n + 1), n) for n in range(1, 6)),
        (range(6, 11), 6),
        (range(11, 21), 7),
        (range(21, 41), 8),
        (range(41, 200), 9),
    ],
)
def test_classes_of_the_paper(numbers: range, found: int) -> None:
    assert {int(norm(number)) for number in numbers} == {found}
