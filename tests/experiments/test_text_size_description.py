"""Experiments of the kind "text-size" as TOML tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, KINDS
from experiments.description import find_experiments
from experiments.text_size_description import KIND, load_text_size
from gyro.errors import InputError
from tests.experiments.text_size_tiny import write_tiny


def test_the_one_that_comes_with_the_project_is_found_and_read() -> None:
    assert KIND in KINDS
    experiment = load_text_size(find_experiments(DESCRIPTIONS, KIND)["text-size"])
    assert experiment.sizes == (250_000, 1_000_000, 4_000_000)
    assert [way.models for way in experiment.ways] == [("own", "whole"), ("own", "whole"), ("own",)]
    assert experiment.ways[1].generate.phrase_cost == "phrase=1.0"
    assert experiment.max_tokens == 20
    assert experiment.published is not None
    assert experiment.published.parse_rate == 0.914


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sizes = [60]", "sizes = [60, 60]", "rising numbers of tokens"),
        ("sizes = [60]", "sizes = [0]", "rising numbers of tokens"),
        ("sizes = [60]", 'sizes = ["60"]', "a list of int is allowed"),
        ("sizes = [60]", "size = [60]", "found 'size'; allowed are"),
        ("sample = 5", "sample = 0", "at least 1 is allowed"),
        ('rules = ["3-4", "2-4"]', 'rules = ["3-5"]', "lengths from 1 to the index's 4"),
        ('models = ["own"]', 'models = ["mine"]', "allowed are own, whole"),
        ('name = "1-gram rules"', 'name = "Rules 3–4"', "twice or without a letter"),
        ("max_tokens = 4", "max_tokens = 0", "bags must be cut"),
        ("parse_rate = 0.9", "parse_rate = 90.0", "not between 0 and 1"),
        ('rules = "3-4"\n', 'rules = "3-3"\n', "they must be measured"),
        ("[sets.test]", "[other]", "found 'other'"),
        ("[[settings]]", "[settings]", "cannot read"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write_tiny(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        load_text_size(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
