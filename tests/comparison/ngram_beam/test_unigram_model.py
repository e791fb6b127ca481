"""The unigram model: counts, costs, files."""

from __future__ import annotations

import doctest
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.ngram_beam import unigram_model
from comparison.ngram_beam.unigram_model import (
    COUNTS,
    HEAD,
    UNKNOWN_COUNT,
    UnigramModel,
    _signature,
    count_words,
    read_unigrams,
    write_unigrams,
)
from gyro.errors import InputError
from gyro.text.corpus import Normalisation

SENTENCES = [["the", "dog", "saw", "the", "Dog"], [], ["été", "the"]]


def test_doctests() -> None:
    assert doctest.testmod(unigram_model).failed == 0


def test_costs_by_hand() -> None:
    """Seven words and the unknown one."""
    model = count_words(SENTENCES)
    assert model.cost("the") == pytest.approx(-math.log(3 / 8))
    assert model.cost("dog") == pytest.approx(-math.log(1 / 8))
    assert model.cost("cat") == model.cost("dog")


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=9).filter(any))
def test_probabilities_sum_to_one(sentences: list[list[str]]) -> None:
    model = count_words(sentences)
    assert model.counts == Counter(word for sentence in sentences for word in sentence)
    known = sum(math.exp(-model.cost(word)) for word in model.counts)
    assert known + math.exp(-model.cost("unseen")) == pytest.approx(1)
    assert model.total == sum(map(len, sentences)) + UNKNOWN_COUNT


@pytest.mark.parametrize("normalisation", [None, Normalisation("none"), Normalisation("spacy-en", True)])
def test_what_is_written_is_read(normalisation: Normalisation | None, tmp_path: Path) -> None:
    model = count_words(SENTENCES, normalisation)
    write_unigrams(model, tmp_path / "a" / "model", {"sentences": 2})
    found = read_unigrams(tmp_path / "a" / "model")
    assert (found, found.signature) == (model, model.signature)
    lines = (tmp_path / "a" / "model" / COUNTS).read_text().splitlines()
    assert lines == ["Dog\t1", "dog\t1", "saw\t1", "the\t3", "été\t1"]
    head = json.loads((tmp_path / "a" / "model" / HEAD).read_text())
    assert (head["words"], head["tokens"], head["facts"]) == (5, 7, {"sentences": 2})


def test_the_signature_tells_models_apart() -> None:
    counts = {"a": 1, "b": 2}
    models = [
        UnigramModel(counts),
        UnigramModel(counts, Normalisation("none")),
        UnigramModel(counts, Normalisation("none", True)),
        UnigramModel({"a": 1, "b": 3}),
    ]
    assert len({model.signature for model in models}) == 4
    assert UnigramModel({"b": 2, "a": 1}).signature == models[0].signature


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(InputError, match=r"^found no words to count$"):
        count_words([[], []])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_unigrams(count_words(SENTENCES), tmp_path / "model", {})
    return tmp_path / "model"


def test_a_table_that_was_changed_is_refused(written: Path) -> None:
    table = (written / COUNTS).read_bytes()
    (written / COUNTS).write_bytes(table.replace(b"the\t3", b"the\t4"))
    with pytest.raises(InputError, match=r"are not those that model.json was written with"):
        read_unigrams(written)
    (written / COUNTS).unlink()
    with pytest.raises(InputError, match=r"counts.tsv: cannot read: No such file"):
        read_unigrams(written)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a\t1\nb\n", "counts.tsv:2: found the count ''; a number from 1 on is allowed"),
        ("a\t1\nb\t0\n", "counts.tsv:2: found the count '0'"),
        ("a\t1\nb\t-4\n", "counts.tsv:2: found the count '-4'"),
        ("a\t1\nb\t٣\n", "counts.tsv:2: found the count '٣'"),
        (f"a\t{'9' * 5000}\n", "counts.tsv:1: found the count"),
        ("a\t1\tx\n", "counts.tsv:1: found the count"),
        ("b\t1\na\t2\n", "counts.tsv:2: found the word 'a' after 'b'; sorted words are allowed"),
        ("a\t1\na\t2\n", "counts.tsv:2: found the word 'a' after 'a'"),
        ("</s>\t1\n", "counts.tsv:1: found the word '</s>'; a token is"),
        ("\t1\n", "counts.tsv:1: found the word ''"),
        ("", "counts.tsv:1: found the word ''"),
    ],
)
def test_a_table_that_is_none_is_refused_though_it_is_signed(written: Path, table: str, message: str) -> None:
    (written / COUNTS).write_text(table)
    head = json.loads((written / HEAD).read_text())
    (written / HEAD).write_text(json.dumps({**head, "signature": _signature(table.encode(), None)}))
    with pytest.raises(InputError) as error:
        read_unigrams(written)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "best-first"}, "found 'best-first'; 'gyro unigrams' version 1 is allowed"),
        ({"version": 2}, "version 1 is allowed"),
        ({"signature": 5}, "found no signature of a model"),
        ({"normalisation": {}}, "found the normalisation {}"),
        ({"normalisation": {"tokenizer": "none", "lowercase": True}}, "are not those that model.json was written with"),
    ],
)
def test_a_head_that_is_another_is_refused(written: Path, changes: dict[str, object], message: str) -> None:
    head = json.loads((written / HEAD).read_text())
    (written / HEAD).write_text(json.dumps({**head, **changes}))
    with pytest.raises(InputError) as error:
        read_unigrams(written)
    assert message in str(error.value)


def test_a_folder_without_a_model_and_a_file_in_the_place_of_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no model.json here; a folder that gyro train ngram-beam wrote is needed"):
        read_unigrams(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot make the folder"):
        write_unigrams(count_words(SENTENCES), tmp_path / "file" / "model", {})
