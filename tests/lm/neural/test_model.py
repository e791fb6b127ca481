from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.pool import run_tasks
from gyro.text.detokenise import Glue, detokenise, glue, spaced
from lm.neural import model as module
from lm.neural import plain
from lm.neural.embedded import find_default
from lm.neural.model import NeuralModel, load_neural_model
from lm.neural.weights import Checkpoint, Pieces
from tests.lm.neural.tiny import FAMILIES

Checkpoints = Callable[[str], Checkpoint]
Models = Callable[[str], NeuralModel]
KINDS = sorted(FAMILIES)
WORDS = ["the", "cat", "did", "n't", "know", "3", "%", ",", "it", "was", '"', "the", "mat", "-", "end", "."]
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


def shuffles(number: int, words: Sequence[str] = WORDS, seed: int = 0) -> list[list[str]]:
    """Strings of some of the words."""
    dice = random.Random(seed)
    return [dice.sample(list(words), dice.randrange(len(words) + 1)) for _ in range(number)]


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
    scored = model.scorer(["the", word]).score([(0, 1), (1, 0)])
    assert np.isfinite(scored.costs).all()
    prefixes = model.prefixes()
    [number], _ = prefixes.extend([0], [[word]])
    assert prefixes.end_costs([number])[0] == first


def test_a_string_that_is_too_long_is_refused_in_one_line(neural_models: Models) -> None:
    model = neural_models("llama")
    assert np.isfinite(model.costs([["x" * 2046]])).all()
    scorer = model.scorer(["x" * 1000, "y" * 1000, "z" * 47])
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


# ---- the strings of one bag


@pytest.fixture(params=KINDS)
def exact_twin(request: pytest.FixtureRequest, checkpoints: Checkpoints) -> NeuralModel:
    """A model whose eight bits are float32, so that what a scorer says can be compared with the plain computation."""
    model = NeuralModel(checkpoints(request.param))
    model._engines["int8"] = model.engine(exact=True)
    return model


def bag_strings(words: Sequence[str], counts: Sequence[int], number: int) -> list[tuple[int, ...]]:
    dice = random.Random(5)
    tokens = [word for word, count in enumerate(counts) for _ in range(count)]
    return [tuple(dice.sample(tokens, len(tokens))) for _ in range(number)]


BAG = (["the", "cat", "did", "n't", "know", ".", '"', "-"], [2, 1, 1, 1, 1, 1, 2, 1])


def test_a_scorer_gives_the_costs_of_the_model(neural_models: Models) -> None:
    words, counts = BAG
    model, strings = neural_models("gemma3"), bag_strings(words, counts, 30)
    scorer = model.scorer(words)
    tokens = [[words[word] for word in string] for string in strings]
    rough, computed = model.count_costs(tokens, exact=False)
    assert scorer.score(strings).costs.tolist() == rough.tolist()
    assert scorer.computed == computed
    exact, more = model.count_costs(tokens[:5])
    assert scorer.decide(strings[:5]).tolist() == exact.tolist()
    assert scorer.computed == computed + more


