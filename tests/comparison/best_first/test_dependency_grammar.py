from __future__ import annotations

import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.best_first import dependency_grammar
from comparison.best_first.dependency_edge import HEAD_ON_LEFT, HEAD_ON_RIGHT
from comparison.best_first.dependency_grammar import DependencyGrammar, attachments
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.errors import InputError
from tests.comparison.best_first.treebank import trees

ROOT = -1


@st.composite
def projective_heads(draw: st.DrawFn) -> list[int]:
    """The heads of a random projective tree, built from the top."""
    heads: list[int] = [ROOT] * draw(st.integers(1, 9))

    def hang(first: int, last: int, head: int) -> None:
        if first < last:
            middle = draw(st.integers(first, last - 1))
            cut = draw(st.integers(first, middle)), draw(st.integers(middle + 1, last))
            heads[middle] = head
            hang(first, cut[0], head)
            hang(cut[0], middle, middle)
            hang(middle + 1, cut[1], middle)
            hang(cut[1], last, head)

    top = draw(st.integers(0, len(heads) - 1))
    hang(0, top, top)
    hang(top + 1, len(heads), top)
    return heads


def test_doctests() -> None:
    assert doctest.testmod(dependency_grammar).failed == 0


@given(projective_heads())
def test_attachments_build_the_tree_in_one_way(heads: list[int]) -> None:
    steps = attachments(heads)
    assert sorted((step.dependent, step.head) for step in steps) == [(i, h) for i, h in enumerate(heads) if h != ROOT]
    span = {place: (place, place + 1) for place in range(len(heads))}
    done: set[int] = set()
    has_left: set[int] = set()
    for head, dependent in steps:
        assert dependent not in done  # what hangs below it was attached before
        assert head not in done
        left, right = sorted((span[head], span[dependent]))
        assert left[1] == right[0]
        span[head] = (left[0], right[1])
        done.add(dependent)
        assert dependent < head or head not in has_left
        if dependent < head:
            has_left.add(head)
    assert span[heads.index(ROOT)] == (0, len(heads))
    assert all(step.side == (HEAD_ON_LEFT if step.head < step.dependent else HEAD_ON_RIGHT) for step in steps)


def test_a_grammar_knows_tags_and_labels_of_its_trees() -> None:
    grammar = DependencyGrammar.from_trees(trees(), labelled=True)
    assert grammar.tags[:2] == ("<none>", "<unknown>")
    assert set(grammar.tags[2:]) == {token.xpos for tree in trees() for token in tree.tokens}
    assert set(grammar.labels) == {token.deprel for tree in trees() for token in tree.tokens}
    number, label = grammar.tags.index, grammar.labels.index
    assert grammar.pairs[number("NN"), number("DT"), HEAD_ON_RIGHT] == (label("det"),)
    assert grammar.pairs[number("VBZ"), number("NN"), HEAD_ON_RIGHT] == (label("nsubj"),)
    assert set(grammar.pairs[number("VBP"), number("NN"), HEAD_ON_LEFT]) == {label("obl")}
    assert (number("DT"), number("NN"), HEAD_ON_LEFT) not in grammar.pairs
    assert grammar.most_rules >= 2 * max(map(len, grammar.pairs.values()))


def test_tags_of_words() -> None:
    grammar = DependencyGrammar.from_trees(trees())
    names = grammar.tags.index
    assert grammar.tag_numbers("saw", None) == (names("NN"), names("VBD"))
    assert grammar.tag_numbers("saw", "VBD") == (names("VBD"),)
    assert grammar.tag_numbers("saw", "XYZZY") == (names("<unknown>"),)
    assert grammar.label_number("nsubj") == -1  # it has no labels
    assert DependencyGrammar.from_trees([]).tag_numbers("dog", None) == (1,)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("tag_kind", ["xpos", "upos"])
def test_json_and_back(labelled: bool, tag_kind: str) -> None:
    grammar = DependencyGrammar.from_trees(trees(), labelled=labelled, tag_kind=tag_kind)
    again = DependencyGrammar.from_json(json.loads(json.dumps(grammar.to_json())))
    assert again == grammar
    for ours, theirs in zip(again.tables, grammar.tables, strict=True):
        assert (ours == theirs).all() if hasattr(ours, "all") else ours == theirs


def test_what_is_not_allowed() -> None:
    with pytest.raises(InputError, match="found the tags 'pos'; xpos or upos is allowed"):
        DependencyGrammar.from_trees([], tag_kind="pos")
    tree = ConlluSentence((ConlluToken("a", head=ROOT, deprel="root"),))
    with pytest.raises(InputError, match="found the label 'nsubj'; the model has root"):
        DependencyGrammar.from_trees([tree], labelled=True).label_number("nsubj")
