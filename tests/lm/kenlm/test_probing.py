from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import kenlm
import pytest

from lm.kenlm.probing import PROBING, open_probing, read_header

Files = Callable[[str, int], Path]


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_the_header_says_what_the_arpa_file_says(model_files: Files, order: int) -> None:
    arpa = model_files("arpa", order).read_text()
    header = read_header(model_files("probing", order))
    assert header is not None
    assert header.order == order
    assert header.model_type == PROBING
    assert header.has_words
    assert [f"ngram {n}={count}" for n, count in enumerate(header.counts, 1)] == arpa.split("\n")[1 : order + 1]


@pytest.mark.parametrize("file_type", ["trie", "array", "quantised"])
def test_other_types_are_not_opened(model_files: Files, file_type: str) -> None:
    path = model_files(file_type, 3)
    header = read_header(path)
    assert header is not None
    assert open_probing(path, header) is None


def test_an_arpa_file_has_no_header(model_files: Files) -> None:
    assert read_header(model_files("arpa", 3)) is None


@pytest.mark.parametrize("file_type", ["probing", "sparse", "nameless"])
def test_words_are_found_as_kenlm_finds_them(model_files: Files, file_type: str) -> None:
    path = model_files(file_type, 3)
    header = read_header(path)
    assert header is not None
    file = open_probing(path, header)
    assert file is not None
    model = kenlm.Model(str(path))
    text = model_files("arpa", 3).read_text().split("\\1-grams:\n")[1].split("\n\n")[0]
    words = [line.split("\t")[1] for line in text.splitlines()]
    numbers = file.word_numbers(words)
    assert numbers.tolist() == list(range(len(words)))  # a probing vocabulary keeps the order of the ARPA file
    others = ["", "x", "xx" * 50, "ca", "cat ", "Cat", "café", "<unk>", *(f"{i}" * i for i in range(1, 40))]
    assert [number > 0 for number in file.word_numbers(others)] == [word in model for word in others]
    assert len(file.word_numbers([])) == 0
    assert file.some_words(5) == ([] if file_type == "nameless" else words[1:6])
