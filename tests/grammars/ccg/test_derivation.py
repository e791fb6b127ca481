from __future__ import annotations

import io
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.ccg.derivation import (
    MAXIMUM_DEPTH,
    AutoEntry,
    Derivation,
    Leaf,
    Node,
    auto_text,
    head_leaf,
    leaves,
    parse_auto,
    postorder,
    read_auto,
    with_leaves,
    words,
    write_auto,
)
from gyro.errors import InputError
from tests.outside import SICK, needs_sick

# The rule instances of Zhang and Clark (2011), Section 2, around a sentence of our own; blank at the end as in CCGbank.
CCGBANK = (
    "ID=own.1 PARSER=GOLD NUMPARSE=1\n"
    "(<T S[dcl] 0 2> (<T S[dcl] 1 2> (<T NP 0 1> (<L N NNS NNS Cats N>) ) (<T S[dcl]\\NP 0 2> "
    "(<L (S[dcl]\\NP)/NP VBP VBP chase (S[dcl]\\NP_1)/NP_2>) (<T NP 0 1> (<L N NNS NNS mice N>) ) ) ) "
    "(<L . . . . .>) ) \n"
    "(<L N NN NN > N>)\n"
    "ID=own.3\n"
    "(<T N 0 1> (<L N NN NN (<L N>) )\n"
)
TEXT = st.text(st.characters(blacklist_characters=" \n", blacklist_categories=["Cs"]), min_size=1, max_size=4)
LEAVES = st.builds(Leaf, TEXT, TEXT, TEXT, TEXT, TEXT)
RULES = st.sampled_from(["", "fa", "0", ">", "lex"])


def _nodes(parts: st.SearchStrategy[Derivation]) -> st.SearchStrategy[Derivation]:
    one = st.builds(Node, TEXT, RULES, st.just(0), st.tuples(parts))
    two = st.builds(Node, TEXT, RULES, st.integers(0, 1), st.tuples(parts, parts))
    return one | two


DERIVATIONS: st.SearchStrategy[Derivation] = st.recursive(LEAVES, _nodes, max_leaves=12)


def collect(derivation: Derivation) -> list[Leaf]:
    """The leaves, by recursion."""
    if isinstance(derivation, Leaf):
        return [derivation]
    return [leaf for child in derivation.children for leaf in collect(child)]


def chain(depth: int) -> Derivation:
    derivation: Derivation = Leaf.plain("N", "cat", "NN")
    for _ in range(depth):
        derivation = Node("N", "", 0, (derivation,))
    return derivation


@given(DERIVATIONS)
def test_text_and_derivation_are_inverse(derivation: Derivation) -> None:
    assert parse_auto(auto_text(derivation)) == derivation


@given(st.lists(st.tuples(st.sampled_from(["", "ID=1", "ID=2 PARSER=x"]), DERIVATIONS, st.sampled_from(["", " "]))))
def test_entries_survive_a_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, Derivation, str]]
) -> None:
    entries = [AutoEntry(*row) for row in rows]
    path = tmp_path_factory.mktemp("auto") / "entries.auto"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_auto(file, entries)
    assert list(read_auto(path)) == entries


@given(DERIVATIONS, DERIVATIONS)
def test_equal_is_what_has_the_same_text(a: Derivation, b: Derivation) -> None:
    assert (a == b) == (auto_text(a) == auto_text(b))
    assert len({a, parse_auto(auto_text(a))}) == 1


@given(DERIVATIONS)
def test_parts_of_a_derivation(derivation: Derivation) -> None:
    found = collect(derivation)
    assert list(leaves(derivation)) == found
    assert list(words(derivation)) == [leaf.word for leaf in found]
    parts = list(postorder(derivation))
    assert parts[-1] == derivation
    seen: list[Derivation] = []
    for part in parts:
        assert isinstance(part, Leaf) or all(child in seen for child in part.children)
        seen.append(part)
    other = [Leaf.plain("X", str(number), "Y") for number in range(len(found))]
    renamed = with_leaves(derivation, other)
    assert list(leaves(renamed)) == other
    assert with_leaves(renamed, found) == derivation
    with pytest.raises(ValueError, match="leaves for a derivation"):
        with_leaves(derivation, found[1:])


