"""The graphs against lm.neural.plain, which computes the same string by string in numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

from lm.neural import plain
from lm.neural.compiled import Engine, Precision, compiled_folder
from lm.neural.gguf_file import read_gguf
from lm.neural.graph import TILE, write_head
from lm.neural.model import LONGEST_ALIKE
from lm.neural.onnx_graph import TensorFile
from lm.neural.runtime import Session
from lm.neural.trie import Trie, make_trie
from lm.neural.weights import Checkpoint
from tests.lm.neural.tiny import FAMILIES, tiny_model, write_gguf

Checkpoints = Callable[[str], Checkpoint]
STRINGS = 40
WRONG_BY = 2.0  # nats a string, at most: the root of mean squares is 0.1 to 0.5 for tiny models


@pytest.fixture(params=sorted(FAMILIES))
def checkpoint(request: pytest.FixtureRequest, checkpoints: Checkpoints) -> Checkpoint:
    return checkpoints(request.param)


def engine(checkpoint: Checkpoint, precision: Precision) -> Engine:
    return Engine(compiled_folder(checkpoint), precision, checkpoint.shape)


def random_strings(checkpoint: Checkpoint, seed: int = 0) -> list[list[int]]:
    """Strings of up to 60 pieces, half of which go on where another one is left."""
    dice = np.random.default_rng(seed)
    strings: list[list[int]] = []
    for number in range(STRINGS):
        shared = strings[number // 2][: dice.integers(20)] if number % 2 else []
        strings.append(shared + dice.integers(checkpoint.shape.vocabulary, size=dice.integers(1, 40)).tolist())
    return strings


def string_costs(engine: Engine, strings: list[list[int]]) -> np.ndarray:
    """Piece by piece along each string's path, without an end."""
    trie = make_trie(strings)
    states = engine.compute(trie)
    paths = [trie.path(number) for number in range(len(strings))]
    return np.array(
        [engine.costs(states, path[:-1], np.array(string)).sum() for path, string in zip(paths, strings, strict=True)]
    )


def test_float32_is_the_plain_computation(checkpoint: Checkpoint) -> None:
    strings, weights = random_strings(checkpoint), checkpoint.read_weights()
    trie = make_trie(strings)
    fast = engine(checkpoint, "f32")
    states = fast.compute(trie)
    everything = np.arange(checkpoint.shape.vocabulary)
    for number, string in enumerate(strings):
        path = trie.path(number)
        rows = plain.log_probabilities(weights, [checkpoint.start, *string], np.float64)
        np.testing.assert_allclose(fast.table(states, path, everything), -rows, atol=1e-4)
        wanted = -rows[np.arange(len(string)), string]
        np.testing.assert_allclose(fast.costs(states, path[:-1], np.array(string)), wanted, atol=1e-4)


def test_eight_bits_are_close(checkpoint: Checkpoint) -> None:
    strings = random_strings(checkpoint)
    exact, rough = (string_costs(engine(checkpoint, precision), strings) for precision in ("f32", "int8"))
    assert 0 < np.abs(rough - exact).max() < WRONG_BY


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_company_and_order_change_no_bit(checkpoint: Checkpoint, precision: Precision) -> None:
    strings = random_strings(checkpoint)
    some = engine(checkpoint, precision)
    together = string_costs(some, strings)
    turned = string_costs(engine(checkpoint, precision), strings[::-1])[::-1]
    alone = np.concatenate([string_costs(some, [string]) for string in strings])
    assert together.tolist() == turned.tolist() == alone.tolist()


