from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.pool import run_tasks
from gyro.text.detokenise import detokenise, spaced
from lm.neural import model as module
from lm.neural import plain
from lm.neural.bag_scorer import BagScorer
from lm.neural.embedded import find_default
from lm.neural.model import load_neural_model
from lm.neural.prefixes import Prefixes
from lm.neural.weights import Checkpoint
from tests.lm.neural.shuffled import KINDS, WORDS, Checkpoints, Models, shuffles

HOSTILE = [
    "<|endoftext|>",
    "</s>",
    "<bos>",
    "\x01",
    "\x7f\x1b[0m",
    "\u202e",
    "\u200b",
    "🙂",
    "e\u0301",
    "ａ",
    "▁",
    "Ġ",
    "x" * 1000,
]
SENTENCE = ["The", "cabinet", "said", "on", "Tuesday", "that", "taxes", "would", "not", "rise", "before", "May", "."]


def is_installed() -> bool:
    try:
        return find_default().is_file()
    except InputError:
        return False


needs_default = pytest.mark.skipif(not is_installed(), reason="the default model is not installed")


def plain_cost(checkpoint: Checkpoint, tokens: Sequence[str]) -> float:
    [(pieces, _)] = checkpoint.tokenizer.encode([detokenise(tokens)])
    return plain.string_cost(checkpoint.read_weights(), [checkpoint.start, *pieces, checkpoint.end], np.float64)


# ---- costs of strings


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_those_of_the_plain_computation(neural_models: Models, checkpoints: Checkpoints, kind: str) -> None:
    strings = shuffles(30)
    wanted = [plain_cost(checkpoints(kind), string) for string in strings]
    np.testing.assert_allclose(neural_models(kind).costs(strings), wanted, atol=1.1e-3)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strings=st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=20), data=st.data())
def test_order_and_company_change_nothing(
    neural_models: Models, kind: str, exact: bool, strings: list[list[str]], data: st.DataObject
) -> None:
    model = neural_models(kind)
    together = model.costs(strings, exact=exact).tolist()
    order = data.draw(st.permutations(range(len(strings))))
    assert model.costs([strings[i] for i in order], exact=exact).tolist() == [together[i] for i in order]
    assert [model.costs([string], exact=exact)[0] for string in strings] == together


