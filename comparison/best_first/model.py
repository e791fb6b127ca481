"""Trained models of the best-first decoder, as folders of plain files.

ModelSettings     all that decides how a model was made and how it decodes
BestFirstModel    a grammar, its weights and settings
kernel_options    the settings as the compiled code takes them
save_model        write one
read_settings     what its folder says of its making
load_model        read one

The folder is that of comparison.learning.model_folder, with what training leaves beside it and perhaps tagger/, a CCG
multi-tagger.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.learner import METHODS
from comparison.best_first.problem import Grammar
from comparison.best_first.state import Options
from comparison.best_first.template import TABLE_2, TEMPLATE_SETS
from comparison.learning.model_folder import (
    GRAMMAR,
    LARGEST_BITS,
    Head,
    ModelFormat,
    read_head,
    read_model,
    write_model,
)
from gyro.errors import InputError

GRAMMARS: dict[str, type[DependencyGrammar] | type[CcgInventory]] = {
    "ccg": CcgInventory,
    "dependency": DependencyGrammar,
}
TAGGER = "tagger"
_DAMAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # of JSON whose values are not ours


@dataclass(frozen=True)
class ModelSettings:
    """How a model is made. `given` is what the bags of training had: "pos", "heads", "units", "lemmas"."""

    grammar: str = "dependency"
    method: str = "scaled-negatives"
    beam: int = 64
    by_size: bool = False
    keep_leaves: bool = True
    variants: int = 0  # edges in the chart that have the same words and head; 0: any number
    given: tuple[str, ...] = ("pos",)
    tags: str = "xpos"
    labels: bool = False
    templates: str = TABLE_2  # of the features of dependency trees
    dp: bool = True
    cutoff: int = 20
    beta: float = 0.0  # CCG: candidate categories by the multi-tagger; 0: all of the dictionary's
    lm: str = ""  # the signature of the language model
    lm_weight: float = 0.0
    bits: int = 22
    step: float = 1.0  # the largest of a large-margin update, 0: any; that of the perceptron
    average: bool = True
    tree_beam: int = 16  # partial trees kept in learning where all heads are given; 0: such sentences by agenda too
    budget: int = 20_000  # edges scored in learning a sentence of LONG units at most; with more, times (units / LONG)²
    iterations: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(self.given))
        allowed: dict[str, Collection[str]] = {"grammar": GRAMMARS, "method": METHODS, "tags": ("xpos", "upos")}
        allowed["templates"] = TEMPLATE_SETS
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise InputError(f"found the {name} {getattr(self, name)!r}; allowed are {', '.join(values)}")
        for known in self.given:
            if known not in ("pos", "heads", "units", "lemmas"):
                raise InputError(f"found {known!r} as given; allowed are pos, heads, units and lemmas")
        at_least = {
            "beam": 1,
            "variants": 0,
            "tree_beam": 0,
            "budget": 100,
            "iterations": 1,
            "cutoff": 0,
            "beta": 0,
            "seed": 0,
            "step": 0,
        }
        for name, least in at_least.items():
            if not getattr(self, name) >= least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if not math.isfinite(self.lm_weight):
            raise InputError(f"found the weight {self.lm_weight} of the language model; a number is allowed")
        if not 10 <= self.bits <= LARGEST_BITS:
            raise InputError(f"found {self.bits} bits; 10 to {LARGEST_BITS} are allowed")


@dataclass(frozen=True)
class BestFirstModel:
    """A trained model."""

    grammar: Grammar
    weights: NDArray[np.float32]
    settings: ModelSettings
    signature: str = ""


FORMAT = ModelFormat("gyro best-first model", 2, ModelSettings)


def kernel_options(settings: ModelSettings, goals: int = 1) -> Options:
    """The settings as the compiled code takes them."""
    return Options(
        scaled=int(METHODS[settings.method].scaled),
        beam=settings.beam,
        by_size=int(settings.by_size),
        keep_leaves=int(settings.keep_leaves),
        goals=goals,
        lm_weight=float(settings.lm_weight),
        variants=settings.variants,
    )


def save_model(
    folder: str | os.PathLike[str],
    grammar: DependencyGrammar | CcgInventory,
    weights: NDArray[np.float32],
    settings: ModelSettings,
    facts: Mapping[str, Any],
) -> str:
    """Write a model and return its signature; `facts` tell how it came about."""
    return write_model(folder, FORMAT, grammar.to_json(), weights, settings, facts)


def read_settings(folder: str | os.PathLike[str]) -> Head[ModelSettings]:
    """What a model's folder says of its making."""
    return read_head(folder, FORMAT)


def load_model(folder: str | os.PathLike[str]) -> BestFirstModel:
    """Read a model."""
    stored = read_model(folder, FORMAT)
    try:
        grammar = GRAMMARS[stored.settings.grammar].from_json(stored.grammar)
    except _DAMAGE as error:
        path = Path(folder) / GRAMMAR
        raise InputError(f"not the grammar of a model: {error!r:.60}", path=path) from error
    return BestFirstModel(grammar, stored.weights, stored.settings, stored.signature)
