"""What strings cost under each of the open models.

Scorer  costs of whole strings by model, and of each word under an n-gram model
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lm.model import LanguageModel

if TYPE_CHECKING:
    from lm.neural.model import NeuralModel

DIGITS = 4


class Scorer:
    """N-gram models by their names and, if there is one, a neural model."""

    def __init__(self, models: Mapping[str, LanguageModel], neural_name: str, neural: NeuralModel | None) -> None:
        self.models = models
        self.neural_name = neural_name
        self.neural = neural

    def costs(self, strings: Sequence[tuple[str, ...]], names: Sequence[str]) -> list[dict[str, float]]:
        """For each string its cost under each of these models."""
        columns: dict[str, list[float]] = {}
        for name in names:
            if self.neural is not None and name == self.neural_name:
                columns[name] = self.neural.costs(strings).tolist() if strings else []
            else:
                columns[name] = [round(self.models[name].score(tokens), DIGITS) for tokens in strings]
        return [{name: column[place] for name, column in columns.items()} for place in range(len(strings))]

    def word_costs(self, name: str, tokens: Sequence[str]) -> list[float]:
        """What each token costs under an n-gram model, and then the end of the sentence."""
        words = tuple(sorted(set(tokens)))
        walker = self._walkers[name](words)
        context, costs = np.array([walker.start]), []
        for token in tokens:
            context, cost = walker.step(context, np.array([words.index(token)]))
            costs.append(float(cost[0]))
        costs.append(float(walker.end(context)[0]))
        return [round(cost, DIGITS) for cost in costs]

    @cached_property
    def _walkers(self) -> dict[str, Any]:
        return {name: model.walkers() for name, model in self.models.items()}
