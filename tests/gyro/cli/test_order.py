"""`gyro order` as a user types it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.lattice.lattice import Lattice
from gyro.run.outcome import EMPTY
from lm.neural.model import load_neural_model

if TYPE_CHECKING:
    from tests.conftest import World


def test_one_bag_at_the_prompt(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main(["order", "america", "states", "the", "of", "united", *options]) == 0
    assert capsys.readouterr().out.splitlines() == ["the united states of america"]
    assert main(["order", "america states the of united", "-n", "3", *options]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    costs = [float(row[0]) for row in rows]
    assert len(rows) == 3
    assert costs == sorted(costs)
    for cost, (_, string) in zip(costs, rows, strict=True):
        assert cost == pytest.approx(world.model.score(string.split()), abs=1e-3)


def test_the_lattice_is_written(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bag.fst"
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--lattice", str(path)]
    assert main(["order", "america states the of united", *options]) == 0
    assert " ".join(Lattice.read(path).best().tokens) == capsys.readouterr().out.strip()


@pytest.mark.parametrize("options", [[], ["--search", "200"]])
def test_a_neural_model_orders_the_bag(
    world: World, neural: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    """The first pass has no phrase costs, so both ways the cost is that of the n-gram model + 2.5 · neural."""
    words = ["order", "america states the of united", "--index", str(world.index_path), "--lm", str(world.model_path)]
    words += ["--neural", neural, *options]
    assert main([*words, "-n", "4", "--lattice", str(tmp_path / "bag.fst")]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    model = load_neural_model(neural)
    for cost, text in rows:
        tokens = text.split()
        expected = world.model.score(tokens) + 2.5 * float(model.costs([tokens])[0])
        assert float(cost) == pytest.approx(expected, abs=5e-3)
    assert [float(cost) for cost, _ in rows] == sorted(float(cost) for cost, _ in rows)
    lattice = Lattice.read(tmp_path / "bag.fst")
    assert " ".join(lattice.best().tokens) == rows[0][1]
    assert main(words) == 0
    assert capsys.readouterr().out == rows[0][1] + "\n"


BAGS = "america states the of united\n\n" + json.dumps({"id": "x", "tokens": ["people", "the"]}) + "\n"


@pytest.fixture
def options(world: World) -> list[str]:
    return ["--index", str(world.index_path), "--lm", str(world.model_path)]


@pytest.mark.parametrize("from_files", [False, True])
def test_many_bags_by_a_pipe_or_from_files(
    options: list[str],
    from_files: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line for a line, and an empty one for an empty bag; JSON tells what they are."""
    words = ["order", "-"]
    if from_files:
        first, second = BAGS.split("\n", 1)
        (tmp_path / "a").write_text(first + "\n")
        (tmp_path / "b").write_text(second)
        words = ["order", "--bags", str(tmp_path / "a"), str(tmp_path / "b")]

    def run(*more: str) -> str:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAGS.encode())))
        assert main([*words, *more, *options]) == 0
        return capsys.readouterr().out

    assert run().splitlines() == ["the united states of america", "", "the people"]
    blocks = run("-n", "2").split("\n\n")
    assert [[line.split("\t")[1] for line in block.splitlines()] for block in blocks] == [
        ["the united states of america", blocks[0].splitlines()[1].split("\t")[1]],
        [""],
        ["the people", "people the"],
        [],
    ]
    found = [json.loads(line) for line in run("--json").splitlines()]
    assert [one["id"] for one in found] == ["1", "2", "x"]
    assert [one["orders"][0]["text"] for one in found] == run().splitlines()
    assert [one["outcome"]["rung"] for one in found] == ["rules", EMPTY, "rules"]
    assert all(one["outcome"]["cost"] == one["orders"][0]["cost"] for one in found)


