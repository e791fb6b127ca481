"""Orders of given trees against lists of all there are, with the scores of plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.decoder import Decoded, Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar, attachments
from comparison.best_first.given_tree import TreeBeams
from comparison.best_first.input import bag_input
from comparison.best_first.output import dependency_tree
from comparison.best_first.problem import Input, InputToken
from grammars.annotation import Annotation, sentence_to_bag, tree_to_sentence
from grammars.conllu import ConlluSentence, is_projective, is_usable, read_conllu
from gyro.text.corpus import ROOT
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first.bags import BAGS, POS, bag
from tests.comparison.best_first.enumeration import all_trees, goals, no_limits
from tests.comparison.best_first.twin import Arc, Tree, Word, score
from tests.outside import TREEBANK, needs_treebank

Weights = Callable[[int], NDArray[np.float32]]
MOST = 3000
ALL = TreeBeams(MOST, MOST)
FOREVER = Limits(seconds=1e6)


def decoder(
    grammar: DependencyGrammar, weights: NDArray[np.float32], trees: TreeBeams | None = ALL, **options: Any
) -> Decoder:
    model = options.pop("language_model", None)
    limits = options.pop("limits", FOREVER)
    return Decoder(
        grammar, weights, no_limits(**{"goals": MOST, **options}), limits=limits, trees=trees, language_model=model
    )


def check_all(bag: Input, grammar: DependencyGrammar, weights: NDArray[np.float32], scaled: int) -> None:
    """With beams that hold everything all orders of the tree are goals, under the scores that they should have."""
    decoded = decoder(grammar, weights, scaled=scaled).decode(bag)
    wanted = all_trees(bag, grammar)
    assert len(wanted) < MOST
    assert not decoded.timed_out
    if not wanted:
        assert decoded.how != "goal"
        return
    found = goals(decoded, grammar)
    assert set(found) == set(wanted)
    for tree, key in found.items():
        assert key == pytest.approx(score(tree, grammar, weights, scaled), abs=1e-5)


@st.composite
def trees_of_words(draw: st.DrawFn) -> Input:
    """At most four words with all their heads, perhaps equal ones, units, an order, or several readings."""
    size = draw(st.integers(1, 4))
    places = range(size)
    names = draw(st.lists(st.sampled_from(["the", "dog", "saw", "barks"]), min_size=size, max_size=size))
    rank = draw(st.permutations(places))  # heads have lower ranks
    roots = draw(st.sampled_from([1, 1, 1, 2]))
    heads = [
        ROOT if rank[i] < roots else draw(st.sampled_from([h for h in places if rank[h] < rank[i]])) for i in places
    ]
    # A unit of a head and a dependent that has none of its own.
    units: tuple[tuple[int, ...], ...] = ()
    pairs = [(i, heads[i]) for i in places if heads[i] != ROOT and i not in heads]
    if pairs and draw(st.booleans()):
        units = (draw(st.sampled_from(pairs)),)
    chain = tuple(draw(st.permutations(draw(st.lists(st.sampled_from(places), unique=True, max_size=3)))))
    untagged = draw(st.sampled_from([None, *places]))
    tokens = [
        InputToken((name,), pos=None if i == untagged else POS[name], head=head)
        for i, (name, head) in enumerate(zip(names, heads, strict=True))
    ]
    return Input(tuple(tokens), units=units, order=(chain,) if len(chain) > 1 else ())


@settings(max_examples=50)
@given(given_bag=trees_of_words(), seed=st.integers(0, 20), scaled=st.integers(0, 1))
def test_all_orders_of_a_tree(
    given_bag: Input, seed: int, scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    check_all(given_bag, dependency, random_weights(seed), scaled)


TREES = {
    "head in a unit": BAGS["head in a unit"],
    "heads": BAGS["heads"],
    "one word": bag("dog", tokens={"head": [ROOT]}),
    "equal leaves": bag("the dog the the barks", tokens={"head": [4, 4, 4, 4, ROOT]}),
    "equal subtrees": bag("the dog the dog sees", tokens={"head": [1, 4, 3, 4, ROOT]}),
    "forms": bag("dog|dogs bark|barks .", tokens={"head": [1, ROOT, 1]}),
    "order between subtrees": bag(
        "the dog old cat sees", tokens={"head": [1, 4, 3, 4, ROOT]}, order=((2, 1), (0, 4), (4, 3))
    ),
}


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", TREES)
def test_all_orders_of_hand_made_trees(
    name: str, scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    check_all(TREES[name], dependency, random_weights(1), scaled)


def test_labels_are_chosen_or_given(labelled: DependencyGrammar, random_weights: Weights) -> None:
    for labels in ([None] * 3, ["det", "nsubj", None], ["obj", None, "punct"]):
        given_bag = bag("the dog barks", tokens={"head": [1, 2, ROOT], "label": labels})
        check_all(given_bag, labelled, random_weights(2), 0)


def test_a_language_model_counts_as_in_the_search_by_agenda(
    dependency: DependencyGrammar, random_weights: Weights, language_models: Callable[[int], KenlmModel]
) -> None:
    for name in ("heads", "equal leaves"):
        options: dict[str, Any] = {"scaled": 1, "lm_weight": 0.7, "language_model": language_models(3)}
        found = [
            goals(decoder(dependency, random_weights(3), trees, **options).decode(TREES[name]), dependency)
            for trees in (ALL, None)
        ]
        assert found[0].keys() == found[1].keys()
        for tree, key in found[0].items():
            assert key == pytest.approx(found[1][tree], abs=1e-9)


def projective_orders(given_bag: Input, grammar: DependencyGrammar) -> Iterator[Tree]:
    """By trying all permutations of units and tokens; each has one tag."""
    inside = {place for unit in given_bag.units for place in unit}
    groups = [*given_bag.units, *((i,) for i in range(len(given_bag.tokens)) if i not in inside)]
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    tops, leaves = [], []
    for group in groups:
        (top,) = [i for i, place in enumerate(group) if given_bag.tokens[place].head not in group]
        tops.append(given_bag.tokens[group[top]].head)
        tokens = [given_bag.tokens[place] for place in group]
        tags = tuple(str(token.pos) for token in tokens)
        leaves.append(Tree(Word(group, tuple(token.forms[0] for token in tokens), tags, "", top)))
    for order in permutations(range(len(groups))):
        place = {number: i for i, number in enumerate(order)}
        heads = [ROOT if tops[number] == ROOT else place[group_of[tops[number]]] for number in order]
        if is_projective(heads):
            built = [leaves[number] for number in order]
            for step in attachments(heads):
                left, right = sorted((step.head, step.dependent))
                built[step.head] = Tree(Arc("", step.side), (built[left], built[right]))
            yield built[heads.index(ROOT)]


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_order_of_six_words(
    seed: int, scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    random = Random(seed)
    size, weights = 6, random_weights(seed)
    words = [random.choice(["the", "dog", "sees", "old", "she"]) for _ in range(size)]
    heads = [ROOT, *(random.randrange(i) for i in range(1, size))]
    units = ((5, heads[5]),) if seed % 2 else ()
    given_bag = bag(" ".join(words), tokens={"head": heads}, units=units)
    best = max(score(tree, dependency, weights, scaled) for tree in projective_orders(given_bag, dependency))
    trees = TreeBeams(10_000, 10_000)
    decoded = decoder(dependency, weights, trees, goals=1, scaled=scaled).decode(given_bag)
    assert decoded.how == "goal"
    assert decoded.hypotheses[0][0] == pytest.approx(best, abs=1e-5)


def random_order(heads: list[int], random: Random) -> list[int]:
    """The places in a projective order."""

    def build(top: int) -> list[int]:
        parts = [build(place) for place, head in enumerate(heads) if head == top] + [[top]]
        random.shuffle(parts)
        return [place for part in parts for place in part]

    return build(heads.index(ROOT))


def check_given(decoded: Decoded, heads: list[int], chains: tuple[tuple[int, ...], ...]) -> None:
    """Every goal has each token, under its head and in the given order; no two tokens are alike."""
    assert decoded.how == "goal"
    for _, (derivation,) in decoded.hypotheses:
        places = [decoded.prepared.slots[leaf.slot][0][0] for leaf in derivation.leaves()]
        assert sorted(places) == list(range(len(heads)))
        for chain in chains:
            assert [place for place in places if place in chain] == list(chain)
        order = {place: i for i, place in enumerate(places)}
        found = [ROOT if heads[place] == ROOT else order[heads[place]] for place in places]
        assert is_projective(found)


@settings(max_examples=150)
@given(
    size=st.integers(1, 14),
    seed=st.integers(0, 10_000),
    beams=st.sampled_from([TreeBeams(1, 1), TreeBeams(2, 1), TreeBeams(4, 3)]),
)
def test_each_tree_has_an_order_within_the_narrowest_beams(
    size: int, seed: int, beams: TreeBeams, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    random = Random(seed)
    heads = [ROOT, *(random.randrange(i) for i in range(1, size))]
    # Chains that contradict neither the tree nor each other, for all are of one order.
    order = random_order(heads, random)
    chains = [sorted(random.sample(range(size), random.randint(0, min(4, size)))) for _ in range(random.randint(0, 3))]
    fixed = tuple(tuple(order[i] for i in chain) for chain in chains if len(chain) > 1)
    tokens = tuple(InputToken((f"w{i}",), pos=random.choice(["NN", "DT", "VBZ"]), head=h) for i, h in enumerate(heads))
    found = decoder(dependency, random_weights(seed % 7), beams, goals=3, scaled=1).decode(Input(tokens, order=fixed))
    check_given(found, heads, fixed)


def test_past_the_limit_beams_hold_one_edge(dependency: DependencyGrammar, random_weights: Weights) -> None:
    words = " ".join(f"w{i}" for i in range(30))
    given_bag = bag(words, tokens={"head": [ROOT] + [0] * 20 + [1] * 9, "pos": ["NN", "VBZ"] * 15})
    narrow, cut, wide = (
        decoder(dependency, random_weights(4), beams, limits=Limits(1e6, limit), goals=1).decode(given_bag)
        for beams, limit in ((TreeBeams(1, 1), 0), (TreeBeams(16, 8), 1), (TreeBeams(16, 8), 0))
    )
    assert narrow.hypotheses == cut.hypotheses
    assert narrow.scored == cut.scored < wide.scored / 10
    assert narrow.hypotheses[0][0] < wide.hypotheses[0][0]


def test_a_tree_that_is_not_projective_has_orders_that_are(
    dependency: DependencyGrammar, random_weights: Weights
) -> None:
    tokens = {"head": [2, 3, ROOT, 2]}  # the arcs of the first two cross
    decoded = decoder(dependency, random_weights(5), TreeBeams(), goals=1).decode(
        bag("the dog sees old", tokens=tokens)
    )
    check_given(decoded, tokens["head"], ())


def test_trees_of_several_roots_stand_side_by_side(dependency: DependencyGrammar, random_weights: Weights) -> None:
    given_bag = bag("the dog she sees . .", tokens={"head": [1, ROOT, 3, ROOT, ROOT, ROOT]})
    decoded = decoder(dependency, random_weights(6), TreeBeams(), goals=1).decode(given_bag)
    assert decoded.how == "greedy"
    assert not decoded.timed_out
    parts = [" ".join(sorted(part.words)) for part in decoded.hypotheses[0][1]]
    assert sorted(parts) == [".", ".", "dog the", "sees she"]


def test_a_deep_tree_and_a_flat_one(dependency: DependencyGrammar, random_weights: Weights) -> None:
    size = 1500
    deep, flat = [ROOT, *range(size - 1)], [ROOT] + [0] * 299
    for heads in (deep, flat):
        tokens = tuple(InputToken((f"w{i}",), pos="NN", head=head) for i, head in enumerate(heads))
        decoded = decoder(dependency, random_weights(7), TreeBeams(1, 1), goals=1).decode(Input(tokens))
        assert len(decoded.words) == len(heads)


@needs_treebank
@pytest.mark.slow
def test_every_tree_of_the_treebank_has_an_order(random_weights: Weights) -> None:
    trees = [tree for tree in read_conllu(TREEBANK / "en_ewt-ud-dev.conllu.xz") if is_usable(tree)]
    grammar = DependencyGrammar.from_trees(trees)
    search = decoder(grammar, random_weights(8), TreeBeams(2, 2), goals=1, scaled=1)
    projective = [_check_order(tree, search, grammar) for tree in trees[::3]]
    assert 0.9 < sum(projective) / len(projective) < 1  # some trees are not, and have an order all the same


def _check_order(tree: ConlluSentence, search: Decoder, grammar: DependencyGrammar) -> bool:
    """The output has the words under their heads, whether or not the tree is projective; return whether it is."""
    annotated = sentence_to_bag(tree_to_sentence(tree, "1"), Annotation(pos=0.8, heads=1))
    decoded = search.decode(bag_input(annotated))
    assert decoded.how == "goal"
    found = dependency_tree(decoded.hypotheses[0][1], grammar, annotated, decoded.prepared, "xpos")
    assert annotated.heads is not None

    def arcs(words: tuple[str, ...], heads: Any) -> list[tuple[str, str]]:
        return sorted((words[i], "" if head == ROOT else words[head]) for i, head in enumerate(heads))

    assert arcs(found.forms, found.heads) == arcs(annotated.tokens, annotated.heads)
    heads = [head for head in found.heads if head is not None]
    assert is_projective(heads)
    return is_projective([head for head in tree.heads if head is not None])
