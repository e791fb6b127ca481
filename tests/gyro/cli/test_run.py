"""`gyro run` as a user types it; tests/test_run_pipeline.py has whole runs."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.pipeline.config import BUILT_IN

if TYPE_CHECKING:
    from tests.conftest import World


def test_the_built_in_configuration_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--show-config"]) == 0
    assert tomllib.loads(capsys.readouterr().out) == tomllib.loads(BUILT_IN)


def test_a_configuration_by_a_pipe_and_another_file(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bags have the ids of the treebank; --quiet leaves the report alone."""
    tree = "".join(f"{n}\t{word}{chr(9)}{chr(9).join('_' * 8)}\n" for n, word in enumerate(["the", "people"], 1))
    (tmp_path / "trees.conllu").write_text(f"# sent_id = p-1\n{tree}\n# sent_id = p-2\n{tree}\n")
    config = f"""
        run.folder = "{tmp_path / "run"}"
        text = {{ files = ["{world.text}"], tokenized = true }}
        index = {{ order = 5, memory = "256M" }}
        lm = {{ order = 3, memory = "256M" }}
        bags.references = ["{tmp_path / "trees.conllu"}"]
        generate.algorithm = "beam"
    """
    (tmp_path / "more.toml").write_text("run.examples = 1\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(config.encode())))
    assert main(["run", "-", str(tmp_path / "more.toml"), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("order     the people") == 1
    bags = (tmp_path / "run" / "bags.jsonl").read_text()
    assert [part.split('"')[0] for part in bags.split('"id": "')[1:]] == ["p-1", "p-2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.toml"], "no.toml: cannot read"),
        (["{bad}"], "bad.jsonl: not TOML"),
        (["/dev/null"], "the table [run] is missing"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["run", *words], message)
