"""A second opinion on the best-first decoder: what an edge is, said from its tree alone, in plain Python.

Tree            a leaf, or the name of a rule over one or two trees
canonical       a derivation of the decoder as such a tree
feature_hashes  the features of the top of a tree, hashed
vector          those of all its parts
count_actions   the number of its parts

Templates are tables: a number and the names of its values. A new template is one line in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

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


# The surface where two parts meet: words w1 w2 | w3 w4 and tags t1 t2 | t3 t4. The third column: what must be there.
JOINT = [
    (0, "w2 w3", ""),
    (1, "t2 t3", ""),
    (2, "w2 t3", ""),
    (3, "t2 w3", ""),
    (4, "t2 w3 t4", ""),
    (5, "t1 w2 t3", ""),
    (6, "t1 t2 t3", ""),
    (7, "t2 t3 t4", ""),
    (8, "t1 t2 t3 t4", ""),
    (9, "w1 w2 w3", "w1"),
    (10, "w1 w2 t3", "w1"),
    (11, "w2 w3 w4", "w4"),
    (12, "t2 w3 w4", "w4"),
    (13, "w1 w2 w3 w4", "w1 w4"),
]
BOUNDARY = [(0, "w1"), (1, "t1"), (2, "w9"), (3, "t9"), (4, "t1 t2"), (5, "t8 t9")]

# Dependency: h head, m modifier, s sibling, o outermost dependent on the other side, l and r outermost dependents of m;
# w word, t tag; d the side, v valencies. htd and so on: the side is mixed into the value.
LEAF = [(100, "w t"), (101, "t"), (102, "w size")]
ARC = [
    (110, "hw htd mw mt"),
    (111, "hw htd mt"),
    (112, "htd mw mt"),
    (113, "hw mw d"),
    (114, "htd mt"),
    (115, "hw mtd"),
    (116, "htd mw"),
    (117, "mw d"),
    (118, "mtd"),
    (119, "hw d"),
    (120, "htd"),
]
AROUND = [
    (130, "htd st mt"),
    (131, "htd sw mw"),
    (132, "st mtd"),
    (133, "sw mtd"),
    (134, "st mwd"),
    (135, "hw st mtd"),
    (136, "htd ot mt"),
    (145, "htd mt lt"),
    (146, "htd mt rt"),
    (147, "htd mt lw"),
    (148, "htd mt rw"),
    (149, "mtd lt rt"),
    (150, "hw mtd lw"),
    (151, "mw lt rtd"),
    (160, "htd v"),
    (161, "hw d v"),
    (162, "htd mt v"),
    (163, "mtd ml mr"),
    (164, "mw ml mr"),
    (165, "htd mt ml mr"),
    (175, "htd mt far"),
    (176, "hw d far"),
    (177, "mtd far"),
    (178, "mtd long"),
    (179, "htd mt long"),
    (180, "mw d far"),
    (210, "ht t1 t9"),
    (211, "ht w1"),
    (212, "ht w9"),
]
DEPENDENCY_JOINT, DEPENDENCY_BOUNDARY, LABEL = 190, 220, 230
MOST_VALENCY = 6

# CCG: c category, s size, h head, o the other part's head, name the rule, k1 k2 | k3 k4 lexical categories that meet.
CONSTITUENT = [(300, "c s"), (301, "c hw"), (302, "c s hw"), (303, "c ht")]
LARGE = [(310, "c w1"), (311, "c w9"), (312, "c t1 t2"), (313, "c t8 t9"), (314, "c t1 t9")]
BINARY = [
    (320, "name"),
    (321, "name hw"),
    (322, "name hw ow"),
    (323, "name ow"),
    (324, "name ht ot"),
    (325, "name hw ot"),
    (326, "name ht ow"),
    (340, "k2 k3"),
    (341, "k1 k2 k3"),
    (342, "k2 k3 k4"),
]
UNARY = [(350, "name"), (351, "name hw")]
CCG_JOINT, CCG_BOUNDARY = 360, 380


def apply(table: Sequence[tuple[int, str]], values: dict[str, int], first: int = 0) -> list[int]:
    return [hash_values(first + number, [values[name] for name in names.split()]) for number, names in table]


def feature_hashes(tree: Tree, grammar: DependencyGrammar | CcgInventory, complete: bool) -> list[int]:
    """The features of the top of a tree; `complete`: it is a whole sentence."""
    if isinstance(grammar, CcgInventory):
        return _ccg_features(tree, grammar) + (_boundary(tree, CCG_BOUNDARY) if complete else [])
    return _dependency_features(tree) + (_boundary(tree, DEPENDENCY_BOUNDARY) if complete else [])


def vector(tree: Tree, grammar: DependencyGrammar | CcgInventory, complete: bool) -> Counter[int]:
    total = Counter(feature_hashes(tree, grammar, complete))
    for part in tree.parts:
        total.update(vector(part, grammar, False))
    return total


def _boundary(tree: Tree, first: int) -> list[int]:
    string, tagged = words(tree), ["", *tags(tree), ""]
    values = {"w1": word_hash(string[0]), "w9": word_hash(string[-1])}
    values |= {f"t{n}": tag_hash(tagged[i]) for n, i in ((1, 1), (2, 2), (8, -3), (9, -2))}
    return apply(BOUNDARY, values, first)


def _surface(tree: Tree, joint: int) -> list[int]:
    left, right = tree.parts
    values: dict[str, int] = {}
    for letter, hashed, spell in (("w", word_hash, words), ("t", tag_hash, tags)):
        a, b = ["", *spell(left)], [*spell(right), ""]
        for name, text in zip("1234", (a[-2], a[-1], b[0], b[1]), strict=True):
            values[letter + name] = hashed(text)
    return apply([(n, names) for n, names, needs in JOINT if all(values[x] for x in needs.split())], values, joint)


def _dependency_features(tree: Tree) -> list[int]:
    if isinstance(tree.rule, Word):
        leaf = tree.rule
        w, t = word_hash(leaf.words[leaf.head]), tag_hash(leaf.tags[leaf.head])
        return apply(LEAF, {"w": w, "t": t, "size": len(leaf.words)})
    assert isinstance(tree.rule, Arc)
    side = tree.rule.side
    string, tagged = words(tree), tags(tree)
    middle = len(words(tree.parts[0]))
    ends = [head_of(tree.parts[0]), middle + head_of(tree.parts[1])]
    head, modifier = ends[side], ends[1 - side]
    below: dict[int, list[int]] = {}
    for h, m, _ in [*arcs(tree.parts[0]), *arcs(tree.parts[1], middle)]:
        below.setdefault(h, []).append(m)
    left = sorted(m for m in below.get(head, []) if m < head)
    right = sorted(m for m in below.get(head, []) if m > head)
    own_left = sorted(m for m in below.get(modifier, []) if m < modifier)
    own_right = sorted(m for m in below.get(modifier, []) if m > modifier)
    places = {"h": [head], "m": [modifier], "l": own_left[:1], "r": own_right[-1:]}
    places["s"], places["o"] = (right[-1:], left[:1]) if side == 0 else (left[:1], right[-1:])
    values = {"d": side + 1, "v": min(len((left, right)[side == 0]), MOST_VALENCY)}
    for name, place in places.items():
        values[name + "w"] = word_hash(string[place[0]]) if place else 0
        values[name + "t"] = tag_hash(tagged[place[0]]) if place else 0
    for name in ("ht", "mt", "mw", "rt"):
        values[name + "d"] = mix(values[name], values["d"])
    values["ml"], values["mr"] = min(len(own_left), MOST_VALENCY), min(len(own_right), MOST_VALENCY)
    values["far"] = bucket(abs(head - modifier) - 1)
    values["long"] = bucket(len(words(tree.parts[1 - side])))
    values |= {"w1": word_hash(string[0]), "w9": word_hash(string[-1])}
    values |= {"t1": tag_hash(tagged[0]), "t9": tag_hash(tagged[-1])}
    found = apply(ARC, values)
    if tree.rule.label:
        found += [hash_values(LABEL, [arc, text_hash(tree.rule.label)]) for arc in found]
    return found + apply(AROUND, values) + _surface(tree, DEPENDENCY_JOINT)


def category_of(tree: Tree) -> str:
    return tree.rule.category if isinstance(tree.rule, Word) else tree.rule.result  # type: ignore[union-attr]


def _ccg_features(tree: Tree, inventory: CcgInventory) -> list[int]:
    string, tagged, head = words(tree), tags(tree), head_of(tree)
    values = {"c": text_hash(category_of(tree)), "s": bucket(len(string))}
    values |= {"hw": word_hash(string[head]), "ht": tag_hash(tagged[head])}
    found = apply(CONSTITUENT, values)
    if len(string) > 1:
        values |= {"w1": word_hash(string[0]), "w9": word_hash(string[-1])}
        values |= {f"t{n}": tag_hash(tagged[i]) for n, i in ((1, 0), (2, 1), (8, -2), (9, -1))}
        found += apply(LARGE, values)
    if isinstance(tree.rule, Word):
        return found
    assert isinstance(tree.rule, UnaryRule | BinaryRule)
    values["name"] = inventory.rules.index(tree.rule) + 1
    if isinstance(tree.rule, UnaryRule):
        return found + apply(UNARY, values)
    other = tree.parts[1 - tree.rule.head]
    values |= {"ow": word_hash(words(other)[head_of(other)]), "ot": tag_hash(tags(other)[head_of(other)])}
    a, b = (["<none>", *(leaf.category for leaf in leaves(part)), "<none>"] for part in tree.parts)
    values |= {"k1": text_hash(a[-3]), "k2": text_hash(a[-2]), "k3": text_hash(b[1]), "k4": text_hash(b[2])}
    return found + apply(BINARY, values) + _surface(tree, CCG_JOINT)
