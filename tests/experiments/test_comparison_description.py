from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, KINDS, main
from experiments.comparison_description import KIND, Decode, Rescoring, Training, load_comparison
from experiments.comparison_entry import Condition, RunTable, StageTable, parse_condition, to_arguments
from experiments.description import find_experiments
from gyro.errors import InputError
from tests.experiments.comparison_tiny import write_tiny


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)


def test_the_experiment_here_is_as_it_should_be() -> None:
    assert KIND in KINDS
    found = find_experiments(DESCRIPTIONS, KIND)
    assert list(found) == ["comparison"]
    experiment = load_comparison(found["comparison"])
    systems = {table.system for table in experiment.runs}
    assert systems == {"ngram-beam", "wan", "transition", "best-first", "gyro"}
    assert {decode.given for decode in experiment.decodes()} >= {"words", "pos", "units", "pos+units"}
    assert {bank.moved for bank in experiment.treebanks} == {0.0, 0.1, 0.25, 0.5}
    assert {table.options.get("method") for table in experiment.runs if table.system == "wan"} == {
        "viterbi",
        "lmo",
        "cle",
        "ab",
    }
    published = {row[2] for table in experiment.published for row in table.rows if row[2]}
    made = {(d.name, d.set, d.given) for d in experiment.decodes()}
    for table in experiment.published:
        assert all((row[2], table.set, table.given) in made for row in table.rows if row[2])
    assert published <= {name for name, _, _ in made}
    for curve in experiment.curves:
        assert all((name, set_name, curve.given) in made for name in curve.runs for set_name in curve.sets)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 1\n", "seeds = 1\n", "found 'seeds'; allowed are kind, title"),
        ("[[curves]]", "[curves]", "found 'curves' as one table"),
        ('treebank = "few"', 'treebank = "fewer"', "found the treebank 'fewer'; allowed are 'all', 'gold'"),
        ('model = "worse"', 'model = "worst"', "found the model 'worst'; allowed are 'best-first'"),
        ('lm = "few"', 'lm = "fewer"', "found the language model 'fewer'; allowed are '2-gram', 'few'"),
        ('source = "GYRO"', 'source = "gyro"', "found the source 'gyro'; allowed are 'GYRO', 'best-first'"),
        (
            'sets = ["test", "news"',
            'sets = ["train", "news"',
            "found the set 'train'; allowed are 'test', 'dev', 'news'",
        ),
        ('given = ["words", "pos"]\nbags', 'given = ["units"]\nbags', "found 'units' of 'best-first'; 'best-first' is"),
        ('given = ["words", "pos"]', 'given = ["tags"]', "found 'tags' as what is given; words, or some of pos, units"),
        ('name = "few"\nsystem', 'name = "GYRO"\nsystem', "found the run 'gyro' on 'test' with 'words' twice"),
        ('name = "moved"\n', 'name = "Gold"\n', "found the name 'Gold' of treebanks twice"),
        ("moved = 0.4", "moved = 1.4", "found 0 sentences, 1.4 moved, in 'moved'"),
        ('over = ["sentences"', 'over = ["words"', "found over = ['words', 'seconds', 'uas'] of 'Trees'"),
        ('rows = [["theirs", 42.0', 'rows = [["theirs", "42"', "found the row ['theirs', '42', 'GYRO'] in table 1"),
        ('"GYRO"], ["an', '"Gyro"], ["an', "found the run 'Gyro'; allowed are 'GYRO'"),
        ('metric = "rate"', 'metric = "speed"', "found the metric 'speed' in table 2 of 'Somebody 2020'"),
        ("bags = 4", "bags = -4", "found bags below 0, or an empty list, in 'best-first'"),
        ("bags = 4\n[[details]]", "bags = -1\n[[details]]", "found bags below 0 in 'few after GYRO'"),
        ("dev_sample = 2", "dev_sample = 0", "found dev_sample = 0; at least 1 is allowed"),
        ("held_out = 3", "held_out = -3", "found -3 sentences held out"),
        ("order = 2\n[[language_models]]", "order = 9\n[[language_models]]", "found the order 9 of '2-gram'"),
    ],
)
def test_mistakes_are_one_line(
    tiny: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tiny.read_text(encoding="utf-8")
    assert old in text
    tiny.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_comparison(tiny)
    assert message in str(caught.value)
    assert main([], folder=tiny.parent, runs=tiny.parent / "runs") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tiny.parent / "runs").exists()


def test_lists_are_multiplied_out(tiny: Path) -> None:
    experiment = load_comparison(tiny)
    assert [training.name for training in experiment.trainings()] == [
        "best-first, words",
        "best-first, pos",
        "worse, pos",
        "not there",
    ]
    made = [(decode.name, decode.set, decode.given) for decode in experiment.decodes()]
    assert ("worse, beam 8", "test", "pos") in made
    assert ("few", "other", "words") in made
    assert len(made) == 10
    assert [(each.name, each.set, each.given) for each in experiment.rescorings()] == [
        ("few after GYRO", "test", "words"),
        ("few after GYRO", "test", "pos"),
    ]


@pytest.mark.parametrize(("run", "stage", "bags"), [(0, 0, 0), (4, 0, 4), (0, 2, 2), (4, 2, 2), (2, 4, 2)])
def test_a_stage_has_no_more_bags_than_its_source(run: int, stage: int, bags: int) -> None:
    source = Decode(RunTable("GYRO", "gyro", bags=run), "test", "words")
    assert Rescoring(StageTable("later", "GYRO", bags=stage), source).bags == bags


def test_a_run_has_the_model_of_its_condition(tiny: Path) -> None:
    text = tiny.read_text(encoding="utf-8")
    other = text.replace('name = "lost"', 'name = "lost"\ntrained = "pos"').replace(
        '"not there"\n[[st', '"worse"\n[[st'
    )
    tiny.write_text(other, encoding="utf-8")
    experiment = load_comparison(tiny)
    models = {decode.name + decode.given: experiment.training_of(decode) for decode in experiment.decodes()}
    tables = {table.name: table for table in experiment.models}
    assert models["best-firstwords"] == Training(tables["best-first"], "words")
    assert models["best-firstpos"] == Training(tables["best-first"], "pos")
    assert models["lostwords"] == Training(tables["worse"], "pos")
    assert models["GYROwords"] is None


def test_a_sample_is_smaller_everywhere(tiny: Path) -> None:
    small = load_comparison(tiny).with_sample(2)
    assert {decode.bags for decode in small.decodes()} == {2}
    assert {bank.name: bank.sentences for bank in small.treebanks} == {"gold": 20, "few": 4, "moved": 20}


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("words", Condition()),
        ("pos", Condition(pos=True)),
        ("units+pos", Condition(pos=True, units=True)),
        ("heads+labels", Condition(heads=True, labels=True)),
    ],
)
def test_conditions(text: str, condition: Condition) -> None:
    assert parse_condition(text) == condition
    annotation = condition.annotation(7)
    assert (annotation.pos == 1.0, annotation.units, annotation.heads == 1.0) == (
        condition.pos,
        condition.units,
        condition.heads,
    )


def test_what_is_given_as_options_of_trainings() -> None:
    options = parse_condition("pos+units").training_options()
    assert list(to_arguments(options)) == ["--pos", "given", "--units", "base-np"]
    assert list(to_arguments(Condition(heads=True).training_options())) == ["--pos", "none", "--heads"]


@pytest.mark.parametrize("text", ["", "pos+pos", "words+pos", "tags"])
def test_conditions_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="as what is given"):
        parse_condition(text)
