from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.ccg.category import (
    Atom,
    Category,
    Functor,
    application,
    combinator,
    composition,
    head_side,
    is_functor,
    is_modifier,
    is_punctuation,
    is_raised,
    matches,
    parse_category,
)
from gyro.errors import InputError

ATOMS = st.builds(Atom, st.sampled_from(["S", "NP", "N", "PP", "conj", ",", "LRB"]), st.sampled_from(["", "dcl", "X"]))
CLOSED: st.SearchStrategy[Category] = st.recursive(  # without variables
    st.builds(Atom, st.sampled_from(["S", "NP"]), st.sampled_from(["dcl", "nb"])),
    lambda parts: st.builds(Functor, parts, st.sampled_from("/\\"), parts),
    max_leaves=5,
)
CATEGORIES: st.SearchStrategy[Category] = st.recursive(
    ATOMS,
    lambda parts: st.builds(Functor, parts, st.sampled_from("/\\"), parts, st.booleans()),
    max_leaves=8,
)


def fully_bracketed(category: Category) -> str:
    """Another way to print a category: with brackets round every part."""
    if isinstance(category, Atom):
        text = f"({category.atom}{f'[{category.feature}]' if category.feature else ''})"
    else:
        text = f"({fully_bracketed(category.result)}{category.slash}{fully_bracketed(category.argument)})"
    return text + ("[conj]" if category.conjunct else "")


@given(CATEGORIES)
def test_printing_and_parsing_are_inverse(category: Category) -> None:
    assert parse_category(str(category)) == category
    assert parse_category(fully_bracketed(category)) == category


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("N", Atom("N")),
        ("S[dcl]", Atom("S", "dcl")),
        ("NP[conj]", Atom("NP", "", True)),
        ("S[dcl][conj]", Atom("S", "dcl", True)),
        (",", Atom(",")),
        ("S[dcl]\\NP", Functor(Atom("S", "dcl"), "\\", Atom("NP"))),
        ("(S\\NP)/NP", Functor(Functor(Atom("S"), "\\", Atom("NP")), "/", Atom("NP"))),
        ("S/(S\\NP)", Functor(Atom("S"), "/", Functor(Atom("S"), "\\", Atom("NP")))),
        ("(S\\NP)[conj]", Functor(Atom("S"), "\\", Atom("NP"), True)),
        ("S\\NP[conj]", Functor(Atom("S"), "\\", Atom("NP", "", True))),
        ("(N/N)\\(N/N)[conj]", Functor(parse_category("N/N"), "\\", Functor(Atom("N"), "/", Atom("N"), True))),
    ],
)
def test_categories_of_ccgbank(text: str, category: Category) -> None:
    assert parse_category(text) == category
    assert str(category) == text


def test_slashes_without_brackets_group_to_the_left() -> None:
    assert str(parse_category("S\\NP/NP/PP")) == "((S\\NP)/NP)/PP"


@pytest.mark.parametrize(
    "text",
    [
        *["", "(", "()", "S/", "/NP", "S//NP", "(S\\NP", "S\\NP)", "S[dcl", "S]", "[dcl]", "S[]", "S[a][b]", "S NP"],
        *["S(NP)", "(S/NP)[dcl]", "NP[conj][conj]", " S", "S\n", "(" * 5000 + "S" + ")" * 5000, "S" + "/S" * 5000],
    ],
)
def test_malformed_categories_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"found the category .* are allowed") as caught:
        parse_category(text)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("text", "functor", "modifier", "raised", "punctuation"),
    [
        ("N", False, False, False, False),
        (",", False, False, False, True),
        ("LRB", False, False, False, True),
        ("conj", False, False, False, False),
        ("N/N", True, True, False, False),
        ("(S\\NP)\\(S\\NP)", True, True, False, False),
        ("(S[dcl]\\NP)/(S[b]\\NP)", True, False, False, False),
        ("S/(S\\NP)", True, False, True, False),
        ("(S\\NP)\\((S\\NP)/NP)", True, False, True, False),
        ("S/(S/NP)", True, False, False, False),
        ("NP[nb]/N", True, False, False, False),
        (",/,", True, True, False, False),
    ],
)
def test_predicates(text: str, functor: bool, modifier: bool, raised: bool, punctuation: bool) -> None:
    category = parse_category(text)
    found = (is_functor(category), is_modifier(category), is_raised(category), is_punctuation(category))
    assert found == (functor, modifier, raised, punctuation)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("S", "S[dcl]", True),
        ("S[X]", "S[dcl]", True),
        ("S[ng]", "S[dcl]", False),
        ("NP", "NP[nb]", True),
        ("NP", "N", False),
        ("NP", "NP[conj]", False),
        ("S\\NP", "S[dcl]\\NP[nb]", True),
        ("S\\NP", "S/NP", False),
        ("S", "S\\NP", False),
        ("S/S", "S[dcl]/S[dcl]", True),
        ("S/S", "S[dcl]/S[ng]", False),  # the S of one category are one variable
    ],
)
def test_matching(a: str, b: str, same: bool) -> None:
    assert matches(parse_category(a), parse_category(b)) is same
    assert matches(parse_category(b), parse_category(a)) is same