def test_a_derivation_of_ccgbank_kind(tmp_path: Path) -> None:
    path = tmp_path / "own.auto"
    path.write_text(CCGBANK)
    first, second, third = read_auto(path)
    assert first.header == "ID=own.1 PARSER=GOLD NUMPARSE=1"
    assert words(first.derivation) == ("Cats", "chase", "mice", ".")
    assert head_leaf(first.derivation) == Leaf("(S[dcl]\\NP)/NP", "chase", "VBP", "VBP", "(S[dcl]\\NP_1)/NP_2")
    assert isinstance(first.derivation, Node)
    assert (first.derivation.rule, first.derivation.head) == ("", 0)
    assert second == AutoEntry("", Leaf.plain("N", ">", "NN"))
    assert words(third.derivation) == ("(<L",)
    file = io.StringIO()
    write_auto(file, [first, second, third])
    assert file.getvalue() == CCGBANK


@needs_sick
def test_a_real_file_comes_out_byte_by_byte() -> None:
    entries = list(read_auto(SICK))
    assert len(entries) == 1000
    file = io.StringIO()
    write_auto(file, entries)
    assert file.getvalue().encode() == lzma.decompress(SICK.read_bytes())
    assert {len(entry.header.split()) for entry in entries} == {2}


LEAF = "(<L N NN NN cat N>)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(<T N 0 2> " + LEAF + " )", "found 1 children under <T N ...2>"),
        ("(<T N 1 1> " + LEAF + " )", "found head 1 of 1 children"),
        ("(<T N 0 0> )", "found a node with 0 children; 1 or 2 are allowed"),
        ("(<T N 0 3> " + f"{LEAF} " * 3 + ")", "found a node with 3 children; 1 or 2 are allowed"),
        ("(<T N 00 1> " + LEAF + " )", r"found '\(<T N 00 1> \(<L' at column 1; \(<T category head number>"),
        ("(<T N x 0> " + LEAF + " )", "at column 1; "),
        ("(<T N 0 1> " + LEAF, "found the end of the line at column 32; .* is allowed"),
        ("(<T N 0 1> (<L N NN NN cat N> )", r"at column 12; \(<L category pos original-pos word predicate>\)"),
        ("(<T N 0 1>  " + LEAF + " )", "found '' at column 12; .* with single blanks"),
        ("(<T N 0 1> " + LEAF + ")", "at column 12; "),
        ("(<L N NN cat N>)", "at column 1; "),
        ("(<L N NN NN cat >)", "at column 1; "),
        (LEAF + " )", r"found '\)' at column 21; the end of the line is allowed"),
        ("()", "at column 1"),
        ("", r"found ''; a header \(ID=...\) or a derivation is allowed"),
        ("cats", "found 'cats'; a header"),
        ("ID=1\nID=2", "found 'ID=2'; a derivation is allowed"),
        ("ID=1", "found a header without a derivation at the end of the file"),
        ("(<T N 0 1> " * 5000, f"more than {MAXIMUM_DEPTH} levels"),
    ],
)
def test_bad_lines_are_refused_with_their_place(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.auto"
    path.write_text(f"ID=0\n{LEAF}\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_auto(path))
    assert str(caught.value).startswith(f"{path}:{3 + line.count(chr(10))}: ")
    assert len(str(caught.value)) < len(str(path)) + 250


@pytest.mark.parametrize("word", ["", "a b", "a\nb"])
def test_what_cannot_be_read_again_is_not_written(word: str) -> None:
    with pytest.raises(InputError, match="text without blanks is allowed"):
        auto_text(Leaf.plain("N", word, "NN"))
    with pytest.raises(InputError, match="text without blanks is allowed"):
        auto_text(Node("N", word or " ", 0, (Leaf.plain("N", "cat", "NN"),)))
    with pytest.raises(InputError, match="one line that starts with ID is allowed"):
        AutoEntry(word or "\n", Leaf.plain("N", "cat", "NN"))


def test_deep_derivations_are_read_up_to_a_limit() -> None:
    deep = chain(MAXIMUM_DEPTH)
    assert parse_auto(auto_text(deep)) == deep
    assert hash(deep) == hash(chain(MAXIMUM_DEPTH))
    assert deep != chain(MAXIMUM_DEPTH - 1)
    assert words(chain(20_000)) == ("cat",)  # nothing here recurses
    with pytest.raises(InputError, match=f"more than {MAXIMUM_DEPTH} levels"):
        parse_auto(auto_text(Node("N", "", 0, (deep,))))
