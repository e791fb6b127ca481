"""The commands after generation, one after the other, on a small run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.nbest import read_moses

if TYPE_CHECKING:
    from tests.conftest import World


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve short bags, ordered."""
    folder = tmp_path_factory.mktemp("rescoring")
    references = [s for s in world.held_out if 5 <= len(s) <= 9][:12]
    lines = [{"id": f"s{i}", "tokens": s, "reference": s} for i, s in enumerate(references)]
    (folder / "bags.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outputs = [{"id": f"s{i}", "outputs": {"A": " ".join(s), "B": " ".join(s[::-1])}} for i, s in enumerate(references)]
    (folder / "mt.jsonl").write_text("".join(json.dumps(line) + "\n" for line in outputs))
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--phrase-cost", "phrase=0.5"]
    assert main(["generate", str(folder / "bags.jsonl"), "-o", str(folder / "first"), "--beta", "6", *options]) == 0
    return folder


def features(run: Path) -> set[str]:
    return {name for entry in read_moses(run / "nbest.txt") for name in entry.features}


def bleu(run: Path, capsys: pytest.CaptureFixture[str]) -> float:
    capsys.readouterr()
    assert main(["score", str(run), "--json"]) == 0
    text = capsys.readouterr().out
    return float(json.loads(text)["systems"][0]["bleu"] if "systems" in json.loads(text) else json.loads(text)["bleu"])


def test_every_model_has_its_column(run: Path, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert features(run / "first") == {"LM", "PHRASES"}
    for entry in read_moses(run / "first" / "nbest.txt"):
        assert sum(value for (value,) in entry.features.values()) == pytest.approx(-entry.cost, abs=2e-3)
    backoff = f"stupid-backoff:{world.index_path}:5"
    words = ["rescore", str(run / "first"), "-o", str(run / "second"), "--lm", backoff, "--weight", "0.4", "--add"]
    assert main(words) == 0
    assert features(run / "second") == {"LATTICE", "SB5"}
    for entry in read_moses(run / "second" / "nbest.txt"):
        total = entry.features["LATTICE"][0] + 0.4 * entry.features["SB5"][0]
        assert total == pytest.approx(-entry.cost, abs=2e-3)
    model = str(run / "trees")
    assert (
        main(["dependency-lm", str(world.text), "-o", model, "--tokenized", "--limit", "300", "--memory", "64M"]) == 0
    )
    words = ["rescore", str(run / "second"), "-o", str(run / "third"), "--dependency-lm", model, "--weight", "0.2"]
    assert main([*words, "-n", "10"]) == 0
    assert features(run / "third") == {"LATTICE", "SB5", "DEP"}
    for entry in read_moses(run / "third" / "nbest.txt"):
        total = entry.features["LATTICE"][0] + 0.4 * entry.features["SB5"][0] + 0.2 * entry.features["DEP"][0]
        assert total == pytest.approx(-entry.cost, abs=5e-3)
    capsys.readouterr()
    assert main(["tune", str(run / "third"), "-o", str(run / "tuned.toml"), "--restarts", "2"]) == 0
    tables = tomllib.loads((run / "tuned.toml").read_text())
    assert set(tables) == {"rescore", "dependency"}
    assert abs(tables["rescore"]["keep"]) + sum(map(abs, tables["rescore"]["weights"])) == pytest.approx(1.0, abs=1e-5)
    assert main(["tune", str(run / "first"), "--restarts", "2"]) == 0
    assert "phrase_cost" in capsys.readouterr().out


def test_mbr_with_what_mt_systems_say(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = str(run / "first")
    assert main(["mbr", first, "-o", str(run / "mbr"), "--alpha", "1"]) == 0
    mt = ["--mt", str(run / "mt.jsonl"), "--mt-by", "id", "--mt-tokenized"]
    assert main(["mbr", first, "-o", str(run / "mbr-mt"), "--alpha", "0.1", *mt]) == 0
    assert features(run / "mbr-mt") == {"MBR"}
    # Half of the systems say the reference: their posteriors must help.
    assert bleu(run / "mbr-mt", capsys) > max(bleu(run / "first", capsys), bleu(run / "mbr", capsys))
    assert main(["oracle", first]) == 0
    assert "BLEU" in capsys.readouterr().out
    grid = ["--scale", "0.2,0.4", "--precision", "0.74", "--ratio", "0.62", "--prune", "5", "--alpha", "0,0.25"]
    assert main(["tune", first, "--mbr", *mt, *grid, "-o", str(run / "mbr.toml")]) == 0
    assert set(tomllib.loads((run / "mbr.toml").read_text())["mbr"]) == {
        "scale",
        "precision",
        "ratio",
        "prune",
        "alpha",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rescore", "{run}/first", "-o", "{run}/x"], "takes --lm MODEL, or --dependency-lm"),
        (["rescore", "{run}/no", "-o", "{run}/x", "--lm", "m"], "no"),
        (["rescore", "{run}/first", "-o", "{run}/x", "--dependency-lm", "m"], "takes one --weight"),
        (["rescore", "{run}/first", "-o", "{run}/x", "--lm", "{run}/mt.jsonl"], "mt.jsonl"),
        (["mbr", "{run}/first", "--scale", "-1"], "scale = -1"),
        (["mbr", "{run}/first", "--mt", "{run}/bags.jsonl"], "bags.jsonl:1"),
        (["tune", "{run}/first", "--start", "LM=x"], "a number is allowed"),
        (["tune", "{run}/first", "--start", "XM=1"], "'XM'"),
        (["tune", "{run}"], "run.json"),
    ],
)
def test_mistakes_are_one_line(run: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main([word.format(run=run) for word in words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert not (run / "x").exists()
