from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, main
from experiments.description import find_experiments
from experiments.syntax_description import KIND, DecodeTable, load_syntax
from gyro.errors import InputError


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


def test_lists_are_multiplied_out() -> None:
    table = DecodeTable("t", ["a", "b"], time_limit=[1.0, 2.0], bags=[9, 5], pos=[0.0, 1.0])
    found = [(run.name, run.bags) for run in table.decodes()]
    assert len(found) == 8
    assert found[0] == ("t: a, 1 s, POS 0%", 9)
    assert found[-1] == ("t: b, 2 s, POS 100%", 5)
