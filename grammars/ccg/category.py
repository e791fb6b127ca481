"""CCG categories, and the combinators that join them.

Atom            a category without arguments: S[dcl], NP, conj, a comma
Functor         a category that looks for an argument: result, slash, argument
parse_category  text → category, as CCGbank writes it; str goes back
is_functor      whether it looks for an argument
is_modifier     whether it is X/X or X\\X
is_raised       whether it is type-raised: X/(X\\Y) or X\\(X/Y)
is_punctuation  whether it is the category of a punctuation mark
matches         whether two categories are the same but for features that one of them leaves open
application     what a functor and its argument give
composition     what two functors give
RULES           the combinators by name, in the order in which they are tried
combinator      the name of what makes a result from two categories
head_side       which of two categories the result's head word comes from

A feature is open if it is missing or X: S matches S[dcl], and NP matches NP[nb]. All open features of the S in one
category are the same variable, so that (S\\NP)\\(S\\NP) behind S[ng]\\NP gives S[ng]\\NP.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from gyro.errors import InputError

TOKEN = re.compile(r"[()/\\]|\[[^\[\]()/\\\s]+\]|[^\[\]()/\\\s]+")
ALLOWED = "atoms, [features], / \\ and round brackets in pairs are allowed, as in (S[dcl]\\NP)/NP"
MAXIMUM_SLASHES = MAXIMUM_BRACKETS = 100  # CCGbank's have fewer than 20; parsing and printing recurse
OPEN = ("", "X")
VARIABLE = "S"  # the atom whose open features are one variable
PUNCTUATION_NAMES = frozenset({"LRB", "RRB", "LQU", "RQU"})
COORDINATORS = ("conj", ",", ";", ":")
MARK = "[conj]"


@dataclass(frozen=True)
class Atom:
    """A category without arguments; `conjunct` is CCGbank's mark [conj] of what has a conjunction before it."""

    atom: str
    feature: str = ""
    conjunct: bool = False

    def __str__(self) -> str:
        return self.atom + (f"[{self.feature}]" if self.feature else "") + (MARK if self.conjunct else "")


@dataclass(frozen=True)
class Functor:
    """A category with an argument to its right (/) or left (\\)."""

    result: Category
    slash: str
    argument: Category
    conjunct: bool = False

    def __str__(self) -> str:
        text = _in_brackets(self.result) + self.slash + _in_brackets(self.argument)
        return f"({text}){MARK}" if self.conjunct else text


Category: TypeAlias = Atom | Functor
Binding = dict[str, str]  # the value of the variable, if it has one
DETERMINED = ((Atom("NP", "nb"), Atom("N")), (Atom("NP"), Atom("N")))


def _in_brackets(category: Category) -> str:
    return f"({category})" if isinstance(category, Functor) and not category.conjunct else str(category)


@lru_cache(maxsize=1 << 16)
def parse_category(text: str) -> Category:
    """Read a category; slashes without brackets group to the left.

    >>> transitive = parse_category("(S[dcl]\\\\NP)/NP")
    >>> print(transitive.result, transitive.slash, transitive.argument)
    S[dcl]\\NP / NP
    """
    tokens = TOKEN.findall(text)
    slashes, brackets = tokens.count("/") + tokens.count("\\"), tokens.count("(")
    if "".join(tokens) != text or slashes > MAXIMUM_SLASHES or brackets > MAXIMUM_BRACKETS:
        raise _malformed(text)
    tokens.reverse()  # so that the next one is at the end
    category = _parse_slashes(tokens, text)
    if tokens:
        raise _malformed(text)
    return category


def _parse_slashes(tokens: list[str], text: str) -> Category:
    category = _parse_operand(tokens, text)
    while tokens and tokens[-1] in "/\\":
        category = Functor(category, tokens.pop(), _parse_operand(tokens, text))
    return category


