"""The right actions build the tree, whatever the bag knows of it, and always may be done."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from comparison.transition.decoder import Workspace
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.legal import left_arc_allowed, read_stack, right_arc_allowed, shift_allowed
from comparison.transition.oracle import Example, make_example, right_steps
from comparison.transition.output import heads_of
from comparison.transition.search import _apply, _start
from comparison.transition.state import DEPTH, FIRST_SHIFT, LEFT_ARC
from grammars.base_phrase import base_noun_phrases
from grammars.conllu import ConlluSentence, ConlluToken, is_projective, is_usable, read_conllu
from gyro.errors import InputError
from tests.comparison.transition.bank import random_heads, trees

TREEBANK = Path(__file__).resolve().parents[4] / "shared" / "data" / "treebank"
KNOWN = [(), ("pos",), ("heads",), ("units",), ("pos", "heads", "units")]


def rebuilt(example: Example) -> tuple[list[tuple[str, ...]], list[int]]:
    """The units of an example's actions in their order, and their heads."""
    shifts = example.right[example.right >= FIRST_SHIFT] - FIRST_SHIFT
    return [example.prepared.readings[number].words for number in shifts], heads_of(example.right)


def expected(tree: ConlluSentence, known: tuple[str, ...]) -> tuple[list[tuple[str, ...]], list[int]]:
    """The units of a tree and the heads of these."""
    units = base_noun_phrases(tree) if "units" in known else []
    unit_of = {place: unit for unit in units for place in unit}
    groups = sorted({unit_of.get(place, (place,)) for place in range(len(tree.tokens))})
    number = {place: i for i, group in enumerate(groups) for place in group} | {-1: -1}
    outside = [next(h for h in (tree.heads[place] for place in group) if h not in group) for group in groups]
    return [tuple(tree.forms[place] for place in group) for group in groups], [number[h or 0] for h in outside]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 30])
def test_the_actions_of_random_trees_build_them(size: int) -> None:
    random = Random(size)
    for _ in range(100):
        heads = random_heads(random, size)
        steps = right_steps(heads)
        assert len(steps) == 2 * size - 1
        assert [step.place for step in steps if step.action == FIRST_SHIFT] == list(range(size))
        assert heads_of([step.action for step in steps]) == heads


@pytest.mark.parametrize("known", KNOWN)
def test_small_trees_are_rebuilt_by_actions_that_may_be_done(known: tuple[str, ...]) -> None:
    grammar = TransitionGrammar.from_trees(trees())
    workspace = Workspace()
    for tree in trees():
        example = make_example(tree, grammar, known)
        assert rebuilt(example) == expected(tree, known)
        problem = example.prepared.problem
        states, room = workspace.states(problem, 1), workspace.room(problem, 1)
        _start(problem, states)
        for state, action in enumerate(example.right):
            read_stack(problem, states, state, room)
            if action >= FIRST_SHIFT:
                depth, slot = states.columns[state, DEPTH], problem.reading_slot[action - FIRST_SHIFT]
                assert shift_allowed(problem, room, depth, slot)
            else:
                allowed = left_arc_allowed if action == LEFT_ARC else right_arc_allowed
                assert allowed(problem, states, state)
            _apply(problem, states, state, action, state + 1)


def test_what_cannot_be_built_is_refused() -> None:
    grammar = TransitionGrammar.from_trees(trees())
    two = ConlluSentence((ConlluToken("a", head=-1), ConlluToken("b", head=-1)))
    with pytest.raises(InputError, match="2 roots"):
        make_example(two, grammar, ("pos",))
    other = ConlluSentence((ConlluToken("dog", xpos="XX", head=-1),))
    with pytest.raises(InputError, match="'dog' with a tag"):
        make_example(other, grammar, ())
    assert np.array_equal(make_example(other, grammar, ("pos",)).right, [FIRST_SHIFT])


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANK.exists(), reason="the treebank in ../shared/data is not there")
@pytest.mark.parametrize("known", [("pos",), ("heads", "units")])
def test_every_projective_tree_of_the_treebank_is_rebuilt(known: tuple[str, ...]) -> None:
    found = [tree for tree in read_conllu(TREEBANK / "en_ewt-ud-train.conllu.xz") if is_usable(tree)]
    kept = [tree for tree in found if None not in tree.heads and is_projective(tree.heads)]
    assert len(kept) == 12256
    grammar = TransitionGrammar.from_trees(kept)
    for tree in kept:
        assert rebuilt(make_example(tree, grammar, known)) == expected(tree, known)
