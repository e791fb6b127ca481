"""What stages that add a model to n-best strings have in common; the weight itself is tested with these stages."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from gyro.lattice.lattice import Hypothesis
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.added_weight import known_features
from tests.orders import failed, ordered

LISTS = {"s0": ["a b", "b a"], "s1": [], "s2": ["c d"]}


def test_features_are_known_of_run_folders_alone(tmp_path: Path) -> None:
    def work(_number: int, bag: Bag) -> Ordering | Outcome:
        strings = [Hypothesis(tuple(text.split()), 1.0 + cost) for cost, text in enumerate(LISTS[bag.id])]
        return ordered(bag, strings) if strings else failed(bag)

    def columns(_number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        return [{"LATTICE": -h.cost / 2, "LM": -h.cost / 4} for h in hypotheses]

    bags = [Bag(tuple(" ".join(LISTS[id][:1]).split()) or ("x",), id=id) for id in LISTS]
    run_batch(bags, tmp_path / "run", work, settings={}, features=columns, log=io.StringIO())
    known = known_features(tmp_path / "run")
    assert set(known) == {"s0", "s2"}
    assert known["s0"]["b", "a"] == {"LATTICE": -1.0, "LM": -0.5}
    (tmp_path / "lattices").mkdir()
    assert known_features(tmp_path / "lattices") == {}
