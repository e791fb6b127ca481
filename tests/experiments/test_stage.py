"""Entries of [[stages]]; for mistakes in whole files see test_description.py."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.stage import StageTable, to_stage
from gyro.errors import InputError
from rescoring.dependency_stage import DependencyTuning
from rescoring.mbr_stage import MbrTuning
from rescoring.neural_stage import NeuralTuning
from rescoring.ngram_stage import NgramTuning
from rescoring.stage import Tuning

PLACE = "[[stages]] 2"


@pytest.mark.parametrize(
    ("table", "tuning"),
    [
        ({"kind": "ngram", "models": ["kenlm:3", "stupid-backoff:5"]}, NgramTuning(["kenlm:3", "stupid-backoff:5"], 3)),
        ({"kind": "ngram", "models": ["kenlm:3"], "rounds": 1}, NgramTuning(["kenlm:3"], 1)),
        ({"kind": "dependency"}, DependencyTuning(0.3)),
        ({"kind": "dependency", "start": 1}, DependencyTuning(1.0)),
        ({"kind": "mbr", "mt": True, "scale": [0.3, 1]}, MbrTuning(mt=True, scale=[0.3, 1.0])),
        (
            {
                "kind": "neural",
                "model": "m.gguf",
                "start": 1,
                "budget": 300,
                "guide": "kenlm:4",
                "nbest": 30,
                "fixed": True,
            },
            NeuralTuning("m.gguf", 1.0, 300, "kenlm:4", 30, True),
        ),
    ],
)
@pytest.mark.parametrize("oracles", [False, True])
def test_keys_go_to_the_stage_or_to_its_tuning(table: dict[str, Any], tuning: Tuning, oracles: bool) -> None:
    stage = to_stage({"name": "+new", "source": "first", "oracles": oracles, **table}, PLACE)
    assert stage.table == StageTable("+new", table["kind"], "first", oracles)
    assert (stage.name, stage.kind, stage.source) == ("+new", table["kind"], "first")
    assert stage.tuning == tuning


def test_sets_development_and_values_are_the_stage_s_own() -> None:
    own = {"sets": ["test"], "development": "dev-long", "values_of": "first one"}
    stage = to_stage({"name": "a", "kind": "neural", "source": "b", **own}, PLACE)
    assert stage.table == StageTable("a", "neural", "b", False, ["test"], "dev-long", "first one")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"name": "a", "source": "b"},
            r"found the kind None in \[\[stages\]\] 2; allowed are ngram, dependency, neural, mbr",
        ),
        ({"name": "a", "source": "b", "kind": "best"}, "found the kind 'best' in"),
        ({"kind": "mbr", "source": "b"}, r"name.*\[\[stages\]\] 2|\[\[stages\]\] 2.*name"),
        ({"name": "a", "kind": "mbr", "source": 1}, r"found source = 1 in \[\[stages\]\] 2"),
        ({"name": "a", "kind": "mbr", "source": "b", "rounds": 2}, "^'a': found the key 'rounds' in"),
        ({"name": "a", "kind": "ngram", "source": "b", "models": []}, "^'a': found no models"),
        ({"name": "a", "kind": "mbr", "source": "b", "start": 1}, "^'a': found the key 'start' in"),
    ],
)
def test_mistakes_name_their_place(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        to_stage(table, PLACE)
