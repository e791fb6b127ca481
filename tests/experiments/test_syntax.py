"""Experiments with the best-first decoder: mistakes, samples, precision, and a tiny one from end to end and again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, main
from experiments.description import find_experiments
from experiments.syntax import SyntaxLaboratory, given_shares
from experiments.syntax_description import KIND, DecodeTable, SyntaxExperiment, load_syntax
from experiments.syntax_estimate import make_syntax_estimate
from experiments.syntax_results import lexical_precision, make_syntax_markdown, measure_run
from grammars.ccg_derivation import parse_auto
from gyro.errors import InputError

ROWS = {
    "dog": ("dog", "NOUN", "NN", "Number=Sing"),
    "cat": ("cat", "NOUN", "NN", "Number=Sing"),
    "the": ("the", "DET", "DT", "_"),
    "a": ("a", "DET", "DT", "_"),
    "sees": ("see", "VERB", "VBZ", "Number=Sing|Person=3|Tense=Pres"),
    "likes": ("like", "VERB", "VBZ", "Number=Sing|Person=3|Tense=Pres"),
}
SENTENCES = [f"{a} {b} {verb} {c} {d}" for a in ("the", "a") for b, d in (("dog", "cat"), ("cat", "dog"))
             for verb in ("sees", "likes") for c in ("the", "a")]  # fmt: skip
SHAPE = ((2, "det"), (3, "nsubj"), (0, "root"), (5, "det"), (3, "obj"))

TINY = """
kind = "syntax"
title = "Tiny"
seed = 1
[treebank]
train = ["{folder}/train.conllu"]
dev = ["{folder}/dev.conllu"]
test = ["{folder}/dev.conllu"]
[text]
order = 2
index_order = 2
memory = "256M"
[training]
iterations = 2
dev_bags = 3
dev_time_limit = 5.0
bits = 16
[decoding]
bags = [4]
time_limit = [5.0]
[[models]]
name = "dependency"
[[models]]
name = "dependency, LM"
lm_weight = 0.2
[[models]]
name = "CCG"
grammar = "ccg"
beta = 0.075
[[curves]]
title = "All"
models = ["dependency", "CCG"]
[[runs]]
name = "given"
models = ["dependency"]
pos = [0.5, 1.0]
heads = [0.0, 1.0]
[[runs]]
name = "limits"
models = ["CCG"]
time_limit = [2.0, 5.0]
bags = [2, 4]
[[runs]]
name = "best"
set = "test"
best_of = ["dependency", "dependency, LM"]
[[gyro]]
name = "GYRO"
bags = 4
generate = {{ rules = "1-2" }}
"""


def conllu(sentences: list[str]) -> str:
    blocks = []
    for number, sentence in enumerate(sentences, 1):
        lines = [f"# sent_id = {number}"]
        for place, (form, (head, label)) in enumerate(zip(sentence.split(), SHAPE, strict=True), 1):
            lemma, upos, xpos, feats = ROWS[form]
            lines.append("\t".join((str(place), form, lemma, upos, xpos, feats, str(head), label, "_", "_")))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "train.conllu").write_text(conllu(SENTENCES[:12]), encoding="utf-8")
    (tmp_path / "dev.conllu").write_text(conllu(SENTENCES[10:]), encoding="utf-8")
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.format(folder=tmp_path), encoding="utf-8")
    return path


def test_the_experiment_here_is_as_it_should_be() -> None:
    found = find_experiments(DESCRIPTIONS, KIND)
    assert list(found) == ["syntax"]
    experiment = load_syntax(found["syntax"])
    models = {model.name: model for model in experiment.models}
    methods = {"perceptron", "large-margin", "scaled", "scaled-negatives"}
    for curve in experiment.curves:
        assert {models[name].method for name in curve.models} == methods
    grid = {(run.pos, run.heads) for run in experiment.decodes("dev") if run.heads is not None}
    assert {(tags, heads) for tags in (0.0, 0.5, 1.0) for heads in (0.0, 0.5, 1.0)} <= grid
    assert {0.5, 1.0, 5.0, 10.0, 50.0} == {limit for run in experiment.runs for limit in run.time_limit}
    assert {model.beta for model in experiment.models if model.grammar == "ccg"} == {0.0, 0.0001, 0.075}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 1", "seeds = 1", "found 'seeds'; allowed are kind, title"),
        ("[[curves]]", "[curves]", "found 'curves' as one table"),
        ('models = ["CCG"]', 'models = ["ccg"]', "found the model 'ccg'; allowed are 'dependency'"),
        ('name = "GYRO"', 'name = "best"', "found the name 'best' twice"),
        ('name = "dependency, LM"', 'name = "Dependency"', "found the name 'Dependency' twice"),
        ('models = ["CCG"]', 'set = "dev"', "'limits' needs either models or best_of"),
        ("bags = [2, 4]", "bags = [2, 4, 6]", "found 3 numbers of bags in 'limits'"),
        ("bags = [2, 4]", "bags = [0]", "found bags or a time limit of 0 or less in 'limits'"),
        ("pos = [0.5, 1.0]", "pos = [2.0]", "found the share 2.0 in 'given'; 0 to 1 is allowed"),
        ('set = "test"', 'set = "train"', "found the set 'train' of 'best'; allowed are dev, test"),
        ("iterations = 2", "iterations = 0", "found iterations 0; at least 1 is allowed"),
        ('grammar = "ccg"', 'grammar = "cfg"', "found the grammar 'cfg'; allowed are ccg, dependency"),
        ('rules = "1-2"', 'rule = "1-2"', "found the key 'rule' in [[gyro]] 1, generate"),
    ],
)
def test_mistakes_are_one_line(
    tiny: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tiny.read_text(encoding="utf-8")
    assert old in text
    tiny.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_syntax(tiny)
    assert message in str(caught.value)
    assert main([], folder=tiny.parent, runs=tiny.parent / "runs") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tiny.parent / "runs").exists()


def test_absent_data_is_a_clear_line(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write_text(f'data = "{tiny.parent}/nowhere"\n' + tiny.read_text(encoding="utf-8"), encoding="utf-8")
    assert main([], folder=tiny.parent, runs=tiny.parent / "runs") == 0
    assert "skipped: it needs the folder" in capsys.readouterr().out


def test_lists_are_multiplied_out() -> None:
    table = DecodeTable("t", ["a", "b"], time_limit=[1.0, 2.0], bags=[9, 5], pos=[0.0, 1.0])
    found = [(run.name, run.bags) for run in table.decodes()]
    assert len(found) == 8
    assert found[0] == ("t: a, 1 s, POS 0%", 9)
    assert found[-1] == ("t: b, 2 s, POS 100%", 5)


def laboratory(tiny: Path, **options: int) -> SyntaxLaboratory:
    experiment: SyntaxExperiment = load_syntax(tiny)
    return SyntaxLaboratory(experiment, tiny.parent / "runs" / "tiny", **options)


def test_a_small_sample_is_part_of_a_large_one(tiny: Path) -> None:
    place = laboratory(tiny)
    few, many = ({sentence.id for sentence in place.sample("dev", count)} for count in (2, 5))
    assert len(few) == 2
    assert few < many
    assert place.sample("dev", 5) == laboratory(tiny).sample("dev", 5)


def test_bags_are_given_what_the_model_had_unless_told(tiny: Path) -> None:
    place = laboratory(tiny)
    settings = place.experiment.model("dependency").settings()
    assert given_shares(settings, None, None) == (1.0, 0.0)
    assert given_shares(settings, 0.5, 1.0) == (0.5, 1.0)
    bag = place.bags("dev", 1, settings, heads=1.0)[0]
    assert None not in (bag.pos or [None])
    assert None not in (bag.heads or [None])
    assert bag.labels is None


def test_equal_runs_share_a_folder_and_others_do_not(tiny: Path) -> None:
    place = laboratory(tiny)
    table = DecodeTable("x", ["dependency"], bags=[4], pos=[1.0])
    other = DecodeTable("y", ["dependency"], bags=[4])
    assert {place.run_folder(run) for one in (table, other) for run in one.decodes()} == {
        place.run_folder(next(other.decodes()))
    }
    folders = [place.run_folder(run) for run in place.experiment.decodes()]
    assert len(set(folders)) == len(folders) == 7


def test_an_estimate_grows_with_the_sample(tiny: Path) -> None:
    few, many = (make_syntax_estimate(laboratory(tiny, sample=n)).seconds for n in (1, 3))
    assert 0 < few < many


def test_precision_counts_words_with_their_categories(tmp_path: Path) -> None:
    first = parse_auto("(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L N NN NN cat N>) )")
    line = "(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L NP NN NN cat NP>) )"
    other = "(<T NP 0 1> (<L N NN NN cat N>) )"
    (tmp_path / "nbest.auto").write_text(f"ID=a.b.1.1 SCORE=1\n{line}\nID=a.b.2.1 SCORE=0\n{other}\nID=c.1.1\n{line}\n")
    from grammars.ccg_derivation import leaves

    gold = {"a.b": Counter((leaf.word, leaf.category) for leaf in leaves(first))}
    assert lexical_precision(tmp_path / "nbest.auto", gold) == 0.5  # the second hypothesis and bag c do not count
    assert lexical_precision(tmp_path / "nbest.auto", {}) is None


@pytest.mark.slow
def test_a_tiny_experiment_runs_and_is_not_done_twice(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tiny.parent / "runs"
    assert main(["-j", "2"], folder=tiny.parent, runs=runs) == 0
    folder = runs / "tiny"
    for name in ("results.md", "report.html", "report-dev.html", "convergence.svg", "time-limits.svg", "config.toml"):
        assert (folder / name).stat().st_size > 100
    text = (folder / "results.md").read_text(encoding="utf-8")
    for part in ("## Learning", "heads 100%", "category precision", "≤ 5", "'GYRO'", "How it was made"):
        assert part in text
    place = laboratory(tiny)
    assert all(step.is_done() for step in place.steps)
    given_all = next(run for run in place.experiment.decodes("dev") if run.heads == 1.0 and run.pos == 1.0)
    found = measure_run(place.run_folder(given_all))
    assert found is not None
    assert found.length_ratio == 1.0
    # Again: nothing is trained or decoded, and a larger number of iterations goes on from where the training was.
    times = {path: path.stat().st_mtime_ns for path in folder.glob("models/*/weights.npz")}
    assert len(times) == 3
    assert main([], folder=tiny.parent, runs=runs) == 0
    assert times == {path: path.stat().st_mtime_ns for path in folder.glob("models/*/weights.npz")}
    tiny.write_text(tiny.read_text(encoding="utf-8").replace("iterations = 2", "iterations = 3"), encoding="utf-8")
    longer = laboratory(tiny)
    assert [step.name for step in longer.steps if not step.is_done()] == [
        f"training: {model.name}" for model in longer.experiment.models
    ]
    assert longer._sentences_to_learn(longer.experiment.models[0]) == 12_500
    assert "## All systems on test" in make_syntax_markdown(longer)
