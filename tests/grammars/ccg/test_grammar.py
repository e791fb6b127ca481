from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.ccg.derivation import AutoEntry, Derivation, Leaf, Node, head_leaf, leaves, parse_auto, read_auto, words
from grammars.ccg.grammar import (
    BinaryRule,
    CcgGrammar,
    UnaryRule,
    assign_heads,
    base_noun_phrases,
    fill_pos,
    rule_instances,
)
from gyro.errors import InputError
from tests.outside import SICK, needs_sick

IV, TV = "S[dcl]\\NP", "(S[dcl]\\NP)/NP"
# "the cats of Ann chase mice", with a raised and composed subject in the second: Zhang and Clark (2011), Section 2.
OF = "(<T NP\\NP 0 2> (<L (NP\\NP)/NP IN IN of (NP\\NP)/NP>) (<T NP 0 1> (<L N NNP NNP Ann N>) ) )"
THE_CATS = f"(<T NP 0 2> (<T NP[nb] 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L N NNS NNS cats N>) ) {OF} )"
MICE = "(<T NP 0 1> (<L N NNS NNS mice N>) )"
PLAIN = parse_auto(f"(<T S[dcl] 1 2> {THE_CATS} (<T {IV} 0 2> (<L {TV} VBP VBP chase {TV}>) {MICE} ) )")
RAISED = parse_auto(
    "(<T S[dcl] 0 2> (<T S[dcl]/NP 1 2> (<T S/(S\\NP) 0 1> (<L NP PRP PRP they NP>) ) "
    f"(<L {TV} VBP VBP chase {TV}>) ) {MICE} )"
)

SYMBOLS = st.sampled_from("ABC")
LEAVES = st.builds(Leaf.plain, SYMBOLS, st.sampled_from("vwxyz"), st.sampled_from("PQR"))
DERIVATIONS: st.SearchStrategy[Derivation] = st.recursive(
    LEAVES,
    lambda parts: (
        st.builds(Node, SYMBOLS, st.just(""), st.just(0), st.tuples(parts))
        | st.builds(Node, SYMBOLS, st.just(""), st.integers(0, 1), st.tuples(parts, parts))
    ),
    max_leaves=10,
)


def rules_by_recursion(derivation: Derivation) -> list[tuple[Any, ...]]:
    if isinstance(derivation, Leaf):
        return []
    below = [rule for child in derivation.children for rule in rules_by_recursion(child)]
    own = (*(child.category for child in derivation.children), derivation.category)
    return [*below, own if len(own) == 2 else (*own, derivation.head)]


def test_the_grammar_of_two_derivations() -> None:
    grammar = CcgGrammar.from_derivations([PLAIN, RAISED])
    assert grammar.unary == {UnaryRule("N", "NP"): 3, UnaryRule("NP", "S/(S\\NP)"): 1}
    assert grammar.binary == {
        BinaryRule("NP[nb]/N", "N", "NP[nb]", 1): 1,
        BinaryRule("(NP\\NP)/NP", "NP", "NP\\NP", 0): 1,
        BinaryRule("NP[nb]", "NP\\NP", "NP", 0): 1,
        BinaryRule(TV, "NP", IV, 0): 1,
        BinaryRule("NP", IV, "S[dcl]", 1): 1,
        BinaryRule("S/(S\\NP)", TV, "S[dcl]/NP", 1): 1,
        BinaryRule("S[dcl]/NP", "NP", "S[dcl]", 0): 1,
    }
    assert grammar.roots == {"S[dcl]": 2}
    assert grammar.lexicon.categories == ("(NP\\NP)/NP", TV, "N", "NP", "NP[nb]/N")
    others = ("NP[nb]", "NP\\NP", "S/(S\\NP)", "S[dcl]", "S[dcl]/NP", IV)
    assert grammar.categories == tuple(sorted((*grammar.lexicon.categories, *others)))
    summary = grammar.summary()
    assert summary == (11, 5, 2, 7, {"ba": 2, "fa": 4, "fc": 1})


def test_one_pair_may_have_several_results_and_head_sides() -> None:
    pair = (Leaf.plain("A", "a", "P"), Leaf.plain("B", "b", "P"))
    trees = [Node(category, "", head, pair) for category, head in (("D", 1), ("C", 1), ("C", 0), ("C", 1))]
    grammar = CcgGrammar.from_derivations([*trees, Node("E", "", 0, pair[:1]), Node("D", "", 0, pair[:1])])
    assert grammar.binary == {("A", "B", "C", 0): 1, ("A", "B", "C", 1): 2, ("A", "B", "D", 1): 1}
    assert grammar.unary == {("A", "D"): 1, ("A", "E"): 1}


