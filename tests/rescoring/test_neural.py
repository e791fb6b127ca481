"""Strings of one lattice under a tiny neural model: costs, columns, and what its search makes of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.text.allowed_order import is_allowed
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from lm.neural.model import NeuralModel, load_neural_model
from rescoring.neural import (
    Before,
    NeuralOutcome,
    NeuralRescorer,
    NeuralSearcher,
    check_neural_model,
    open_neural_model,
)
from tests.once import make_once
from tests.rescoring.conftest import Models
from tests.tiny_neural import NAME, write_tiny_neural

WEIGHT = 0.75
STRINGS = [("abcde", 1.0), ("bacde", 1.5), ("edcba", 2.5), ("eabcd", 4.0)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME


@pytest.fixture(scope="module")
def model(path: Path) -> NeuralModel:
    return load_neural_model(path)


def lattice_of(strings: Sequence[tuple[str, float]]) -> Lattice:
    return Lattice.from_strings(tuple("abcde"), [Hypothesis(tuple(text), cost) for text, cost in strings])


def search(model: NeuralModel, models: Models, budget: int = 400) -> NeuralSearcher:
    return NeuralSearcher(model, WEIGHT, models.trigram, budget)


def cost_under(model: NeuralModel, models: Models, tokens: Sequence[str]) -> float:
    return models.trigram.score(tuple(tokens)) + WEIGHT * float(model.costs([tuple(tokens)])[0])


@pytest.mark.parametrize("nbest", [1, 3, 100])
def test_new_costs_are_the_old_ones_and_the_weighted_neural_ones(model: NeuralModel, nbest: int) -> None:
    found = NeuralRescorer(model, WEIGHT).rescore(Bag(tuple("abcde")), lattice_of(STRINGS), nbest)
    kept = STRINGS[:nbest]
    neural = [float(model.costs([tuple(text)])[0]) for text, _ in kept]
    expected = {text: cost + WEIGHT * more for (text, cost), more in zip(kept, neural, strict=True)}
    assert {"".join(h.tokens): h.cost for h in found.lattice.strings()} == pytest.approx(expected, abs=1e-3)
    assert found.outcome.cost == pytest.approx(min(expected.values()), abs=1e-3)
    assert not found.proved
    assert found.outcome.strings == len(kept)


def test_strings_keep_their_columns(model: NeuralModel) -> None:
    rescorer, lattice = NeuralRescorer(model, WEIGHT), lattice_of(STRINGS)
    hypotheses = rescorer.rescore(Bag(tuple("abcde")), lattice, 100).nbest(100)
    known = {tuple("abcde"): {"LM": -0.25, "DEP": -0.75}}
    columns = rescorer.columns(hypotheses, lambda: Before(lattice, known))
    for hypothesis, scores in zip(hypotheses, columns, strict=True):
        text = "".join(hypothesis.tokens)
        before = {"LM": -0.25, "DEP": -0.75} if text == "abcde" else {"LATTICE": -dict(STRINGS)[text]}
        assert list(scores) == [*before, "NEURAL"]
        neural = float(model.costs([hypothesis.tokens])[0])
        assert scores == pytest.approx({**before, "NEURAL": -neural}, abs=2e-3)


def test_a_second_model_has_a_column_of_its_own(model: NeuralModel) -> None:
    rescorer, lattice = NeuralRescorer(model, WEIGHT), lattice_of(STRINGS)
    hypotheses = rescorer.rescore(Bag(tuple("abcde")), lattice, 100).nbest(100)
    known = {hypothesis.tokens: {"LM": -0.25, "NEURAL": -7.0} for hypothesis in hypotheses}
    columns = rescorer.columns(hypotheses, lambda: Before(lattice, known))
    assert [list(scores) for scores in columns] == [["LM", "NEURAL", "NEURAL.2"]] * len(hypotheses)
    assert all(scores["NEURAL"] == -7.0 for scores in columns)


def test_the_search_has_all_orders_of_a_small_bag_where_its_budget_allows(model: NeuralModel, models: Models) -> None:
    """Brute force: 24 orders."""
    found = search(model, models, 4000).rescore(Bag(tuple("abcd")), lattice_of([("abcd", 1.0)]), 100)
    costs = {"".join(p): cost_under(model, models, p) for p in permutations("abcd")}
    strings = {"".join(h.tokens): h.cost for h in found.lattice.strings()}
    assert set(strings) <= set(costs)
    assert min(strings.values()) == pytest.approx(min(costs.values()), abs=2e-3)
    assert min(strings, key=lambda text: strings[text]) == min(costs, key=lambda text: costs[text])


@pytest.mark.parametrize("budget", [1, 50, 400])
def test_the_search_never_ends_above_its_start(model: NeuralModel, models: Models, budget: int) -> None:
    searcher = search(model, models, budget)
    found = searcher.rescore(Bag(tuple("abcde")), lattice_of(STRINGS), 100)
    best = found.best()
    outcome = NeuralOutcome.from_json(found.outcome.to_json(), "run", 1)
    assert best.cost == pytest.approx(cost_under(model, models, best.tokens), abs=2e-3)
    assert outcome.start_cost is not None
    assert best.cost <= outcome.start_cost + 1e-3
    if budget > 100:  # all of the list was scored
        assert best.cost <= min(cost_under(model, models, text) for text, _ in STRINGS) + 2e-3
        assert {tuple(text) for text, _ in STRINGS} <= {h.tokens for h in found.lattice.strings()}
    assert outcome.scored == len(found.lattice.strings())
    columns = searcher.columns(found.nbest(5), lambda: pytest.fail("nothing before it is needed"))
    for hypothesis, scores in zip(found.nbest(5), columns, strict=True):
        assert scores["LM"] == pytest.approx(-models.trigram.score(hypothesis.tokens), abs=1e-3)
        assert scores["LM"] + WEIGHT * scores["NEURAL"] == pytest.approx(-hypothesis.cost, abs=2e-3)


@pytest.mark.parametrize("starts", [[("badce", 1.0), ("baced", 2.0)], [("abcde", 1.0)]])
def test_the_search_keeps_to_constraints_that_its_start_keeps_to(
    model: NeuralModel, models: Models, starts: list[tuple[str, float]]
) -> None:
    bag = AnnotatedBag(tuple("abcde"), order=((1, 0),), units=((2, 4),))
    found = search(model, models).rescore(bag, lattice_of(starts), 100)
    strings = {h.tokens for h in found.lattice.strings()}
    assert len(strings) > 2
    assert all(is_allowed(bag, string) for string in strings) == is_allowed(bag, starts[0][0])


def test_strings_of_other_words_than_the_best_are_left_out_of_a_search(model: NeuralModel, models: Models) -> None:
    """Lattices of other tools: the best has two a's and no e."""
    lattice = lattice_of([("abca", 1.0), ("abcde", 2.0), ("caba", 3.0), ("", 4.0)])
    found = search(model, models).rescore(Bag((), id="x"), lattice, 100)
    strings = ["".join(h.tokens) for h in found.lattice.strings()]
    assert {"abca", "caba"} <= set(strings)
    assert {"".join(sorted(text)) for text in strings} == {"aabc"}


