"""gyro train best-first and gyro generate --system best-first, as a user types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from comparison.learning import training
from grammars.ccg.derivation import AutoEntry, read_auto, write_auto
from grammars.ccg.derivation import words as ccg_words
from grammars.conllu import read_conllu, write_conllu
from gyro.cli import main
from tests.comparison.best_first.treebank import derivations, trees
from tests.once import make_once
from tests.refusal import error_line

FAST = ["--bits", "14", "--iterations", "6", "--budget", "5000"]
SETTINGS = {
    "dependency": ([], "conllu"),
    "labels": (["--labels", "--heads"], "conllu"),
    "units": (["--units", "base-np", "--pos", "none"], "conllu"),
    "lemmas": (["--lemmas"], "conllu"),
    "2011": (["--method", "perceptron", "--by-size", "--drop-leaves", "--beam", "50"], "conllu"),
    "ccg": (["--grammar", "ccg", "--cutoff", "0"], "auto"),
    "ccg units": (["--grammar", "ccg", "--cutoff", "0", "--units", "base-np", "--no-dp"], "auto"),
}
ALSO = ("labels", "2011", "ccg units")  # slower, and not very different
ANNOTATION = {
    "labels": ["--heads", "1", "--labels"],
    "units": ["--units", "base-np", "--pos", "0"],
    "lemmas": ["--lemmas", "--heads", "1", "--labels", "--tags", "upos"],
    "ccg units": ["--units", "base-np"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both treebanks, and a model of each grammar."""
    return make_once(tmp_path_factory, "best-first", write_models)


