"""`python -m experiments`: what stops it at once, and a tiny experiment from end to end and again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.__main__ import main
from tests.experiments.tiny import TINY, write, write_with_mt


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["other"], "found the experiment 'other'; allowed are tiny"),
        (["--sample", "0"], "found --sample 0; at least 1 is allowed"),
        (["--jobs", "0"], "found --jobs 0; at least 1 is allowed"),
    ],
)
def test_wrong_arguments_are_one_line(
    tmp_path: Path, argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, TINY.format(mt="mt.jsonl"))
    assert main(argv, folder=tmp_path, runs=tmp_path / "runs") == 2
    assert message in capsys.readouterr().err


def test_absent_data_is_a_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, f'data = "{tmp_path}/nowhere"\n' + TINY.format(mt="mt.jsonl"))
    assert main([], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert f"skipped: it needs the folder {tmp_path}/nowhere, which is not there" in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()


def test_an_absent_file_is_found_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, TINY.format(mt=tmp_path / "mt.jsonl"))
    assert main([], folder=tmp_path, runs=tmp_path / "runs") == 2
    assert "mt.jsonl: no such file" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "tiny" / "text.tok").exists()


@pytest.mark.slow
def test_a_tiny_experiment_from_end_to_end_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_with_mt(tmp_path)
    folder = tmp_path / "runs" / "tiny"
    assert main(["tiny"], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert "0 of 19 steps are done" in capsys.readouterr().out
    assert {path.name for path in (folder / "dev").iterdir() if path.is_dir()} == {
        "exact-soft",
        "2g",
        "lmbr",
        "lmbr-mt",
    }
    assert {path.name for path in (folder / "test").iterdir() if path.is_dir()} >= {"exact-soft", "2g", "lmbr"}
    assert not (folder / "test" / "lmbr-mt").exists()
    tuned = json.loads((folder / "tuned" / "lmbr-mt.json").read_text())
    assert {*tuned} == {"scale", "precision", "ratio", "prune", "alpha", "bleu"}
    results = (folder / "results.md").read_text()
    for text in (
        "| exact, soft ",
        "| +LMBR-MT ",
        "| · +2g ",
        "| · · +LMBR ",
        "oracle, 100-best",
        "oracle, lattice",
        "[[settings]]",
        "`nrefs:1",
    ):
        assert text in results
    for name in ("report.html", "report-dev.html"):
        assert "+LMBR" in (folder / name).read_text()
    # A second start finds everything done, and writes no run anew.
    made = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in (".jsonl", ".fst", ".lm")}
    assert main(["tiny", "--estimate"], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert "19 of 19 steps are done; about 0 s to go" in capsys.readouterr().out
    assert main(["tiny"], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert " …" not in capsys.readouterr().err
    assert made == {path: path.stat().st_mtime_ns for path in made}
    # What is lost is made again, and nothing else.
    best = (folder / "dev" / "lmbr" / "best.txt").read_bytes()
    (folder / "dev" / "lmbr" / "results.jsonl").unlink()
    assert main(["tiny", "--estimate"], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert "18 of 19 steps are done" in capsys.readouterr().out
    assert main(["tiny"], folder=tmp_path, runs=tmp_path / "runs") == 0
    assert (folder / "dev" / "lmbr" / "best.txt").read_bytes() == best
    others = [path for path in made if path.parent.name != "lmbr" and path.parent.parent.name != "lmbr"]
    assert [path.stat().st_mtime_ns for path in others] == [made[path] for path in others]
