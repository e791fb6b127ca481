"""`gyro index` as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.index.reader import open_index

if TYPE_CHECKING:
    from tests.conftest import World


def test_the_index_of_a_text(world: World, tmp_path: Path) -> None:
    """A text that is tokenised and in lower case gives the counts of the world's index."""
    assert main(["index", str(world.text), "-o", str(tmp_path / "index"), "--tokenized", "--order", "4"]) == 0
    index = open_index(tmp_path / "index")
    assert (index.order, index.normalisation.tokenizer) == (4, "none")
    assert index.num_ngrams == world.index.num_ngrams[:4]
    for ngram in (["the"], ["the", "united", "states"], ["of", "the", "united", "states"]):
        assert index.count(ngram) == world.index.count(ngram) > 0


def test_merge_and_info(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    merged = str(tmp_path / "merged")
    assert main(["index", "--merge", str(world.index_path), str(world.index_path), "-o", merged]) == 0
    capsys.readouterr()
    assert main(["index", "--info", merged, "--verify"]) == 0
    assert f"{2 * world.index.num_tokens:,}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [(["no.txt", "-o", "{tmp}/i"], "no.txt"), ([], "gyro index takes"), (["--info", "{tmp}"], "index")],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["index", *words], message)
