"""What the tests of the best-first decoder share: two small treebanks, their grammars, models and weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.input import Given, dependency_example
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import BestFirstModel, ModelSettings, kernel_options
from grammars.ccg.derivation import AutoEntry, Derivation, write_auto
from grammars.conllu import ConlluSentence, write_conllu
from gyro.text.corpus import Normalisation
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from tests.comparison.best_first.treebank import derivations, trees

BITS = 14


@pytest.fixture(scope="session")
def tree_bank() -> list[ConlluSentence]:
    return trees()


@pytest.fixture(scope="session")
def derivation_bank() -> list[Derivation]:
    return derivations()


@pytest.fixture(scope="session")
def dependency(tree_bank: list[ConlluSentence]) -> DependencyGrammar:
    """Only equal trees are equivalent, so that a search finds all there are."""
    return DependencyGrammar.from_trees(tree_bank, dp=False)


@pytest.fixture(scope="session")
def labelled(tree_bank: list[ConlluSentence]) -> DependencyGrammar:
    return DependencyGrammar.from_trees(tree_bank, labelled=True, dp=False)


@pytest.fixture(scope="session")
def inventory(derivation_bank: list[Derivation]) -> CcgInventory:
    """Each word has the categories that it was seen with."""
    return CcgInventory.from_derivations(derivation_bank, cutoff=0)


@pytest.fixture(scope="session")
def random_weights() -> Callable[[int], NDArray[np.float32]]:
    """random_weights(seed) are 2^14 of them."""

    def make(seed: int) -> NDArray[np.float32]:
        return np.random.default_rng(seed).normal(size=1 << BITS).astype(np.float32)

    return make


@pytest.fixture(scope="session")
def learned(tree_bank: list[ConlluSentence], dependency: DependencyGrammar) -> BestFirstModel:
    """A model that orders the trees' bags."""
    settings = ModelSettings(bits=BITS)
    learner = Learner(dependency, kernel_options(settings), METHODS[settings.method], bits=BITS)
    for _ in range(20):
        for tree in tree_bank:
            learner.learn(dependency_example(tree, dependency, Given()))
    return BestFirstModel(dependency, learner.averaged(), settings, "learned")


@pytest.fixture(scope="session")
def language_models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], KenlmModel]:
    """language_models(order) is one of the treebank's text."""
    folder = tmp_path_factory.mktemp("best-first-lm")
    known: dict[int, KenlmModel] = {}
    text = [list(tree.forms) for tree in trees()] * 3

    def make(order: int) -> KenlmModel:
        if order not in known:
            path = folder / f"{order}.lm"
            estimate_model(text, path, order=order, memory="64M", normalisation=Normalisation("none"))
            known[order] = load_model(path)
        return known[order]

    return make


@pytest.fixture(scope="session")
def conllu_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "small.conllu"
    with path.open("w", encoding="utf-8") as file:
        write_conllu(file, trees())
    return path


@pytest.fixture(scope="session")
def auto_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "small.auto"
    with path.open("w", encoding="utf-8") as file:
        write_auto(file, (AutoEntry(f"ID=small.{i}", tree) for i, tree in enumerate(derivations(), 1)))
    return path
