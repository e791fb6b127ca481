"""Experiments from their TOML files: mistakes, estimates, and a tiny one from end to end and again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, main
from experiments.description import find_experiments, folder_name, load_experiment
from experiments.estimate import BAG_SECONDS, make_estimate, time_text
from experiments.laboratory import Laboratory
from experiments.stage_kind import KINDS
from gyro.errors import InputError
from gyro.settings import ALGORITHMS

TINY = """
title = "Tiny"
development = "dev"
sample = 6
[text]
files = ["sotu:1961-1963"]
paragraphs = true
[index]
order = 4
memory = "256M"
[lm]
memory = "256M"
[sets.dev]
references = ["sotu:1964-1964"]
paragraphs = true
shortest = 5
longest = 12
mt = "{mt}"
[sets.test]
references = ["sotu:1965-1965"]
paragraphs = true
shortest = 5
longest = 12
[generate]
rules = "1-4"
beta = 4.0
[[settings]]
name = "exact, soft"
lm = 3
oracles = true
generate = {{ phrase_cost = "phrase=1.0" }}
[[settings]]
name = "full, short"
lm = 2
longest = 8
sets = ["test"]
generate = {{ algorithm = "full", rules = "1" }}
[[stages]]
name = "+2g"
kind = "ngram"
source = "exact, soft"
models = ["kenlm:2", "stupid-backoff:4"]
[[stages]]
name = "+LMBR"
kind = "mbr"
source = "+2g"
scale = [0.3, 1.0]
[[stages]]
name = "+LMBR-MT"
kind = "mbr"
mt = true
source = "+2g"
scale = [0.3]
"""
PLAIN = TINY.format(mt="")


def write(folder: Path, text: str) -> Path:
    path = folder / "tiny.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_experiments_here_are_as_they_should_be() -> None:
    found = find_experiments(DESCRIPTIONS)
    assert list(found) == ["embedded", "news"]
    for name, path in found.items():
        experiment = load_experiment(path)
        assert experiment.sample == 300
        assert experiment.model_orders() == [3, 4, 5]
        assert {setting.generate.algorithm for setting in experiment.settings} == {*ALGORITHMS} - {"beam"}
        assert all(setting.generate.max_tokens == 20 for setting in experiment.settings)
        assert all(setting.generate.time_limit == 60 for setting in experiment.settings)
        assert {stage.kind for stage in experiment.stages} == {*KINDS}
        assert any(stage.needs_mt for stage in experiment.stages) == (name == "news")


def test_configurations_of_whole_runs_are_no_experiments(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN)
    (tmp_path / "whole.toml").write_text('[run]\nfolder = "runs/whole"\n')
    (tmp_path / "broken.toml").write_text("title =")
    assert find_experiments(tmp_path) == {"broken": tmp_path / "broken.toml", "tiny": path}


def test_each_algorithm_and_kind_has_a_usual_time() -> None:
    assert {*ALGORITHMS, *KINDS, *(f"tuning {kind}" for kind in KINDS), "oracles"} == {*BAG_SECONDS}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Tiny"', "titel = 1", "found 'titel'; allowed are title"),
        ('title = "Tiny"', "title = 1", "found title = 1; str is allowed"),
        ('title = "Tiny"', "title =", "cannot read"),
        ('development = "dev"', 'development = "tune"', "found the development set 'tune'; allowed are 'dev', 'test'"),
        ('development = "dev"', 'baseline = "best"', "found the baseline 'best'; allowed are 'exact, soft'"),
        ("sample = 6", "sample = 0", "found sample = 0; at least 1 is allowed"),
        ("sample = 6", 'sample = "all"', "found sample = 'all'; int is allowed"),
        ("shortest = 5", "short = 5", "found the key 'short' in [sets.dev]"),
        ("[[settings]]", "[settings]", "cannot read"),
        ('name = "full, short"', 'name = "Exact: soft"', "found the name 'Exact: soft' twice"),
        ("longest = 8", 'longest = "8"', "found longest = '8' in [[settings]] 2; int is allowed"),
        ('sets = ["test"]', 'sets = ["tests"]', "found the set 'tests' of 'full, short'; allowed are 'dev', 'test'"),
        ('algorithm = "full"', 'algorithm = "fast"', "(full, short): found the algorithm 'fast'"),
        ('algorithm = "full", rules = "1"', 'rules = "1-5"', "the rules of 'full, short' need an index of order 5"),
        ("lm = 2", "lm = 9", "found lm = 9 of 'full, short'; orders from 1 to 6 are allowed"),
        ('kind = "ngram"', 'kind = "n"', "found the kind 'n' in [[stages]] 1; allowed are ngram, dependency, mbr"),
        ('"kenlm:2"', '"kenlm"', "found the model 'kenlm'; kenlm:ORDER and stupid-backoff:ORDER are allowed"),
        ('source = "exact, soft"', 'source = "+LMBR"', "found the source '+LMBR' of '+2g'; allowed are"),
        ('source = "exact, soft"', 'source = "full, short"', "'+2g' cannot be tuned: 'dev' is not among its sets"),
        ("scale = [0.3, 1.0]", "scale = [-1]", "found the MBR parameter scale = -1"),
        ("scale = [0.3, 1.0]", "scale = []", "found no values for scale of '+LMBR'"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TINY.format(mt="mt.jsonl")
    assert old in text
    path = write(tmp_path, text.replace(old, new, 1))
    with pytest.raises(InputError, match=r"tiny\.toml: ") as caught:
        load_experiment(path)
    assert message in str(caught.value)
    assert main([], folder=tmp_path, runs=tmp_path / "runs") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


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


def test_a_stage_with_mt_needs_a_development_set_with_mt(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\+LMBR-MT' cannot be tuned"):
        load_experiment(write(tmp_path, PLAIN))


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


def test_an_estimate_grows_with_the_sample_and_takes_measured_times(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, TINY.format(mt="mt.jsonl")))
    few, many = (Laboratory(experiment, tmp_path / "runs", sample=n) for n in (10, 1000))
    assert 0 < make_estimate(few).seconds < make_estimate(many).seconds
    assert few.folder == tmp_path / "runs" / "sample-10"
    # A finished run of another sample tells the seconds a bag of the same setting.
    name = "full-short"
    step = next(step for step in many.steps if step.target.name == name)
    run = few.folder / "test" / name
    run.mkdir(parents=True)
    for file in ("bags.jsonl", "words.syms", "results.jsonl", "best.txt", "nbest.txt", "nbest.jsonl"):
        (run / file).touch()
    (run / "times.jsonl").write_text('{"seconds": 30}\n{"seconds": 50}\n')
    found = next(seconds for each, seconds in make_estimate(many).steps if each is step)
    assert found == pytest.approx(40 * step.bags() / 2)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (91, "2 min"), (7260, "2 h 1 min")])
def test_times_are_for_people(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_names_of_folders() -> None:
    assert folder_name("+5g +LMBR-MT") == "5g-lmbr-mt"
    assert folder_name("exact, rules 3–5, 4-gram") == "exact-rules-3-5-4-gram"


@pytest.mark.slow
def test_a_tiny_experiment_from_end_to_end_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mt = tmp_path / "mt.jsonl"
    line = {"outputs": {"A": "We must do it now .", "B": "The nation must act ."}}
    mt.write_text("".join(json.dumps({"id": str(n), **line}) + "\n" for n in range(1, 1000)))
    write(tmp_path, TINY.format(mt=mt))
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
