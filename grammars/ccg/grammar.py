"""A CCG read off derivations: the rule instances and the lexicon that they use.

UnaryRule           child ⇒ result
BinaryRule          left right ⇒ result, with the side of the head
CcgGrammar          rule instances with counts, lexicon, root categories; made from derivations or JSON
GrammarSummary      how many categories and rule instances a grammar has
rule_instances      the rule instances of a derivation, from left to right, each after those below it
base_noun_phrases   the spans of the noun phrases that have no other inside
assign_heads        a derivation with its heads by category, for files that mark the first child everywhere
fill_pos            entries with parts of speech from a tagger, where the file has none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from grammars.ccg.category import combinator, head_side, parse_category
from grammars.ccg.derivation import AutoEntry, Derivation, Leaf, Node, fold, leaves, postorder, with_leaves
from grammars.ccg.lexicon import Counts, Lexicon, read_counts
from gyro.errors import InputError

FORMAT, VERSION = "gyro CCG grammar", 1
NO_POS = "XX"


class UnaryRule(NamedTuple):
    """child ⇒ result."""

    child: str
    result: str


class BinaryRule(NamedTuple):
    """left right ⇒ result; the head word is that of the left (0) or right (1) part."""

    left: str
    right: str
    result: str
    head: int


Rule = UnaryRule | BinaryRule


class GrammarSummary(NamedTuple):
    """Numbers of distinct categories and rule instances; `combinators` tells the binary ones by kind."""

    categories: int
    lexical_categories: int
    unary: int
    binary: int
    combinators: dict[str, int]


@dataclass(frozen=True)
class CcgGrammar:
    """The rule instances of derivations with their counts, their lexicon and their root categories.

    >>> from grammars.ccg.derivation import parse_auto
    >>> tree = parse_auto("(<T S[dcl] 1 2> (<L NP PRP PRP They NP>) (<L S[dcl]\\\\NP VBP VBP sleep S[dcl]\\\\NP>) )")
    >>> grammar = CcgGrammar.from_derivations([tree])
    >>> grammar.summary().binary, grammar.categories_of("sleep", "VBP"), grammar.licenses(tree)
    (1, ('S[dcl]\\\\NP',), True)
    """

    unary: Mapping[UnaryRule, int]
    binary: Mapping[BinaryRule, int]
    lexicon: Lexicon
    roots: Counts

    @classmethod
    def from_derivations(cls, derivations: Iterable[Derivation], cutoff: int = 20) -> CcgGrammar:
        """Count what derivations use; `cutoff` is that of the lexicon."""
        unary: Counter[UnaryRule] = Counter()
        binary: Counter[BinaryRule] = Counter()
        roots: Counter[str] = Counter()
        seen: list[Leaf] = []
        for derivation in derivations:
            roots[derivation.category] += 1
            seen.extend(leaves(derivation))
            for rule in rule_instances(derivation):
                if isinstance(rule, UnaryRule):
                    unary[rule] += 1
                else:
                    binary[rule] += 1
        return cls(unary, binary, Lexicon.from_leaves(seen, cutoff), roots)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All categories, of words and of larger parts, sorted."""
        in_rules = {category for rule in self.unary for category in rule}
        in_rules |= {category for rule in self.binary for category in rule[:3]}
        return tuple(sorted(in_rules | set(self.lexicon.categories) | set(self.roots)))

    def categories_of(self, word: str, pos: str) -> tuple[str, ...]:
        """The categories that a word may have, the most frequent first."""
        return self.lexicon.categories_of(word, pos)

    def licenses(self, derivation: Derivation) -> bool:
        """Whether every rule instance of a derivation is one of the grammar's."""
        return all(rule in self.unary or rule in self.binary for rule in rule_instances(derivation))

    def summary(self) -> GrammarSummary:
        """How large the grammar is."""
        kinds = Counter(combinator(*map(parse_category, rule[:3])) for rule in self.binary)
        lexical = len(self.lexicon.categories)
        return GrammarSummary(
            len(self.categories), lexical, len(self.unary), len(self.binary), dict(sorted(kinds.items()))
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` takes: rules are lists that end with their count."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "unary": [[*rule, count] for rule, count in sorted(self.unary.items())],
            "binary": [[*rule, count] for rule, count in sorted(self.binary.items())],
            "roots": dict(self.roots),
            "lexicon": self.lexicon.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CcgGrammar:
        """Read what `to_json` made."""
        if (value.get("format"), value.get("version")) != (FORMAT, VERSION):
            found = f"{value.get('format')!r:.40} version {value.get('version')!r:.10}"
            raise InputError(f"found {found}; {FORMAT!r} version {VERSION} is allowed")
        unary = {UnaryRule(*row[:-1]): row[-1] for row in _rows(value, "unary", (str, str, int))}
        binary = {BinaryRule(*row[:-1]): row[-1] for row in _rows(value, "binary", (str, str, str, int, int))}
        if any(rule.head not in (0, 1) for rule in binary):
            raise InputError("found a binary rule whose head side is not 0 or 1")
        return cls(unary, binary, Lexicon.from_json(value.get("lexicon")), read_counts(value.get("roots"), "roots"))


def _rows(value: Mapping[str, Any], name: str, types: tuple[type, ...]) -> list[list[Any]]:
    """The rules of a JSON value, each checked."""
    rows = value.get(name)
    if not isinstance(rows, list):
        raise InputError(f"found no list of {name} rules")
    for row in rows:
        if not isinstance(row, list) or tuple(map(type, row)) != types or row[-1] < 1:
            allowed = "[" + ", ".join("text" if kind is str else "number" for kind in types) + "]"
            raise InputError(f"found {row!r:.60} among the {name} rules; {allowed} is allowed")
    return rows


def rule_instances(derivation: Derivation) -> Iterator[Rule]:
    """Yield the rule instances of a derivation."""
    for part in postorder(derivation):
        if isinstance(part, Node) and len(part.children) == 1:
            yield UnaryRule(part.children[0].category, part.category)
        elif isinstance(part, Node):
            yield BinaryRule(part.children[0].category, part.children[1].category, part.category, part.head)


def base_noun_phrases(derivation: Derivation) -> list[tuple[int, int]]:
    """The spans (start, end) of the noun phrases that have no other noun phrase inside, from left to right.

    So the base noun phrases of Zhang and Clark (2011), Section 6: pronouns, names and nouns raised to NP among them.

    >>> base_noun_phrases(Node("NP", "", 0, (Leaf.plain("N", "cats", "NNS"),)))
    [(0, 1)]
    """
    spans: list[tuple[int, int]] = []
    position = 0

    def at_leaf(leaf: Leaf) -> tuple[int, bool]:  # where the part starts, and whether it has a noun phrase
        nonlocal position
        position += 1
        return position - 1, _note(leaf, position - 1, False)

    def at_node(node: Node, below: Sequence[tuple[int, bool]]) -> tuple[int, bool]:
        return below[0][0], _note(node, below[0][0], any(has for _, has in below))

    def _note(part: Derivation, start: int, has: bool) -> bool:
        if not has and part.category.partition("[")[0] == "NP" and not set(part.category) & set("/\\"):
            spans.append((start, position))
            return True
        return has

    fold(derivation, at_leaf, at_node)
    return spans


def assign_heads(derivation: Derivation) -> Derivation:
    """The derivation with the heads that `head_side` names.

    >>> noun_phrase = Node("NP", "fa", 0, (Leaf.plain("NP[nb]/N", "the", "DT"), Leaf.plain("N", "cat", "NN")))
    >>> assign_heads(noun_phrase).head
    1
    """

    def at_node(node: Node, children: Sequence[Derivation]) -> Derivation:
        parts = (*children, node)
        head = head_side(*(parse_category(part.category) for part in parts)) if len(children) == 2 else 0
        return replace(node, head=head, children=tuple(children))

    def at_leaf(leaf: Leaf) -> Derivation:
        return leaf

    return fold(derivation, at_leaf, at_node)


def fill_pos(entries: Iterable[AutoEntry], tagger: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[AutoEntry]:
    """Yield entries; one whose parts of speech are all XX gets those that the tagger gives to its words.

    >>> cats = AutoEntry("", Leaf.plain("N", "cats", "XX"))
    >>> [leaves(entry.derivation)[0].pos for entry in fill_pos([cats], lambda words: ["NNS"])]
    ['NNS']
    """
    for entry in entries:
        old = leaves(entry.derivation)
        if any(leaf.pos != NO_POS for leaf in old):
            yield entry
            continue
        tags = tagger([leaf.word for leaf in old])
        new = [replace(leaf, pos=tag, original_pos=tag) for leaf, tag in zip(old, tags, strict=True)]
        yield replace(entry, derivation=with_leaves(entry.derivation, new))
