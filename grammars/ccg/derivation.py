"""CCG derivations, and the AUTO files that hold them.

Leaf        a word with its category and part of speech
Node        a unary or binary rule instance over one or two derivations
AutoEntry   a derivation of a file, with the header line before it
read_auto   the entries of an AUTO file: CCGbank's, or depccg's with the names of the rules
write_auto  write entries; what was read comes out byte by byte
parse_auto  one line → derivation
auto_text   derivation → one line
fold        compute a value from the leaves up, without recursion
postorder   all parts of a derivation, each after its children, from left to right
leaves      its leaves, from left to right
words       its words
head_leaf   the leaf that the head marks lead to
with_leaves the same derivation over other leaves

An entry has two lines, a header that starts with "ID" (perhaps left out) and the derivation: (<T category head number>
child child ) for a node, with the name of the rule before the head if the file has it, and
(<L category pos original-pos word predicate>) for a leaf.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import IO, TypeAlias, TypeVar

from gyro.errors import InputError
from gyro.text.corpus import read_lines

# Nothing here recurses, but much that uses derivations may, and Python stops at 1000 calls.
MAXIMUM_DEPTH = 400
BLANK = re.compile(
    r"[ \n]"
)  # what cannot stand in a field; any other white space can, as some corpora have words with it
SHOWN = 60

Value = TypeVar("Value")


@dataclass(frozen=True)
class Leaf:
    """A word; `predicate` is the category as CCGbank writes it for predicate-argument structure.

    >>> Leaf.plain("N", "cat", "NN")
    Leaf(category='N', word='cat', pos='NN', original_pos='NN', predicate='N')
    """

    category: str
    word: str
    pos: str
    original_pos: str
    predicate: str

    @classmethod
    def plain(cls, category: str, word: str, pos: str) -> Leaf:
        """A leaf without anything special to say in its last two fields."""
        return cls(category, word, pos, pos, category)


@dataclass(frozen=True, eq=False)
class Node:
    """One or two derivations under a category; `head` is the place of the head child; `rule` may be empty."""

    category: str
    rule: str
    head: int
    children: tuple[Derivation, ...]

    def __post_init__(self) -> None:
        if len(self.children) not in (1, 2):
            raise InputError(f"found a node with {len(self.children)} children; 1 or 2 are allowed")
        if not 0 <= self.head < len(self.children):
            raise InputError(f"found head {self.head} of {len(self.children)} children; they are counted from 0")

    # A dataclass would compare its children by recursion, and give up at 240 levels.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and _flat(self) == _flat(other)

    def __hash__(self) -> int:
        return hash(tuple(_flat(self)))


Derivation: TypeAlias = Leaf | Node


@dataclass(frozen=True)
class AutoEntry:
    """A derivation and its header line; `end` is the blank that CCGbank has at the end of a line."""

    header: str
    derivation: Derivation
    end: str = ""

    def __post_init__(self) -> None:
        if (self.header and not self.header.startswith("ID")) or "\n" in self.header:
            raise InputError(f"found the header {self.header!r}; one line that starts with ID is allowed")
        if self.end.strip(" "):
            raise InputError(f"found {self.end!r} after a derivation; blanks are allowed")


def read_auto(path: str | PathLike[str]) -> Iterator[AutoEntry]:
    """Yield the entries of a file, each error with its line."""
    header, number = "", 0
    for number, line in enumerate(read_lines(path), 1):
        try:
            if line.startswith("("):
                text = line.rstrip(" ")
                yield AutoEntry(header, parse_auto(text), line[len(text) :])
                header = ""
            elif line.startswith("ID") and not header:
                header = line
            else:
                wanted = "a derivation" if header else "a header (ID=...) or a derivation"
                raise InputError(f"found {line[:SHOWN]!r}; {wanted} is allowed")
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error
    if header:
        raise InputError("found a header without a derivation at the end of the file", path=path, line=number)


def write_auto(file: IO[str], entries: Iterable[AutoEntry]) -> None:
    """Write entries to a text file."""
    for entry in entries:
        if entry.header:
            file.write(entry.header + "\n")
        file.write(auto_text(entry.derivation) + entry.end + "\n")


def parse_auto(line: str) -> Derivation:
    """Read a derivation.

    >>> tree = parse_auto("(<T S[dcl] ba 1 2> (<L NP PRP PRP They NP>) (<L S[dcl]\\\\NP VBP VBP sleep S[dcl]\\\\NP>) )")
    >>> tree.category, tree.rule, words(tree), head_leaf(tree).word
    ('S[dcl]', 'ba', ('They', 'sleep'), 'sleep')
    """
    tokens = line.split(" ")
    opened: list[tuple[str, str, int, int, list[Derivation]]] = []  # category, rule, head, number of children, children
    at = 0
    while True:
        done: Derivation
        if tokens[at : at + 1] == ["(<T"]:
            category, rule, head, number, at = _parse_node(tokens, at)
            opened.append((category, rule, head, number, []))
            if len(opened) > MAXIMUM_DEPTH:
                raise InputError(f"found a derivation of more than {MAXIMUM_DEPTH} levels; fewer are allowed")
            continue
        if tokens[at : at + 1] == ["(<L"]:
            done, at = _parse_leaf(tokens, at)
        elif tokens[at : at + 1] == [")"] and opened:
            category, rule, head, number, children = opened.pop()
            if len(children) != number:
                raise InputError(f"found {len(children)} children under <T {category} ...{number}>")
            done, at = Node(category, rule, head, tuple(children)), at + 1
        else:
            raise _unexpected(tokens, at, "(<T, (<L" + (" or )" if opened else ""))
        if opened:
            opened[-1][4].append(done)
        elif at == len(tokens):
            return done
        else:
            raise _unexpected(tokens, at, "the end of the line")


def _parse_node(tokens: Sequence[str], at: int) -> tuple[str, str, int, int, int]:
    """Category, rule, head, number of children, and where the first child begins."""
    for width in (4, 5):  # without and with the name of a rule
        fields = tokens[at + 1 : at + width]
        if len(fields) == width - 1 and re.fullmatch(r"[0-9]{1,9} [0-9]{1,9}>", " ".join(fields[-2:])):
            head, number = int(fields[-2]), int(fields[-1][:-1])
            if all(fields) and [str(head), f"{number}>"] == fields[-2:]:
                return fields[0], "".join(fields[1:-2]), head, number, at + width
    raise _unexpected(tokens, at, "(<T category head number> or (<T category rule head number>", 5)


def _parse_leaf(tokens: Sequence[str], at: int) -> tuple[Leaf, int]:
    fields = tokens[at + 1 : at + 6]
    if len(fields) < 5 or not all(fields) or not fields[-1].endswith(">)") or fields[-1] == ">)":
        raise _unexpected(tokens, at, "(<L category pos original-pos word predicate>)", 6)
    category, pos, original_pos, word, predicate = fields
    return Leaf(category, word, pos, original_pos, predicate[:-2]), at + 6


def _unexpected(tokens: Sequence[str], at: int, allowed: str, width: int = 1) -> InputError:
    column = len(" ".join(tokens[:at])) + 1 + (at > 0)
    found = repr(" ".join(tokens[at : at + width])[:SHOWN]) if at < len(tokens) else "the end of the line"
    return InputError(f"found {found} at column {column}; {allowed} is allowed, with single blanks")


def auto_text(derivation: Derivation) -> str:
    """The line of a derivation.

    >>> auto_text(Node("NP", "", 0, (Leaf.plain("N", "cats", "NNS"),)))
    '(<T NP 0 1> (<L N NNS NNS cats N>) )'
    """

    def leaf_text(leaf: Leaf) -> str:
        fields = (leaf.category, leaf.pos, leaf.original_pos, leaf.word, leaf.predicate)
        _check_fields(fields)
        return f"(<L {' '.join(fields)}>)"

    def node_text(node: Node, texts: Sequence[str]) -> str:
        fields = (node.category, *([node.rule] if node.rule else []), str(node.head), str(len(texts)))
        _check_fields(fields)
        return f"(<T {' '.join(fields)}> {' '.join(texts)} )"

    return fold(derivation, leaf_text, node_text)


def _check_fields(fields: Sequence[str]) -> None:
    for field in fields:
        if not field or BLANK.search(field):
            raise InputError(f"found {field!r} in a derivation; text without blanks is allowed")


def fold(
    derivation: Derivation, at_leaf: Callable[[Leaf], Value], at_node: Callable[[Node, Sequence[Value]], Value]
) -> Value:
    """Compute from the leaves up: a value for each leaf, and one for each node from those of its children."""
    values: list[Value] = []
    for part in postorder(derivation):
        if isinstance(part, Leaf):
            values.append(at_leaf(part))
        else:
            number = len(part.children)
            values[-number:] = [at_node(part, values[-number:])]
    return values[0]


def postorder(derivation: Derivation) -> Iterator[Derivation]:
    """Yield all parts, each after its children."""
    waiting: list[tuple[Derivation, bool]] = [(derivation, False)]
    while waiting:
        part, finished = waiting.pop()
        if isinstance(part, Leaf) or finished:
            yield part
        else:
            waiting.append((part, True))
            waiting.extend((child, False) for child in reversed(part.children))


def _flat(derivation: Derivation) -> list[Leaf | tuple[str, str, int, int]]:
    """All that makes a derivation what it is, without nesting."""
    return [
        part if isinstance(part, Leaf) else (part.category, part.rule, part.head, len(part.children))
        for part in postorder(derivation)
    ]


def leaves(derivation: Derivation) -> tuple[Leaf, ...]:
    """The leaves from left to right."""
    return tuple(part for part in postorder(derivation) if isinstance(part, Leaf))


def words(derivation: Derivation) -> tuple[str, ...]:
    """The words from left to right."""
    return tuple(leaf.word for leaf in leaves(derivation))


def head_leaf(derivation: Derivation) -> Leaf:
    """The leaf at the end of the path of heads."""
    while isinstance(derivation, Node):
        derivation = derivation.children[derivation.head]
    return derivation


def with_leaves(derivation: Derivation, new: Sequence[Leaf]) -> Derivation:
    """The derivation with its leaves replaced, from left to right."""
    if len(new) != len(leaves(derivation)):
        raise ValueError(f"{len(new)} leaves for a derivation of {len(leaves(derivation))}")
    remaining = iter(new)

    def at_leaf(_: Leaf) -> Derivation:
        return next(remaining)

    return fold(derivation, at_leaf, lambda node, children: replace(node, children=tuple(children)))
