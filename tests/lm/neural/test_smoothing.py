from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from lm.neural import plain
from lm.neural.graph import write_body
from lm.neural.onnx_graph import TensorFile
from lm.neural.runtime import Session
from lm.neural.smoothing import smooth
from lm.neural.trie import make_blocks, make_trie
from lm.neural.weights import Checkpoint, Matrix, Weights
from tests.lm.neural.tiny import FAMILIES

Checkpoints = Callable[[str], Checkpoint]
PARTS = ("attention", "output", "feed", "down")
STRING = [7, 30, 99, 30, 12, 45, 200, 8, 61, 17]


@pytest.fixture(params=sorted(FAMILIES))
def weights(request: pytest.FixtureRequest, checkpoints: Checkpoints) -> Weights:
    return checkpoints(request.param).read_weights()


def random_ranges(weights: Weights) -> dict[str, Matrix]:
    """Sizes of activations from one to a thousand, for every channel of every product."""
    shape, dice = weights.shape, np.random.default_rng(0)
    widths = (shape.width, shape.heads * shape.head_width, shape.width, shape.inner)
    return {
        f"{number}.{part}": (10 ** dice.uniform(0, 3, width)).astype(np.float32)
        for number in range(shape.layers)
        for part, width in zip(PARTS, widths, strict=True)
    }


def test_a_smoothed_model_is_the_same_model(weights: Weights) -> None:
    ranges = random_ranges(weights)
    head_range = ranges["0.attention"]
    smoothed = smooth(weights, ranges, head_range)
    wanted = plain.log_probabilities(weights, STRING, np.float64)
    np.testing.assert_allclose(plain.log_probabilities(smoothed, STRING, np.float64), wanted, atol=1e-3)
    changed = [
        np.abs(a.attention_norm / b.attention_norm) for a, b in zip(weights.layers, smoothed.layers, strict=True)
    ]
    assert min(ratio.max() / ratio.min() for ratio in changed) > 10


def test_large_channels_become_small_ones(weights: Weights) -> None:
    """Of each row the largest activation decides the step of all others: it must not stand far above them."""
    ranges = random_ranges(weights)
    for name in ranges:
        ranges[name][3] = 1e5
    smoothed = smooth(weights, ranges, ranges["0.attention"])
    for number, (before, after) in enumerate(zip(weights.layers, smoothed.layers, strict=True)):
        ratio = np.abs(after.attention_norm / before.attention_norm)
        assert ratio.argmin() == 3
        new = ranges[f"{number}.attention"] * ratio
        assert new.max() / np.median(new) < ranges[f"{number}.attention"].max() / np.median(new / ratio) / 50


def test_layers_are_made_when_they_are_asked_for(weights: Weights) -> None:
    smoothed = smooth(weights, random_ranges(weights), random_ranges(weights)["0.feed"])
    assert len(smoothed.layers) == len(weights.layers) == len(list(smoothed.layers))
    with pytest.raises(IndexError):
        smoothed.layers[len(weights.layers)]


def test_ranges_are_what_numpy_sees(weights: Weights, tmp_path: Path) -> None:
    shape = weights.shape
    observer = tmp_path / "observer.onnx"
    with TensorFile(tmp_path / "f32.bin") as tensors:
        write_body(tmp_path / "body.onnx", weights, tensors, observe=observer)
    session = Session(observer)
    assert session.output_names()[3:] == [f"{number}.{part}" for number in range(shape.layers) for part in PARTS]
    found = run_from_nothing(session, weights, STRING)
    for name, wanted in plain_ranges(weights, STRING).items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-4, atol=1e-5)


def run_from_nothing(session: Session, weights: Weights, string: Sequence[int]) -> dict[str, Matrix]:
    """One string whose first piece is at place 0; the kept node is masked for it, as it has no parent."""
    shape, size = weights.shape, len(string)
    trie = make_trie([list(string)])
    blocks = make_blocks(trie, size)
    mask = blocks.mask.copy()
    mask[:, :, blocks.keys[0] == 0] = -1e9
    none = np.zeros((shape.layers, 1, shape.key_heads, shape.head_width), np.float32)
    inputs = {
        "stream": weights.embedding[list(string)] * np.float32(shape.embedding_scale),
        "position": np.arange(size, dtype=np.float32),
        "keys": blocks.keys,
        "mask": mask[:, None, None],
        "kept_keys": none,
        "kept_values": none,
    }
    names = session.output_names()
    return dict(zip(names, session.run(names, inputs), strict=True))


def plain_ranges(weights: Weights, string: Sequence[int]) -> dict[str, Matrix]:
    """The largest inputs of each product, caught on their way through the plain computation."""
    seen: list[tuple[Matrix, Matrix]] = []
    linear = plain._linear

    def watched(rows: Matrix, matrix: Matrix, bias: Matrix | None = None) -> Matrix:
        seen.append((rows, matrix))
        return linear(rows, matrix, bias)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "_linear", watched)
        plain.hidden_states(weights, string)
    largest = [np.abs(rows).max(axis=0) for rows, _ in seen]
    assert len(largest) == 7 * weights.shape.layers  # query, key, value, output, gate, up, down
    places = dict(zip(PARTS, (0, 3, 4, 6), strict=True))
    return {
        f"{number}.{part}": largest[7 * number + place]
        for number in range(weights.shape.layers)
        for part, place in places.items()
    }
