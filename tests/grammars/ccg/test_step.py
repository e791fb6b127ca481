from __future__ import annotations

import pytest

from grammars.ccg.derivation import Leaf
from grammars.ccg.step import (
    BACKWARD,
    FORWARD,
    ConversionError,
    absorb,
    change,
    combine,
    coordinate,
    gaps_of,
    inner_phrase,
    level_of,
    may_change,
    result_of,
)


def leaf(category: str) -> Leaf:
    return Leaf.plain(category, "a", "X")


@pytest.mark.parametrize(
    ("left", "right", "rules", "result", "name"),
    [
        ("NP/N", "N", FORWARD, "NP", "fa"),
        ("NP", r"S[dcl]\NP", BACKWARD, "S[dcl]", "ba"),
        (r"(S[dcl]\NP)/(S[b]\NP)", r"(S[b]\NP)/NP", FORWARD, r"(S[dcl]\NP)/NP", "fc"),
        (r"(S[ng]\NP)/NP", r"(S\NP)\(S\NP)", BACKWARD, r"(S[ng]\NP)/NP", "bx"),
        (r"((S[ng]\NP)/NP)/NP", r"(S\NP)\(S\NP)", BACKWARD, r"((S[ng]\NP)/NP)/NP", "gbx"),
    ],
)
def test_combining(left: str, right: str, rules: tuple[str, ...], result: str, name: str) -> None:
    node = combine(leaf(left), leaf(right), 1, rules)
    assert (node.category, node.rule, node.head) == (result, name, 1)


def test_what_does_not_combine() -> None:
    with pytest.raises(ConversionError, match="no combinatory rule applies"):
        combine(leaf("NP"), leaf("NP"), 0, (*FORWARD, *BACKWARD))


def test_marks_and_coordinators() -> None:
    assert (absorb(leaf(","), leaf("NP"), 1).category, absorb(leaf("NP"), leaf("."), 0).rule) == ("NP", "rp")
    node = coordinate(leaf("conj"), leaf(r"S[dcl]\NP"))
    assert (node.category, node.rule, node.head) == (r"(S[dcl]\NP)\(S[dcl]\NP)", "conj", 1)


@pytest.mark.parametrize(
    ("source", "target", "listed"),
    [
        ("N", "NP", True),
        ("NP", "N", False),
        ("NP", "NP", False),
        (r"S[ng]\NP", r"NP\NP", True),
        ("S[dcl]", r"(S\NP)\(S\NP)", True),
        ("NP", r"S/(S\NP)", True),
        (r"S[dcl]\NP", r"S/(S\NP)", False),
        ("NP", "S[dcl]", False),
        (r"NP\NP", "S/S", False),
        (r"S[dcl]", r"(NP\NP)/NP", False),
        ("NP", "S[dcl]/S[dcl]", False),
        ("PP", r"S[adj]\NP", True),
    ],
)
def test_type_changes_are_those_listed(source: str, target: str, listed: bool) -> None:
    assert may_change(source, target) is listed
    if listed:
        assert change(leaf(source), target).category == target
    elif source != target:
        with pytest.raises(ConversionError, match="no type change"):
            change(leaf(source), target)


def test_parts_of_categories() -> None:
    assert inner_phrase(r"((S[dcl]\NP)/NP)/PP") == r"S[dcl]\NP"
    assert inner_phrase(r"((S\NP)\(S\NP))/NP", r"(S\NP)\(S\NP)") == r"(S\NP)\(S\NP)"
    assert gaps_of(r"((S[dcl]\NP)/NP)/PP") == ("NP", "PP")
    assert gaps_of("S[q]/NP") == ("NP",)
    assert (result_of(r"(NP\NP)/NP"), result_of(r"(S[dcl]\NP)/NP")) == (r"NP\NP", "")


def test_levels() -> None:
    assert level_of(r"(S[dcl]\NP)/NP", "", "/") == r"S\NP"
    assert level_of("N/N", "N/N", "/") == "N/N"
    assert level_of("(N/N)/(N/N)", "(N/N)/(N/N)", "/") == "N/N"  # composes, so that categories do not grow
    deep = r"(NP\NP)\(NP\NP)"
    assert (level_of(deep, deep, "\\"), level_of(deep, deep, "/")) == (r"NP\NP", deep)
