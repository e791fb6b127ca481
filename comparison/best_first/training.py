"""Training the best-first decoder: its learner and model in the training of comparison.learning.

train  learn from a treebank as the settings say; the model of the folder is that of the best iteration so far
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.given_tree import TreeBeams
from comparison.best_first.learner import METHODS, Example, Learner
from comparison.best_first.model import BestFirstModel, ModelSettings, kernel_options, save_model
from comparison.learning import training
from comparison.learning.development import DevScore
from comparison.learning.training import Iteration, Plan, Treebank, Weights

_BEST_SUBTREES = 4  # tried of each dependent


def train(
    treebank: Treebank[Example],
    grammar: DependencyGrammar | CcgInventory,
    settings: ModelSettings,
    folder: str | os.PathLike[str],
    *,
    evaluate: Callable[[BestFirstModel], DevScore] | None = None,
    patience: int = 0,
    facts: dict[str, Any] | None = None,
    report: Callable[[str], None] = print,
) -> list[Iteration]:
    """Learn for the settings' number of iterations, or until the development score has settled."""
    learner = Learner(
        grammar,
        kernel_options(settings),
        METHODS[settings.method],
        bits=settings.bits,
        budget=settings.budget,
        step=settings.step,
        average=settings.average,
        trees=TreeBeams(settings.tree_beam, _BEST_SUBTREES) if settings.tree_beam else None,
    )

    def score(weights: Weights) -> DevScore:
        assert evaluate is not None
        return evaluate(BestFirstModel(grammar, weights, settings))

    def save(weights: Weights, made: dict[str, Any]) -> None:
        save_model(folder, grammar, weights, settings, made)

    plan = Plan(settings.iterations, settings.seed, patience, asdict(replace(settings, iterations=1)))
    scored = None if evaluate is None else score
    return training.train(treebank, learner, plan, folder, save, evaluate=scored, facts=facts, report=report)
