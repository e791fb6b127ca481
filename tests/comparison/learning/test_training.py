"""Training with a learner that counts: what is kept, when it ends. Real learners are stopped and go on elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comparison.learning.development import DevScore
from comparison.learning.training import Iteration, Learned, Plan, Treebank, Weights, train, write_plot


class Counter:
    """Adds one to its only weight with every sentence."""

    def __init__(self) -> None:
        self.weights = np.zeros(1, dtype=np.float32)
        self.totals = np.zeros(1)
        self.clock = 1

    def learn(self, example: int) -> Learned:
        self.weights[0] += 1
        self.clock += 1
        return Learned(True, example, 1, 1)

    def averaged(self) -> Weights:
        return self.weights.copy()


def silent(_: str) -> None:
    pass


@pytest.mark.parametrize(
    ("scores", "patience", "iterations", "kept"),
    [
        ([1, 2, 3, 4, 5], 2, 5, 5),
        ([1, 3, 2, 3, 9], 2, 4, 2),  # not above the best twice in a row
        ([5, 4, 6, 5, 5], 2, 5, 3),
        ([5, 4, 3, 2, 1], 1, 2, 1),
        ([5, 4, 3, 2, 9], 0, 5, 5),
    ],
)
def test_training_ends_when_the_score_has_settled(
    scores: list[float], patience: int, iterations: int, kept: int, tmp_path: Path
) -> None:
    saved: list[tuple[Weights, dict[str, Any]]] = []
    plan = Plan(5, patience=patience)

    def go_on() -> list[Iteration]:
        values = iter(scores)
        return train(
            Treebank(4, lambda number: number, "t"),
            Counter(),
            plan,
            tmp_path,
            lambda weights, facts: saved.append((weights, facts)),
            evaluate=lambda _: DevScore(next(values), 1.0, 0.0, 0.1),
            report=silent,
        )

    assert len(go_on()) == iterations
    assert saved[-1][0][0] == 4 * kept
    assert saved[-1][1]["iteration"]["number"] == kept
    assert len(go_on()) == iterations  # started again, it is done


def test_plots_are_the_same_each_time(tmp_path: Path) -> None:
    history = [Iteration(n, 10, 0.5, 100.0, 10.0, 3.0, 60.0) for n in (1, 2)]
    for name in ("a.svg", "b.svg"):
        write_plot(tmp_path / name, history)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
