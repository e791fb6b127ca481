from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import (
    NbestEntry,
    cost_feature,
    entries,
    read_jsonl,
    read_moses,
    read_tsv,
    write_jsonl,
    write_moses,
    write_tsv,
)

LISTS = [
    *entries(0, "a", [Hypothesis(("the", "dog"), 12.34), Hypothesis(("dog", "the"), 13.0)]),
    *entries(2, "c", [Hypothesis(("x|||y", "&#124;"), 0.0)]),
]


def test_moses_lines() -> None:
    file = io.StringIO()
    write_moses(file, LISTS)
    assert file.getvalue().splitlines() == [
        "0 ||| the dog ||| LM= -12.34 ||| -12.34",
        "0 ||| dog the ||| LM= -13.0 ||| -13.0",
        "2 ||| x&#124;&#124;&#124;y &amp;#124; ||| LM= 0.0 ||| 0.0",
    ]


def test_features_of_several_models() -> None:
    file = io.StringIO()
    hypotheses = [Hypothesis(("a",), 1.5), Hypothesis(("b",), 2.0)]
    write_moses(file, entries(3, "x", hypotheses, [{"LM4": -1.0, "SB5": -0.5}, {"LM4": -2.0, "SB5": 0.0}]))
    assert file.getvalue() == "3 ||| a ||| LM4= -1.0 SB5= -0.5 ||| -1.5\n3 ||| b ||| LM4= -2.0 SB5= 0.0 ||| -2.0\n"
    assert cost_feature("COST", hypotheses) == [{"COST": -1.5}, {"COST": -2.0}]
    with pytest.raises(ValueError, match="zip"):
        list(entries(3, "x", hypotheses, [{}]))


def test_jsonl_lines() -> None:
    file = io.StringIO()
    write_jsonl(file, LISTS)
    assert file.getvalue().splitlines()[1] == (
        '{"id": "a", "rank": 2, "tokens": ["dog", "the"], "cost": 13.0, "features": {"LM": -13.0}}'
    )


def test_lines_of_moses_itself(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(
        "0 ||| das ist ein Haus  ||| LexicalReordering0= -1.5 0 Distortion0= -2 LM0= -20.25 ||| -9.5 ||| 0-1 1-0\n"
        "0 ||| ||| ||| -1\n"
        "7 ||| a ||| LM0= ||| 2e-3\n"
    )
    features = {"LexicalReordering0": (-1.5, 0.0), "Distortion0": (-2.0,), "LM0": (-20.25,)}
    assert list(read_moses(path)) == [
        NbestEntry(0, ("das", "ist", "ein", "Haus"), 9.5, features, 1, "1"),
        NbestEntry(0, (), 1.0, {}, 2, "1"),
        NbestEntry(7, ("a",), -0.002, {"LM0": ()}, 1, "8"),
    ]


numbers = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: 0.0 - number)
blankless = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda text: text.split() == [text]
)
tricky = st.lists(st.sampled_from(["&", "#124;", "amp;", "|", "|||", "&#124;", "&amp;", "a"]), min_size=1).map("".join)
tokens = st.lists(tricky | blankless, max_size=5).map(tuple)
names = blankless.filter(lambda name: "=" not in name and "|" not in name)
features = st.dictionaries(names, st.lists(numbers, max_size=3).map(tuple), max_size=3)
hypotheses = st.lists(st.tuples(tokens, numbers, features), min_size=1, max_size=4)


