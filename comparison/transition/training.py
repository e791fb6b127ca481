"""Training the transition system: its learner and model in the training of comparison.learning.

train  learn from a treebank as the settings say; the model of the folder is that of the best iteration so far
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from comparison.learning import training
from comparison.learning.development import DevScore
from comparison.learning.training import Iteration, Plan, Treebank, Weights
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.learner import Learner
from comparison.transition.model import TransitionModel, TransitionSettings, save_model
from comparison.transition.oracle import Example


def train(
    treebank: Treebank[Example],
    grammar: TransitionGrammar,
    settings: TransitionSettings,
    folder: str | os.PathLike[str],
    *,
    evaluate: Callable[[TransitionModel], DevScore] | None = None,
    report: Callable[[str], None] = print,
) -> list[Iteration]:
    """Learn for the settings' number of iterations, or until the development score has settled."""
    learner = Learner(grammar, settings.beam, settings.bits)

    def score(weights: Weights) -> DevScore:
        assert evaluate is not None
        return evaluate(TransitionModel(grammar, weights, settings))

    def save(weights: Weights, made: dict[str, Any]) -> None:
        save_model(folder, grammar, weights, settings, made)

    identity = asdict(replace(settings, iterations=1, patience=0))  # a training may go on for longer
    plan = Plan(settings.iterations, settings.seed, settings.patience, identity)
    return training.train(
        treebank, learner, plan, folder, save, evaluate=None if evaluate is None else score, report=report
    )
