"""Tokenised text and its record: what is read back is what was written, and what was changed is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.corpus import Normalisation, is_token, read_sentences
from gyro.text.tokenized import common_record, read_record, record_path, write_tokenized

HOW = Normalisation("spacy-en", lowercase=True)
SENTENCES = [["she", "did", "n't", "go", "."], ["why", "?"]]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    write_tokenized(SENTENCES, tmp_path / "a.tok", HOW)
    return tmp_path / "a.tok"


def test_the_record_tells_how_and_how_many(text: Path) -> None:
    record = read_record(text)
    assert record is not None
    assert (record.normalisation, record.sentences, record.tokens) == (HOW, 2, 7)
    assert text.read_text() == "she did n't go .\nwhy ?\n"


tokens = st.text(min_size=1, max_size=6).filter(is_token)


@given(st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=1, max_size=5))
def test_sentences_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> None:
    sentences[0][0] = sentences[0][0].removeprefix("\ufeff") or "a"  # a byte order mark is none of the text
    path = tmp_path_factory.mktemp("text") / "a.tok"
    write_tokenized(sentences, path, HOW)
    assert list(read_sentences([path], Normalisation("none"))) == sentences


def test_no_record_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a b\n")
    assert read_record(tmp_path / "plain") is None
    assert read_record("-") is None
    assert common_record([tmp_path / "plain", "-"]) is None


def test_a_text_that_was_changed_is_refused(text: Path) -> None:
    text.write_text("she did go .\n")
    with pytest.raises(InputError, match="the file is damaged or was changed"):
        read_record(text)


def test_a_record_without_its_text_is_refused(text: Path) -> None:
    text.unlink()
    with pytest.raises(InputError, match="cannot read"):
        read_record(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "x"}, "found 'x', version 1; 'gyro tokenized text', version 1 is allowed"),
        ({"version": 2}, "version 2; 'gyro tokenized text', version 1 is allowed"),
        ({"tokens": "7"}, "found no record of tokenised text: tokens: Input should be a valid integer"),
        ({"sentences": 0.5}, "found no record of tokenised text: sentences"),
        ({"xxh128": None}, "found no record of tokenised text: xxh128"),
        ({"normalisation": {"tokenizer": "x", "lowercase": True}}, "found the tokenizer 'x'"),
        ({"normalisation": 3}, "found the normalisation 3"),
    ],
)
def test_damaged_records_are_refused(text: Path, changes: dict[str, object], message: str) -> None:
    beside = record_path(text)
    beside.write_text(json.dumps(json.loads(beside.read_text()) | changes))
    with pytest.raises(InputError, match=message):
        read_record(text)


def test_files_must_be_alike(text: Path, tmp_path: Path) -> None:
    write_tokenized(SENTENCES, tmp_path / "b.tok", HOW)
    assert common_record([text, tmp_path / "b.tok"]) == HOW
    write_tokenized(SENTENCES, tmp_path / "b.tok", Normalisation("spacy-en"))
    with pytest.raises(InputError, match=r"b\.tok: found tokenizer spacy-en, case kept; that of .*a\.tok is"):
        common_record([text, tmp_path / "b.tok"])
    (tmp_path / "plain").write_text("a b\n")
    with pytest.raises(InputError, match=r"plain: was not made by gyro tokenize, as .*a\.tok was"):
        common_record([text, tmp_path / "plain"])


def test_nothing_is_written_of_nothing_and_what_was_there_stays(text: Path) -> None:
    with pytest.raises(InputError, match="found no sentence"):
        write_tokenized([], text, HOW)
    assert read_record(text) is not None


def test_a_write_that_breaks_off_leaves_the_older_text(text: Path) -> None:
    def sentences() -> list[list[str]]:
        raise InputError("the disk is gone")

    with pytest.raises(InputError, match="the disk is gone"):
        write_tokenized((sentence for sentence in sentences()), text, HOW)
    assert read_record(text) is not None
