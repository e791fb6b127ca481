"""A second opinion on the best-first decoder: what an edge is, said from its tree alone, in plain Python.

Tree            a leaf, or the name of a rule over one or two trees
canonical       a derivation of the decoder as such a tree
feature_hashes  the features of the top of a tree, hashed
vector          those of all its parts
score           the sum of their weights
signature       what makes CCG edges equivalent; dependency_signature: dependency edges
count_actions   the number of its parts

The templates are those of comparison.best_first.template; their values are found from the whole tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first import template as t
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Derivation
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.problem import Prepared
from grammars.ccg.grammar import BinaryRule, UnaryRule

ALL = (1 << 64) - 1
SEED, GOLDEN = 0xD1B54A32D192ED03, 0x9E3779B97F4A7C15


class Arc(NamedTuple):
    """The rule of a dependency tree: the label, and the side of the head (0: left)."""

    label: str
    side: int


class Word(NamedTuple):
    """A leaf: the places of its tokens in the bag, its words, tags, category and the place of its head among them."""

    places: tuple[int, ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]
    category: str
    head: int


class Tree(NamedTuple):
    """A leaf has no parts and a Word in place of a rule."""

    rule: Arc | UnaryRule | BinaryRule | Word
    parts: tuple[Tree, ...] = ()


def mix(state: int, value: int) -> int:
    state = ((state ^ value) * GOLDEN) & ALL
    return state ^ (state >> 32)


def hash_values(template: int, values: Sequence[int]) -> int:
    state = mix(SEED, template)
    for value in values:
        state = mix(state, value)
    return state


def text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def tag_hash(tag: str) -> int:
    return 0 if tag in ("", "<none>") else text_hash(tag)


def word_hash(word: str) -> int:
    return text_hash(word) if word else 0


def bucket(number: int) -> int:
    return next((i for i, last in enumerate((0, 1, 2, 3, 4, 6, 9, 14, 29)) if number <= last), 9)


def canonical(derivation: Derivation, grammar: DependencyGrammar | CcgInventory, prepared: Prepared) -> Tree:
    if derivation.leaf is not None:
        leaf = derivation.leaf
        is_ccg = isinstance(grammar, CcgInventory)
        category = grammar.categories[leaf.own[0]] if is_ccg else ""
        head = len(leaf.words) - 1 if is_ccg else leaf.own[6]
        places = min(prepared.slots[leaf.slot])
        return Tree(Word(places, leaf.words, tuple(grammar.tags[tag] for tag in leaf.tags), category, head))
    parts = tuple(canonical(part, grammar, prepared) for part in derivation.parts)
    if isinstance(grammar, CcgInventory):
        return Tree(grammar.rules[derivation.rule], parts)
    label = grammar.labels[derivation.rule // 2] if grammar.labels else ""
    return Tree(Arc(label, derivation.rule % 2), parts)


def all_parts(tree: Tree) -> Iterator[Tree]:
    yield tree
    for part in tree.parts:
        yield from all_parts(part)


def leaves(tree: Tree) -> list[Word]:
    if not tree.parts:
        assert isinstance(tree.rule, Word)
        return [tree.rule]
    return [leaf for part in tree.parts for leaf in leaves(part)]


def words(tree: Tree) -> tuple[str, ...]:
    return tuple(word for leaf in leaves(tree) for word in leaf.words)


def tags(tree: Tree) -> tuple[str, ...]:
    return tuple(tag for leaf in leaves(tree) for tag in leaf.tags)


def count_actions(tree: Tree) -> int:
    return sum(1 for _ in all_parts(tree))


def head_of(tree: Tree) -> int:
    """The place of the head word in the tree's string."""
    rule = tree.rule
    if isinstance(rule, Word):
        return rule.head
    if isinstance(rule, UnaryRule):
        return head_of(tree.parts[0])
    side = rule.side if isinstance(rule, Arc) else rule.head
    return head_of(tree.parts[0]) if side == 0 else len(words(tree.parts[0])) + head_of(tree.parts[1])


def arcs(tree: Tree, first: int = 0) -> list[tuple[int, int, str]]:
    """(head, dependent, label) by place in the string; the words of a unit have none."""
    if not isinstance(tree.rule, Arc):
        return []
    left, right = tree.parts
    middle = first + len(words(left))
    ends = [first + head_of(left), middle + head_of(right)]
    new = (ends[tree.rule.side], ends[1 - tree.rule.side], tree.rule.label)
    return [*arcs(left, first), *arcs(right, middle), new]


MOST_VALENCY = 6


def apply(table: t.Table, values: Mapping[int, int], first: int = 0) -> list[int]:
    return [hash_values(first + number, [values[place] for place in places]) for number, *places in table]


def feature_hashes(tree: Tree, grammar: DependencyGrammar | CcgInventory, complete: bool) -> list[int]:
    """The features of the top of a tree; `complete`: it is a whole sentence."""
    if isinstance(grammar, CcgInventory):
        return _ccg_features(tree, grammar) + (_boundary(tree, t.CCG_BOUNDARY) if complete else [])
    return _dependency_features(tree, grammar) + (_boundary(tree, t.DEPENDENCY_BOUNDARY) if complete else [])


