"""The steps that a converted CCG derivation is made of: nothing else joins or changes categories.

ConversionError   why a tree has no derivation
combine           two derivations by application or composition
absorb            a punctuation mark beside a derivation
coordinate        a coordinator before its conjunct: conj X ⇒ X\\X
change            a unary type change, if it is listed
may_change        is it listed?
inner_phrase      the noun, noun phrase, verb phrase or sentence within a category
level_of          what an adjunct modifies
gaps_of           the arguments that it looks for on the way there
result_of         the modifier that a functor gives
adjunct_category  the category of an adjunct at that level
"""

from __future__ import annotations

from functools import lru_cache

from grammars.ccg.category import RULES, Category, Functor, is_modifier, parse_category
from grammars.ccg.derivation import Derivation, Node

FORWARD = ("fa", "fc", "gfc")
BACKWARD = ("ba", "bc", "bx", "gbx")

N, NP, PP, S, VP = "N", "NP", "PP", "S", "S\\NP"
# What a phrase can be of itself, features aside, and so what a type change can start from.
PHRASES = frozenset((N, NP, PP, S, VP, "S/NP"))
# X|X for these X is what a phrase can become to modify X; CCGbank changes S[ng]\NP to NP\NP and the like.
MODIFIED = frozenset((N, NP, PP, S, VP))


class ConversionError(Exception):
    """The tree has no derivation; the reason is one that can be counted."""


def combine(left: Derivation, right: Derivation, head: int, rules: tuple[str, ...]) -> Node:
    """The two under the first of the combinatory rules that applies."""
    found = _combined(left.category, right.category, rules)
    if found is None:
        raise ConversionError("no combinatory rule applies")
    return Node(found[0], found[1], head, (left, right))


@lru_cache(maxsize=1 << 16)
def _combined(left: str, right: str, rules: tuple[str, ...]) -> tuple[str, str] | None:
    for name in rules:
        result = RULES[name](parse_category(left), parse_category(right))
        if result is not None:
            return str(result), name
    return None


def absorb(left: Derivation, right: Derivation, head: int) -> Node:
    """A mark and its neighbour, which is the head and keeps its category."""
    return Node((left, right)[head].category, "rp" if head == 0 else "lp", head, (left, right))


def coordinate(coordinator: Derivation, conjunct: Derivation) -> Node:
    """A coordinator and the conjunct behind it."""
    return Node(functor(conjunct.category, "\\", conjunct.category), "conj", 1, (coordinator, conjunct))


def change(derivation: Derivation, target: str) -> Derivation:
    """The derivation under another category; itself if it has it already."""
    if derivation.category == target:
        return derivation
    if not may_change(derivation.category, target):
        raise ConversionError(f"no type change from {without_features(derivation.category)} to {target}")
    return Node(target, "lex", 0, (derivation,))


@lru_cache(maxsize=1 << 16)
def may_change(source: str, target: str) -> bool:
    """Is a unary change from one category to the other listed?

    >>> may_change("N", "NP"), may_change("S[ng]\\\\NP", "NP\\\\NP"), may_change("NP", "N")
    (True, True, False)
    """
    phrase = without_features(source)
    if phrase not in PHRASES:
        return False
    if target == NP:
        return phrase != NP  # nouns without determiner, and clauses as subjects or objects
    if target in ("S[adj]\\NP", "S[adj]/NP"):
        return phrase in (N, NP, PP)  # predicates without a copula beside them
    if target in ("NP/N", "S/(S\\NP)", "S/(S/NP)", "(S\\NP)/((S\\NP)/NP)"):
        return phrase == NP  # possessors without mark, raised subjects, fronted objects
    category = parse_category(target)
    if not is_modifier(category):
        return False
    modified = category.result
    while is_modifier(modified):  # phrases that modify a modifier
        modified = modified.result
    return str(modified) in MODIFIED


@lru_cache(maxsize=1 << 16)
def level_of(category: str, target: str, slash: str) -> str:
    """What an adjunct with that slash modifies: `target`, if the category is or will be it, else its N, NP, VP or S.

    >>> level_of("(S[dcl]\\\\NP)/NP", "", "/"), level_of("S[q]/NP", "", "/"), level_of("(N/N)/NP", "N/N", "/")
    ('S\\\\NP', 'S', 'N/N')
    """
    part = inner_phrase(category, target)
    found = parse_category(part)
    if part != target:
        return without_features(part)
    # Modifiers of modifiers of modifiers compose, where a rule allows it: few categories are deeper than (X/X)/(X/X).
    if is_modifier(found) and is_modifier(found.result) and slash in ("\\", found.slash):
        return str(found.result)
    return part


@lru_cache(maxsize=1 << 16)
def inner_phrase(category: str, target: str = "") -> str:
    """The same with its features: the category without the arguments that it still looks for on the way there.

    >>> inner_phrase("((S[dcl]\\\\NP)/NP)/PP")
    'S[dcl]\\\\NP'
    """
    found: Category = parse_category(category)
    while isinstance(found, Functor) and str(found) != target and without_features(str(found)) != VP:
        found = found.result
    return str(found)


@lru_cache(maxsize=1 << 16)
def gaps_of(category: str) -> tuple[str, ...]:
    """The arguments that a verb still looks for on its right, the last one to be found first.

    >>> gaps_of("((S[dcl]\\\\NP)/PP)/NP")
    ('PP', 'NP')
    """
    found: Category = parse_category(category)
    gaps: list[str] = []
    while isinstance(found, Functor) and without_features(str(found)) != VP:
        gaps.append(str(found.argument))
        found = found.result
    return tuple(reversed(gaps))


def result_of(category: str) -> str:
    """What a functor gives, if that is a modifier, else nothing.

    >>> result_of("(NP\\\\NP)/NP"), result_of("NP/N")
    ('NP\\\\NP', '')
    """
    found = parse_category(category)
    return str(found.result) if isinstance(found, Functor) and is_modifier(found.result) else ""


def adjunct_category(level: str, slash: str) -> str:
    """The category of what modifies a level from its left (/) or right (\\)."""
    return functor(level, slash, level)


@lru_cache(maxsize=1 << 16)
def functor(result: str, slash: str, argument: str) -> str:
    """The text of a functor.

    >>> functor("S\\\\NP", "/", "NP")
    '(S\\\\NP)/NP'
    """
    return str(Functor(parse_category(result), slash, parse_category(argument)))


@lru_cache(maxsize=1 << 16)
def without_features(category: str) -> str:
    """The category with all features left open."""
    kept, depth = [], 0
    for character in category:
        depth += character == "["
        if not depth:
            kept.append(character)
        depth -= character == "]"
    return "".join(kept)