@pytest.mark.parametrize("text", ["", "a"])
def test_strings_without_another_order(model: NeuralModel, models: Models, text: str) -> None:
    for rescorer, expected in (
        (NeuralRescorer(model, WEIGHT), 1.0 + WEIGHT * float(model.costs([tuple(text)])[0])),
        (search(model, models), cost_under(model, models, text)),
    ):
        found = rescorer.rescore(Bag((), id="x"), lattice_of([(text, 1.0)]), 100)
        assert [h.tokens for h in found.lattice.strings()] == [tuple(text)]
        assert found.best().cost == pytest.approx(expected, abs=1e-3)


def outcome_with(
    rescorer: NeuralRescorer, reference: str, strings: Sequence[tuple[str, float]] = STRINGS, nbest: int = 100
) -> NeuralOutcome:
    bag = Bag(tuple(reference), reference=tuple(reference))
    return NeuralOutcome.from_json(rescorer.rescore(bag, lattice_of(strings), nbest).outcome.to_json(), "run", 1)


def test_the_cost_of_a_reference(model: NeuralModel, models: Models) -> None:
    rescorer, searcher = NeuralRescorer(model, WEIGHT), search(model, models)
    old, new = dict(STRINGS), {text: float(model.costs([tuple(text)])[0]) for text, _ in STRINGS}
    best = min(old, key=lambda text: old[text] + WEIGHT * new[text])
    for text in old:
        expected = old[text] + WEIGHT * new[text]
        outcome = outcome_with(rescorer, text)
        assert outcome.reference_cost == pytest.approx(expected, abs=1e-3)
        assert (outcome.reference_cost == outcome.cost) == (text == best)
        # It is known of all strings of the lattice, and not only of the list.
        assert outcome_with(rescorer, text, nbest=1).reference_cost == pytest.approx(expected, abs=1e-3)
        assert outcome_with(searcher, text).reference_cost == pytest.approx(cost_under(model, models, text), abs=2e-3)
    for system in (rescorer, searcher):
        outcome = outcome_with(system, "deabc")
        assert outcome.reference_neural == float(model.costs([tuple("deabc")])[0])  # also where the rest is not known
        found = system.rescore(Bag(tuple("abcde")), lattice_of(STRINGS), 100).best()
        assert outcome.neural == pytest.approx(float(model.costs([found.tokens])[0]), abs=2e-3)
    assert outcome_with(rescorer, "deabc").reference_cost is None
    assert outcome_with(searcher, "deabc").reference_cost is not None
    assert outcome_with(searcher, "deab").reference_cost is None  # of other words


def test_settings_tell_one_from_another(model: NeuralModel, models: Models) -> None:
    plain, searcher = NeuralRescorer(model, WEIGHT), search(model, models, 300)
    assert plain.settings == {"neural_model": model.signature, "weight": WEIGHT}
    assert searcher.settings == {**plain.settings, "guide": models.trigram.signature, "budget": 300}
    assert plain.title("first") == "first + neural LM"
    assert searcher.title("first") == "first + neural search"


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_one_line(path: Path, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("rescoring.neural.find_spec", lambda name: None if name == package else find(name))
    for do in (check_neural_model, open_neural_model):
        with pytest.raises(InputError, match=rf"^the package {package} .*: pip install 'gyro-order\[neural\]'$"):
            do(str(path))


def test_a_missing_model_is_one_line_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm.neural.embedded.default_places", lambda: (tmp_path / "a", tmp_path / "b"))
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    for name in ("default", str(tmp_path / "no.gguf")):
        with pytest.raises(InputError, match="`gyro neural --install` gets"):
            check_neural_model(name)
