"""Probabilities of three sentences by hand, and files of models."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from comparison.learning.tag_dictionary import TagDictionary
from comparison.wan.count import AFTER, BEFORE, count_events
from comparison.wan.model import (
    COUNTS,
    FLOOR_COST,
    VOCABULARY,
    WanModel,
    WanSettings,
    read_wan_model,
    train_model,
    write_wan_model,
)
from comparison.wan.vertex import Vertex
from gyro.errors import InputError
from tests.comparison.wan.test_count import BANK
from tests.damage.mutation import mutate

WORDS = ["dogs/NNS", "cats/NNS", "bark/VBP", "sleep/VBP", "runs/VBP", "mice/NNS", "loudly/RB", "new/XX"]
NUMBER = {text.split("/")[0]: number for number, text in enumerate(WORDS, 1)} | {"ROOT": 0}


@pytest.fixture(scope="module")
def model() -> WanModel:
    words = [(vertex.word, vertex.tag) for tree in BANK for vertex in tree.vertices]
    return WanModel(WanSettings(), *count_events(BANK), TagDictionary.from_words(words))


def vertices() -> list[Vertex]:
    return [Vertex((place,), *text.split("/")) for place, text in enumerate(WORDS)]


# Equation 2 with λ = δ/(δ + 1): the word pair's estimate, mixed with that of one word and one tag, or that with tags'.
ARCS = [
    ("bark", "dogs", BEFORE, 2 / 3 * 1 / 2 + 1 / 3 * (2 + 2) / (3 + 3)),
    ("bark", "dogs", AFTER, 2 / 3 * 1 / 2 + 1 / 3 * (1 + 1) / (3 + 3)),
    ("sleep", "cats", BEFORE, 2 / 3 * (1 + 1) / (1 + 1) + 1 / 3 * 3 / 4),
    ("sleep", "cats", AFTER, 1 / 3 * 1 / 4),
    ("bark", "mice", BEFORE, 3 / 4 * 2 / 3 + 1 / 4 * 3 / 4),
    ("runs", "mice", BEFORE, 3 / 4),
    ("runs", "mice", AFTER, 1 / 4),
    ("bark", "loudly", AFTER, 1.0),
    ("ROOT", "bark", AFTER, 1.0),
    ("ROOT", "dogs", AFTER, 0.0),
    ("ROOT", "runs", AFTER, 3 / 4 * 1.0 + 1 / 4 * 1.0),
    ("bark", "new", AFTER, 0.0),
    ("new", "bark", BEFORE, 0.0),
    ("dogs", "cats", BEFORE, 0.0),
]


@pytest.mark.parametrize(("head", "modifier", "side", "probability"), ARCS)
def test_arcs_by_hand(model: WanModel, head: str, modifier: str, side: int, probability: float) -> None:
    cost = model.costs(vertices()).arcs[NUMBER[head], NUMBER[modifier], side]
    assert cost == pytest.approx(-math.log(probability) if probability else FLOOR_COST)


ARGUMENTS = [
    ("bark", BEFORE, [1.0, 0.0]),
    ("bark", AFTER, [1.0, 0.0]),
    ("sleep", AFTER, [0.0]),
    ("runs", AFTER, [2 / 3, 0.0]),  # not seen: as its tag
    ("dogs", BEFORE, [0.0]),
    ("ROOT", AFTER, [1.0, 0.0]),
    ("new", AFTER, [0.0]),
]


@pytest.mark.parametrize(("head", "side", "probabilities"), ARGUMENTS)
def test_arguments_by_hand(model: WanModel, head: str, side: int, probabilities: list[float]) -> None:
    costs = model.costs(vertices()).arguments[NUMBER[head], side]
    expected = [-math.log(p) if p else FLOOR_COST for p in probabilities]
    assert costs[: len(expected)].tolist() == pytest.approx(expected)
    assert costs[-1] == FLOOR_COST


def test_costs_of_no_words(model: WanModel) -> None:
    assert model.costs([]).arcs.shape == (1, 1, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_", "2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_"]
    lines += ["3\tbarks\t_\tVERB\tVBZ\t_\t0\troot\t_\t_"]
    (tmp_path / "bank.conllu").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    trained, facts = train_model([tmp_path / "bank.conllu"], WanSettings())
    assert (facts["trees"], facts["vertices"]) == (1, 2)
    write_wan_model(tmp_path / "model", trained, facts)
    return tmp_path / "model"


def test_a_model_is_read_as_it_was_written(folder: Path) -> None:
    first = read_wan_model(folder)
    again = folder.parent / "again"
    assert write_wan_model(again, first, {}) == first.signature
    assert (again / COUNTS).read_bytes() == (folder / COUNTS).read_bytes()
    found = [Vertex((0,), "dog", "NN"), Vertex((1,), "barks", "VBZ")]
    for a, b in zip(first.costs(found), read_wan_model(again).costs(found), strict=True):
        assert np.array_equal(a, b)
    assert first.costs(found).arcs[2, 1].tolist() == pytest.approx([FLOOR_COST, 0])
    assert first.tagger.tags_of("the") == ("DT",)


@pytest.mark.parametrize("name", ["model.json", VOCABULARY, COUNTS])
def test_damaged_files_are_read_or_refused_in_one_line(folder: Path, name: str) -> None:
    sound = (folder / name).read_bytes()
    for case in range(150):
        (folder / name).write_bytes(mutate(sound, random.Random(case)))
        assert "\n" not in refusal(folder)


def refusal(folder: Path) -> str:
    """What is said of a model; nothing if it is read."""
    try:
        read_wan_model(folder)
    except InputError as error:
        return str(error)
    return ""


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    (tmp_path / "bank.conllu").write_text("1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="no tree to learn from"):
        train_model([tmp_path / "bank.conllu"], WanSettings())