def write_models(folder: Path) -> None:
    with (folder / "small.conllu").open("w", encoding="utf-8") as file:
        write_conllu(file, trees())
    with (folder / "small.auto").open("w", encoding="utf-8") as file:
        write_auto(file, (AutoEntry(f"ID=small.{i}", tree) for i, tree in enumerate(derivations(), 1)))
    for name in ("dependency", "ccg"):
        options, ending = SETTINGS[name]
        words = ["train", "best-first", str(folder / f"small.{ending}"), "-o", str(folder / name)]
        assert main([*words, *FAST, *options]) == 0


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in ALSO else []) for name in SETTINGS]
)
def test_from_a_treebank_to_scores(name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options, ending = SETTINGS[name]
    treebank, model, bags, run = (
        folder / f"small.{ending}",
        tmp_path / "model",
        tmp_path / "bags.jsonl",
        tmp_path / "run",
    )
    if (folder / name).exists():
        shutil.copytree(folder / name, model)
    else:
        assert main(["train", "best-first", str(treebank), "-o", str(model), *FAST, *options]) == 0
        assert f"{model}: model of 6 iterations" in capsys.readouterr().out
    assert (model / "training.svg").exists()
    assert main(["annotate", str(treebank), "-o", str(bags), *ANNOTATION.get(name, [])]) == 0
    command = ["generate", str(bags), "--system", "best-first", "--model", str(model), "-o", str(run), "--goals", "3"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "length ratio  100.0%" in out
    assert "time-outs     0.0%" in out
    best = (run / "best.txt").read_text().splitlines()
    references = [json.loads(line)["reference"] for line in bags.read_text().splitlines()]
    same = [output.lower() == " ".join(words).lower() for output, words in zip(best, references, strict=True)]
    assert sum(same) >= 0.7 * len(same)  # it has seen them
    if ending == "conllu":
        found = [tree for tree in read_conllu(run / "nbest.conllu") if "# rank = 1" in tree.comments]
        assert [" ".join(tree.forms).lower() for tree in found] == [line.lower() for line in best]
    else:
        entries = [entry for entry in read_auto(run / "nbest.auto") if ".1.1 " in entry.header]
        assert [" ".join(ccg_words(entry.derivation)).replace("_", " ") for entry in entries] == best
    assert main(["score", str(run)]) == 0
    assert "BLEU" in capsys.readouterr().out
    assert main(["report", str(run), "-o", str(tmp_path / "report.html")]) == 0
    assert "best-first" in (tmp_path / "report.html").read_text()
    assert main(["nbest", str(run), "-n", "3"]) == 0
    ranks = [line for line in capsys.readouterr().out.splitlines() if line.startswith("0 |||")]
    assert 1 <= len(ranks) <= 3


def test_a_run_that_is_there_goes_on(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags, run = tmp_path / "bags.txt", tmp_path / "run"
    bags.write_text("dog the barks .\nshe sleeps\n")
    command = ["generate", str(bags), "--system", "best-first", "--model", str(folder / "dependency"), "-o", str(run)]
    assert main(command) == 0
    before = (run / "results.jsonl").read_bytes()
    assert main(command) == 0
    assert (run / "results.jsonl").read_bytes() == before
    assert "holds" in error_line(capsys, [*command, "--goals", "2"]) or "another" in error_line(
        capsys, [*command, "--goals", "2"]
    )
    assert main([*command, "--goals", "2", "--overwrite"]) == 0
    assert main([*command, "--goals", "2", "--overwrite", "--jobs", "2"]) == 0


def test_a_training_that_is_there_goes_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", "best-first", str(folder / "small.conllu"), *FAST]
    assert main([*command, "-o", str(tmp_path / "model"), "--iterations", "1"]) == 0
    assert main([*command, "-o", str(tmp_path / "model")]) == 0
    files = [json.loads((path / "model.json").read_text()) for path in (tmp_path / "model", folder / "dependency")]
    assert files[0]["signature"] == files[1]["signature"]
    assert "holds another training" in error_line(capsys, [*command, "-o", str(tmp_path / "model"), "--seed", "3"])
    assert "holds another training" in error_line(capsys, [*command, "-o", str(tmp_path / "model"), "--limit", "3"])

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_run_iteration", stop)
    capsys.readouterr()
    assert main([*command, "-o", str(tmp_path / "model"), "--iterations", "7"]) == 130
    assert "goes on where this one was" in capsys.readouterr().err


def test_a_training_that_is_refused_changes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "best-first", "--grammar", "ccg", str(folder / "small.auto"), *FAST, "--tagger-cutoff", "0.01"]
    command += ["-o", str(tmp_path / "model"), "--iterations", "1"]
    assert main(command) == 0

    def files() -> dict[str, bytes]:
        found = sorted(path for path in (tmp_path / "model").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found}

    before = files()
    assert "holds another training" in error_line(capsys, [*command, "--limit", "3"])
    assert files() == before


def test_a_bag_that_cannot_be_used_is_told(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, bags = tmp_path / "model", tmp_path / "bags.jsonl"
    assert main(["train", "best-first", str(folder / "small.conllu"), "-o", str(model), *FAST, "--labels"]) == 0
    rows = [
        {"id": "a", "tokens": ["dog", "barks"], "labels": ["xyzzy", None]},
        {"id": "b", "tokens": ["she", "sleeps"]},
    ]
    bags.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["generate", str(bags), "--system", "best-first", "--model", str(model), "-o", str(tmp_path / "run")]
    assert main(command) == 1
    results = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert "found the label 'xyzzy'; the model has " in results[0]["reason"]
    assert results[1]["status"] == "ok"


def test_development_data(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    treebank = str(folder / "small.conllu")
    command = ["train", "best-first", treebank, "-o", str(tmp_path / "model"), *FAST, "--iterations", "2"]
    assert main([*command, "--dev", treebank, "--dev-sample", "5", "--limit", "8"]) == 0
    history = [json.loads(line) for line in (tmp_path / "model" / "training.jsonl").read_text().splitlines()]
    assert all(0 <= iteration["dev_bleu"] <= 100.01 for iteration in history)
    assert capsys.readouterr().out.count("dev BLEU") == 2


def test_a_language_model_as_a_feature(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, bags = tmp_path / "text.txt", tmp_path / "bags.txt"
    text.write_text("".join(" ".join(tree.forms) + "\n" for tree in trees()) * 3)
    bags.write_text("barks dog the .\n")
    lm, model = str(tmp_path / "small.lm"), str(tmp_path / "model")
    assert main(["lm", str(text), "-o", lm, "--tokenized", "--order", "3", "--memory", "64M"]) == 0
    assert main(["train", "best-first", str(folder / "small.conllu"), "-o", model, *FAST, "--lm", lm]) == 0
    command = ["generate", str(bags), "--system", "best-first", "--model", model, "-o", str(tmp_path / "run")]
    assert "was trained with the language model" in error_line(capsys, command)
    assert main([*command, "--lm", lm]) == 0
    assert (tmp_path / "run" / "best.txt").read_text() == "the dog barks .\n"


def test_treebanks_that_cannot_be_used(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "best-first", "-o", str(tmp_path / "model")]
    (tmp_path / "empty.conllu").write_text("")
    (tmp_path / "bad.conllu").write_text("1\tdog\n\n")
    assert "found no projective tree" in error_line(capsys, [*command, str(tmp_path / "empty.conllu")])
    assert f"{tmp_path}/bad.conllu:1: found 2 columns" in error_line(capsys, [*command, str(tmp_path / "bad.conllu")])
    assert "nowhere" in error_line(capsys, [*command, str(tmp_path / "nowhere.conllu")])
    assert "small.auto:1" in error_line(capsys, [*command, str(folder / "small.auto")])


def test_no_time_at_all_gives_default_outputs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags = tmp_path / "bags.txt"
    words = ["the", "dog", "sees", "the", "old", "cat", "."]
    bags.write_text(" ".join(words) + "\n")
    command = ["generate", str(bags), "--system", "best-first", "--model", str(folder / "dependency")]
    for name, options in (("time", ["--time-limit", "0.000001"]), ("edges", ["--edge-limit", "1"])):
        assert main([*command, "-o", str(tmp_path / name), *options, "--complete"]) == 0
        assert sorted((tmp_path / name / "best.txt").read_text().split()) == sorted(
            ["the", "dog", "sees", "the", "old", "cat", "."]
        )
    assert main([*command, "-o", str(tmp_path / "bare"), "--edge-limit", "1"]) == 0
