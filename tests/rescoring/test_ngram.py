from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from lm.model import LanguageModel
from rescoring.ngram import Rescorer, lattice_costs, rescore, string_costs
from rescoring.source import open_lattices
from tests.outside import needs_openfst_tools

if TYPE_CHECKING:
    from tests.rescoring.conftest import Models

WORDS = ("a", "b", "c", "d", "e", "zebra")
NAMES = ("trigram", "fivegram", "backoff")
quick = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Small acyclic lattices: arcs of any length, several ends, equal strings on several paths."""
    states = draw(st.integers(1, 6))
    cost = st.floats(-4, 8, width=16)
    places = st.tuples(st.integers(0, states - 1), st.integers(0, states - 1)).filter(lambda pair: pair[0] < pair[1])
    arcs = draw(st.lists(st.tuples(places, st.integers(0, 5), cost), max_size=12)) if states > 1 else []
    ends = draw(st.dictionaries(st.integers(0, states - 1), cost, min_size=1, max_size=3))
    source, target = [place[0] for place, _, _ in arcs], [place[1] for place, _, _ in arcs]
    columns = (source, [word for _, word, _ in arcs], target, [price for *_, price in arcs])
    return Lattice.from_arrays(WORDS, 0, *columns, list(ends), list(ends.values()))


def costs(lattice: Lattice) -> dict[tuple[str, ...], float]:
    return {hypothesis.tokens: hypothesis.cost for hypothesis in lattice.strings()}


@quick
@given(lattice=lattices(), name=st.sampled_from(NAMES))
def test_replaced_costs_are_the_models_own(models: Models, lattice: Lattice, name: str) -> None:
    model: LanguageModel = getattr(models, name)
    rescored = costs(rescore(lattice, [(model, 1.0)]))
    assert rescored == pytest.approx({tokens: model.score(tokens) for tokens in costs(lattice)}, abs=1e-4)


@quick
@given(
    lattice=lattices(),
    weights=st.lists(st.floats(-2, 2, width=16), min_size=3, max_size=3),
    keep=st.sampled_from([0.0, 1.0, 0.5]),
)
def test_costs_and_models_are_added_with_their_weights(
    models: Models, lattice: Lattice, weights: list[float], keep: float
) -> None:
    pairs = [(getattr(models, name), weight) for name, weight in zip(NAMES, weights, strict=True)]
    expected = {
        tokens: keep * cost + sum(weight * model.score(tokens) for model, weight in pairs)
        for tokens, cost in costs(lattice).items()
    }
    assert costs(rescore(lattice, pairs, keep=keep)) == pytest.approx(expected, abs=1e-3)


@quick
@given(lattice=lattices(), beta=st.sampled_from([0.0, 1.0, 5.0]))
def test_pruning_keeps_what_is_within_beta(models: Models, lattice: Lattice, beta: float) -> None:
    whole = costs(rescore(lattice, [(models.trigram, 1.0)]))
    pruned = costs(rescore(lattice, [(models.trigram, 1.0)], beta=beta))
    best = min(whole.values(), default=0.0)
    assert {tokens for tokens, cost in whole.items() if cost < best + beta - 1e-3} <= set(pruned)
    assert set(pruned) <= set(whole)


@quick
@given(strings=st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(tuple), max_size=8))
def test_strings_in_bulk(models: Models, strings: list[tuple[str, ...]]) -> None:
    for name in NAMES:
        model: LanguageModel = getattr(models, name)
        expected = [model.score(string) for string in strings]
        assert string_costs(model.walkers(), strings).tolist() == pytest.approx(expected, abs=1e-4)


@quick
@given(lattice=lattices(), others=st.lists(st.lists(st.sampled_from([*WORDS, "new"]), max_size=5).map(tuple)))
def test_costs_in_a_lattice(lattice: Lattice, others: list[tuple[str, ...]]) -> None:
    known = costs(lattice)
    strings = [*known, *others]
    assert lattice_costs(lattice, strings).tolist() == [known.get(string, np.inf) for string in strings]


def test_a_long_lattice_with_context_over_every_joint(models: Models) -> None:
    """60 words, two choices at each: 2^60 strings; the best is checked against a search over the model's states."""
    chance = np.random.default_rng(9)
    choices = chance.integers(0, 6, (60, 2))
    places = np.repeat(np.arange(60), 2)
    lattice = Lattice.from_arrays(WORDS, 0, places, choices.ravel(), places + 1, np.zeros(120), [60], [0.0])
    for model in (models.fivegram, models.backoff):
        acceptor = model.acceptor(WORDS)
        best = np.full(acceptor.num_states, np.inf)
        best[acceptor.start] = 0.0
        for pair in choices:
            after = np.full(acceptor.num_states, np.inf)
            for word in pair:
                np.minimum.at(after, acceptor.next_state[:, word], best + acceptor.cost[:, word])
            best = after
        found = rescore(lattice, [(model, 1.0)]).best()
        assert found.cost == pytest.approx((best + acceptor.end_cost).min(), rel=1e-5)
        assert model.score(found.tokens) == pytest.approx(found.cost, rel=1e-5)