@given(st.lists(hypotheses, max_size=4))
def test_both_formats_read_back_exactly(
    lists: list[list[tuple[tuple[str, ...], float, dict[str, tuple[float, ...]]]]],
) -> None:
    written = [
        NbestEntry(sentence, words, cost, named, rank, str(sentence + 1))
        for sentence, items in enumerate(lists)
        for rank, (words, cost, named) in enumerate(items, 1)
    ]
    for write, read in ((write_moses, read_moses), (write_jsonl, read_jsonl)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list"
            with path.open("w", encoding="utf-8", newline="\n") as file:
                write(file, written)
            assert list(read(path)) == written


@given(st.lists(st.lists(st.tuples(tokens, numbers), max_size=4), max_size=4))
def test_text_and_cost_read_back_exactly(lists: list[list[tuple[tuple[str, ...], float]]]) -> None:
    """Sentences without entries, first, last and between, keep the numbers of the others."""
    written = [
        [NbestEntry(sentence, words, cost, {}, rank, str(sentence + 1)) for rank, (words, cost) in enumerate(items, 1)]
        for sentence, items in enumerate(lists)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "list.tsv"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for items in written:
                write_tsv(file, items)
        assert path.read_text(encoding="utf-8").split("\n").count("") == len(lists) + 1
        assert list(read_tsv(path)) == [entry for items in written for entry in items]


def test_text_and_cost_of_other_tools(tmp_path: Path) -> None:
    """A blank before the tab, as HiFST's printstrings has it, a gzipped file, no empty line at the end."""
    with gzip.open(tmp_path / "list.tsv.gz", "wt") as file:
        file.write("the dog \t12.5\n\t-1e-3\n\n\na|b\t3\r\n")
    assert list(read_tsv(tmp_path / "list.tsv.gz")) == [
        NbestEntry(0, ("the", "dog"), 12.5, {}, 1, "1"),
        NbestEntry(0, (), -0.001, {}, 2, "1"),
        NbestEntry(2, ("a|b",), 3.0, {}, 1, "3"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b", "found 'a b' without a tab; text, a tab and a cost are needed"),
        ("a b\t", "found ''; a finite number is allowed"),
        ("a\t1\tb", "found 'b'; a finite number is allowed"),
        ("a\tinf", "found 'inf'; a finite number is allowed"),
        (" ", "found ' ' without a tab"),
    ],
)
def test_damaged_lines_of_text_and_cost(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "list.tsv"
    path.write_text(f"a\t1\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_tsv(path))
    assert str(caught.value).startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 ||| a b ||| LM= 1", "3 fields between"),
        ("x ||| a ||| LM= 1 ||| 1", "found the sentence number 'x'"),
        ("-1 ||| a ||| LM= 1 ||| 1", "found the sentence number '-1'"),
        ("0 ||| a ||| LM= 1 ||| high", "found 'high'; a finite number is allowed"),
        ("0 ||| a ||| LM= nan ||| 1", "found 'nan'; a finite number is allowed"),
        ("0 ||| a ||| -1 LM= 1 ||| 1", "found '-1' before any feature name"),
        ("0 ||| a ||| LM= 1 LM= 2 ||| 1", "found the feature name 'LM'; a new name"),
        ("0 ||| a ||| = 1 ||| 1", "found the feature name ''"),
    ],
)
def test_damaged_moses_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "list"
    path.write_text(f"0 ||| a ||| LM= 1 ||| 1\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_moses(path))
    assert str(caught.value).startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"rank": 1, "tokens": [], "cost": 1, "features": {}}', "found id None; a string is needed"),
        ('{"id": "1", "rank": 0, "tokens": [], "cost": 1, "features": {}}', "found rank 0"),
        ('{"id": "1", "rank": true, "tokens": [], "cost": 1, "features": {}}', "found rank True"),
        ('{"id": "1", "rank": 1, "tokens": [3], "cost": 1, "features": {}}', "a list of strings is needed"),
        ('{"id": "1", "rank": 1, "tokens": [], "cost": Infinity, "features": {}}', "found the number inf"),
        ('{"id": "1", "rank": 1, "tokens": [], "cost": 1, "features": {"LM": "x"}}', "found the number 'x'"),
    ],
)
def test_damaged_json_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "list"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_jsonl(path))
    assert str(caught.value).startswith(f"{path}:1: ")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (NbestEntry(0, ("a b",), 1.0), "found the token 'a b'"),
        (NbestEntry(0, ("",), 1.0), "found the token ''"),
        (NbestEntry(0, ("a",), float("inf")), "found the number inf|found the number -inf"),
        (NbestEntry(0, ("a",), 1.0, {"L M": (1.0,)}), "found the feature name 'L M'"),
        (NbestEntry(0, ("a",), 1.0, {"LM=": (1.0,)}), "found the feature name 'LM='"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(entry: NbestEntry, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_moses(io.StringIO(), [entry])
    if not entry.features:
        with pytest.raises(InputError, match=message):
            write_tsv(io.StringIO(), [entry])


@pytest.mark.parametrize("digits", [12, 400, 5000])
def test_numbers_of_many_digits_are_refused(tmp_path: Path, digits: int) -> None:
    number, moses, jsonl = "9" * digits, tmp_path / "a.txt", tmp_path / "a.jsonl"
    moses.write_text(f"{number} ||| a ||| LM= -1 ||| -1\n")
    with pytest.raises(InputError, match=r"a\.txt:1: found the sentence number"):
        list(read_moses(moses))
    moses.write_text(f"0 ||| a ||| LM= -1 ||| -1{number * 40}\n")
    with pytest.raises(InputError, match=r"a\.txt:1: found .*a finite number"):
        list(read_moses(moses))
    jsonl.write_text('{"id": "1", "rank": 1, "tokens": ["a"], "cost": %s, "features": {}}\n' % (number * 2))
    with pytest.raises(InputError, match=r"a\.jsonl:1: not JSON: .*too large"):
        list(read_jsonl(jsonl))
