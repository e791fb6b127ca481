"""The command line: what the options change, one line for each mistake, and a small treebank from end to end."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from comparison.wan import options
from gyro.cli import main
from tests.outside import TREEBANK, needs_treebank
from tests.refusal import error_line

CONLLU = """\
1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tbarks\t_\tVERB\tVBZ\t_\t0\troot\t_\t_
4\tloudly\t_\tADV\tRB\t_\t3\tadvmod\t_\t_

1\ta\t_\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsleeps\t_\tVERB\tVBZ\t_\t0\troot\t_\t_

"""


def generation(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A treebank, its model, a language model and a bag."""
    folder = tmp_path_factory.mktemp("wan")
    (folder / "bank.conllu").write_text(CONLLU, encoding="utf-8")
    (folder / "text").write_text("the dog barks loudly\na cat sleeps\nthe cat barks\n" * 3, encoding="utf-8")
    bag = {"id": "1", "tokens": ["barks", "loudly", "dog", "the"], "pos": ["VBZ", "RB", "NN", "DT"], "units": [[3, 2]]}
    (folder / "bags.jsonl").write_text(json.dumps(bag) + "\n", encoding="utf-8")
    assert main(["train", "wan", str(folder / "bank.conllu"), "-o", str(folder / "model")]) == 0
    assert main(["lm", str(folder / "text"), "--tokenized", "-o", str(folder / "lm"), "--order", "3"]) == 0
    return folder


@pytest.mark.parametrize("method", ["viterbi", "lmo", "cle", "ab"])
def test_a_bag_from_end_to_end(files: Path, method: str, tmp_path: Path) -> None:
    command = ["generate", str(files / "bags.jsonl"), "--system", "wan", "--lm", str(files / "lm"), "--method", method]
    assert main([*command, "--model", str(files / "model"), "-o", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "best.txt").read_text(encoding="utf-8") == "the dog barks loudly\n"


def test_the_options_become_settings(files: Path) -> None:
    words = "--method ab --q wan --may-stay-empty --least-share 0.2 --single-root --window 3 --start empty --outward"
    common = ["--model", str(files / "model"), "--lm", str(files / "lm")]
    settings = options.open_system(
        generation(*common, *words.split(), "--beam", "7", "--end", "--split-units")
    ).settings
    assert (settings.method, settings.q, settings.may_stay_empty, settings.least_share) == ("ab", "wan", True, 0.2)
    assert (settings.single_root, settings.beam, settings.end, settings.split) == (True, 7, True, True)
    assert (settings.linear.window, settings.linear.start, settings.linear.outward) == (3, "empty", True)


def test_one_line_for_each_mistake(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GYRO_LM", raising=False)
    generate = ["generate", str(files / "bags.jsonl"), "--system", "wan", "-o", str(files / "none")]
    lm = ["--lm", str(files / "lm")]
    assert "--lm MODEL is needed" in error_line(capsys, [*generate, "--method", "lmo"])
    assert "--model MODEL is needed for --method ab" in error_line(capsys, [*generate, *lm])
    assert "no model.json here" in error_line(capsys, [*generate, *lm, "--model", str(files)])
    assert "found a beam of 0" in error_line(capsys, [*generate, *lm, "--method", "viterbi", "--beam", "0"])
    assert "found a window of -1" in error_line(capsys, [*generate, *lm, "--method", "lmo", "--window", "-1"])
    train = ["train", "wan", str(files / "bank.conllu"), "-o", str(files / "none")]
    assert "found --limit 0" in error_line(capsys, [*train, "--limit", "0"])


@needs_treebank
@pytest.mark.slow
def test_the_treebank_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank = str(TREEBANK / "en_ewt-ud-dev.conllu.xz")
    assert main(["train", "wan", bank, "-o", str(tmp_path), "--limit", "500", "--tags", "upos", "--units", "none"]) == 0
    assert "500 of 2001 trees" in capsys.readouterr().out
    head = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert head["settings"] == {"tags": "upos", "units": False}
