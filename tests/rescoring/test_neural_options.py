from __future__ import annotations

import argparse

import pytest

from rescoring.neural_options import PIECES_A_WORD, add_model_arguments


@pytest.mark.parametrize(
    ("words", "neural", "search"),
    [
        ("", "", None),
        ("--neural default", "default", None),
        ("--neural m.gguf --search", "m.gguf", PIECES_A_WORD),
        ("--search 75 --neural m.gguf", "m.gguf", 75),
    ],
)
def test_the_model_and_the_search_that_are_asked_for(words: str, neural: str, search: int | None) -> None:
    parser = argparse.ArgumentParser()
    add_model_arguments(parser.add_argument_group("neural"))
    arguments = parser.parse_args(words.split())
    assert (arguments.neural, arguments.search) == (neural, search)
