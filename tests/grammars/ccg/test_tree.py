from __future__ import annotations

import pytest

from grammars.ccg.derivation import Leaf
from grammars.ccg.relation import Role
from grammars.ccg.tree import RoleTree
from grammars.conllu import ConlluSentence, ConlluToken


def tree(text: str) -> RoleTree:
    """A tree from form/upos/xpos/head/relation, heads counted from 1."""
    items = [item.rsplit("/", 4) for item in text.split()]
    tokens = (ConlluToken(f, f.lower(), u, x, "_", int(head) - 1, label) for f, u, x, head, label in items)
    return RoleTree(ConlluSentence(tuple(tokens)), "ud")


# The old dog , then , gave her three books and a pen .
GAVE = tree(
    "The/DET/DT/3/det old/ADJ/JJ/3/amod dog/NOUN/NN/7/nsubj ,/PUNCT/,/7/punct then/ADV/RB/7/advmod ,/PUNCT/,/7/punct "
    "gave/VERB/VBD/0/root her/PRON/PRP/7/iobj three/NUM/CD/10/nummod books/NOUN/NNS/7/obj and/CCONJ/CC/13/cc "
    "a/DET/DT/13/det pen/NOUN/NN/10/conj ./PUNCT/./7/punct"
)
THE, OLD, DOG, GAVE_AT, HER, THREE, BOOKS, AND, A, PEN, STOP = 0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13


def test_dependents_go_from_the_inside_outwards() -> None:
    assert GAVE.left[GAVE_AT] == (5, 4, 3, DOG)
    assert GAVE.right[GAVE_AT] == (HER, BOOKS, STOP)
    assert GAVE.left[DOG] == (OLD, THE)
    assert (GAVE.left[PEN], GAVE.right[BOOKS]) == ((A, AND), (PEN,))
    assert all(
        sorted((*GAVE.left[head], *GAVE.right[head])) == [p for p, t in enumerate(GAVE.tokens) if t.head == head]
        for head in range(len(GAVE.tokens))
    )


def test_questions_about_tokens() -> None:
    assert GAVE.leaf(OLD, "N/N") == Leaf.plain("N/N", "old", "JJ")
    assert [place for place in range(14) if GAVE.is_mark(place)] == [3, 5, STOP]
    assert [place for place in range(14) if not GAVE.is_single(place)] == [DOG, GAVE_AT, BOOKS, PEN]
    assert GAVE.has_role((THE, DOG), Role.SUBJECT)
    assert not GAVE.has_role((THE, OLD), Role.SUBJECT, Role.OBJECT)
    assert [place for place in (THE, OLD, DOG, THREE, HER) if GAVE.is_noun_part(place)] == [THE, OLD, THREE]


def test_a_mark_with_a_dependent_is_no_mark() -> None:
    assert not tree("(/PUNCT/-LRB-/0/root a/NOUN/NN/1/dep").is_mark(0)
    assert not tree("a/NOUN/NN/2/nmod ,/PUNCT/,/3/punct b/NOUN/NN/0/root").is_mark(1)


@pytest.mark.parametrize(("head", "gaps", "found"), [(GAVE_AT, 0, (HER, BOOKS)), (GAVE_AT, 1, (HER,)), (BOOKS, 0, ())])
def test_arguments(head: int, gaps: int, found: tuple[int, ...]) -> None:
    assert GAVE.arguments(head, gaps) == found


def test_a_verb_has_two_arguments_at_most() -> None:
    many = tree("tell/VERB/VB/0/root a/PRON/PRP/1/iobj b/NOUN/NN/1/obj c/VERB/VB/1/ccomp")
    assert many.arguments(0) == (1, 2)
    assert many.arguments(0, gaps=2) == ()


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a/NOUN/NN/0/root and/CCONJ/CC/3/cc b/NOUN/NN/1/conj", 2, (1, {1})),
        ("a/NOUN/NN/0/root ,/PUNCT/,/3/punct b/NOUN/NN/1/conj", 2, (1, {1})),
        ("a/NOUN/NN/0/root ,/PUNCT/,/4/punct and/CCONJ/CC/4/cc b/NOUN/NN/1/conj", 3, (2, {1, 2})),
        ("a/NOUN/NN/0/root the/DET/DT/3/det b/NOUN/NN/1/conj", 2, (None, set())),
        ("a/NOUN/NN/0/root (/PUNCT/-LRB-/3/punct b/NOUN/NN/1/conj", 2, (None, {1})),
    ],
)
def test_what_opens_a_conjunct(text: str, place: int, found: tuple[int | None, set[int]]) -> None:
    assert tree(text).coordinator(place) == found


def test_the_question_word_that_opens_a_clause() -> None:
    asked = tree("and/CCONJ/CC/4/cc What/PRON/WP/4/obj he/PRON/PRP/4/nsubj saw/VERB/VBD/0/root")
    assert asked.opening_question_word(asked.left[3]) == 1
    assert asked.opening_question_word((2,)) is None
    assert asked.opening_question_word((0,)) is None
    inner = tree("he/PRON/PRP/3/nsubj what/PRON/WP/3/obj saw/VERB/VBD/0/root")
    assert inner.opening_question_word(inner.left[2]) is None


def test_noun_level() -> None:
    """What stands between a determiner and its noun modifies the noun; what stands before the determiner does not."""
    even = tree("even/ADV/RB/4/advmod the/DET/DT/4/det old/ADJ/JJ/4/amod dog/NOUN/NN/0/root")
    left = even.left[3]
    assert [even.is_noun_level(left[start:]) for start in range(3)] == [True, True, False]
    quite = tree("the/DET/DT/3/det quite/ADV/RB/3/advmod dog/NOUN/NN/0/root")
    assert quite.is_noun_level(quite.left[2])


def test_complements_and_late_clauses() -> None:
    late = tree("It/PRON/PRP/3/expl is/AUX/VBZ/3/cop good/ADJ/JJ/0/root that/SCONJ/IN/5/mark came/VERB/VBD/3/csubj")
    assert late.is_complement(4)
    early = tree("Singing/VERB/VBG/3/csubj is/AUX/VBZ/3/cop fun/ADJ/JJ/0/root")
    assert not early.is_complement(0)
