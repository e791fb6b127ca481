from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.file_format import OWN_FORMAT, LatticeFormat, read_wordmap

WORDS = {0: "<epsilon>", 1: "<s>", 2: "</s>", 7: "the", 2012: "2012"}


@pytest.mark.parametrize(
    "order", ["{word}\t{label}\n", "{word} {label}\n", "{label}\t{word}\n", "{label}   {word} \n\n"]
)
@pytest.mark.parametrize("name", ["map", "map.gz"])
def test_word_maps_in_both_orders(tmp_path: Path, order: str, name: str) -> None:
    text = "".join(order.format(word=word, label=label) for label, word in WORDS.items()).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert read_wordmap(tmp_path / name) == WORDS


def test_of_two_columns_of_numbers_the_second_is_the_label(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("1 10\n2 20\n")
    assert read_wordmap(tmp_path / "map") == {10: "1", 20: "2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found no words"),
        ("a 1\nb\n", r"map:2: found 1 columns; a word and its label are needed"),
        ("a 1\nb c 2\n", r"map:2: found 3 columns"),
        ("a 1\n2 b\n", r"map:1: found 'a 1'; a word and its label are needed, in one order throughout"),
        ("a 1\nb -2\n", r"map:1: found 'a 1'; a word and its label"),
        ("a 1\nb 1\n", r"map:2: found the label 1 again"),
        ("a 99999999999\n", r"map:1: found 'a 99999999999'"),
        ("a ²\n", r"map:1: found 'a ²'"),
    ],
)
def test_word_maps_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "map").write_text(text)
    with pytest.raises(InputError, match=message):
        read_wordmap(tmp_path / "map")


def test_a_word_map_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: cannot read: No such file"):
        read_wordmap(tmp_path / "none")
    with pytest.raises(InputError, match="cannot read"):
        read_wordmap("a\0b")


def test_a_word_map_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text("a 1\n")
    assert read_wordmap(path) == {1: "a"}
    path.write_text("b 1\n")
    os.utime(path, ns=(1, 1))
    assert read_wordmap(path) == {1: "b"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, ""),
        ({"marks": (1, 2)}, "marks [1, 2]"),
        ({"epsilon": (9,), "scales": (1.0, -0.5), "project": "input"}, "epsilon [9] scales [1.0, -0.5] project input"),
    ],
)
def test_what_tells_ways_of_reading_apart(options: dict[str, object], text: str) -> None:
    assert LatticeFormat(**options).text() == text  # type: ignore[arg-type]


def test_of_a_word_map_its_contents_count(tmp_path: Path) -> None:
    for name, text in (("one", "a 1\n"), ("same", "a 1\n"), ("other", "b 1\n")):
        (tmp_path / name).write_text(text)
    one, same, other = (LatticeFormat(wordmap=str(tmp_path / name)).text() for name in ("one", "same", "other"))
    assert one == same != other
    assert LatticeFormat(wordmap=str(tmp_path / "one"), unknown="x").text() == f"{one} unknown x"
    with pytest.raises(InputError, match="cannot read"):
        LatticeFormat(wordmap=str(tmp_path / "none")).text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scales": (1.0, float("inf"))}, "found the scale inf"),
        ({"project": "both"}, "the side 'both' of a transducer; allowed are input and output"),
        ({"unknown": "<unk>"}, "and no word map"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LatticeFormat(**options)  # type: ignore[arg-type]


def test_the_evidence_has_the_format_of_the_hypotheses_or_its_own() -> None:
    assert LatticeFormat.from_arguments(argparse.Namespace()) == OWN_FORMAT
    hypotheses = argparse.Namespace(marks=[1, 2], scales=None, mt_marks=None)
    assert LatticeFormat.from_arguments(hypotheses) == LatticeFormat(marks=(1, 2))
    assert LatticeFormat.of_evidence(hypotheses) == LatticeFormat(marks=(1, 2))
    own = argparse.Namespace(marks=[1, 2], mt_scales=[0.5])
    assert LatticeFormat.of_evidence(own) == LatticeFormat(scales=(0.5,))
