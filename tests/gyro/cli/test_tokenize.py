"""`gyro tokenize` as a user types it: indexes and models are the same as those made of the text itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.cli import main
from gyro.index.reader import open_index
from lm.kenlm.model import load_model
from tests.refusal import error_line

TEXT = "The dog isn't here. It barks.\n\nA cat sees the dog.\nThe cat isn't here.\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT * 20)
    return path


@pytest.mark.parametrize("options", [[], ["--lowercase"], ["--paragraphs"]])
def test_indexes_and_models_are_those_of_the_text(text: Path, tmp_path: Path, options: list[str]) -> None:
    made = tmp_path / "text.tok"
    assert main(["tokenize", str(text), "-o", str(made), *options]) == 0
    for name, source, how in (("from-text", text, options), ("from-tokens", made, [])):
        assert main(["index", str(source), "-o", str(tmp_path / f"{name}.index"), *how]) == 0
        assert main(["lm", str(source), "-o", str(tmp_path / f"{name}.lm"), "--order", "2", *how]) == 0
    indexes = [tmp_path / f"{name}.index" for name in ("from-text", "from-tokens")]
    assert {path.name for path in indexes[0].iterdir()} == {path.name for path in indexes[1].iterdir()}
    for path in indexes[0].iterdir():
        assert path.read_bytes() == (indexes[1] / path.name).read_bytes()
    models = [load_model(tmp_path / f"{name}.lm") for name in ("from-text", "from-tokens")]
    assert models[0].normalisation == models[1].normalisation == open_index(indexes[1]).normalisation
    assert models[0].signature == models[1].signature


def test_what_it_says(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = str(tmp_path / "text.tok")
    assert main(["tokenize", str(text), "-o", made, "--lowercase"]) == 0
    assert capsys.readouterr().out == f"{made}: 60 sentences, 420 tokens; tokenizer spacy-en, lowercased\n"
    assert main(["verify", made]) == 0
    assert capsys.readouterr().out == f"{made}: tokenised text, 60 sentences as they were written\n"


@pytest.mark.parametrize("command", ["index", "lm", "dependency-lm", "tokenize", "bags"])
def test_options_of_splitting_belong_to_tokenize(
    text: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = str(tmp_path / "text.tok")
    assert main(["tokenize", str(text), "-o", made]) == 0
    for option in ("--lowercase", "--paragraphs"):
        message = f"found {option} with the output of gyro tokenize (tokenizer spacy-en, case kept); give it there"
        assert message in error_line(capsys, [command, made, "-o", str(tmp_path / "made"), option])
        assert not (tmp_path / "made").exists()


def test_a_changed_text_is_refused(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "text.tok"
    assert main(["tokenize", str(text), "-o", str(made)]) == 0
    made.write_text("another\n")
    message = error_line(capsys, ["index", str(made), "-o", str(tmp_path / "index")])
    assert "the file is damaged or was changed" in message
