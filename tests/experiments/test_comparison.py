"""The comparison of systems: what is typed for it, and a tiny one from end to end and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.comparison import CommandStep, ComparisonLaboratory
from experiments.comparison_estimate import make_comparison_estimate
from experiments.comparison_results import write_comparison_results
from experiments.comparison_tables import Results, curve_points, published_table
from gyro.errors import InputError
from tests.experiments.comparison_tiny import laboratory, write_tiny
from tests.experiments.tables import find_table, read_table


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)


def step_of(place: ComparisonLaboratory, name: str) -> CommandStep:
    return next(step for step in place.command_steps if step.name == name)


def typed(place: ComparisonLaboratory, name: str) -> list[str]:
    """The arguments of a step, its folder as "."."""
    arguments = step_of(place, name).command.arguments()
    return [argument.replace(str(place.folder), ".") for argument in arguments]


def test_a_training_is_given_its_condition_and_options(tiny: Path) -> None:
    assert typed(laboratory(tiny), "training: best-first, words") == [
        *("train", "best-first", "./treebanks/gold.conllu", "-o", "./models/best-first-words"),
        *("--dev", "./dev-a.conllu", "--dev-sample", "2", "--seed", "3", "--pos", "none"),
        *("--iterations", "2", "--bits", "16"),
    ]


def test_runs_and_stages_are_given_models_and_bags(tiny: Path) -> None:
    place = laboratory(tiny)
    assert typed(place, "GYRO, test, words") == [
        *("generate", "./bags/test-words.jsonl", "-o", "./test/words/gyro", "--system", "gyro"),
        *("--nbest", "10", "--jobs", "1", "--lm", "./lm/2-gram.lm", "--index", "./index", "--rules", "1-2"),
    ]
    assert typed(place, "worse, beam 8, test, pos") == [
        *("generate", "./bags/test-pos.jsonl", "-o", "./test/pos/worse-beam-8", "--system", "best-first"),
        *("--range", "1:4", "--nbest", "10", "--jobs", "1", "--model", "./models/worse-pos", "--beam", "8"),
    ]
    assert typed(place, "few after GYRO, test, pos") == [
        *("rescore", "./test/pos/gyro", "-o", "./test/pos/few-after-gyro"),
        *("--range", "1:4", "--nbest", "10", "--jobs", "1", "--lm", "./lm/few.lm"),
    ]


def test_a_system_that_is_not_there_is_its_own_failure(tiny: Path) -> None:
    place = laboratory(tiny)
    for name in ("training: not there", "lost, test, words"):
        with pytest.raises(InputError, match="found the system 'no-such-system'"):
            step_of(place, name).command.arguments()
        assert not step_of(place, name).is_done()


def test_a_sample_has_its_own_folder_but_the_same_text_and_bags(tiny: Path) -> None:
    whole, small = laboratory(tiny), laboratory(tiny, sample=2)
    assert small.folder == whole.folder / "sample-2"
    assert small.material.bags("test", "pos") == whole.material.bags("test", "pos")
    assert small.material.language_model("2-gram") == whole.material.language_model("2-gram")
    assert small.material.language_model("few") != whole.material.language_model("few")
    assert small.material.treebank("gold").is_relative_to(small.folder)


def test_absent_files_are_found_before_any_work(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tiny.parent / "other.jsonl").unlink()
    assert main([], folder=tiny.parent, runs=tiny.parent / "runs") == 2
    assert "other.jsonl: no such file" in capsys.readouterr().err


def test_results_without_any_run_are_one_line(tiny: Path) -> None:
    with pytest.raises(InputError, match="found no finished run to report on"):
        write_comparison_results(laboratory(tiny))


def test_the_estimate_grows_with_the_work(tiny: Path) -> None:
    estimates = {}
    for sample in (1, 4):
        place = laboratory(tiny, sample=sample)
        estimates[sample] = {step.name: seconds for step, seconds in make_comparison_estimate(place).steps}
    name = "training: best-first, words"
    assert estimates[4][name] > estimates[1][name] > 0
    assert estimates[4]["GYRO, test, words"] > estimates[1]["GYRO, test, words"] > 0


@pytest.mark.slow
def test_a_tiny_comparison_runs_tells_failures_and_is_not_done_twice(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tiny.parent / "runs"
    assert main(["-j", "2"], folder=tiny.parent, runs=runs) == 2  # two steps fail
    told = capsys.readouterr()
    assert "experiments: 2 of 28 steps failed: training: not there: found the system 'no-such-system'" in told.err
    assert "results.md" in told.out
    folder = runs / "tiny"
    names = ["length-test-pos.svg", "distortion-test-pos.svg", "subtrees-test-pos.svg", "curve-trees.svg"]
    for name in [*names, "report-test-pos.html", "results.md", "config.toml"]:
        assert (folder / name).stat().st_size > 100
    text = (folder / "results.md").read_text(encoding="utf-8")
    missing = find_table(text, "What is missing")
    assert [row["step"] for row in missing] == ["training: not there", "lost, test, words"]
    rows = find_table(text, "test, given: pos")
    systems = ["GYRO", "best-first", "worse, beam 8", "worse, beam 64", "few after GYRO"]
    assert [row["system"] for row in rows] == systems
    assert {row["failed"] for row in rows} == {"0"}
    assert [row["UAS"] for row in find_table(text, "What models are made of")] == ["100.0", "100.0", "60.0"]
    assert len(find_table(text, "Trainings")) == 3
    for part in ("### By length", "### Distortion", "BLEU by set, given: words.", "(curve-trees.svg)", "[[curves]]"):
        assert part in text
    place = laboratory(tiny)
    results = Results(place)
    ours = {row["row"]: row for row in read_table(published_table(results))}
    gyro = results.groups["test", "words"].runs["GYRO"].scores
    assert float(ours["theirs"]["ours"]) == pytest.approx(gyro["bleu_lc"], abs=0.01)
    assert ours["another's"]["ours"] == ""
    assert float(ours["sentences a second"]["ours"]) > 0
    points = curve_points(results, place.experiment.curves[0])
    assert [(point.run, point.x["sentences"], point.x["uas"]) for point in points] == [
        ("best-first", 12, pytest.approx(100)),
        ("worse, beam 64", 12, pytest.approx(60)),
    ]
    assert all(point.x["seconds"] for point in points)
    # Again: nothing is trained or ordered but what failed; a longer training is more of what is there.
    made = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in (".npz", ".fst", ".lm")}
    assert main([], folder=tiny.parent, runs=runs) == 2
    assert made == {path: path.stat().st_mtime_ns for path in made}
    tiny.write_text(tiny.read_text(encoding="utf-8").replace("iterations = 2", "iterations = 3"), encoding="utf-8")
    longer = laboratory(tiny)
    left = [step.name for step in longer.steps if not step.is_done()]
    assert left[:2] == ["training: best-first, words", "training: best-first, pos"]
    assert step_of(longer, left[0]).command.is_begun()
    assert not step_of(longer, left[0]).is_done()