def vector(tree: Tree, grammar: DependencyGrammar | CcgInventory, complete: bool) -> Counter[int]:
    total = Counter(feature_hashes(tree, grammar, complete))
    for part in tree.parts:
        total.update(vector(part, grammar, False))
    return total


def score(
    tree: Tree,
    grammar: DependencyGrammar | CcgInventory,
    weights: NDArray[np.float32],
    scaled: float,
    complete: bool = True,
) -> float:
    mask = weights.size - 1
    total = sum(count * float(weights[key & mask]) for key, count in vector(tree, grammar, complete).items())
    return total / count_actions(tree) if scaled else total


def signature(tree: Tree, dp: bool) -> object:
    """What makes CCG edges equivalent."""
    string, tagged = words(tree), tags(tree)
    top = (category_of(tree), string[head_of(tree)])
    if not dp:
        return top, string
    used = tuple(sorted(leaf.places for leaf in leaves(tree)))
    return top, used, string[:2], string[-2:], tagged[:2], tagged[-2:]


def dependency_signature(tree: Tree, templates: str, lm_order: int = 0) -> object:
    """What features of larger trees, and the language model, see of a dependency tree."""
    string, tagged, head = words(tree), tags(tree), head_of(tree)
    used = tuple(sorted(leaf.places for leaf in leaves(tree)))
    near = max(2, lm_order - 1)
    ends = string[:near], string[-near:], tagged[:2], tagged[-2:]
    left, right = dependents(tree, head)
    outer = tuple((string[side[0]], tagged[side[0]]) if side else () for side in (left, right))
    seen: tuple[object, ...] = (used, string[head], tagged[head], head, top_places(tree), ends, outer)
    seen += (min(len(left), MOST_VALENCY), min(len(right), MOST_VALENCY))
    if templates == t.OURS:
        return seen
    second = tuple(tagged[side[1]] if len(side) > 1 else "" for side in (left, right))
    before, after = tagged[:head], tagged[head + 1 :]
    return seen, second, before[-1:], after[:1], frozenset(before), frozenset(after)


def top_places(tree: Tree) -> tuple[int, ...]:
    """The places of the leaf that has the head."""
    if isinstance(tree.rule, Word):
        return tree.rule.places
    assert isinstance(tree.rule, Arc)
    return top_places(tree.parts[tree.rule.side])


def dependents(tree: Tree, head: int) -> tuple[list[int], list[int]]:
    """A word's dependents on its left and on its right, from the outside inwards."""
    below = sorted(m for h, m, _ in arcs(tree) if h == head)
    return [m for m in below if m < head], [m for m in reversed(below) if m > head]


def _ends(tree: Tree) -> dict[int, int]:
    """The first and last words and tags, and those next to them; a tree of one word has none of these."""
    string, tagged = words(tree), ["", *tags(tree), ""]
    places = {t.T_FIRST: 1, t.T_SECOND: 2, t.T_PENULTIMATE: -3, t.T_LAST: -2}
    ends = {t.W_FIRST: word_hash(string[0]), t.W_LAST: word_hash(string[-1])}
    return ends | {value: tag_hash(tagged[place]) for value, place in places.items()}


def _boundary(tree: Tree, first: int) -> list[int]:
    return apply(t.BOUNDARY, _ends(tree), first)


def _surface(tree: Tree, joint: int) -> list[int]:
    values: dict[int, int] = {}
    for hashed, spell, places in (
        (word_hash, words, (t.W1, t.W2, t.W3, t.W4)),
        (tag_hash, tags, (t.T1, t.T2, t.T3, t.T4)),
    ):
        a, b = ["", *spell(tree.parts[0])], [*spell(tree.parts[1]), ""]
        values |= zip(places, map(hashed, (a[-2], a[-1], b[0], b[1])), strict=True)
    found: list[int] = []
    for table, needed in zip(
        (t.JOINT, t.JOINT_W1, t.JOINT_W4, t.JOINT_W1_W4), ((), (t.W1,), (t.W4,), (t.W1, t.W4)), strict=True
    ):
        if all(values[place] for place in needed):
            found += apply(table, values, joint)
    return found


def norm(number: int) -> int:
    return next((i for i, last in enumerate((0, 1, 2, 3, 4, 5, 10, 20, 40)) if number <= last), 9)


_ARC = (t.ARC, t.SIBLINGS, t.GRANDCHILDREN, t.VALENCIES, t.DISTANCES)
_NEW = (t.NEW_ARC, t.SIZES, t.FAR_ARC, t.NEIGHBOURS, t.MORE_GRANDCHILDREN, t.MORE_SIBLINGS, t.COMPLETED)
# Of the 2015 paper's Table 2, what both have: by the numbers of the templates.
_SHARED = (110, 111, 112, 114, 117, 118, 119, 120, 130, 132, 133, 134, 145, 146, 175, 176, 177, 180)


