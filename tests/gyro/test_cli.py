"""Every command as a user types it, and every mistake as one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import COMMANDS, main

if TYPE_CHECKING:
    from tests.conftest import World


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_text_to_scores_by_command(tmp_path: Path, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    index, model, bags, run = (str(tmp_path / n) for n in ("index", "model.lm", "bags.jsonl", "run"))
    references = tmp_path / "references.txt"
    references.write_text("".join(" ".join(s) + "\n" for s in world.held_out if 4 <= len(s) <= 8)[:1000])
    assert main(["index", str(world.text), "-o", index, "--tokenized", "--order", "4"]) == 0
    assert main(["lm", str(world.text), "-o", model, "--tokenized", "--order", "3", "--memory", "256M"]) == 0
    assert main(["bags", str(references), "-o", bags, "--tokenized"]) == 0
    count = len(Path(bags).read_text().splitlines())
    capsys.readouterr()
    assert main(["phrases", index, bags, "--order", "2"]) == 0
    rows = [line.split("\t") for line in lines(capsys)]
    assert {len(row[2].split()) for row in rows} == {1, 2}
    assert all(int(row[1]) > 0 for row in rows)
    options = ["--index", index, "--lm", model, "--rules", "1-4"]
    assert main(["generate", bags, "-o", run, *options, "--jobs", "2"]) == 0
    capsys.readouterr()
    assert main(["best", run]) == 0
    best = lines(capsys)
    assert len(best) == count
    assert best == (tmp_path / "run" / "best.txt").read_text().splitlines()
    assert main(["nbest", run, "-n", "3"]) == 0
    assert all(line.count(" ||| ") == 3 for line in lines(capsys))
    assert main(["score", run]) == 0
    assert "BLEU" in capsys.readouterr().out
    assert main(["score", run, str(references), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    lattice = str(tmp_path / "run" / "lattices" / "000001.fst")
    assert main(["show", lattice, "-o", str(tmp_path / "a.svg"), str(tmp_path / "a.png"), "--paths", "3"]) == 0
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_bags_have_the_numbers_of_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    references, text = tmp_path / "references.txt", tmp_path / "text.txt"
    references.write_text("\nthe dog\n\n \na cat .\n\n")
    assert main(["bags", str(references), "--tokenized", "--text", str(text)]) == 0
    found = [json.loads(line) for line in lines(capsys)]
    numbered = references.read_text().splitlines()
    assert [numbered[int(bag["id"]) - 1].split() for bag in found] == [["the", "dog"], ["a", "cat", "."]]
    assert text.read_text().splitlines() == [" ".join(bag["reference"]) for bag in found]


def test_one_bag_at_the_prompt(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main(["order", "america", "states", "the", "of", "united", *options]) == 0
    assert lines(capsys) == ["the united states of america"]
    assert main(["order", "america states the of united", "-n", "3", *options]) == 0
    rows = [line.split("\t") for line in lines(capsys)]
    costs = [float(row[0]) for row in rows]
    assert len(rows) == 3
    assert costs == sorted(costs)


def test_merge_and_info(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    merged = str(tmp_path / "merged")
    assert main(["index", "--merge", str(world.index_path), str(world.index_path), "-o", merged]) == 0
    capsys.readouterr()
    assert main(["index", "--info", merged, "--verify"]) == 0
    assert f"{2 * world.index.num_tokens:,}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["index", "no.txt", "-o", "{tmp}/i"], "no.txt"),
        (["index"], "gyro index takes"),
        (["index", "--info", "{tmp}"], "index"),
        (["generate", "no.txt", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "no.txt"),
        (["generate", "{bad}", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "bad.jsonl:2: "),
        (["order", "a", "--index", "{index}"], "--lm MODEL"),
        (["order", "a", "--index", "{index}", "--lm", "{bad}"], "bad.jsonl"),
        (["order", "<s>", "--index", "{index}", "--lm", "{lm}"], "'<s>'"),
        (["order", "a", "--index", "{index}", "--lm", "{lm}", "--rules", "x"], "'x'"),
        (["order", "a", "--index", "{index}", "--lm", "{lm}", "--phrase-cost", "x=1"], "x"),
        (["best", "{tmp}"], "{tmp}"),
        (["show", "{bad}"], "bad.jsonl"),
        (["score", "{bad}"], "references"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "tokens": ["a"]}\n{"id": "2", "tokens": 3}\n')
    names = {"tmp": tmp_path, "index": world.index_path, "lm": world.model_path, "bad": bad}
    assert main([word.format(**names) for word in words]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("gyro: ")
    assert captured.err.count("\n") == 1
    assert message.format(**names) in captured.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.jsonl"]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_of_every_command(command: str) -> None:
    words = [sys.executable, "-m", "gyro", *([command] if command else []), "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "usage: gyro" in result.stdout
    assert "Traceback" not in result.stderr