def test_no_strings_and_no_models(models: Models) -> None:
    empty = Lattice.from_arrays(WORDS, -1, [], [], [], [], [], [])
    assert rescore(empty, [(models.backoff, 1.0)]).empty()
    lattice = Lattice.from_strings(("a",), [Hypothesis(("a",), 2.0), Hypothesis((), 1.0)])
    assert costs(rescore(lattice, [], keep=2.0)) == {("a",): 4.0, (): 2.0}
    assert string_costs(models.backoff.walkers(), []).tolist() == []


def test_what_cannot_be_used_is_refused(models: Models) -> None:
    with pytest.raises(InputError, match="found a weight that is not a finite number"):
        Rescorer([(models.backoff, float("nan"))])
    with pytest.raises(InputError, match="found β = -1"):
        Rescorer([(models.backoff, 1.0)], beta=-1)
    marked = Lattice.from_strings(("<s>", "a"), [Hypothesis(("<s>", "a"), 0.0)])
    with pytest.raises(InputError, match="found the word '<s>', which is a mark of models"):
        rescore(marked, [(models.backoff, 1.0)])


@needs_openfst_tools
@pytest.mark.parametrize("symbols", [True, False])
def test_a_lattice_written_by_openfst(models: Models, tmp_path: Path, symbols: bool) -> None:
    """With symbols the words are scored; bare labels are words that no model knows."""
    (tmp_path / "words").write_text("<eps> 0\n<s> 1\n</s> 2\na 3\nb 4\nc 7\n")
    words = [(0, 1, "<s>", 0.25), (1, 2, "a", 1.5), (1, 2, "b", 0.5), (3, 4, "c", 0), (4, 5, "</s>", 0)]
    arcs = [*words[:3], (2, 3, "<eps>", 0.125), *words[3:]]
    number = {"<eps>": 0, "<s>": 1, "</s>": 2, "a": 3, "b": 4, "c": 7}
    lines = [f"{s} {t} {word if symbols else number[word]} {cost}" for s, t, word, cost in arcs]
    (tmp_path / "text").write_text("\n".join([*lines, "5 1.0"]) + "\n")
    options = [f"--isymbols={tmp_path}/words", "--keep_isymbols"] if symbols else []
    command = ["fstcompile", "--acceptor", *options, str(tmp_path / "text"), str(tmp_path / "1.fst")]
    subprocess.run(command, check=True)
    lattice = open_lattices(tmp_path / "1.fst")[0].lattice()
    assert lattice is not None
    pair = [("a", "c"), ("b", "c")] if symbols else [("1", "3", "7", "2"), ("1", "4", "7", "2")]
    assert costs(lattice) == pytest.approx({pair[0]: 2.875, pair[1]: 1.875})
    for model in (models.fivegram, models.backoff):
        new = {tokens: model.score(tokens) for tokens in pair}
        assert costs(rescore(lattice, [(model, 1.0)])) == pytest.approx(new, abs=1e-4)