@pytest.mark.parametrize("most", [1, 7, 40])
def test_the_size_of_batches_changes_nothing(neural_models: Models, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    strings = shuffles(25)
    model = neural_models("llama")
    wanted, computed = model.count_costs(strings, exact=False)
    monkeypatch.setattr(module, "MOST_NODES", most)
    found, more = model.count_costs(strings, exact=False)
    assert found.tolist() == wanted.tolist()
    assert more >= computed


@pytest.mark.parametrize("kind", KINDS)
def test_costs_of_words_are_those_of_their_pieces(neural_models: Models, checkpoints: Checkpoints, kind: str) -> None:
    """Each beginning of a string costs what its pieces do, as far as none crosses its end; all cost what it does."""
    checkpoint = checkpoints(kind)
    strings = [[], *shuffles(8, seed=3)]
    for string, costs in zip(strings, neural_models(kind).word_costs(strings), strict=True):
        assert len(costs) == len(string) + 1
        text = spaced(string)
        [(pieces, ends)] = checkpoint.tokenizer.encode(["".join(text)])
        for words in range(1, len(string) + 1):
            inside = [piece for piece, end in zip(pieces, ends, strict=True) if end <= len("".join(text[:words]))]
            wanted = plain.string_cost(checkpoint.read_weights(), [checkpoint.start, *inside], np.float64)
            assert costs[:words].sum() == pytest.approx(wanted, abs=2e-3)
        assert costs.sum() == pytest.approx(plain_cost(checkpoint, string), abs=2e-3)


def test_shared_beginnings_are_computed_once(neural_models: Models, checkpoints: Checkpoints) -> None:
    orders = [list(order) for order in permutations(["the", "cat", "sat", "on", "mat"])]
    encoded = checkpoints("llama").tokenizer.encode([detokenise(order) for order in orders])
    beginnings = {tuple(pieces[:length]) for pieces, _ in encoded for length in range(1, len(pieces) + 1)}
    _, computed = neural_models("llama").count_costs(orders)
    assert computed == len(beginnings) < sum(len(pieces) for pieces, _ in encoded) / 1.3


def test_no_strings_and_empty_ones(neural_models: Models, checkpoints: Checkpoints) -> None:
    model = neural_models("llama")
    assert model.costs([]).shape == (0,)
    assert model.costs([[], []]).tolist() == pytest.approx([plain_cost(checkpoints("llama"), [])] * 2, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", HOSTILE)
def test_any_word_is_only_a_word(neural_models: Models, checkpoints: Checkpoints, kind: str, word: str) -> None:
    model = neural_models(kind)
    strings = [[word], ["the", word, "cat"], [word, word]]
    [first, *_] = model.costs(strings)
    assert first == pytest.approx(plain_cost(checkpoints(kind), [word]), abs=2e-3)
    scored = BagScorer(model, ["the", word]).score([(0, 1), (1, 0)])
    assert np.isfinite(scored.costs).all()
    prefixes = Prefixes(model)
    [number], _ = prefixes.extend([0], [[word]])
    assert prefixes.end_costs([number])[0] == first


def test_a_string_that_is_too_long_is_refused_in_one_line(neural_models: Models) -> None:
    model = neural_models("llama")
    assert np.isfinite(model.costs([["x" * 2046]])).all()
    scorer = BagScorer(model, ["x" * 1000, "y" * 1000, "z" * 47])
    for ask in (lambda: model.costs([["x" * 2047]]), lambda: scorer.score([(2, 0, 1)])):
        with pytest.raises(
            InputError, match=r"found a string of 20\d\d pieces.*; the model takes at most 2046"
        ) as error:
            ask()
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 400


def test_forked_processes_give_the_same(neural_models: Models) -> None:
    model = neural_models("qwen3")
    model.load()
    lists = [shuffles(10, seed=seed) for seed in range(6)]
    for exact in (True, False):
        wanted = [model.costs(strings, exact=exact).tolist() for strings in lists]
        ends = run_tasks(range(len(lists)), lambda i: model.costs(lists[i], exact=exact).tolist(), jobs=3)  # noqa: B023
        assert {end.task: end.result for end in ends} == dict(enumerate(wanted))


def test_a_model_by_its_path(checkpoints: Checkpoints, neural_models: Models) -> None:
    model = load_neural_model(checkpoints("qwen2").path)
    assert model.costs([["the", "cat"]]).tolist() == neural_models("qwen2").costs([["the", "cat"]]).tolist()
    assert model.signature == checkpoints("qwen2").signature
    assert repr(model) == f"NeuralModel('{checkpoints('qwen2').path}', qwen2, 2 layers of 64)"


# ---- the real one


@needs_default
@pytest.mark.slow
def test_the_default_model() -> None:
    model = load_neural_model("default")
    dice = random.Random(1)
    strings = [SENTENCE, *(dice.sample(SENTENCE, len(SENTENCE)) for _ in range(9))]
    exact, rough = model.costs(strings), model.costs(strings, exact=False)
    assert exact[0] == pytest.approx(plain_cost(model.checkpoint, SENTENCE), abs=1e-2)
    for costs in (exact, rough):
        assert costs[0] + 30 < costs[1:].min()
    assert np.sqrt(np.mean((exact - rough) ** 2)) < 3
    for exact_ones in (True, False):
        alone = [model.costs([string], exact=exact_ones)[0] for string in strings[:3]]
        assert alone == model.costs(strings, exact=exact_ones)[:3].tolist()


@needs_default
@pytest.mark.slow
def test_the_default_model_takes_any_word() -> None:
    model = load_neural_model("default")
    strings = [["the", word, "."] for word in HOSTILE]
    assert np.isfinite(model.costs(strings, exact=False)).all()
    for word in HOSTILE:
        assert np.isfinite(BagScorer(model, ["the", word]).score([(0, 1), (1, 0)]).costs).all()