@pytest.mark.parametrize("precision", ["f32", "int8"])
@pytest.mark.parametrize("head", [16, 64, 80, 128, 256])
def test_company_changes_no_bit_of_long_strings(tmp_path: Path, head: int, precision: Precision) -> None:
    """Whatever the width of heads: the runtime parts long sums by the shapes of matrices."""
    model = tiny_model("llama", hidden_size=4 * head, head_dim=head, intermediate_size=96)
    checkpoint = read_gguf(write_gguf(model, tmp_path / "tiny.gguf"))
    some, dice = engine(checkpoint, precision), np.random.default_rng(head)
    for length in (30, 60, 96, 110, 130, 200, LONGEST_ALIKE):
        first = dice.integers(checkpoint.shape.vocabulary, size=length)
        strings = [first.tolist()]
        for kept in (length - 3, length - 10, length - 25, length // 2, 0):
            strings.append([*first[:kept].tolist(), *dice.permutation(first[kept:]).tolist()])
        together = string_costs(some, strings)
        assert together.tolist() == [string_costs(some, [string])[0] for string in strings]


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_kept_states_change_no_bit(checkpoint: Checkpoint, precision: Precision) -> None:
    """The second half of each string on top of the kept first half."""
    strings = random_strings(checkpoint)
    some = engine(checkpoint, precision)
    whole = make_trie(strings)
    wanted = some.compute(whole)
    first = make_trie([string[: len(string) // 2] for string in strings])
    states = some.compute(first)
    keys, values = (
        np.concatenate([getattr(some.start, part), getattr(states, part)], axis=1) for part in ("keys", "values")
    )
    roots = np.array([first.path(number)[-1] for number in range(len(strings))])
    depth = np.concatenate([[0], first.depth])
    rest = make_trie([string[len(string) // 2 :] for string in strings], roots, first.parent, depth)
    found = some.compute(rest, type(states)(states.hidden, states.normaliser, keys, values))
    for number in range(len(strings)):
        ends = whole.path(number)[-1], rest.path(number)[-1]
        assert wanted.hidden[ends[0]].tolist() == found.hidden[ends[1]].tolist()
        assert wanted.normaliser[ends[0]] == found.normaliser[ends[1]]


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_probabilities_behind_each_node_sum_to_one(checkpoint: Checkpoint, precision: Precision) -> None:
    trie = make_trie(random_strings(checkpoint)[:5])
    some = engine(checkpoint, precision)
    costs = some.table(some.compute(trie), np.arange(len(trie.parent)), np.arange(checkpoint.shape.vocabulary))
    np.testing.assert_allclose(np.exp(-costs.astype(np.float64)).sum(axis=1), 1, atol=1e-5)


def test_a_trie_of_no_nodes_has_the_start_alone(checkpoints: Checkpoints) -> None:
    some = engine(checkpoints("llama"), "f32")
    trie: Trie = make_trie([[]])
    states = some.compute(trie)
    assert states.hidden.shape == (1, checkpoints("llama").shape.width)
    assert states.keys.shape[1] == 0


@pytest.mark.parametrize("eight_bits", [False, True])
@pytest.mark.parametrize("vocabulary", [1, 5, TILE, 2 * TILE + 17])
def test_the_normaliser_is_that_of_scipy(tmp_path: Path, vocabulary: int, eight_bits: bool) -> None:
    dice = np.random.default_rng(vocabulary)
    head = dice.standard_normal((vocabulary, 24)).astype(np.float32)
    hidden = (4 * dice.standard_normal((7, 24))).astype(np.float32)
    hidden[0] = 0
    hidden[1] *= 20  # logits of hundreds, whose exponentials are not finite
    with TensorFile(tmp_path / "head.bin") as tensors:
        write_head(tmp_path / "head.onnx", head, tensors, eight_bits=eight_bits)
    [found] = Session(tmp_path / "head.onnx").run(["normaliser"], {"hidden": hidden})
    if eight_bits:
        head, hidden = in_eight_bits(head), in_eight_bits(hidden)
    np.testing.assert_allclose(found, logsumexp(hidden.astype(np.float64) @ head.T, axis=1), rtol=1e-5, atol=1e-5)


def in_eight_bits(rows: np.ndarray) -> np.ndarray:
    """Each row rounded to 255 steps, by hand."""
    step = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-8) / 127
    return np.rint(rows / step) * step
