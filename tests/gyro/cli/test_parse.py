from __future__ import annotations

from pathlib import Path

import pytest

from grammars.conllu import read_conllu
from gyro.cli import main
from gyro.text.parsing import parse_trees


def test_parse_writes_spacys_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("The dogs didn't bark.\n\nShe saw a cat.\nNever read.\n")
    path = tmp_path / "trees.conllu"
    assert main(["parse", str(tmp_path / "text"), "-o", str(path), "--limit", "2"]) == 0
    assert "2 trees by en_core_web_sm" in capsys.readouterr().out
    sentences = list(read_conllu(path))
    tokens = [["The", "dogs", "did", "n't", "bark", "."], ["She", "saw", "a", "cat", "."]]
    for number, (sentence, tree) in enumerate(zip(sentences, parse_trees(tokens), strict=True), 1):
        assert sentence.sent_id == str(number)
        assert (sentence.forms, sentence.heads) == (tree.tokens, tree.heads)
        assert tuple(token.xpos for token in sentence.tokens) == tree.tags
        assert tuple(token.deprel for token in sentence.tokens) == tuple(
            "root" if label == "ROOT" else label for label in tree.labels
        )


def test_parse_refuses_bad_input_and_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trees.conllu"
    assert main(["parse", str(tmp_path / "missing"), "-o", str(path)]) == 2
    assert capsys.readouterr().err == f"gyro: {tmp_path / 'missing'}: cannot read: No such file or directory\n"
    assert main(["parse", str(tmp_path / "missing"), "-o", str(path), "--limit", "0"]) == 2
    assert "found --limit 0; at least 1 is allowed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
