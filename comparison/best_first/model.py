"""Trained models of the best-first decoder, as folders of plain files.

ModelSettings     all that decides how a model was made and how it decodes
BestFirstModel    a grammar, its weights and settings
save_model        write one
load_model        read one
kernel_options    the settings as the compiled code takes them

The folder: model.json (format, settings, signature), grammar.json, weights.npz (places and values of the weights that
are not zero), perhaps tagger/ (a CCG multi-tagger), training.jsonl and training.svg (how the training went).
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.learner import METHODS
from comparison.best_first.problem import Grammar
from comparison.best_first.state import (
    Options,
)
from gyro.array_file import read_arrays
from gyro.errors import InputError
from gyro.files import check_type, read_json, write_atomically, write_json
from gyro.version import __version__

FORMAT, VERSION = "gyro best-first model", 1
GRAMMARS: dict[str, type[DependencyGrammar] | type[CcgInventory]] = {
    "ccg": CcgInventory,
    "dependency": DependencyGrammar,
}
MODEL, GRAMMAR, WEIGHTS, TAGGER = "model.json", "grammar.json", "weights.npz", "tagger"
_LARGEST_BITS = 28
_DAMAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # of JSON whose values are not ours


@dataclass(frozen=True)
class ModelSettings:
    """How a model is made. `given` is what the bags of training had: "pos", "heads", "units", "lemmas"."""

    grammar: str = "dependency"
    method: str = "scaled-negatives"
    beam: int = 64
    by_size: bool = False
    keep_leaves: bool = True
    given: tuple[str, ...] = ("pos",)
    tags: str = "xpos"
    labels: bool = False
    dp: bool = True
    cutoff: int = 20
    beta: float = 0.0  # CCG: candidate categories by the multi-tagger; 0: all of the dictionary's
    lm: str = ""  # the signature of the language model
    lm_weight: float = 0.0
    bits: int = 22
    budget: int = 20_000
    iterations: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(self.given))
        allowed: dict[str, Collection[str]] = {"grammar": GRAMMARS, "method": METHODS, "tags": ("xpos", "upos")}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise InputError(f"found the {name} {getattr(self, name)!r}; allowed are {', '.join(values)}")
        for known in self.given:
            if known not in ("pos", "heads", "units", "lemmas"):
                raise InputError(f"found {known!r} as given; allowed are pos, heads, units and lemmas")
        for name, least in (("beam", 1), ("budget", 100), ("iterations", 1), ("cutoff", 0), ("beta", 0), ("seed", 0)):
            if not getattr(self, name) >= least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if not math.isfinite(self.lm_weight):
            raise InputError(f"found the weight {self.lm_weight} of the language model; a number is allowed")
        if not 10 <= self.bits <= _LARGEST_BITS:
            raise InputError(f"found {self.bits} bits; 10 to {_LARGEST_BITS} are allowed")


@dataclass(frozen=True)
class BestFirstModel:
    """A trained model."""

    grammar: Grammar
    weights: NDArray[np.float32]
    settings: ModelSettings
    signature: str = ""


class Found(NamedTuple):
    """What model.json says."""

    settings: ModelSettings
    signature: str


def kernel_options(settings: ModelSettings, goals: int = 1) -> Options:
    """The settings as the compiled code takes them."""
    return Options(
        scaled=int(METHODS[settings.method].scaled),
        beam=settings.beam,
        by_size=int(settings.by_size),
        keep_leaves=int(settings.keep_leaves),
        goals=goals,
        lm_weight=float(settings.lm_weight),
    )


def save_model(
    folder: str | os.PathLike[str],
    grammar: DependencyGrammar | CcgInventory,
    weights: NDArray[np.float32],
    settings: ModelSettings,
    facts: Mapping[str, Any],
) -> str:
    """Write a model and return its signature; `facts` tell how it came about."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / GRAMMAR, grammar.to_json())
    places = np.flatnonzero(weights).astype(np.int32)
    values = weights[places]
    with write_atomically(path / WEIGHTS) as file:
        np.savez(file, places=places, values=values)
    signature = _signature(places, values, path / GRAMMAR)
    made = {"format": FORMAT, "version": VERSION, "gyro": __version__, "signature": signature, "facts": dict(facts)}
    write_json(path / MODEL, {**made, "settings": asdict(settings)})
    return signature


def _signature(places: NDArray[np.int32], values: NDArray[np.float32], grammar: Path) -> str:
    return hashlib.sha256(places.tobytes() + values.tobytes() + grammar.read_bytes()).hexdigest()[:12]


def read_settings(folder: str | os.PathLike[str]) -> Found:
    """What a model's folder says of its making."""
    path = Path(folder) / MODEL
    if not path.is_file():
        raise InputError("no model.json here; a folder that gyro train wrote is needed", path=folder)
    value = read_json(path)
    if (value.get("format"), value.get("version")) != (FORMAT, VERSION):
        raise InputError(f"found {value.get('format')!r:.60}; {FORMAT!r} version {VERSION} is allowed", path=path)
    known = {field.name for field in fields(ModelSettings)}
    given = check_type(dict[str, Any], value.get("settings"), "settings of a model", path)
    settings = check_type(ModelSettings, {k: v for k, v in given.items() if k in known}, "settings of a model", path)
    return Found(settings, str(value.get("signature")))


def load_model(folder: str | os.PathLike[str]) -> BestFirstModel:
    """Read a model."""
    settings, signature = read_settings(folder)
    path = Path(folder) / GRAMMAR
    try:
        grammar = GRAMMARS[settings.grammar].from_json(read_json(path))
    except _DAMAGE as error:
        raise InputError(f"not the grammar of a model: {error!r:.60}", path=path) from error
    weights = np.zeros(1 << settings.bits, dtype=np.float32)
    path = Path(folder) / WEIGHTS
    places, values = read_arrays(path, "the weights of a model", places=np.int32, values=np.float32)
    if len(places) != len(values) or (len(places) and not 0 <= places.min() <= places.max() < len(weights)):
        raise InputError(f"not the weights of a model: {len(values)} values do not fit to their places", path=path)
    if _signature(places, values, Path(folder) / GRAMMAR) != signature:
        raise InputError("grammar and weights are not those that model.json was written with", path=folder)
    weights[places] = values
    return BestFirstModel(grammar, weights, settings, signature)
