"""Trained models of the transition system, as folders of plain files.

TransitionSettings   all that decides how a model was made and how it decodes
TransitionModel      a grammar, its weights and settings
save_model           write one
read_settings        what its folder says of its making
load_model           read one
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comparison.learning.model_folder import (
    GRAMMAR,
    LARGEST_BITS,
    Head,
    ModelFormat,
    read_head,
    read_model,
    write_model,
)
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.state import Singles
from gyro.errors import InputError

KNOWN = ("pos", "heads", "units")
_DAMAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # of JSON whose values are not ours


@dataclass(frozen=True)
class TransitionSettings:
    """How a model is made. `given` is what the bags of training had; `lm` the signature of its language model."""

    beam: int = 64
    given: tuple[str, ...] = ("pos",)
    tags: str = "xpos"
    templates: str = "standard"
    shift_tags: bool = False
    bins: str = "lexical"
    lm_weight: float = 0.0
    lm: str = ""
    bits: int = 24
    iterations: int = 10
    patience: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(self.given))
        _ = self.features  # these are checked there
        for known in self.given:
            if known not in KNOWN:
                raise InputError(f"found {known!r} as given; allowed are {', '.join(KNOWN)}")
        if self.tags not in ("xpos", "upos"):
            raise InputError(f"found the tags {self.tags!r}; allowed are xpos, upos")
        for name, least in (("beam", 1), ("iterations", 1), ("patience", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if not 10 <= self.bits <= LARGEST_BITS:
            raise InputError(f"found {self.bits} bits; 10 to {LARGEST_BITS} are allowed")

    @property
    def features(self) -> Features:
        """The features that these settings ask for."""
        return Features(self.templates, self.shift_tags, self.bins, self.lm_weight)


@dataclass(frozen=True)
class TransitionModel:
    """A trained model."""

    grammar: TransitionGrammar
    weights: Singles
    settings: TransitionSettings
    signature: str = ""


FORMAT = ModelFormat("gyro transition model", 1, TransitionSettings)


def save_model(
    folder: str | os.PathLike[str],
    grammar: TransitionGrammar,
    weights: Singles,
    settings: TransitionSettings,
    facts: Mapping[str, Any],
) -> str:
    """Write a model and return its signature; `facts` tell how it came about."""
    return write_model(folder, FORMAT, grammar.to_json(), weights, settings, facts)


def read_settings(folder: str | os.PathLike[str]) -> Head[TransitionSettings]:
    """What a model's folder says of its making."""
    return read_head(folder, FORMAT)


def load_model(folder: str | os.PathLike[str]) -> TransitionModel:
    """Read a model."""
    stored = read_model(folder, FORMAT)
    try:
        grammar = TransitionGrammar.from_json(stored.grammar, stored.settings.features)
    except _DAMAGE as error:
        path = Path(folder) / GRAMMAR
        raise InputError(f"not the grammar of a model: {error!r:.60}", path=path) from error
    return TransitionModel(grammar, stored.weights, stored.settings, stored.signature)