def _parse_operand(tokens: list[str], text: str) -> Category:
    token = tokens.pop() if tokens else ")"
    category: Category
    if token == "(":
        category = _parse_slashes(tokens, text)
        if not tokens or tokens.pop() != ")":
            raise _malformed(text)
    elif token[0] in ")/\\[":
        raise _malformed(text)
    else:
        has_feature = tokens and tokens[-1][0] == "[" and tokens[-1] != MARK
        category = Atom(token, tokens.pop()[1:-1] if has_feature else "")
    if tokens and tokens[-1] == MARK and not category.conjunct:
        category = replace(category, conjunct=tokens.pop() == MARK)
    return category


def _malformed(text: str) -> InputError:
    return InputError(f"found the category {text[:80]!r}; {ALLOWED}")


def is_functor(category: Category) -> TypeGuard[Functor]:
    """Whether a category looks for an argument."""
    return isinstance(category, Functor)


def is_modifier(category: Category) -> TypeGuard[Functor]:
    """Whether a category is X/X or X\\X."""
    return isinstance(category, Functor) and category.result == category.argument


def is_raised(category: Category) -> TypeGuard[Functor]:
    """Whether a category is type-raised, as the S/(S\\NP) of a subject."""
    if not isinstance(category, Functor) or not isinstance(category.argument, Functor):
        return False
    return category.result == category.argument.result and category.slash != category.argument.slash


def is_punctuation(category: Category) -> TypeGuard[Atom]:
    """Whether a category is a mark: an atom without letters and digits, or CCGbank's name of a bracket or quote."""
    if not isinstance(category, Atom):
        return False
    return category.atom in PUNCTUATION_NAMES or not any(character.isalnum() for character in category.atom)


def matches(a: Category, b: Category) -> bool:
    """Whether two categories differ in open features at most.

    >>> matches(parse_category("S\\\\NP"), parse_category("S[dcl]\\\\NP[nb]"))
    True
    """
    return _bind(a, b, {}, {})


def _bind(a: Category, b: Category, for_a: Binding, for_b: Binding) -> bool:
    """Match two categories, and note what that says of the variables of either."""
    if isinstance(a, Functor) and isinstance(b, Functor):
        same = a.slash == b.slash and a.conjunct == b.conjunct
        return same and _bind(a.result, b.result, for_a, for_b) and _bind(a.argument, b.argument, for_a, for_b)
    if not isinstance(a, Atom) or not isinstance(b, Atom) or (a.atom, a.conjunct) != (b.atom, b.conjunct):
        return False
    left, right = _value(a, for_a), _value(b, for_b)
    if left and right:
        return left == right
    if a.atom == VARIABLE and right:
        for_a[VARIABLE] = right
    if b.atom == VARIABLE and left:
        for_b[VARIABLE] = left
    return True


def _value(atom: Atom, binding: Binding) -> str:
    """The feature of an atom: its own, that of the variable, or none."""
    return binding.get(atom.atom, "") if atom.feature in OPEN else atom.feature


def _bound(category: Category, binding: Binding) -> Category:
    """The category with the variable's value filled in."""
    if not binding:
        return category
    if isinstance(category, Atom):
        return replace(category, feature=binding.get(category.atom, "")) if category.feature in OPEN else category
    return replace(category, result=_bound(category.result, binding), argument=_bound(category.argument, binding))


def _compose(primary: Category, slash: str, secondary: Category, inner: str, depth: int) -> Category | None:
    """X|Y over Y|Z1...|Zn gives X|Z1...|Zn, for n = depth and slash and inner those behind Y: one rule for all.

    With n = 0 it is application.
    """
    stripped, taken = secondary, []
    for _ in range(depth):
        if not isinstance(stripped, Functor) or stripped.conjunct:
            return None
        taken.append(stripped)
        stripped = stripped.result
    if (
        not isinstance(primary, Functor)
        or primary.slash != slash
        or primary.conjunct
        or (taken and taken[-1].slash != inner)
    ):
        return None
    for_primary: Binding = {}
    for_secondary: Binding = {}
    if not _bind(primary.argument, stripped, for_primary, for_secondary):
        return None
    category = _bound(primary.result, for_primary)
    for functor in reversed(taken):
        category = Functor(category, functor.slash, _bound(functor.argument, for_secondary))
    return category


