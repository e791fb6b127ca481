"""Families: frequencies, bounds of sizes, parts of layers."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from gyro.errors import InputError
from lm.neural.family import FAMILIES, LazyLayers, Size, check_size, model_shape, part_shapes, rotary_frequency
from lm.neural.weights import Layer

SIZE = Size(2, 32, 4, 2, 8, 64, 300, 1e-6, 512)
PATH = Path("model.gguf")


def test_frequencies_are_powers_of_the_base_divided() -> None:
    assert np.allclose(rotary_frequency(8, 10_000.0), [1, 0.1, 0.01, 0.001])
    assert np.allclose(rotary_frequency(8, 10_000.0, (1, 1, 2, 8)), [1, 0.1, 0.005, 0.000125])
    assert np.allclose(rotary_frequency(8, 10_000.0, stretch=4.0), [0.25, 0.025, 0.0025, 0.00025])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": 0}, "found 0 as layers of the model; 1 to 512 are read"),
        ({"vocabulary": 1 << 40}, "as vocabulary of the model"),
        ({"key_heads": 8}, "found 8 as key_heads of the model; 1 to 4 are read"),
        ({"key_heads": 3}, "found 4 heads, 3 key heads"),
        ({"head_width": 7}, "width 7 each"),
        ({"base": -1.0}, "not a positive number"),
        ({"stretch": float("inf")}, "not a positive number"),
        ({"factors": (1.0, 2.0)}, "found 2 factors of rotary positions; half the head's width, 4, is read"),
        ({"factors": (1.0, 2.0, 0.0, 1.0)}, "not a positive number"),
    ],
)
def test_sizes_that_no_model_has_are_refused(changes: dict[str, object], message: str) -> None:
    check_size(SIZE, PATH)
    with pytest.raises(InputError, match=message):
        check_size(replace(SIZE, **changes), PATH)  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_part_of_a_layer_has_a_shape(family: str) -> None:
    names = {one.name for one in fields(Layer)}
    shapes = part_shapes(FAMILIES[family], SIZE)
    optional = {one.name for one in fields(Layer) if one.default is None}
    assert names - optional <= shapes.keys() <= names
    assert shapes["query"] == (32, 32)
    assert shapes["key"] == shapes["value"] == (16, 32)


@pytest.mark.parametrize(("context", "longest"), [(512, 512), (1 << 20, 8192)])
def test_strings_are_no_longer_than_sentences_need(context: int, longest: int) -> None:
    assert model_shape("llama", replace(SIZE, context=context)).longest == longest


def test_local_layers_have_their_own_frequencies() -> None:
    shape = model_shape("gemma3", replace(SIZE, layers=4, base=1e6, local_layers=2, stretch=8.0))
    near, far = rotary_frequency(8, 10_000.0), rotary_frequency(8, 1e6, stretch=8.0)
    assert shape.frequencies == (near, far, near, far)


def test_layers_are_read_each_time() -> None:
    read: list[int] = []

    def layer(number: int) -> Layer:
        read.append(number)
        return Layer(*[np.full(1, number, np.float32)] * 9)

    layers = LazyLayers(3, layer)
    assert (len(layers), read) == (3, [])
    assert [int(one.up[0]) for one in layers] == [0, 1, 2]
    assert int(layers[-1].up[0]) == 2
    assert [int(one.up[0]) for one in layers[1:]] == [1, 2]
    assert read == [0, 1, 2, 2, 1, 2]
