"""The decoder's input from bags, and examples to learn from out of treebanks.

bag_input           what a bag, with or without annotation, gives to the decoder
Given               what examples have of their trees
dependency_example  a dependency tree as an example: the structures of the edges that build it
ccg_example         a CCG derivation as an example
unit_categories     the categories that base noun phrases have in derivations
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar, attachments
from comparison.best_first.edge import structure
from comparison.best_first.learner import Example
from comparison.best_first.problem import Input, InputToken, Prepared, prepare
from grammars.base_phrase import base_noun_phrases
from grammars.ccg.derivation import Derivation, Leaf, Node, fold, leaves
from grammars.ccg.grammar import BinaryRule, Rule, UnaryRule
from grammars.ccg.grammar import base_noun_phrases as ccg_base_noun_phrases
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.errors import InputError
from gyro.run.constraint import KNOWN_BY, check_constraints
from gyro.text.annotated_bag import as_annotated
from gyro.text.bag import Bag
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

_MOST_LEAVES_OF_UNIT = 6  # categories that units have in derivations: the most frequent ones


def bag_input(bag: Bag) -> Input:
    """What a bag gives: forms (of lemmas, all that fit), tags, heads, units and so on."""
    known = as_annotated(check_constraints(bag, "best-first", KNOWN_BY["best-first"]))
    nothing = (None,) * len(known)
    optional = set(known.optional)
    columns = zip(
        known.tokens,
        known.pos or nothing,
        known.heads or nothing,
        known.labels or nothing,
        known.feats or nothing,
        known.categories or nothing,
        known.count_limits or (1,) * len(known),
        strict=True,
    )
    tokens = tuple(
        InputToken(
            forms=_forms(token, pos, feats) if known.inflect else (token,),
            pos=pos,
            head=head,
            label=label,
            categories=categories,
            count=count,
            optional=place in optional,
        )
        for place, (token, pos, head, label, feats, categories, count) in enumerate(columns)
    )
    return Input(tokens, known.units, known.order)


def _forms(lemma: str, upos: str | None, feats: str | None) -> tuple[str, ...]:
    from grammars.inflection import candidate_forms

    return candidate_forms(lemma, upos or "X", feats)


@dataclass(frozen=True)
class Given:
    """What the bag of an example has of its tree: tags, heads with labels, units, lemmas in place of forms."""

    tags: bool = True
    heads: bool = False
    units: bool = False
    lemmas: bool = False


def dependency_example(
    tree: ConlluSentence,
    grammar: DependencyGrammar,
    given: Given,
    *,
    tag_kind: str = "xpos",
    model: LanguageModel | None = None,
) -> Example:
    """Make an example; InputError when the grammar has no right derivation for the tree."""
    units = tuple(base_noun_phrases(tree)) if given.units else ()
    tokens = tuple(
        InputToken(
            forms=_with_form(token.lemma, token.upos, token.feats, token.form) if given.lemmas else (token.form,),
            pos=getattr(token, tag_kind) if given.tags else None,
            head=token.head if given.heads else None,
            label=token.deprel if given.heads and grammar.labels else None,
        )
        for token in tree.tokens
    )
    prepared = prepare(Input(tokens, units), grammar, model)
    in_units = {place: unit for unit in units for place in unit}
    groups = sorted({in_units.get(place, (place,)) for place in range(len(tree.tokens))})
    group_of = {place: i for i, group in enumerate(groups) for place in group}
    find = _LeafFinder(prepared)
    heads, labels, built = [], [], []
    for i, group in enumerate(groups):
        top = _top(tree, group, group_of, i)
        heads.append(ROOT if top.head is None or top.head == ROOT else group_of[top.head])
        labels.append(max(grammar.label_number(top.deprel), 0))
        tags = tuple(grammar.tag_numbers("", getattr(tree.tokens[place], tag_kind))[0] for place in group)
        leaf = find(group, tuple(tree.tokens[place].form for place in group), tags)
        built.append(structure(0, 0, leaf))
    gold = list(built)
    for step in attachments(heads):
        left, right = sorted((step.head, step.dependent))
        built[step.head] = structure(built[left], built[right], 2 * labels[step.dependent] + step.side)
        gold.append(built[step.head])
    return Example(prepared, tuple(gold))


def _with_form(lemma: str, upos: str, feats: str, form: str) -> tuple[str, ...]:
    return tuple(sorted({*_forms(form if lemma == "_" else lemma, upos, feats), form}))


def _top(tree: ConlluSentence, group: Sequence[int], group_of: dict[int, int], number: int) -> ConlluToken:
    tops = [t for t in (tree.tokens[place] for place in group) if t.head is None or group_of.get(t.head) != number]
    if len(tops) != 1:
        raise InputError("found a unit that is no subtree")
    return tops[0]


class _LeafFinder:
    """The number of the leaf that a token or unit is in the right derivation."""

    def __init__(self, prepared: Prepared) -> None:
        self._slot_of = {place: s for s, groups in enumerate(prepared.slots) for group in groups for place in group}
        self._number: dict[tuple[object, ...], int] = {}
        for i, leaf in enumerate(prepared.leaves):
            self._number[leaf.slot, leaf.words, leaf.tags] = i
            self._number[leaf.slot, leaf.words, leaf.tags, leaf.own[0]] = i

    def __call__(self, group: Sequence[int], words: tuple[str, ...], *known: object) -> int:
        leaf = self._number.get((self._slot_of[group[0]], words, *known))
        if leaf is None:
            raise InputError(f"found {' '.join(words)!r} with a tag or category that the bag does not allow")
        return leaf


def ccg_example(
    derivation: Derivation,
    inventory: CcgInventory,
    *,
    units: bool = False,
    categories: Sequence[Sequence[str]] | None = None,
    model: LanguageModel | None = None,
) -> Example:
    """Make an example; `categories` are the candidates of each word by its place, to which the right one is added."""
    words = leaves(derivation)
    spans = [(a, b) for a, b in ccg_base_noun_phrases(derivation) if b - a > 1] if units else []
    tokens = []
    for place, leaf in enumerate(words):
        candidates = None if categories is None else tuple(dict.fromkeys((*categories[place], leaf.category)))
        tokens.append(InputToken((leaf.word,), pos=leaf.pos, categories=candidates))
    prepared = prepare(Input(tuple(tokens), tuple(tuple(range(a, b)) for a, b in spans)), inventory, model)
    walk = _DerivationWalk(derivation, words, inventory, _LeafFinder(prepared), spans)
    return Example(prepared, tuple(walk.gold))


class _DerivationWalk:
    """The structures of a derivation's edges, the parts before the whole."""

    def __init__(
        self, derivation: Derivation, words: Sequence[Leaf], inventory: CcgInventory, find: _LeafFinder,
        spans: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        self.words, self.inventory, self.find = words, inventory, find
        self.spans = set(spans)
        self.inside = {place for a, b in spans for place in range(a, b)}
        self.gold: list[int] = []
        self.place = 0
        fold(derivation, self._at_leaf, self._at_node)

    def _at_leaf(self, leaf: Leaf) -> tuple[int, int, int]:
        self.place += 1
        if self.place - 1 in self.inside:
            return self.place - 1, self.place, 0
        return self.place - 1, self.place, self._leaf_edge(self.place - 1, self.place, leaf.category)

    def _leaf_edge(self, start: int, end: int, category: str) -> int:
        group = self.words[start:end]
        tags = tuple(self.inventory.tag_numbers(leaf.word, leaf.pos)[0] for leaf in group)
        number = self.inventory.category_number[category]
        leaf = self.find(range(start, end), tuple(leaf.word for leaf in group), tags, number)
        return self._note(structure(0, 0, leaf))

    def _at_node(self, node: Node, parts: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
        start, end = parts[0][0], parts[-1][1]
        if parts[0][2] == 0:  # within a unit, or the unit itself
            whole = (start, end) in self.spans and node.category.partition("[")[0] == "NP"
            return start, end, self._leaf_edge(start, end, node.category) if whole else 0
        below = [child.category for child in node.children]
        rule: Rule = UnaryRule(below[0], node.category)
        if len(below) == 2:
            rule = BinaryRule(below[0], below[1], node.category, node.head)
        number = self.inventory.rule_number.get(rule)
        if number is None:
            raise InputError(f"found the rule {' '.join(below)} => {node.category}, which the grammar does not have")
        right = parts[1][2] if len(parts) == 2 else 0
        return start, end, self._note(structure(parts[0][2], right, number))

    def _note(self, found: int) -> int:
        self.gold.append(found)
        return found


def unit_categories(derivations: Iterable[Derivation]) -> tuple[str, ...]:
    """The categories that base noun phrases of several words have, the most frequent first."""
    counts: Counter[str] = Counter()
    for derivation in derivations:
        spans = {span for span in ccg_base_noun_phrases(derivation) if span[1] - span[0] > 1}
        place = 0

        def at_leaf(leaf: Leaf) -> tuple[int, int]:
            nonlocal place
            place += 1
            return place - 1, place

        def at_node(
            node: Node, parts: Sequence[tuple[int, int]], spans: set[tuple[int, int]] = spans
        ) -> tuple[int, int]:
            span = (parts[0][0], parts[-1][1])
            if span in spans and node.category.partition("[")[0] == "NP":
                counts[node.category] += 1
            return span

        fold(derivation, at_leaf, at_node)
    return tuple(category for category, _ in counts.most_common(_MOST_LEAVES_OF_UNIT))