# In the order in which they are tried. Generalised composition goes over two arguments, as in CCGbank's ditransitives.
RULES: dict[str, Callable[[Category, Category], Category | None]] = {
    "fa": lambda left, right: _compose(left, "/", right, "", 0),
    "ba": lambda left, right: _compose(right, "\\", left, "", 0),
    "fc": lambda left, right: _compose(left, "/", right, "/", 1),
    "bc": lambda left, right: _compose(right, "\\", left, "\\", 1),
    "bx": lambda left, right: _compose(right, "\\", left, "/", 1),
    "gfc": lambda left, right: _compose(left, "/", right, "/", 2),
    "gbx": lambda left, right: _compose(right, "\\", left, "/", 2),
}


def _first(names: tuple[str, ...], left: Category, right: Category) -> Category | None:
    return next((result for name in names if (result := RULES[name](left, right)) is not None), None)


def application(left: Category, right: Category) -> Category | None:
    """What forward (X/Y Y ⇒ X), else backward application (Y X\\Y ⇒ X) gives; None if neither applies.

    >>> print(application(parse_category("NP"), parse_category("S[dcl]\\\\NP")))
    S[dcl]
    """
    return _first(("fa", "ba"), left, right)


def composition(left: Category, right: Category) -> Category | None:
    """What the first of forward, backward, backward crossed and the generalised compositions gives; None if none does.

    >>> print(composition(parse_category("S/(S\\\\NP)"), parse_category("(S[dcl]\\\\NP)/NP")))
    S[dcl]/NP
    """
    return _first(("fc", "bc", "bx", "gfc", "gbx"), left, right)


def combinator(left: Category, right: Category, result: Category) -> str:
    """The name of what makes the result: fa, ba, fc, bc, bx, gfc, gbx, conj, punctuation or other.

    >>> combinator(parse_category("N"), parse_category(","), parse_category("N"))
    'punctuation'
    """
    for name, rule in RULES.items():
        made = rule(left, right)
        if made is not None and matches(made, result):
            return name
    if _is_coordination(left, right, result):
        return "conj"
    if (is_punctuation(left) and matches(right, result)) or (is_punctuation(right) and matches(left, result)):
        return "punctuation"
    return "other"


def _is_coordination(left: Category, right: Category, result: Category) -> bool:
    """Whether a conjunction takes its conjunct (conj X ⇒ X[conj] or X\\X or X), or X X[conj] ⇒ X."""
    conjunct = _unmarked(right)
    if conjunct is not None:
        return matches(left, conjunct) and matches(left, result)
    if str(left) not in COORDINATORS:
        return False
    made = [_unmarked(result)]
    if is_modifier(result) and result.slash == "\\":
        made.append(result.result)
    if str(left) == "conj":
        made.append(result)
    return any(category is not None and matches(category, right) for category in made)


def _unmarked(category: Category) -> Category | None:
    """X for X[conj], else None. CCGbank sets the mark behind the last atom of a functor: S[dcl]\\NP[conj]."""
    if category.conjunct:
        return replace(category, conjunct=False)
    inner = _unmarked(category.argument) if isinstance(category, Functor) else None
    return replace(category, argument=inner) if isinstance(category, Functor) and inner is not None else None


def head_side(left: Category, right: Category, result: Category) -> int:
    """0 or 1: the side of the head word. That of a functor, unless it modifies, determines or raises its argument.

    >>> head_side(parse_category("NP[nb]/N"), parse_category("N"), parse_category("NP[nb]"))
    1
    """
    name = combinator(left, right, result)
    if name in ("fa", "fc", "gfc"):
        return int(_leaves_head(left))
    if name in ("ba", "bc", "bx", "gbx"):
        return int(not _leaves_head(right))
    if name == "conj":
        return int(_unmarked(right) is None)
    return int(is_punctuation(left) and not is_punctuation(right))


def _leaves_head(functor: Category) -> bool:
    determines = isinstance(functor, Functor) and (functor.result, functor.argument) in DETERMINED
    return is_modifier(functor) or is_raised(functor) or determines