def _dependency_features(tree: Tree, grammar: DependencyGrammar) -> list[int]:
    if isinstance(tree.rule, Word):
        leaf = tree.rule
        word, tag = word_hash(leaf.words[leaf.head]), tag_hash(leaf.tags[leaf.head])
        return apply(t.LEAF, {t.HW: word, t.HT: tag, t.LENGTH: len(leaf.words)})
    assert isinstance(tree.rule, Arc)
    values, between = _arc_values(tree, tree.rule.side)
    ours = [template for table in _ARC for template in table]
    new = [template for table in _NEW for template in table]
    chosen = {"ours": ours, "all": ours + new}.get(grammar.templates)
    if chosen is None:
        chosen = [template for template in ours if template[0] in _SHARED] + new
    found = apply(chosen, values)
    named = [template for template in chosen if template in (*t.ARC, *new)]
    rows = [values | {t.BT: grammar.tags.index(tag) % 64 + 1} for tag in sorted(between)]
    if grammar.templates != "ours":
        found += [key for row in rows for key in apply(t.TAGS_BETWEEN, row)]
    if tree.rule.label:
        label = {t.LABEL: text_hash(tree.rule.label)}
        found += apply([(1000 + number, *places, t.LABEL) for number, *places in named], values | label)
        if grammar.templates != "ours":
            table = [(1000 + number, *places, t.LABEL) for number, *places in t.TAGS_BETWEEN]
            found += [key for row in rows for key in apply(table, row | label)]
    if grammar.templates != "table2":
        found += apply(t.BORDER, values)
    return found + _surface(tree, t.DEPENDENCY_JOINT)


def _arc_values(tree: Tree, side: int) -> tuple[dict[int, int], set[str]]:
    """The values of a new arc, and the tags between its ends."""
    string, tagged = words(tree), tags(tree)
    middle = len(words(tree.parts[0]))
    ends = [head_of(tree.parts[0]), middle + head_of(tree.parts[1])]
    head, modifier = ends[side], ends[1 - side]
    left, right = dependents(tree.parts[side], head - (0 if side == 0 else middle))
    left, right = ([place + (0 if side == 0 else middle) for place in both] for both in (left, right))
    first = middle if side == 0 else 0
    own_left, own_right = dependents(tree.parts[1 - side], modifier - first)
    own_left, own_right = ([place + first for place in both] for both in (own_left, own_right))
    near, opposite = (right, left) if side == 0 else (left, right)
    toward = 1 if side == 0 else -1
    places = {t.HW: [head], t.MW: [modifier], t.SW: near, t.LW: own_left, t.RW: own_right}
    tag_places = {t.HT: [head], t.MT: [modifier], t.ST: near, t.LT: own_left, t.RT: own_right}
    tag_places |= {t.OT: opposite, t.S2T: near[1:], t.HNT: [head + toward], t.MNT: [modifier - toward]}
    values = {value: word_hash(string[place[0]]) if place else 0 for value, place in places.items()}
    values |= {value: tag_hash(tagged[place[0]]) if place else 0 for value, place in tag_places.items()}
    values[t.D] = side + 1
    valencies = {t.V: near, t.ML: own_left, t.MR: own_right}
    values |= {value: min(len(dependents), MOST_VALENCY) for value, dependents in valencies.items()}
    values[t.FAR], values[t.DIST] = bucket(abs(head - modifier) - 1), norm(abs(head - modifier))
    values[t.LENGTH], values[t.ALL] = bucket(len(words(tree.parts[1 - side]))), norm(len(string))
    return values | _ends(tree), {*tagged[min(head, modifier) + 1 : max(head, modifier)]}


def category_of(tree: Tree) -> str:
    return tree.rule.category if isinstance(tree.rule, Word) else tree.rule.result  # type: ignore[union-attr]


def _ccg_features(tree: Tree, inventory: CcgInventory) -> list[int]:
    string, tagged, head = words(tree), tags(tree), head_of(tree)
    values = {t.C: text_hash(category_of(tree)), t.LENGTH: bucket(len(string))}
    values |= {t.HW: word_hash(string[head]), t.HT: tag_hash(tagged[head])}
    found = apply(t.CONSTITUENT, values)
    if len(string) > 1:
        values |= _ends(tree)
        found += apply(t.LARGE, values)
    if isinstance(tree.rule, Word):
        return found
    assert isinstance(tree.rule, UnaryRule | BinaryRule)
    values[t.NAME] = inventory.rules.index(tree.rule) + 1
    if isinstance(tree.rule, UnaryRule):
        return found + apply(t.UNARY, values)
    other = tree.parts[1 - tree.rule.head]
    values |= {t.XW: word_hash(words(other)[head_of(other)]), t.XT: tag_hash(tags(other)[head_of(other)])}
    a, b = (["<none>", *(leaf.category for leaf in leaves(part)), "<none>"] for part in tree.parts)
    values |= {t.K1: text_hash(a[-3]), t.K2: text_hash(a[-2]), t.K3: text_hash(b[1]), t.K4: text_hash(b[2])}
    return found + apply((*t.BINARY, *t.LEXICAL), values) + _surface(tree, t.CCG_JOINT)
