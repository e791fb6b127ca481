"""All derivations of a small bag, found without any search: the oracle of the best-first decoder.

all_trees       every whole sentence that the grammar derives from a bag, as trees of tests.comparison.best_first.twin
no_limits       options of the decoder with which it finds all that there is
goals           the goals of a search as such trees
has_all_words   whether a tree has every word that the bag requires
check_features  compare the features of all edges of a search with those of their trees

What has every required word is a goal; goals may be parts of others. What is given is checked on whole sentences, by
their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoded, Decoder
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import LEFT, RIGHT, RULE, Edges, Problem
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.problem import Input, InputToken
from comparison.best_first.state import (
    Options,
)
from comparison.best_first.template import MOST_FEATURES, NUM_VALUES
from gyro.text.corpus import ROOT
from tests.comparison.best_first.compiled import features
from tests.comparison.best_first.twin import Arc, Tree, Word, arcs, canonical, category_of, feature_hashes, leaves

MOST_GOALS = 50_000


def no_limits(**changes: float) -> Options:
    """Options without a beam, for all goals; scores are linear unless changed."""
    return kernel_options(ModelSettings(), MOST_GOALS)._replace(**{"scaled": 0, "beam": 0, **changes})


Grammar = DependencyGrammar | CcgInventory


class Kind(NamedTuple):
    """Units or tokens that nothing tells apart: how often they must and may be used, and their leaves."""

    least: int
    most: int
    words: tuple[Word, ...]


def kinds(given: Input, grammar: Grammar) -> list[Kind]:
    """The bag's kinds of tokens. Tokens with a dependent or a place in a chain are each of their own kind."""
    inside = [place for unit in given.units for place in unit]
    groups = [*given.units, *((place,) for place in range(len(given.tokens)) if place not in inside)]
    named = {place for chain in given.order for place in chain}
    named |= {token.head for token in given.tokens if token.head is not None}
    alike: list[tuple[list[InputToken], list[tuple[int, ...]]]] = []
    for group in groups:
        tokens = [given.tokens[place] for place in group]
        same = [places for facts, places in alike if facts == tokens and not named & {*group, *places[0]}]
        if same:
            same[0].append(group)
        else:
            alike.append((tokens, [group]))
    found = []
    for tokens, places in alike:
        least = 0 if all(token.optional for token in tokens) else len(places)
        found.append(Kind(least, len(places) * tokens[0].count, tuple(_leaves(given, grammar, min(places)))))
    return found


def _leaves(given: Input, grammar: Grammar, places: tuple[int, ...]) -> Iterator[Word]:
    tokens = [given.tokens[place] for place in places]
    outside = [i for i, token in enumerate(tokens) if token.head is not None and token.head not in places]
    head = outside[0] if len(outside) == 1 else len(places) - 1
    forms = [token.forms if len(tokens) == 1 else token.forms[:1] for token in tokens]
    for string in product(*forms):
        for tagged in product(*(_tags(grammar, word, t.pos) for word, t in zip(string, tokens, strict=True))):
            for category in _categories(grammar, string, tagged, tokens[head], head):
                yield Word(tuple(places), tuple(string), tuple(tagged), category, head)
            if len(tokens) > 1:
                break  # a unit has the likeliest tags


def _tags(grammar: Grammar, word: str, pos: str | None) -> Sequence[str]:
    if pos is not None:
        return (pos if pos in grammar.tags else "<unknown>",)
    known = grammar.dictionary.tags_of(word)
    return known[:1] if isinstance(grammar, CcgInventory) else known


def _categories(grammar: Grammar, string: Sequence[str], tags: Sequence[str], top: InputToken, head: int) -> list[str]:
    if isinstance(grammar, DependencyGrammar):
        return [""]
    if top.categories is not None:
        return list(top.categories)
    if len(string) > 1 and grammar.unit_categories:
        return list(grammar.unit_categories)
    return list(grammar.grammar.categories_of(string[head], tags[head]))


def all_trees(given: Input, grammar: Grammar) -> list[Tree]:
    """Every whole sentence."""
    bag = kinds(given, grammar)
    by_use: dict[tuple[int, ...], list[Tree]] = {}
    order = sorted(product(*(range(kind.most + 1) for kind in bag)), key=sum)
    goals = []
    for use in order:
        by_use[use] = list(_closed(_trees(use, bag, by_use, grammar, given), grammar))
        if _is_whole(use, bag):
            goals += by_use[use]
    return [tree for tree in goals if agrees(tree, given)]


def _is_whole(use: Sequence[int], bag: Sequence[Kind]) -> bool:
    return all(count >= kind.least for count, kind in zip(use, bag, strict=True))


def _trees(
    use: tuple[int, ...],
    bag: Sequence[Kind],
    by_use: dict[tuple[int, ...], list[Tree]],
    grammar: Grammar,
    given: Input,
) -> Iterator[Tree]:
    if sum(use) == 1:
        yield from (Tree(word) for word in bag[use.index(1)].words)
    for first, parts in list(by_use.items()):
        second = tuple(a - b for a, b in zip(use, first, strict=True))
        if min(second) >= 0 and sum(first) and sum(second) and second in by_use:
            for left, right in product(parts, by_use[second]):
                yield from _joined(left, right, grammar, given)


