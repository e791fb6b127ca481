"""What models say of the orders and references of a report, word by word: models that are asked for it.

ask_models    models and groups → Opinions
AskedModel    a model that is asked: its name, and what it says of strings
ngram_to_ask  an n-gram model to ask
Opinions      what all of them say; NO_OPINIONS where none is asked

Other than the costs that a run has kept, this is the same question to the same model for all systems. Costs are natural
logarithms, lower is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.report.data import Group, Member
from gyro.report.model_costs import BagCosts, Costs
from gyro.score.outputs import Sentence
from lm.model import LanguageModel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AskedModel:
    """A model with its signature; `word_costs` gives for each string what its words cost, and last its end."""

    name: str
    signature: str
    word_costs: Callable[[Sequence[Sentence]], Sequence[Floats]]


@dataclass(frozen=True)
class Opinions:
    """For each model, by its name, what the words of each string cost, and last its end."""

    models: tuple[AskedModel, ...]
    words: Mapping[str, Mapping[Sentence, Floats]]

    def of(self, model: AskedModel, string: Sentence) -> Floats:
        """What the words of a string cost, and last its end."""
        return self.words[model.name][string]

    def bag_costs(self, model: AskedModel, group: Group, member: Member) -> list[BagCosts | None]:
        """What a model says of each output and its reference; None where there is no order."""
        return [
            self._bag_costs(model, output, reference) if output else None
            for output, reference in zip(member.outputs, group.references or (), strict=True)
        ]

    def _bag_costs(self, model: AskedModel, output: Sentence, reference: Sentence) -> BagCosts:
        costs = [Costs(float(self.of(model, string).sum()), None, 0.0) for string in (output, reference)]
        return BagCosts(len(output), costs[0], costs[1], output == reference)


NO_OPINIONS = Opinions((), {})


def ngram_to_ask(model: LanguageModel, name: str) -> AskedModel:
    """An n-gram model; what a word costs is what a string with it costs more than one that ends before it."""

    def costs(string: Sentence) -> Floats:
        sums = [0.0, *(model.score(string[:end], eos=False) for end in range(1, len(string) + 1)), model.score(string)]
        return np.diff(sums)

    return AskedModel(name, model.signature, lambda strings: [costs(string) for string in strings])


def ask_models(models: Sequence[AskedModel], groups: Sequence[Group]) -> Opinions:
    """Ask each model once for each string: the references, and the orders of all systems."""
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"found the model {name!r} twice; each is asked once")
    strings = dict.fromkeys(
        string
        for group in groups
        if group.references is not None
        for string in (*group.references, *(output for member in group.members for output in member.outputs))
        if string
    )
    asked = list(strings)
    return Opinions(
        tuple(models),
        {model.name: dict(zip(asked, model.word_costs(asked), strict=True)) for model in models},
    )
