"""What the tests of the transition system share: a treebank file, a language model, a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparison.transition.grammar import TransitionGrammar
from comparison.transition.learner import Learner
from comparison.transition.model import TransitionModel, TransitionSettings
from comparison.transition.oracle import make_example
from grammars.conllu import write_conllu
from gyro.text.corpus import Normalisation
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from tests.comparison.transition.bank import BITS, trees


@pytest.fixture(scope="session")
def conllu_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "small.conllu"
    with path.open("w", encoding="utf-8") as file:
        write_conllu(file, trees())
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> KenlmModel:
    """A language model of the treebank's text."""
    path = tmp_path_factory.mktemp("transition-lm") / "3.lm"
    text = [list(tree.forms) for tree in trees()] * 3
    estimate_model(text, path, order=3, memory="64M", normalisation=Normalisation("none"))
    return load_model(path)


@pytest.fixture(scope="session")
def learned() -> TransitionModel:
    """A model that orders the trees' bags."""
    settings = TransitionSettings(bits=BITS, beam=8)
    grammar = TransitionGrammar.from_trees(trees())
    learner = Learner(grammar, settings.beam, BITS)
    for _ in range(10):
        for tree in trees():
            learner.learn(make_example(tree, grammar, ("pos",)))
    return TransitionModel(grammar, learner.averaged(), settings, "learned")
