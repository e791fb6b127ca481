from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from gyro.cli.text_options import add_text_arguments, counted_sentences, text_normalisation

TEXT = "The dog isn't here. It barks.\n\nA cat.\n"


@pytest.mark.parametrize(
    ("options", "sentences"),
    [
        ([], [["The", "dog", "is", "n't", "here", ".", "It", "barks", "."], ["A", "cat", "."]]),
        (["--tokenized"], [["The", "dog", "isn't", "here.", "It", "barks."], ["A", "cat."]]),
        (["--tokenized", "--lowercase"], [["the", "dog", "isn't", "here.", "it", "barks."], ["a", "cat."]]),
        (["--paragraphs"], [["The", "dog", "is", "n't", "here", "."], ["It", "barks", "."], ["A", "cat", "."]]),
        (["--tokenized", "--json-field", "ref"], [["The", "cat"]]),
    ],
)
def test_options_say_how_text_is_read(tmp_path: Path, options: list[str], sentences: list[list[str]]) -> None:
    parser = argparse.ArgumentParser()
    add_text_arguments(parser)
    arguments = parser.parse_args(options)
    path = tmp_path / "text"
    path.write_text(json.dumps({"ref": "The cat", "src": "x"}) if arguments.json_field else TEXT)
    with counted_sentences(arguments, [str(path)]) as found:
        assert list(found) == sentences
    normalisation = text_normalisation(arguments, [str(path)])
    assert (normalisation.tokenizer == "none", normalisation.lowercase) == (
        "--tokenized" in options,
        "--lowercase" in options,
    )
