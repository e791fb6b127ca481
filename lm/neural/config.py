"""The config.json of a Hugging Face folder.

Config       what it says of a model: family, size, marks, and whether the head is the embedding
read_config  read it, and refuse what the forward pass does not have
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gyro.errors import InputError
from gyro.files import read_json
from lm.neural.family import FAMILIES, LOCAL_BASE, Size, check_size, rotary_frequency, typed_value

T = TypeVar("T")

CONFIG = "config.json"
MODEL_TYPES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3_text": "gemma3"}
ACTIVATIONS = {"silu": "silu", "gelu": "gelu_pytorch_tanh"}


@dataclass(frozen=True)
class Config:
    """What a config.json says; marks are the numbers of bos and eos where it gives them."""

    family: str
    size: Size
    tied: bool
    marks: tuple[int | None, int | None]


def read_config(path: Path) -> Config:
    """Read and check it."""
    facts = _Facts(path, read_json(path))
    kind = facts.get("model_type", str, "")
    if kind not in MODEL_TYPES:
        raise InputError(f"found a model of the type {kind[:80]!r}; {', '.join(MODEL_TYPES)} are read", path=path)
    family = MODEL_TYPES[kind]
    wanted = ACTIVATIONS[FAMILIES[family].activation]
    name = "hidden_activation" if "hidden_activation" in facts.values else "hidden_act"
    if (found := facts.get(name, str, wanted)) != wanted:
        raise InputError(f"found the activation {found[:40]!r}; models of {family} have {wanted}", path=path)
    size = _read_size(facts, family)
    tied = facts.get("tie_word_embeddings", bool, family == "gemma3")
    return Config(family, size, tied, (facts.mark("bos_token_id"), facts.mark("eos_token_id")))


class _Facts:
    """The values of a JSON object, of the types that are asked for."""

    def __init__(self, path: Path, values: dict[str, Any]) -> None:
        self.path, self.values = path, values

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """A value; null is as if it were not there, and whole numbers go for fractions."""
        value = self.values.get(name)
        return typed_value(default if value is None else value, kind, name, self.path)

    def part(self, name: str) -> _Facts:
        """The object of this name, empty if there is none."""
        return _Facts(self.path, self.get(name, dict, {}))

    def mark(self, name: str) -> int | None:
        """The number of a piece, or the first of several."""
        value = self.values.get(name)
        value = value[0] if isinstance(value, list) and value else value
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_size(facts: _Facts, family: str) -> Size:
    heads, width = facts.get("num_attention_heads", int), facts.get("hidden_size", int)
    head_width = facts.get("head_dim", int, width // max(heads, 1))
    if not 2 <= head_width <= 4096:
        raise InputError(f"found heads of width {head_width}; 2 to 4096 are read", path=facts.path)
    layers = facts.get("num_hidden_layers", int)
    far, near = _rotary(facts)
    base = far.get("rope_theta", float, facts.get("rope_theta", float, 10_000.0))
    factors, stretch = _scaling(far, head_width, base)
    size = Size(
        layers=layers,
        width=width,
        heads=heads,
        key_heads=facts.get("num_key_value_heads", int, heads),
        head_width=head_width,
        inner=facts.get("intermediate_size", int),
        vocabulary=facts.get("vocab_size", int),
        epsilon=facts.get("rms_norm_eps", float, 1e-6),
        context=_context(facts),
        base=base,
        local_base=near.get("rope_theta", float, facts.get("rope_local_base_freq", float, LOCAL_BASE)),
        factors=factors,
        stretch=stretch,
        local_layers=_local_layers(facts, family, layers),
        attention_width=facts.get("query_pre_attn_scalar", float, float(head_width)) if family == "gemma3" else None,
    )
    check_size(size, facts.path)
    return size


def _context(facts: _Facts) -> int:
    """How long strings may be. Beyond its window a layer would not see a string's beginning: strings end there."""
    longest = facts.get("max_position_embeddings", int, 2048)
    return (
        min(longest, facts.get("sliding_window", int, longest))
        if facts.get("use_sliding_window", bool, True)
        else longest
    )


def _local_layers(facts: _Facts, family: str, layers: int) -> int:
    """Every how many layers one is global; some files list the kinds of all layers instead."""
    every = FAMILIES[family].local_layers
    every = facts.get("sliding_window_pattern", int, facts.get("_sliding_window_pattern", int, every))
    kinds = facts.get("layer_types", list, [])
    if family == "gemma3" and kinds and every > 0:
        wanted = ["sliding_attention" if (layer + 1) % every else "full_attention" for layer in range(min(layers, 512))]
        if kinds != wanted:
            raise InputError(
                f"found other layer_types than one global layer in {every}; those are read", path=facts.path
            )
    return every if family == "gemma3" else 1


def _rotary(facts: _Facts) -> tuple[_Facts, _Facts]:
    """What is said of rotary positions, of all or the global layers and of the local ones: of old and of new files."""
    new = facts.part("rope_parameters")
    if "full_attention" in new.values:
        return new.part("full_attention"), new.part("sliding_attention")
    return (new if new.values else facts.part("rope_scaling")), _Facts(facts.path, {})


def _scaling(rotary: _Facts, head_width: int, base: float) -> tuple[tuple[float, ...], float]:
    """The divisors of the frequencies, and the linear scale of all."""
    kind = rotary.get("rope_type", str, rotary.get("type", str, "default"))
    if kind == "default":
        return (), 1.0
    if kind == "linear":
        return (), rotary.get("factor", float)
    if kind != "llama3":
        found = f"found rotary positions scaled by {kind[:40]!r}"
        raise InputError(f"{found}; default, linear and llama3 are read", path=rotary.path)
    factor, low, high = (rotary.get(name, float) for name in ("factor", "low_freq_factor", "high_freq_factor"))
    trained = rotary.get("original_max_position_embeddings", float)
    if not (factor > 0 and 0 < low < high < math.inf and trained > 0 and base > 0):
        raise InputError(
            "found a rope_scaling of llama3 with numbers that are not above zero and in order", path=rotary.path
        )
    divisors = []
    for frequency in rotary_frequency(head_width, base):
        # Pairs that turn often within the length of training stay as they are; those that hardly turn are slowed.
        turns = trained * frequency / (2 * math.pi)
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        divisors.append(1 / (kept + (1 - kept) / factor))
    return tuple(divisors), 1.0