def test_the_n_best_of_many_are_those_of_one(
    world: World, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However far from the best, against all permutations under the model itself."""
    tokens = ("america", "of", "states", "the", "united")
    (tmp_path / "bags").write_text(" ".join(tokens) + "\n")
    assert main(["order", "--bags", str(tmp_path / "bags"), "-n", "100", "--json", "--beta", "1", *options]) == 0
    orders = json.loads(capsys.readouterr().out)["orders"]
    costs = sorted(world.model.score(string) for string in permutations(tokens))[:100]
    assert [order["cost"] for order in orders] == pytest.approx(costs, abs=1e-3)


def test_rules_of_one_word_need_the_model_alone(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GYRO_INDEX", raising=False)
    assert main(["order", "america states the of united", "--lm", str(world.model_path), "--rules", "1"]) == 0
    assert capsys.readouterr().out == "the united states of america\n"


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--first", "states", "--last", "."], r"states .* \."),
        (["--at", "2", "of", "--at", "-2", "the"], r"\S+ of .* the \S+"),
        (["--prefix", "of america", "--suffix", "united ."], r"of america .* united \."),
        (["--keep", "america of the", "--keep", "states ."], r"(.* )?america of the(?= |$).*"),
        (["--before", ".", "america", "--before", "america", "of"], r".*\. .*america .*of.*"),
        (["--optional", "states united", "--last", "."], r"(?!.*united states united).* \."),
        (["--one-of", "states america", "--first", "the"], r"the (?!.*states.*america)(?!.*america.*states).*"),
        (["--some", "2", "states america of", "--times", "2", "the"], r"(\S+ ){4,5}\S+"),
    ],
)
def test_constraints(world: World, capsys: pytest.CaptureFixture[str], options: list[str], kept: str) -> None:
    words = ["order", "america states the of united .", "--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main([*words, "-n", "2", *options]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2
    for cost, text in rows:
        assert re.fullmatch(kept, text)
        assert float(cost) == pytest.approx(world.model.score(text.split()), abs=1e-3)
    assert main([*words, *options]) == 0
    assert capsys.readouterr().out.splitlines() == [rows[0][1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a b", "--first", "c", "--index", "{index}", "--lm", "{lm}"], "found 'c' in --first"),
        (
            ["a b", "--at", "x", "a", "--index", "{index}", "--lm", "{lm}"],
            "found 'x' in --at; a whole number is allowed",
        ),
        (
            ["a b", "--first", "a", "--first", "b", "--index", "{index}", "--lm", "{lm}"],
            "found --first 2 times ('a', 'b'); once is allowed",
        ),
        (["a b", "--first", "a", "--last", "a", "--index", "{index}", "--lm", "{lm}"], "'a' is the last word"),
        (["a b", "--first", "a", "--algorithm", "full", "--index", "{index}", "--lm", "{lm}"], "exact and beam do"),
        (["a", "--index", "{index}"], "--lm MODEL"),
        (["a", "--index", "", "--lm", "{lm}"], "with --rules 1, the model alone"),
        ([], "found an empty bag"),
        (["", " "], "found an empty bag"),
        (["a", "--bags", "{bad}"], "found words and --bags"),
        (["--bags", "{bad}", "--index", "{index}", "--lm", "{lm}"], "bad.jsonl:2: found tokens 3"),
        (["--bags", "/dev/null", "--index", "{index}", "--lm", "{lm}"], "found no bags"),
        (["a", "-n", "0"], "found -n 0; at least 1 is allowed"),
        (["a " * 251, "--index", "{index}", "--lm", "{lm}"], "250 can be ordered whole"),
        (["a", "--index", "{index}", "--lm", "{bad}"], "bad.jsonl"),
        (["<s>", "--index", "{index}", "--lm", "{lm}"], "'<s>'"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--rules", "x"], "'x'"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--neural", "no.gguf"], "`gyro neural --install`"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--neural-weight", "2"], "goes with --neural MODEL"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--phrase-cost", "x=1"], "x"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["order", *words], message)
