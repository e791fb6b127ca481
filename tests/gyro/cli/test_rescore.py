"""`gyro rescore` as a user types it."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import rescore as command
from gyro.errors import InputError
from gyro.files import read_json
from gyro.lattice.nbest import read_moses
from gyro.run.folder import open_run
from gyro.run.paths import SUMS
from gyro.search.generator import Generator
from gyro.text.bag import Bag

if TYPE_CHECKING:
    from tests.conftest import World


def rescore(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


@pytest.fixture(scope="module")
def generated(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    references = [tuple(s) for s in world.held_out if 5 <= len(s) <= 8][:6]
    bags = [Bag(s, id=str(number), reference=s) for number, s in enumerate(references, 1)]
    folder = tmp_path_factory.mktemp("generated") / "run"
    assert Generator(world.index, world.model).run(bags, folder).ok == 6
    return folder


def test_replace_add_and_mix(world: World, generated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backoff, kenlm = f"stupid-backoff:{world.index_path}", str(world.model_path)
    assert rescore(str(generated), "-o", str(tmp_path / "a"), "--lm", backoff, "-n", "5") == 0
    assert "ordered      6 (100.0 %)" in capsys.readouterr().out
    mix = (
        "--lm",
        backoff,
        "--lm",
        f"{backoff}:2",
        "--lm",
        kenlm,
        "--weight",
        "0.5",
        "--weight",
        "0.25",
        "--weight",
        "2",
    )
    assert rescore(str(generated), "-o", str(tmp_path / "b"), *mix, "--add", "--beta", "4", "--jobs", "2") == 0
    for entry in read_moses(tmp_path / "a" / "nbest.txt"):
        assert list(entry.features) == ["LATTICE", "SB5"]
        assert -entry.cost == pytest.approx(entry.features["SB5"][0], abs=1e-3)
        assert entry.features["LATTICE"][0] == pytest.approx(-world.model.score(entry.tokens), abs=1e-3)
    weights = {"LATTICE": 1.0, "SB5": 0.5, "SB2": 0.25, "LM3": 2.0}
    for entry in read_moses(tmp_path / "b" / "nbest.txt"):
        assert list(entry.features) == list(weights)
        total = sum(weight * entry.features[name][0] for name, weight in weights.items())
        assert -entry.cost == pytest.approx(total, abs=1e-3)


def test_rescoring_with_the_first_model_changes_nothing(world: World, generated: Path, tmp_path: Path) -> None:
    assert rescore(str(generated), "-o", str(tmp_path / "run"), "--lm", str(world.model_path)) == 0
    assert (tmp_path / "run" / "best.txt").read_text() == (generated / "best.txt").read_text()
    assert (tmp_path / "run" / "references.txt").read_text() == (generated / "references.txt").read_text()


def test_a_range_has_what_the_whole_has_there(world: World, generated: Path, tmp_path: Path) -> None:
    backoff = f"stupid-backoff:{world.index_path}"
    for name, words in (("whole", ()), ("part", ("--range", "3:4"))):
        assert rescore(str(generated), "-o", str(tmp_path / name), "--lm", backoff, *words) == 0
    best = [(tmp_path / name / "best.txt").read_text().splitlines() for name in ("whole", "part")]
    assert best[1] == best[0][2:4]
    assert [bag.id for bag in open_run(tmp_path / "part").bags] == ["3", "4"]
    costs = [[outcome.cost for outcome in open_run(tmp_path / name).outcomes] for name in ("whole", "part")]
    assert costs[1] == costs[0][2:4]
    with pytest.raises(InputError, match="no lattices in that range"):
        rescore(str(generated), "-o", str(tmp_path / "none"), "--lm", backoff, "--range", "7:")


def test_what_failed_is_tried_again_when_asked_for(world: World, generated: Path, tmp_path: Path) -> None:
    source = shutil.copytree(generated, tmp_path / "source")
    lattice = source / "lattices" / "000002.fst"
    whole = lattice.read_bytes()
    lattice.write_bytes(whole[:-10])
    (source / SUMS).unlink()  # else the damage is noticed, and nothing is made of it
    words = (str(source), "-o", str(tmp_path / "run"), "--lm", f"stupid-backoff:{world.index_path}")
    assert rescore(*words, "--time-limit", "60", "--memory-limit", "2G") == 1
    assert [outcome.ok for outcome in open_run(tmp_path / "run").outcomes] == [True, False, True, True, True, True]
    limits = read_json(tmp_path / "run" / "run.json")["limits"]
    assert limits == {"time_limit": 60.0, "memory_limit": 2**31}
    lattice.write_bytes(whole)
    assert rescore(*words) == 1  # failures stay as they are
    assert rescore(*words, "--retry-failed") == 0
    assert rescore(str(generated), "-o", str(tmp_path / "again"), *words[3:]) == 0
    for name in ("best.txt", "nbest.txt", "results.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_list_of_another_tool(world: World, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(
        "0 ||| states united the ||| TM= -1 ||| -1\n0 ||| the united states ||| ||| -5\n"
    )
    model = f"stupid-backoff:{world.index_path}:3"
    assert rescore(str(tmp_path / "list.txt"), "-o", str(tmp_path / "run"), "--lm", model) == 0
    assert (tmp_path / "run" / "best.txt").read_text() == "the united states\n"


@pytest.mark.parametrize(
    ("lattices", "options", "message"),
    [
        ("missing", ["--lm", "{model}"], "missing: no such file or folder"),
        ("{generated}", ["--lm", "missing.lm"], "missing.lm: no such file"),
        ("{generated}", ["--lm", "{model}", "--weight", "1", "--weight", "2"], "found 2 weights for 1 models"),
        ("{generated}", ["--lm", "{model}", "--weight", "nan"], "found a weight that is not a finite number"),
        ("{generated}", ["--lm", "{model}", "--beta", "-1"], "found β = -1.0"),
        ("{empty}", ["--lm", "{model}"], "empty.txt: no lattices"),
    ],
)
def test_mistakes(
    world: World, generated: Path, tmp_path: Path, lattices: str, options: list[str], message: str
) -> None:
    (tmp_path / "empty.txt").write_text("")
    names = {"generated": generated, "model": world.model_path, "empty": tmp_path / "empty.txt"}
    words = [word.format(**names) for word in (lattices, *options)]
    with pytest.raises(InputError, match=message):
        rescore(*words, "-o", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def features(run: Path) -> set[str]:
    return {name for entry in read_moses(run / "nbest.txt") for name in entry.features}


def test_every_model_has_its_column(ordered: Path, rescored: Path) -> None:
    assert features(ordered / "first") == {"LM", "PHRASES"}
    for entry in read_moses(ordered / "first" / "nbest.txt"):
        assert sum(value for (value,) in entry.features.values()) == pytest.approx(-entry.cost, abs=2e-3)
    assert features(rescored / "second") == {"LATTICE", "SB5"}
    for entry in read_moses(rescored / "second" / "nbest.txt"):
        total = entry.features["LATTICE"][0] + 0.4 * entry.features["SB5"][0]
        assert total == pytest.approx(-entry.cost, abs=2e-3)
    assert features(rescored / "third") == {"LATTICE", "SB5", "DEP"}
    for entry in read_moses(rescored / "third" / "nbest.txt"):
        total = entry.features["LATTICE"][0] + 0.4 * entry.features["SB5"][0] + 0.2 * entry.features["DEP"][0]
        assert total == pytest.approx(-entry.cost, abs=5e-3)


def test_a_neural_model_after_the_others(rescored: Path, neural: str, tmp_path: Path) -> None:
    third = str(rescored / "third")
    assert rescore(third, "-o", str(tmp_path / "run"), "--neural", neural, "--weight", "0.5", "-n", "10") == 0
    before = {(entry.id, entry.tokens): entry.cost for entry in read_moses(rescored / "third" / "nbest.txt")}
    for entry in read_moses(tmp_path / "run" / "nbest.txt"):
        assert list(entry.features) == ["LATTICE", "SB5", "DEP", "NEURAL"]
        total = -before[entry.id, entry.tokens] + 0.5 * entry.features["NEURAL"][0]
        assert total == pytest.approx(-entry.cost, abs=2e-3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{ordered}/first", "-o", "{tmp}/x"], "takes --lm MODEL, or --dependency-lm"),
        (
            ["{ordered}/first", "-o", "{tmp}/x", "--lm", "m", "--neural", "n"],
            "found --lm MODEL and --neural MODEL; gyro",
        ),
        (["{ordered}/first", "-o", "{tmp}/x", "--neural", "{tmp}/no.gguf"], "`gyro neural --install` gets"),
        (
            ["{ordered}/first", "-o", "{tmp}/x", "--neural", "{lm}", "--weight", "0"],
            "found the weight 0.0 of the neural",
        ),
        (["{ordered}/no", "-o", "{tmp}/x", "--lm", "m"], "no"),
        (["{ordered}/first", "-o", "{tmp}/x", "--dependency-lm", "m"], "takes one --weight"),
        (["{ordered}/first", "-o", "{tmp}/x", "--lm", "{ordered}/mt.jsonl"], "mt.jsonl"),
    ],
)
def test_mistakes_are_one_line(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["rescore", *words], message)
