"""The families of models that are read: what sets them apart, and the parts that each layer has.

Family            the switches of a family
FAMILIES          the table of them, by the name that GGUF files give
MODELS_READ       them in words, for errors
Size              the numbers that a file gives
model_shape       the shape made of both
check_size        refuse numbers that no model has
part_shapes       the parts of a layer and the shape that each must have
rotary_frequency  the frequencies of rotary positions
typed_value       a fact of a file, of the type that it should have
LazyLayers        layers that are read one by one, when they are asked for
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, overload

from gyro.errors import InputError
from lm.neural.weights import Layer, Shape

T = TypeVar("T")

LONGEST = 8192  # tokens of a string, whatever a model allows: sentences are far shorter
MOST_LAYERS, MOST_WIDTH, MOST_VOCABULARY = 512, 1 << 16, 1 << 22
LOCAL_BASE = 10_000.0  # of the rotary positions of Gemma's local layers
GEMMA_27B_LAYERS = 62  # the one Gemma whose attention is scaled by width / heads


@dataclass(frozen=True)
class Family:
    """What sets a family apart from Llama."""

    interleaved: bool = False  # GGUF files have neighbours as the pairs of the rotary positions
    head_norms: bool = False
    post_norms: bool = False
    biases: bool = False
    activation: Literal["silu", "gelu"] = "silu"
    scaled_embedding: bool = False
    local_layers: int = 1  # every so many layers one looks beyond the window, with a base of its own; 1: all do


FAMILIES = {
    "llama": Family(interleaved=True),
    "qwen2": Family(biases=True),
    "qwen3": Family(head_norms=True),
    "gemma3": Family(head_norms=True, post_norms=True, activation="gelu", scaled_embedding=True, local_layers=6),
}
MODELS_READ = f"models of the families {', '.join(FAMILIES)} are read"


@dataclass(frozen=True)
class Size:
    """The numbers of a model as its file gives them."""

    layers: int
    width: int
    heads: int
    key_heads: int
    head_width: int
    inner: int
    vocabulary: int
    epsilon: float
    context: int
    base: float = 10_000.0  # of the rotary positions
    local_base: float = LOCAL_BASE
    factors: tuple[float, ...] = ()  # that divide the frequencies; none: ones
    stretch: float = 1.0  # linear scaling of positions, of the layers that are not local
    local_layers: int = 1
    attention_width: float | None = None  # attention is scaled by its root; None: as usual in the family


def check_size(size: Size, path: Path) -> None:
    """Refuse numbers that no model has, before anything is made of that size."""
    bounds = {
        "layers": MOST_LAYERS,
        "width": MOST_WIDTH,
        "heads": 1024,
        "key_heads": size.heads,
        "head_width": 4096,
        "inner": 8 * MOST_WIDTH,
        "vocabulary": MOST_VOCABULARY,
        "context": 1 << 31,
        "local_layers": MOST_LAYERS,
    }
    for name, most in bounds.items():
        if not 1 <= getattr(size, name) <= most:
            raise InputError(f"found {getattr(size, name)} as {name} of the model; 1 to {most} are read", path=path)
    if size.heads % size.key_heads or size.head_width % 2:
        found = f"found {size.heads} heads, {size.key_heads} key heads, width {size.head_width} each"
        raise InputError(f"{found}; a multiple of the key heads and an even width are read", path=path)
    attention_width = 1.0 if size.attention_width is None else size.attention_width
    positive = (size.epsilon, size.base, size.local_base, size.stretch, attention_width, *size.factors)
    if not all(0 < number < math.inf for number in positive):
        found = "found an epsilon of norms, a scale of attention or rotary positions"
        raise InputError(f"{found} that is not a positive number; such are read", path=path)
    if size.factors and len(size.factors) != size.head_width // 2:
        found = f"found {len(size.factors)} factors of rotary positions"
        raise InputError(f"{found}; half the head's width, {size.head_width // 2}, is read", path=path)


def model_shape(name: str, size: Size) -> Shape:
    """The shape of a model whose size has been checked."""
    family = FAMILIES[name]
    far = rotary_frequency(size.head_width, size.base, size.factors, size.stretch)
    near = rotary_frequency(size.head_width, size.local_base)
    local = [size.local_layers > 1 and (layer + 1) % size.local_layers != 0 for layer in range(size.layers)]
    attention_width = size.head_width if size.attention_width is None else size.attention_width
    return Shape(
        family=name,
        layers=size.layers,
        width=size.width,
        heads=size.heads,
        key_heads=size.key_heads,
        head_width=size.head_width,
        inner=size.inner,
        vocabulary=size.vocabulary,
        epsilon=size.epsilon,
        frequencies=tuple(near if is_local else far for is_local in local),
        attention_scale=attention_width**-0.5,
        activation=family.activation,
        embedding_scale=math.sqrt(size.width) if family.scaled_embedding else 1.0,
        longest=min(size.context, LONGEST),
    )


def rotary_frequency(
    head_width: int, base: float, factors: Sequence[float] = (), stretch: float = 1.0
) -> tuple[float, ...]:
    """By how much a position turns each pair of a head.

    >>> rotary_frequency(4, 100.0)
    (1.0, 0.1)
    """
    divisors = factors or [1.0] * (head_width // 2)
    return tuple(base ** (-2 * pair / head_width) / divisors[pair] / stretch for pair in range(head_width // 2))


def part_shapes(family: Family, size: Size) -> dict[str, tuple[int, ...]]:
    """The parts of each layer, by their names in `Layer`."""
    queries, keys = size.heads * size.head_width, size.key_heads * size.head_width
    shapes: dict[str, tuple[int, ...]] = {
        "attention_norm": (size.width,),
        "query": (queries, size.width),
        "key": (keys, size.width),
        "value": (keys, size.width),
        "output": (size.width, queries),
        "feed_norm": (size.width,),
        "gate": (size.inner, size.width),
        "up": (size.inner, size.width),
        "down": (size.width, size.inner),
    }
    if family.biases:
        shapes |= {"query_bias": (queries,), "key_bias": (keys,), "value_bias": (keys,)}
    if family.head_norms:
        shapes |= {"query_norm": (size.head_width,), "key_norm": (size.head_width,)}
    if family.post_norms:
        shapes |= {"attention_post_norm": (size.width,), "feed_post_norm": (size.width,)}
    return shapes


def typed_value(value: object, kind: type[T], name: str, path: Path) -> T:
    """The value, of this type; a whole number goes for a fraction.

    >>> typed_value(3, float, "factor", Path("config.json"))
    3.0
    """
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        found = "nothing" if value is None else _IN_WORDS.get(type(value), "something else")
        raise InputError(f"found {found} as {name}; {_IN_WORDS[kind]} is read there", path=path)
    return value


_IN_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class LazyLayers(Sequence[Layer]):
    """Layers that are read when they are asked for, and not kept: in float32 they may not fit into memory."""

    def __init__(self, count: int, read: Callable[[int], Layer]) -> None:
        self._count, self._read = count, read

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Layer: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Layer]: ...

    def __getitem__(self, number: int | slice) -> Layer | Sequence[Layer]:
        numbers = range(self._count)[number]
        return self._read(numbers) if isinstance(numbers, int) else [self._read(one) for one in numbers]
