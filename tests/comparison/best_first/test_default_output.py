"""Outputs of searches without a goal, from charts that are made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.best_first.default_output import chosen_edges
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.kernel import make_edge
from comparison.best_first.problem import Input
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.searched import Searched

Weights = Callable[[int], NDArray[np.float32]]
Chart = Sequence[tuple[str, float]]  # words and score


def chosen(given: Input, chart: Chart, way: str, grammar: DependencyGrammar) -> tuple[str, list[str]]:
    """What is chosen of edges whose words hang on each other from left to right."""
    searched = Searched(grammar, given, np.zeros(1 << 14, dtype=np.float32))
    state, tables = searched.empty(), grammar.tables
    leaf_of = {leaf.words[0]: number for number, leaf in enumerate(searched.prepared.leaves)}
    members = []
    for words, score in chart:
        edge = -1
        for word in words.split():
            leaf = make_edge(tables, state, -1, -1, leaf_of[word], 0.0)
            edge = leaf if edge < 0 else make_edge(tables, state, edge, leaf, 1, 0.0)
        state.edges.score[edge] = score
        members.append(edge)
    how, edges = chosen_edges(state, np.array(members), way)
    return how, [" ".join(searched.words(edge)) for edge in edges]


def test_two_edges_that_have_all_words(dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees")
    chart = [("the old dog", 1.0), ("the", 0.0), ("old dog", 9.0), ("the sees", 5.0), ("sees", 7.0)]
    # Of the pairs that make the whole, the best sum; the largest edge first is another.
    assert chosen(given, chart, "pair", dependency) == ("two edges", ["old dog", "the sees"])
    assert chosen(given, chart, "greedy", dependency) == ("greedy", ["the old dog", "sees"])


def test_scores_decide_between_edges_of_one_size(dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees")
    chart = [("the old", 1.0), ("old the", 2.0), ("dog", 5.0), ("sees", 4.0), ("old", 3.0)]
    for way in ("pair", "greedy"):  # no two edges have all
        assert chosen(given, chart, way, dependency) == ("greedy", ["old the", "dog", "sees"])


def test_an_edge_is_taken_as_often_as_the_bag_has_its_words(dependency: DependencyGrammar) -> None:
    chart = [("dog", 0.0), ("the", 1.0)]
    assert chosen(bag("the dog the the"), chart, "greedy", dependency) == ("greedy", ["the", "the", "the", "dog"])


@pytest.mark.parametrize("way", ["pair", "greedy"])
def test_the_order_of_words_is_kept(way: str, dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees", order=((2, 0),))  # dog before the
    how, words = chosen(given, [("the old", 1.0), ("dog sees", 0.0)], way, dependency)
    assert words == (["dog sees", "the old"] if how == "two edges" else ["the old"])
    assert how == ("two edges" if way == "pair" else "greedy")
