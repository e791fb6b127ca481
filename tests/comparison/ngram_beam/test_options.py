"""The options: what they say when nothing is said, and one line for each mistake."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from comparison.ngram_beam import options
from comparison.ngram_beam.system import GenerationSettings
from comparison.ngram_beam.unigram_model import read_unigrams
from gyro.cli import main
from gyro.run.folder import open_run
from tests.conftest import World
from tests.refusal import error_line


def generation(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def bags(tmp_path: Path, world: World) -> str:
    path = tmp_path / "bags.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in world.held_out[:5]))
    return str(path)


def test_without_options_all_settings_are_the_usual_ones(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GYRO_LM", raising=False)
    found = vars(generation())
    assert {name: found[name] for name in asdict(GenerationSettings())} == asdict(GenerationSettings())
    system = options.open_system(generation("--lm", str(world.model_path)))
    assert (system.settings, system.unigrams) == (GenerationSettings(), None)
    assert system.language_model.signature == world.model.signature


def test_the_language_model_may_come_from_the_environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYRO_LM", str(world.model_path))
    system = options.open_system(generation("--beam", "9", "--end", "--recombine"))
    assert system.language_model.signature == world.model.signature
    assert system.settings == GenerationSettings(9, True, True)


def test_from_text_to_a_run(world: World, bags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, run = str(tmp_path / "model"), str(tmp_path / "run")
    text = ["--tokenized", "--lowercase"]
    # The world's text was split and lowercased before; that of the model was made with spaCy.
    assert main(["train", "ngram-beam", str(world.text), "-o", model, *text]) == 0
    assert "sentences, signature" in capsys.readouterr().out
    head = json.loads((Path(model) / "model.json").read_text())
    unigrams = read_unigrams(model)
    assert (head["words"], head["signature"]) == (len(unigrams.counts), unigrams.signature)
    command = ["generate", bags, "--system", "ngram-beam", "--lm", str(world.model_path), "-o", run]
    assert "in different ways; make them alike" in error_line(capsys, [*command, "--model", model])
    assert main(["train", "ngram-beam", str(world.text), "-o", model, "--lowercase", "--limit", "50"]) == 0
    assert json.loads((Path(model) / "model.json").read_text())["facts"] == {"sentences": 50}
    assert main([*command, "--model", model, "--beam", "8"]) == 0
    assert all(outcome.ok for outcome in open_run(run).outcomes)
    written = json.loads((Path(run) / "run.json").read_text())
    assert written["settings"]["unigrams"] == read_unigrams(model).signature


def test_treebanks_are_known_by_their_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = "1\tDogs\t_\t_\t_\t_\t0\t_\t_\t_\n\n1\t1 000\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    (tmp_path / "bank.conllu").write_text(trees)
    command = ["train", "ngram-beam", str(tmp_path / "bank.conllu"), "-o", str(tmp_path / "model")]
    assert main(command) == 0
    told = capsys.readouterr()
    assert "left out 1 sentences of treebanks: a word is no token" in told.err
    assert "1 words, 1 sentences" in told.out
    assert read_unigrams(tmp_path / "model").counts == {"Dogs": 1}


def test_mistakes(world: World, bags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = ["train", "ngram-beam", "-o", str(tmp_path / "model")]
    assert "found --limit 0; at least 1 is allowed" in error_line(capsys, [*train, "x.txt", "--limit", "0"])
    assert "found --jobs 0; at least 1 is allowed" in error_line(capsys, [*train, "x.txt", "--jobs", "0"])
    assert "nowhere.txt: cannot read" in error_line(capsys, [*train, "nowhere.txt"])
    assert not (tmp_path / "model").exists()
    command = ["generate", bags, "--system", "ngram-beam", "-o", str(tmp_path / "run")]
    known = [*command, "--lm", str(world.model_path)]
    assert "found a beam of 0; at least 1 is allowed" in error_line(capsys, [*known, "--beam", "0"])
    assert "no model.json here" in error_line(capsys, [*known, "--model", str(tmp_path)])
    assert "no such file" in error_line(capsys, [*command, "--lm", str(tmp_path / "nowhere.lm")])


def test_a_language_model_is_needed(
    bags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GYRO_LM", raising=False)
    command = ["generate", bags, "--system", "ngram-beam", "-o", str(tmp_path / "run")]
    assert "--lm MODEL is needed: a language model" in error_line(capsys, command)