@given(st.lists(DERIVATIONS, max_size=4), DERIVATIONS, st.integers(0, 4))
def test_a_grammar_has_what_its_derivations_have(trees: list[Derivation], other: Derivation, cutoff: int) -> None:
    grammar = CcgGrammar.from_derivations(trees, cutoff=cutoff)
    rules = Counter(rule for tree in trees for rule in rules_by_recursion(tree))
    assert dict([*grammar.unary.items(), *grammar.binary.items()]) == rules
    assert all(map(grammar.licenses, trees))
    assert grammar.licenses(other) == (set(rules_by_recursion(other)) <= set(rules))
    assert list(rule_instances(other)) == rules_by_recursion(other)
    assert CcgGrammar.from_json(json.loads(json.dumps(grammar.to_json()))) == grammar

    seen = [leaf for tree in trees for leaf in leaves(tree)]
    frequency = Counter(leaf.word for leaf in seen)
    for word in "vwxyz?":
        for pos in "PQR?":
            if frequency[word] > cutoff:
                wanted = {leaf.category for leaf in seen if leaf.word == word}
            elif any(leaf.pos == pos for leaf in seen):
                wanted = {leaf.category for leaf in seen if leaf.pos == pos}
            else:
                wanted = {leaf.category for leaf in seen if frequency[leaf.word] <= cutoff}
            found = grammar.categories_of(word, pos)
            assert set(found) == wanted or (not wanted and set(found) == {leaf.category for leaf in seen})
            assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "found 'other' version 1; 'gyro CCG grammar' version 1 is allowed"),
        ({"version": 2}, "version 2; "),
        ({"unary": None}, "found no list of unary rules"),
        ({"unary": [["N", "NP"]]}, r"found \['N', 'NP'\] among the unary rules; \[text, text, number\] is allowed"),
        ({"unary": [["N", "NP", 0]]}, "among the unary rules"),
        ({"binary": [["N", "N", "N", "0", 1]]}, "among the binary rules"),
        ({"binary": [["N", "N", "N", 2, 1]]}, "head side is not 0 or 1"),
        ({"roots": {"S": True}}, "as the counts of 'roots'"),
        ({"lexicon": None}, "found a lexicon without a cut-off"),
    ],
)
def test_damaged_json_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CcgGrammar.from_json({**CcgGrammar.from_derivations([PLAIN]).to_json(), **change})


def noun_phrases_by_brute_force(derivation: Derivation, start: int = 0) -> list[tuple[int, int]]:
    """Spans of all NP parts, from which those that hold another part that is an NP are taken away."""

    def find(part: Derivation, begin: int) -> list[tuple[int, int]]:
        here = [(begin, begin + len(words(part)))] if part.category in ("NP", "NP[nb]") else []
        for child in part.children if isinstance(part, Node) else ():
            here += find(child, begin)
            begin += len(words(child))
        return here

    spans = set(find(derivation, start))
    return sorted(a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans))


def test_base_noun_phrases_of_hand_worked_derivations() -> None:
    assert base_noun_phrases(PLAIN) == [(0, 2), (3, 4), (5, 6)]  # the cats · Ann · mice
    assert base_noun_phrases(RAISED) == [(0, 1), (2, 3)]  # they · mice
    assert base_noun_phrases(Leaf.plain("NP/N", "the", "DT")) == []


@given(
    st.recursive(
        st.builds(Leaf.plain, st.sampled_from(["N", "NP", "NP/N"]), st.just("w"), st.just("P")),
        lambda parts: st.builds(
            lambda category, children: Node(category, "", 0, tuple(children)),
            st.sampled_from(["S", "NP", "NP[nb]", "N", "NP\\NP"]),
            st.lists(parts, min_size=1, max_size=2),
        ),
        max_leaves=10,
    )
)
def test_base_noun_phrases_are_those_without_another_inside(derivation: Derivation) -> None:
    assert base_noun_phrases(derivation) == noun_phrases_by_brute_force(derivation)


def test_heads_by_category() -> None:
    for tree in (PLAIN, RAISED):
        assert head_leaf(assign_heads(tree)).word == "chase"
    subject = assign_heads(parse_auto(THE_CATS.replace("[nb] 1 2", "[nb] 0 2")))
    assert head_leaf(subject).word == "cats"
    assert words(subject) == ("the", "cats", "of", "Ann")


def test_parts_of_speech_are_filled_in_where_there_are_none() -> None:
    bare = AutoEntry("ID=1", Node("N", "fa", 1, (Leaf.plain("N/N", "old", "XX"), Leaf.plain("N", "cat", "XX"))))
    tagged = AutoEntry("ID=2", Node("N", "fa", 1, (Leaf.plain("N/N", "old", "JJ"), Leaf.plain("N", "cat", "XX"))))
    table = {"old": "JJ", "cat": "NN"}
    first, second = fill_pos([bare, tagged], lambda tokens: [table[token] for token in tokens])
    assert [(leaf.word, leaf.pos, leaf.original_pos) for leaf in leaves(first.derivation)] == [
        ("old", "JJ", "JJ"),
        ("cat", "NN", "NN"),
    ]
    assert first.header == "ID=1"
    assert isinstance(first.derivation, Node)
    assert (first.derivation.rule, first.derivation.head) == ("fa", 1)
    assert second == tagged
    with pytest.raises(ValueError, match="shorter"):
        list(fill_pos([bare], lambda tokens: ["NN"]))


@needs_sick
def test_a_real_file() -> None:
    trees = [entry.derivation for entry in read_auto(SICK)]
    grammar = CcgGrammar.from_derivations(trees)
    summary = grammar.summary()
    assert sum(grammar.unary.values()) == 597 + 1  # lex and tr, counted in the file with grep
    assert sum(grammar.binary.values()) == 6048 + 2422 + 272 + 93 + 39 + 7 + 3
    assert sum(summary.combinators.values()) == summary.binary == len(grammar.binary)
    assert "other" not in summary.combinators
    assert all(map(grammar.licenses, trees))
    part = CcgGrammar.from_derivations(trees[:500])
    assert 0 < sum(map(part.licenses, trees[500:])) < 500
