"""Bags and trees as input: the right derivation of an example is one that the decoder can build."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Derivation, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import structure
from comparison.best_first.input import Given, bag_input, ccg_example, dependency_example, unit_categories
from comparison.best_first.learner import Example
from comparison.best_first.problem import Input, InputToken
from grammars.ccg.derivation import Derivation as CcgDerivation
from grammars.ccg.derivation import Leaf, Node, leaves
from grammars.ccg.grammar import rule_instances
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.bag_file import record_to_bag
from tests.comparison.best_first.enumeration import all_trees, no_limits
from tests.comparison.best_first.treebank import noun_phrase
from tests.comparison.best_first.twin import arcs, canonical, words
from tests.comparison.best_first.twin import leaves as tree_leaves

Weights = Callable[[int], NDArray[np.float32]]
ROOT = -1


def structures(derivation: Derivation) -> list[int]:
    """The structures of all parts, the whole one last."""
    if derivation.leaf is not None:
        return [structure(0, 0, derivation.rule)]
    below = [structures(part) for part in derivation.parts]
    tops = [found[-1] for found in below] + [0]
    return [*(number for found in below for number in found), structure(tops[0], tops[1], derivation.rule)]


def find_gold(example: Example, given_bag: Input, grammar: DependencyGrammar | CcgInventory) -> Derivation:
    """The one derivation, among all that the decoder finds, whose parts are those of the example."""
    weights = np.zeros(1 << 14, dtype=np.float32)
    decoded = Decoder(grammar, weights, no_limits(), limits=Limits(1e6)).decode(given_bag)
    found = [parts[0] for _, parts in decoded.hypotheses if structures(parts[0])[-1] == example.gold[-1]]
    assert len(found) == 1
    assert set(structures(found[0])) == set(example.gold)
    return found[0]


def small(bank: list[ConlluSentence]) -> list[ConlluSentence]:
    return [tree for tree in bank if len(tree.tokens) <= 4]


@pytest.mark.parametrize("given_facts", [Given(), Given(tags=False), Given(heads=True), Given(units=True)])
@pytest.mark.parametrize("kind", ["dependency", "labelled"])
def test_the_example_of_a_tree_is_its_derivation(
    given_facts: Given, kind: str, tree_bank: list[ConlluSentence], request: pytest.FixtureRequest
) -> None:
    grammar: DependencyGrammar = request.getfixturevalue(kind)
    for tree in small(tree_bank):
        example = dependency_example(tree, grammar, given_facts)
        tokens = [
            InputToken(
                (token.form,),
                pos=token.xpos if given_facts.tags else None,
                head=token.head if given_facts.heads else None,
                label=token.deprel if given_facts.heads and grammar.labels else None,
            )
            for token in tree.tokens
        ]
        units = {"the dog barks .": ((0, 1),), "loudly the dog barks": ((1, 2),), "old dogs sleep": ((0, 1),)}
        units["a very old cat"] = ((0, 1, 2, 3),)
        found_units = units.get(" ".join(tree.forms), ()) if given_facts.units else ()
        derivation = find_gold(example, Input(tuple(tokens), found_units), grammar)
        found = canonical(derivation, grammar, example.prepared)
        assert words(found) == tree.forms
        inside = {place for unit in found_units for place in unit[:-1]}
        wanted = {(token.head, i, token.deprel if grammar.labels else "") for i, token in enumerate(tree.tokens)}
        assert set(arcs(found)) == {arc for arc in wanted if arc[0] != ROOT and arc[1] not in inside}


def test_the_example_of_a_derivation_is_its_derivation(
    derivation_bank: list[CcgDerivation], inventory: CcgInventory
) -> None:
    for tree in derivation_bank:
        example = ccg_example(tree, inventory)
        tokens = tuple(InputToken((leaf.word,), pos=leaf.pos) for leaf in leaves(tree))
        derivation = find_gold(example, Input(tokens), inventory)
        found = canonical(derivation, inventory, example.prepared)
        assert [leaf.category for leaf in tree_leaves(found)] == [leaf.category for leaf in leaves(tree)]
        rules = {part.rule for part in _binary_and_unary(found)}
        assert rules == set(rule_instances(tree))


def _binary_and_unary(tree):  # type: ignore[no-untyped-def]
    if tree.parts:
        yield tree
    for part in tree.parts:
        yield from _binary_and_unary(part)


def test_units_of_derivations_are_leaves(derivation_bank: list[CcgDerivation], inventory: CcgInventory) -> None:
    example = ccg_example(derivation_bank[2], inventory, units=True)  # she sees [the old cat] .
    tokens = tuple(InputToken((leaf.word,), pos=leaf.pos) for leaf in leaves(derivation_bank[2]))
    found = find_gold(example, Input(tokens, units=((2, 3, 4),)), inventory)
    assert [leaf.words for leaf in found.leaves()] == [("she",), ("sees",), ("the", "old", "cat"), (".",)]
    assert unit_categories(derivation_bank) == ("NP",)
    assert unit_categories([Node("NP[nb]", "", 1, noun_phrase("the/DT dog/NN").children)] * 2) == ("NP[nb]",)  # type: ignore[union-attr]
    assert unit_categories([Leaf.plain("NP", "she", "PRP")]) == ()


def test_candidate_categories_have_the_right_one(derivation_bank: list[CcgDerivation], inventory: CcgInventory) -> None:
    tree = derivation_bank[5]  # they saw a saw .
    example = ccg_example(tree, inventory, categories=[("N",)] * 5)
    leaves_of_saw = [leaf for leaf in example.prepared.leaves if leaf.words == ("saw",)]
    assert sorted(inventory.categories[leaf.own[0]] for leaf in leaves_of_saw) == ["(S[dcl]\\NP)/NP", "N", "N"]


def test_a_derivation_with_other_rules_is_refused(inventory: CcgInventory) -> None:
    tree = Node("S[dcl]", "", 0, (Leaf.plain("N", "dogs", "NNS"), Leaf.plain("N", "cats", "NNS")))
    with pytest.raises(InputError, match=r"found the rule N N => S\[dcl\], which the grammar does not have"):
        ccg_example(tree, inventory)


def test_a_tag_that_the_dictionary_lacks_is_refused(dependency: DependencyGrammar) -> None:
    tree = ConlluSentence((ConlluToken("the", xpos="VBZ", head=ROOT, deprel="root"),))
    with pytest.raises(InputError, match="found 'the' with a tag or category that the bag does not allow"):
        dependency_example(tree, dependency, Given(tags=False))


def test_lemmas_of_a_tree_become_forms(tree_bank: list[ConlluSentence]) -> None:
    grammar = DependencyGrammar.from_trees(tree_bank, labelled=True, tag_kind="upos")
    example = dependency_example(tree_bank[1], grammar, Given(heads=True, lemmas=True), tag_kind="upos")
    forms = {leaf.words for leaf in example.prepared.leaves}
    assert {("dogs",), ("bark",), ("barks",), ("loudly",)} <= forms
    assert ("dog",) not in forms  # Number=Plur


def test_what_a_bag_gives() -> None:
    assert bag_input(Bag(("b", "a"))) == Input((InputToken(("a",)), InputToken(("b",))))
    bag = AnnotatedBag(
        ("the", "dog", "barks", "."),
        pos=("DT", None, "VBZ", None),
        heads=(1, 2, ROOT, None),
        labels=("det", None, None, None),
        units=((0, 1),),
        order=((2, 3),),
        count_limits=(1, 1, 2, 1),
        optional=(3,),
        categories=(None, None, ("S[dcl]\\NP",), None),
    )
    wanted = {
        "the": InputToken(("the",), "DT", 2, "det"),
        "dog": InputToken(("dog",), None, 1),
        "barks": InputToken(("barks",), "VBZ", ROOT, None, ("S[dcl]\\NP",), 2),
        ".": InputToken((".",), optional=True),
    }
    found = bag_input(bag)
    for word, token in zip(bag.tokens, found.tokens, strict=True):
        assert token.forms == (word,)
        head = None if token.head is None else ROOT if token.head == ROOT else bag.tokens[token.head]
        assert head == {"the": "dog", "dog": "barks", "barks": ROOT}.get(word)
        for name in ("pos", "label", "categories", "count", "optional"):
            assert getattr(token, name) == getattr(wanted[word], name)
    assert [[bag.tokens[i] for i in unit] for unit in found.units] == [["the", "dog"]]
    assert [[bag.tokens[i] for i in chain] for chain in found.order] == [["barks", "."]]


def test_a_bag_of_lemmas_gives_forms(dependency: DependencyGrammar) -> None:
    bag = AnnotatedBag(("bark", "dog"), pos=("VERB", "NOUN"), feats=(None, "Number=Plur"), inflect=True)
    found = {token.forms[0]: set(token.forms) for token in bag_input(bag).tokens}
    assert any({"bark", "barks", "barked", "barking"} <= forms for forms in found.values())
    assert {"dogs"} in found.values()
    used = {words(tree) for tree in all_trees(bag_input(bag), dependency)}
    assert all(len(string) == 2 and "dogs" in string for string in used)  # one form of each


@pytest.mark.parametrize(("key", "value"), [("positions", [[0, 1]]), ("choices", [[[0, 1], 1]])])
def test_constraints_that_only_gyro_knows_are_refused(key: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"'x': found the constraint {key}, .* \(the system gyro knows it\)$"):
        bag_input(record_to_bag({"id": "x", "tokens": ["a", "b"], key: value}, 1))
