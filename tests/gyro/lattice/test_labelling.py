from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.labelling import Labelling, numbered_name
from gyro.lattice.lattice import Hypothesis, Lattice
from tests.gyro.lattice.samples import WORDS, run, small_lattice
from tests.outside import needs_openfst_tools

MAP = "<epsilon> 0\n<s> 1\n</s> 2\n<unk> 3\na 30\nb 7\nc 100\nc 5\n"
strings = st.dictionaries(st.lists(st.sampled_from(WORDS), max_size=4).map(tuple), st.integers(-64, 640), max_size=6)


@pytest.fixture(scope="module")
def wordmap(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("map") / "wmap"
    path.write_text(MAP)
    return str(path)


def of_strings(*texts: str) -> Lattice:
    words = sorted({word for text in texts for word in text.split()})
    return Lattice.from_strings(words, [Hypothesis(tuple(text.split()), float(n)) for n, text in enumerate(texts)])


@given(
    strings=strings,
    name=st.sampled_from(["1.fst", "1.fst.gz"]),
    marks=st.sampled_from([(), (1, 2)]),
    symbols=st.booleans(),
    arc_type=st.sampled_from(["standard", "tropical_LT_tropical"]),
)
def test_what_is_written_is_read(
    strings: dict[tuple[str, ...], int],
    name: str,
    marks: tuple[int, ...],
    symbols: bool,
    arc_type: str,
    wordmap: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lattice = Lattice.from_strings(WORDS, [Hypothesis(tokens, cost / 64) for tokens, cost in strings.items()])
    path = tmp_path_factory.mktemp("lattice") / name
    Labelling(wordmap, marks, symbols=symbols, arc_type=arc_type).write(lattice, path)
    again = Lattice.read(path, LatticeFormat(marks=marks, wordmap=wordmap))
    found = {tuple(token for token in h.tokens if token not in ("<s>", "</s>")): h.cost for h in again.strings()}
    assert found == {tokens: cost / 64 for tokens, cost in strings.items()}


@pytest.mark.parametrize(
    ("options", "texts", "expected"),
    [
        ({"wordmap": True}, ["a b c"], ["30 7 5"]),
        ({"wordmap": True, "marks": (1, 2)}, ["a b", "b"], ["1 30 7 2", "1 7 2"]),
        ({"wordmap": True, "oov": 3}, ["a x y", "y"], ["30 3 3", "3"]),
        ({"wordmap": True, "oov": 7, "marks": (1, 2)}, ["a x b"], ["1 30 7 7 2"]),
        ({}, ["17 4", "4"], ["17 4", "4"]),
        ({"marks": (1, 2)}, ["17 4"], ["1 17 4 2"]),
    ],
)
def test_labels(
    tmp_path: Path, wordmap: str, options: dict[str, object], texts: list[str], expected: list[str]
) -> None:
    if "wordmap" in options:
        options = options | {"wordmap": wordmap}
    Labelling(**options, symbols=False).write(of_strings(*texts), tmp_path / "x.fst")  # type: ignore[arg-type]
    found = [" ".join(h.tokens) for h in Lattice.read(tmp_path / "x.fst").strings()]
    assert found == expected


@needs_openfst_tools
def test_symbols_go_with_the_labels(tmp_path: Path, wordmap: str) -> None:
    path = str(tmp_path / "x.fst")
    Labelling(wordmap, (1, 2), oov=3).write(of_strings("a x"), path)
    columns = [line.split("\t")[2] for line in run("fstprint", path).splitlines() if line.count("\t") > 1]
    assert columns == ["<s>", "a", "<unk>", "</s>"]
    bare = [line.split("\t")[2] for line in run("fstprint", "--numeric", path).splitlines() if line.count("\t") > 1]
    assert bare == ["1", "30", "3", "2"]


def test_without_a_map_words_are_numbered_beside_the_marks(tmp_path: Path) -> None:
    Labelling(marks=(2, 3)).write(small_lattice(), tmp_path / "x.fst")
    strings = [h.tokens for h in Lattice.read(tmp_path / "x.fst").strings()]
    assert strings == [("<s>", *h.tokens, "</s>") for h in small_lattice().strings()]


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ({"wordmap": True}, "a x", r"wmap: found the word 'x', which is not in the word map; --oov LABEL gives"),
        ({"symbols": False}, "17 x", r"found the word 'x'; without symbols, labels come from a word map"),
        ({"symbols": False}, "17 007", r"found the word '007'"),
        ({"symbols": False}, "9999999999", r"found the word '9999999999'"),
        ({"wordmap": True, "marks": (7, 2)}, "a b", r"found the word 'b', whose label 7 is that of a sentence mark"),
    ],
)
def test_words_without_a_label_are_refused(
    tmp_path: Path, wordmap: str, options: dict[str, object], text: str, message: str
) -> None:
    if "wordmap" in options:
        options = options | {"wordmap": wordmap}
    with pytest.raises(InputError, match=message):
        Labelling(**options).write(of_strings(text), tmp_path / "x.fst")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oov": 3}, "and no word map"),
        ({"marks": (0, 2)}, "found the label 0; labels are from 1 to 2147483647"),
        ({"marks": (4, 4)}, "found the label 4 for both sentence marks"),
        ({"wordmap": "x", "oov": -1}, "found the label -1"),
    ],
)
def test_labels_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Labelling(**options)  # type: ignore[arg-type]


def test_numbered_names() -> None:
    assert [numbered_name("a/%d.fst", number) for number in (1, 10)] == ["a/1.fst", "a/10.fst"]


@pytest.mark.parametrize(
    "pattern", ["a.fst", "%d/%d.fst", "%s%d.fst", "%%d.fst", "%2d.fst", "100%.fst", "%d.txt", "%d"]
)
def test_names_that_are_no_patterns(pattern: str) -> None:
    with pytest.raises(InputError, match="found the name"):
        numbered_name(pattern, 1)