# The rules of Steedman (2000) as CCGbank uses them, worked by hand; the first two are those of Zhang and Clark (2011).
RULES = [
    ("ba", "NP", "S\\NP", "S", None),
    ("fc", "S/(S\\NP)", "(S[dcl]\\NP)/NP", None, "S[dcl]/NP"),
    ("fa", "NP[nb]/N", "N", "NP[nb]", None),
    ("fa", "(S[dcl]\\NP)/(S[ng]\\NP)", "S[ng]\\NP", "S[dcl]\\NP", None),
    ("", "(S[dcl]\\NP)/(S[ng]\\NP)", "S[pss]\\NP", None, None),
    ("ba", "S[ng]\\NP", "(S\\NP)\\(S\\NP)", "S[ng]\\NP", None),
    ("fa", "S/S", "S[dcl]", "S[dcl]", None),
    ("fa", "S[X]/S[X]", "S[dcl]", "S[dcl]", None),
    ("bx", "(S[dcl]\\NP)/(S[ng]\\NP)", "(S\\NP)\\(S\\NP)", None, "(S[dcl]\\NP)/(S[ng]\\NP)"),
    ("fc", "(S[dcl]\\NP)/(S[b]\\NP)", "(S\\NP)/(S\\NP)", None, "(S[dcl]\\NP)/(S[b]\\NP)"),
    ("bc", "(S[dcl]\\NP)\\PP", "(S\\NP)\\(S\\NP)", None, "(S[dcl]\\NP)\\PP"),
    ("gfc", "(S\\NP)/(S\\NP)", "((S[b]\\NP)/PP)/NP", None, "((S[b]\\NP)/PP)/NP"),
    ("gbx", "((S[b]\\NP)/PP)/NP", "(S\\NP)\\(S\\NP)", None, "((S[b]\\NP)/PP)/NP"),
    ("", "NP", "NP", None, None),
    ("", "S\\NP", "NP", None, None),
    ("", "N", "NP/N", None, None),
    ("", "S/NP", "NP\\N", None, None),  # forward crossed composition is not English
]


@pytest.mark.parametrize(("name", "left", "right", "applied", "composed"), RULES)
def test_application_and_composition(
    name: str, left: str, right: str, applied: str | None, composed: str | None
) -> None:
    a, b = parse_category(left), parse_category(right)
    assert application(a, b) == (parse_category(applied) if applied else None)
    assert composition(a, b) == (parse_category(composed) if composed else None)
    if name:
        assert combinator(a, b, parse_category(applied or composed or "")) == name


@given(CLOSED, CLOSED, CLOSED, CLOSED)
def test_schemas_hold_for_all_categories(x: Category, y: Category, z: Category, w: Category) -> None:
    schemas = [
        (Functor(x, "/", y), y, x),
        (y, Functor(x, "\\", y), x),
        (Functor(x, "/", y), Functor(y, "/", z), Functor(x, "/", z)),
        (Functor(y, "\\", z), Functor(x, "\\", y), Functor(x, "\\", z)),
        (Functor(y, "/", z), Functor(x, "\\", y), Functor(x, "/", z)),
        (Functor(x, "/", y), Functor(Functor(y, "/", z), "\\", w), Functor(Functor(x, "/", z), "\\", w)),
        (Functor(Functor(y, "/", z), "/", w), Functor(x, "\\", y), Functor(Functor(x, "/", z), "/", w)),
    ]
    names = ["fa", "ba", "fc", "bc", "bx", "gfc", "gbx"]
    for place, (left, right, result) in enumerate(schemas):
        assert combinator(left, right, result) in names[: place + 1]  # an earlier rule may give the same
    assert application(*schemas[0][:2]) == x


@pytest.mark.parametrize(
    ("left", "right", "result", "name", "head"),
    [
        ("NP", "S[dcl]\\NP", "S[dcl]", "ba", 1),
        ("NP[nb]/N", "N", "NP[nb]", "fa", 1),
        ("NP[nb]/N", "N", "NP", "fa", 1),  # depccg leaves the feature out
        ("N/N", "N", "N", "fa", 1),
        ("(S[dcl]\\NP)/NP", "NP", "S[dcl]\\NP", "fa", 0),
        ("(NP\\NP)/NP", "NP", "NP\\NP", "fa", 0),
        ("NP", "NP\\NP", "NP", "ba", 0),
        ("S[ng]\\NP", "(S\\NP)\\(S\\NP)", "S[ng]\\NP", "ba", 0),
        ("S/(S\\NP)", "(S[dcl]\\NP)/NP", "S[dcl]/NP", "fc", 1),
        ("S/(S\\NP)", "S[dcl]\\NP", "S[dcl]", "fa", 1),
        ("(S[dcl]\\NP)/NP", "(S\\NP)\\(S\\NP)", "(S[dcl]\\NP)/NP", "bx", 0),
        ("conj", "NP", "NP\\NP", "conj", 1),
        ("conj", "NP\\NP", "NP\\NP", "conj", 1),
        ("conj", "NP", "NP[conj]", "conj", 1),
        (",", "NP", "NP[conj]", "conj", 1),
        ("conj", "S[dcl]\\NP", "S[dcl]\\NP[conj]", "conj", 1),
        ("conj", "S[dcl]\\NP", "(S[dcl]\\NP)[conj]", "conj", 1),
        ("NP", "NP[conj]", "NP", "conj", 0),
        ("S[dcl]\\NP", "S[dcl]\\NP[conj]", "S[dcl]\\NP", "conj", 0),
        ("S[dcl]", ".", "S[dcl]", "punctuation", 0),
        (",", "NP", "NP", "punctuation", 1),
        ("LRB", "NP", "NP", "punctuation", 1),
        (",", ",", ",", "punctuation", 0),
        ("NP", "NP", "NP", "other", 0),
        ("NP", "PP[conj]", "NP", "other", 0),
        ("NP", "S[dcl]\\NP", "S[ng]", "other", 0),
        ("NP", "S[dcl]\\NP[conj]", "S[dcl]", "other", 0),
        ("S[dcl]", ".", "S[ng]", "other", 0),
    ],
)
def test_names_and_heads_of_rule_instances(left: str, right: str, result: str, name: str, head: int) -> None:
    parts = (parse_category(left), parse_category(right), parse_category(result))
    assert combinator(*parts) == name
    assert head_side(*parts) == head