def _joined(left: Tree, right: Tree, grammar: Grammar, given: Input) -> Iterator[Tree]:
    if isinstance(grammar, CcgInventory):
        for rule in grammar.grammar.binary:
            if rule[:2] == (category_of(left), category_of(right)):
                yield Tree(rule, (left, right))
        return
    for side in (0, 1):
        if side == 0 and _has_left_dependent(left):
            continue  # right dependents come first
        for label in _labels(left, right, side, grammar, given):
            yield Tree(Arc(label, side), (left, right))


def _top(tree: Tree) -> Word:
    """The leaf of the head of a dependency tree."""
    if isinstance(tree.rule, Word):
        return tree.rule
    assert isinstance(tree.rule, Arc)
    return _top(tree.parts[tree.rule.side])


def _has_left_dependent(tree: Tree) -> bool:
    if not isinstance(tree.rule, Arc):
        return False
    return tree.rule.side == 1 or _has_left_dependent(tree.parts[0])


def _labels(left: Tree, right: Tree, side: int, grammar: DependencyGrammar, given: Input) -> Sequence[str]:
    """The label that is given, else those seen between the tags on this side."""
    if not grammar.labels:
        return ("",)
    head, modifier = (_top(part) for part in ((left, right), (right, left))[side])
    label = given.tokens[modifier.places[modifier.head]].label
    if label is not None:
        return (label,)
    tags = [grammar.tags.index(leaf.tags[leaf.head]) for leaf in (head, modifier)]
    return [grammar.labels[number] for number in grammar.pairs.get((*tags, side), (grammar.usual_label,))]


def _closed(trees: Iterator[Tree], grammar: Grammar) -> Iterator[Tree]:
    """The trees and all that unary rules make of them."""
    for tree in trees:
        yield tree
        if isinstance(grammar, CcgInventory):
            above = (Tree(rule, (tree,)) for rule in grammar.grammar.unary if rule.child == category_of(tree))
            yield from _closed(above, grammar)


def agrees(tree: Tree, given: Input) -> bool:
    """Whether a whole sentence has the given order and heads."""
    found = leaves(tree)
    for chain in given.order:
        for i, earlier in enumerate(chain):
            for later in chain[i + 1 :]:
                first = [at for at, leaf in enumerate(found) if earlier in leaf.places]
                second = [at for at, leaf in enumerate(found) if later in leaf.places]
                if first and second and first != second and max(first) > min(second):
                    return False
    return found[0].category != "" or _has_given_heads(tree, given)


def _has_given_heads(tree: Tree, given: Input) -> bool:
    at_place = [leaf for leaf in leaves(tree) for _ in leaf.words]
    above = {dependent: head for head, dependent, _ in arcs(tree)}
    start = 0
    for leaf in leaves(tree):
        wanted, head = given.tokens[leaf.places[leaf.head]].head, above.get(start + leaf.head, ROOT)
        start += len(leaf.words)
        if wanted is not None and wanted not in (at_place[head].places if head != ROOT else (ROOT,)):
            return False
    return True


def goals(decoded: Decoded, grammar: Grammar) -> dict[Tree, float]:
    """The goals as trees, each once."""
    assert decoded.how == "goal"
    found = [(canonical(parts[0], grammar, decoded.prepared), key) for key, parts in decoded.hypotheses]
    assert len(dict(found)) == len(found)
    assert [key for _, key in found] == sorted((key for _, key in found), reverse=True)
    return dict(found)


def has_all_words(tree: Tree, given: Input, grammar: Grammar) -> bool:
    """Whether a tree has every word that the bag requires."""
    used = Counter(leaf.places for leaf in leaves(tree))
    return all(used[kind.words[0].places] >= kind.least for kind in kinds(given, grammar))


def write_top(grammar: Any, problem: Problem, edges: Edges, edge: int, complete: bool, out: Any) -> int:
    """The features of the top of an edge by the compiled code."""
    parts = (int(edges.columns[edge, part]) for part in (LEFT, RIGHT, RULE))
    return int(features(grammar, problem, edges, *parts, complete, np.zeros(NUM_VALUES, np.uint64), out))


def compiled_features(decoder: Decoder, decoded: Decoded, edge: int, complete: bool) -> list[int]:
    """What the compiled code says of the top of one of the decoder's edges."""
    out = np.zeros(MOST_FEATURES, dtype=np.uint64)
    edges = decoder.workspace.edges
    count = write_top(decoder.grammar.tables, decoded.prepared.problem, edges, edge, complete, out)
    return [int(value) for value in out[:count]]


def check_features(decoder: Decoder, given: Input) -> int:
    """Each edge that a search made has the features of its tree; return how many edges there were."""
    decoded = decoder.decode(given)
    workspace, grammar = decoder.workspace, decoder.grammar
    whole = {int(edge) for edge in workspace.goals}
    for edge in range(workspace.num_edges):
        tree = canonical(decoder._derivation(edge, decoded.prepared.leaves), grammar, decoded.prepared)
        complete = edge in whole
        wanted = feature_hashes(tree, grammar, complete)
        assert Counter(compiled_features(decoder, decoded, edge, complete)) == Counter(wanted), tree
    return workspace.num_edges
