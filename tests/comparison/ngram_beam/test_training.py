"""Counting text and treebanks."""

from __future__ import annotations

import doctest
import lzma
from pathlib import Path

import pytest

from comparison.ngram_beam import training
from comparison.ngram_beam.training import Counted, TextOptions, count_corpora
from gyro.errors import InputError
from gyro.text.corpus import Normalisation

SPLIT = Normalisation("none")


def conllu(*sentences: str) -> str:
    """Trees whose tokens are separated by blanks; ~ stands for a blank in a token."""
    blocks = []
    for sentence in sentences:
        forms = [form.replace("~", " ") for form in sentence.split()]
        lines = [f"{n}\t{form}\t_\t_\t_\t_\t{n - 1}\t_\t_\t_\n" for n, form in enumerate(forms, 1)]
        blocks.append("".join(lines) + "\n")
    return "".join(blocks)


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "news.txt").write_text("He didn't go.\n\nHe sang .\n")
    return str(tmp_path / "news.txt")


@pytest.fixture
def trees(tmp_path: Path) -> str:
    """The second one has a word that is no token."""
    (tmp_path / "bank.conllu.xz").write_bytes(lzma.compress(conllu("She sang .", "10~000 birds", "He sang").encode()))
    return str(tmp_path / "bank.conllu.xz")


def test_doctests() -> None:
    assert doctest.testmod(training).failed == 0


def test_text_is_read_as_for_language_models(text: str) -> None:
    model, counted = count_corpora([text], TextOptions())
    assert model.counts == {"He": 2, "did": 1, "n't": 1, "go": 1, ".": 2, "sang": 1}
    assert (model.normalisation, counted) == (Normalisation("spacy-en"), Counted(2, 0))
    model, _ = count_corpora([text], TextOptions(Normalisation("none", True)))
    assert model.counts == {"he": 2, "didn't": 1, "go.": 1, "sang": 1, ".": 1}


def test_treebanks_have_tokens_already(text: str, trees: str) -> None:
    model, counted = count_corpora([trees], TextOptions())
    assert model.counts == {"She": 1, "sang": 2, ".": 1, "He": 1}
    assert (model.normalisation, counted) == (None, Counted(2, 1))
    model, counted = count_corpora([text, trees], TextOptions(Normalisation("none", True)))
    assert (model.counts["he"], model.counts["she"], model.counts["sang"]) == (3, 1, 3)
    assert (model.normalisation, counted) == (Normalisation("none", True), Counted(4, 1))


def test_only_the_first_sentences_of_each_file(text: str, trees: str) -> None:
    model, counted = count_corpora([text, trees], TextOptions(SPLIT, limit=1))
    assert model.counts == {"He": 1, "didn't": 1, "go.": 1, "She": 1, "sang": 1, ".": 1}
    assert counted == Counted(2, 0)


def test_json_lines_and_paragraphs(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"text": "He sang. She did not."}\n')
    path = str(tmp_path / "news.jsonl")
    model, counted = count_corpora([path], TextOptions(json_field="text", paragraphs=True))
    assert (model.counts["."], counted.sentences) == (2, 2)


def test_the_same_for_any_number_of_processes(text: str) -> None:
    one, _ = count_corpora([text], TextOptions())
    two, _ = count_corpora([text], TextOptions(jobs=2))
    assert one == two


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.conllu: cannot read"):
        count_corpora([str(tmp_path / "nowhere.conllu")], TextOptions())
    (tmp_path / "bad.conllu").write_text("a b\n")
    with pytest.raises(InputError, match=r"bad.conllu:1: found 1 columns"):
        count_corpora([str(tmp_path / "bad.conllu")], TextOptions())
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(InputError, match=r"found no words to count"):
        count_corpora([str(tmp_path / "empty.txt")], TextOptions())
