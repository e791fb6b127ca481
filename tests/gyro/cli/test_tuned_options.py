"""--tuned: what `gyro tune` wrote, in `gyro rescore` and `gyro mbr`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.run.folder import open_run

if TYPE_CHECKING:
    from tests.conftest import World

TUNED = """
[rescore]
models = ["stupid-backoff:4"]
keep = 0.3
weights = [0.7]
[neural]
weight = 1.25
[mbr]
scale = 0.7
max_order = 3
first_pass = 0.5
"""


@pytest.fixture
def tuned(tmp_path: Path) -> str:
    (tmp_path / "tuned.toml").write_text(TUNED)
    return str(tmp_path / "tuned.toml")


def test_the_weights_of_rescoring(world: World, ordered: Path, neural: str, tuned: str, tmp_path: Path) -> None:
    words = ["rescore", str(ordered / "first"), "-o", str(tmp_path / "run"), "--tuned", tuned]
    assert main([*words, "--lm", f"stupid-backoff:{world.index_path}:4"]) == 0
    settings = open_run(tmp_path / "run").settings
    assert settings["keep"] == 0.3
    assert [model["weight"] for model in settings["models"]] == [0.7]
    words[3] = str(tmp_path / "neural")
    assert main([*words, "--neural", neural, "-n", "5"]) == 0
    assert open_run(tmp_path / "neural").settings["weight"] == 1.25


def test_the_parameters_of_mbr_but_for_those_that_are_given(ordered: Path, tuned: str, tmp_path: Path) -> None:
    words = ["mbr", str(ordered / "first"), "--tuned", tuned, "-o"]
    assert main([*words, str(tmp_path / "tuned")]) == 0
    assert main([*words, str(tmp_path / "given"), "--scale", "0.4", "--prune", "3"]) == 0
    one, other = (open_run(tmp_path / name).settings["parameters"] for name in ("tuned", "given"))
    assert (one["scale"], one["max_order"], one["first_pass"], one["prune"]) == (0.7, 3, 0.5, 5.0)
    assert other == {**one, "scale": 0.4, "prune": 3.0}  # 0.4 is the default as well


def test_what_tune_writes_is_read(world: World, ordered: Path, tmp_path: Path) -> None:
    grid = ["--scale", "0.2", "--precision", "0.7", "--ratio", "0.6", "--prune", "4"]
    assert main(["tune", str(ordered / "first"), "--mbr", *grid, "-o", str(tmp_path / "mbr.toml")]) == 0
    words = ["mbr", str(ordered / "first"), "-o"]
    assert main([*words, str(tmp_path / "a"), "--tuned", str(tmp_path / "mbr.toml")]) == 0
    assert main([*words, str(tmp_path / "b"), *grid]) == 0
    assert open_run(tmp_path / "a").settings == open_run(tmp_path / "b").settings
    assert open_run(tmp_path / "a").best() == open_run(tmp_path / "b").best()


def test_the_weight_of_a_dependency_model(rescored: Path, tmp_path: Path) -> None:
    """What is tuned on a run is the weight that it is made again with."""
    (tmp_path / "tuned.toml").write_text("[dependency]\nweight = 0.2\nsentences = 9\n")
    words = ["rescore", str(rescored / "second"), "-o", str(tmp_path / "run"), "-n", "10"]
    assert main([*words, "--dependency-lm", str(rescored / "trees"), "--tuned", str(tmp_path / "tuned.toml")]) == 0
    assert open_run(tmp_path / "run").settings == open_run(rescored / "third").settings
    assert open_run(tmp_path / "run").best() == open_run(rescored / "third").best()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rescore", "--lm", "{lm}", "--weight", "1"], "found --weight and --tuned, which has the weights"),
        (["rescore", "--lm", "{lm}", "--add"], "found --add and --tuned"),
        (
            ["rescore", "--dependency-lm", "x"],
            "found [rescore], [neural], [mbr]; the table [dependency] is needed here",
        ),
        (["mbr", "--tuned", "no.toml"], "no.toml: cannot read"),
        (["mbr", "--tuned", "{lm}"], "model.lm: cannot read"),
    ],
)
def test_mistakes(
    refused: Callable[[list[str], str], None],
    ordered: Path,
    words: list[str],
    message: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tuned = tmp_path_factory.mktemp("tuned") / "tuned.toml"
    tuned.write_text(TUNED)
    command, *others = words
    refused([command, "{ordered}/first", "-o", "{tmp}/run", "--tuned", str(tuned), *others], message)


def test_a_wrong_table_is_refused_with_its_place(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table, message in (("[mbr]\nscale = 'x'\n", "scale"), ("[mbr]\nwide = 1\n", "found the key 'wide' in [mbr]")):
        (tmp_path / "bad.toml").write_text(table)
        assert main(["mbr", str(ordered / "first"), "--tuned", str(tmp_path / "bad.toml")]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"gyro: {tmp_path / 'bad.toml'}: ")
        assert message in error