def test_each_beginning_is_told_once(neural_models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    words, counts = BAG
    strings = bag_strings(words, counts, 40)
    scorer = neural_models("llama").scorer(words)
    monkeypatch.setattr(module, "MOST_NODES", 60)  # so that there are several batches
    told = [scorer.score(some) for some in (strings[:15], strings[10:30], strings)]
    prefixes = [prefix for scored in told for prefix in scored.prefixes]
    assert len(prefixes) == len(set(prefixes))
    assert set(prefixes) == {string[:length] for string in strings for length in range(len(string) + 1)}
    assert all(scored.next_cost.shape == (len(scored.prefixes), len(words) + 1) for scored in told)


def test_what_may_follow_a_beginning(exact_twin: NeuralModel) -> None:
    words, counts = BAG
    strings = bag_strings(words, counts, 12)
    scored = exact_twin.scorer(words).score(strings)
    checkpoint = exact_twin.checkpoint
    weights = checkpoint.read_weights()
    for prefix, row in zip(scored.prefixes, scored.next_cost, strict=True):
        left = np.array(counts) - np.bincount(prefix, minlength=len(words)) if prefix else np.array(counts)
        assert np.isnan(row).tolist() == [*(left == 0).tolist(), len(prefix) < sum(counts)]
        pieces = pieces_of_beginning(
            checkpoint.tokenizer, next(s for s in strings if s[: len(prefix)] == prefix), prefix
        )
        behind = -plain.log_probabilities(weights, [checkpoint.start, *pieces], np.float64)[-1]
        wanted = [behind[next_piece(checkpoint.tokenizer, prefix, word, behind)] for word in np.flatnonzero(left)]
        wanted += [behind[checkpoint.end]] if len(prefix) == sum(counts) else []
        np.testing.assert_allclose(row[~np.isnan(row)], wanted, atol=1e-3)


def pieces_of_beginning(tokenizer: Pieces, string: Sequence[int], prefix: Sequence[int]) -> list[int]:
    """Those of the whole string that end within the text of its beginning."""
    parts = spaced([BAG[0][word] for word in string])
    [(pieces, ends)] = tokenizer.encode(["".join(parts)])
    limit = len("".join(parts[: len(prefix)]))
    return [piece for piece, end in zip(pieces, ends, strict=True) if end <= limit and limit]


def next_piece(tokenizer: Pieces, prefix: Sequence[int], word: int, behind: np.ndarray) -> int:
    """The first piece of a word behind a beginning, in the text of the last two words; the better if that is open."""
    words = BAG[0]
    if not prefix:
        return tokenizer.encode([words[word]])[0][0][0]
    last = words[prefix[-1]]
    found = []
    for kind, blank in ((Glue.NONE, ""), (Glue.BLANK, " ")):
        if glue(last, words[word]) in (kind, Glue.OPEN):
            [(pieces, ends)] = tokenizer.encode([f"{last}{blank}{words[word]}"])
            found.append(next(piece for piece, end in zip(pieces, ends, strict=True) if end > len(last)))
    return min(found, key=lambda piece: behind[piece])


class WithoutControls:
    """A tokenizer without pieces for control characters, as that of the default model is."""

    def __init__(self, tokenizer: Pieces) -> None:
        self.tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        found = []
        for text, (pieces, ends) in zip(texts, self.tokenizer.encode(texts), strict=True):
            kept = [(piece, end) for piece, end in zip(pieces, ends, strict=True) if text[end - 1] >= " "]
            found.append(([piece for piece, _ in kept], [end for _, end in kept]))
        return found


def test_a_word_without_pieces_costs_nothing(checkpoints: Checkpoints) -> None:
    checkpoint = checkpoints("llama")
    model = NeuralModel(replace(checkpoint, tokenizer=WithoutControls(checkpoint.tokenizer)))
    scored = model.scorer(["the", "\x01"]).score([(0, 1), (1, 0)])
    assert scored.next_cost[scored.prefixes.index(()), 1] == 0
    assert model.costs([["\x01"]]).tolist() == model.costs([[]]).tolist()
    assert model.prefixes().extend([0], [["\x01"]])[1].tolist() == [0]


# ---- beginnings that are kept


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_extended_beginnings_cost_what_whole_strings_do(neural_models: Models, kind: str, exact: bool) -> None:
    model = neural_models(kind)
    strings = [string for string in shuffles(20, ["the", "cat", "did", "n't", "know", "3", ",", "."]) if string]
    prefixes = model.prefixes(exact=exact)
    numbers = [0] * len(strings)
    for place in range(max(map(len, strings))):
        going = [i for i, string in enumerate(strings) if place < len(string)]
        made, _ = prefixes.extend([numbers[i] for i in going], [[strings[i][place]] for i in going])
        for i, number in zip(going, made, strict=True):
            numbers[i] = number
    assert len(prefixes) == 1 + sum(map(len, strings))
    np.testing.assert_allclose(prefixes.end_costs(numbers), model.costs(strings, exact=exact), atol=2e-3)


def test_several_words_at_once(neural_models: Models) -> None:
    prefixes = neural_models("llama").prefixes()
    [the], [cost] = prefixes.extend([0], [["the"]])
    [cat], _ = prefixes.extend([the], [["cat"]])
    one_by_one, costs = prefixes.extend([cat, the], [["sat"], ["mat"]])
    at_once, same = prefixes.extend([0, 0], [["the", "cat", "sat"], ["the", "mat"]])
    assert costs.tolist() == pytest.approx(same.tolist(), abs=2e-3)
    assert cost < costs.min()
    assert prefixes.end_costs(one_by_one) == pytest.approx(prefixes.end_costs(at_once), abs=2e-3)


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
        assert np.isfinite(model.scorer(["the", word]).score([(0, 1), (1, 0)]).costs).all()
