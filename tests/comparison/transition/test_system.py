"""Bags through the whole system, into a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from comparison.transition.model import TransitionModel
from comparison.transition.system import GenerationSettings, TransitionOutcome, TransitionSystem, dev_scorer
from comparison.transition.treebank import development_bags
from grammars.conllu import read_conllu
from gyro.errors import InputError
from gyro.run.folder import open_run
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from lm.kenlm.model import KenlmModel
from tests.comparison.transition.bank import trees

BAGS = [
    AnnotatedBag(tree.forms, str(i), tree.forms, tuple(t.xpos for t in tree.tokens)) for i, tree in enumerate(trees())
]


def test_learned_sentences_come_out(learned: TransitionModel) -> None:
    system = TransitionSystem(learned)
    for bag in BAGS:
        ordering = system.order(bag)
        assert ordering.best().tokens == bag.reference
        outcome = ordering.outcome
        assert isinstance(outcome, TransitionOutcome)
        assert outcome.cost == pytest.approx(-system.decode(bag).scores[0])
        assert outcome.scored > outcome.expanded > len(bag)


def test_the_lattice_has_each_string_of_the_beam_with_its_best_score(learned: TransitionModel) -> None:
    system = TransitionSystem(learned, GenerationSettings(beam=50))
    bag = BAGS[1]
    decoded = system.decode(bag)
    best: dict[tuple[str, ...], float] = {}
    for number, score in enumerate(decoded.scores):
        words = decoded.words(number)
        best[words] = min(best.get(words, 1e9), -float(score))
    found = system.order(bag).nbest(100)
    assert 1 < len(best) < 50
    assert {h.tokens: pytest.approx(h.cost, abs=1e-3) for h in found} == best


@pytest.mark.parametrize("jobs", [1, 2])
def test_runs_have_trees_and_are_the_same_for_any_number_of_processes(
    learned: TransitionModel, tmp_path: Path, jobs: int
) -> None:
    system = TransitionSystem(learned, GenerationSettings(trees=3))
    with (tmp_path / "log").open("w") as log:
        summary = system.run(BAGS, tmp_path / "run", jobs=jobs, log=log)
    assert summary.exit_code == 0
    assert open_run(tmp_path / "run").best() == [" ".join(tree.forms) for tree in trees()]
    found = list(read_conllu(tmp_path / "run" / "nbest.conllu"))
    assert [tree.sent_id for tree in found] == [bag.id for bag in BAGS for _ in range(3)]
    assert [tree.heads for tree in found[::3]] == [tree.heads for tree in trees()]
    assert "actions a bag" in system.run_text(tmp_path / "run")


def test_a_bag_with_another_constraint_ends_the_run(learned: TransitionModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found the constraint order"):
        TransitionSystem(learned).run([*BAGS, AnnotatedBag(("a", "b"), order=((0, 1),))], tmp_path / "run")


def test_a_bag_that_cannot_be_ordered_fails_alone(learned: TransitionModel, tmp_path: Path) -> None:
    bags = [BAGS[0], AnnotatedBag(("a", "b"), "two", heads=(-1, -1))]
    with (tmp_path / "log").open("w") as log:
        summary = TransitionSystem(learned).run(bags, tmp_path / "run", log=log)
    assert (summary.ok, summary.failed) == (1, 1)


def test_the_language_model_must_be_that_of_the_training(learned: TransitionModel, model: KenlmModel) -> None:
    combined = replace(learned, settings=replace(learned.settings, lm=model.signature))
    with pytest.raises(InputError, match=f"trained with the language model {model.signature}; found none"):
        TransitionSystem(combined)
    other = replace(learned, settings=replace(learned.settings, lm="other"))
    with pytest.raises(InputError, match=f"trained with the language model other; found {model.signature}"):
        TransitionSystem(other, language_model=model)
    assert TransitionSystem(combined, language_model=model).order(BAGS[0]).best().tokens == BAGS[0].reference


def test_development_scores(learned: TransitionModel, conllu_file: Path) -> None:
    bags = development_bags([conllu_file], learned.settings, sample=6)
    score = dev_scorer(bags)(learned)
    assert (score.bleu, score.length_ratio, score.timeout_ratio) == (pytest.approx(100), 1, 0)


@pytest.mark.parametrize(("changes", "message"), [({"beam": -1}, "found beam -1"), ({"trees": -1}, "found trees -1")])
def test_settings_that_are_not_allowed(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GenerationSettings(**changes)


def test_one_word_is_one_hypothesis(learned: TransitionModel) -> None:
    assert [h.tokens for h in TransitionSystem(learned).order(Bag(("dog",))).nbest(5)] == [("dog",)]
