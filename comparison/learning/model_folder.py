"""Trained models as folders of plain files, whatever the system.

ModelFormat           what a system writes into model.json
write_model           write weights, settings and what the system knows of words and tags
read_head             what model.json says: settings and signature
read_model            all of it, compared with the signature
check_language_model  that a model has the n-gram model with which it was trained

The folder: model.json (format, settings, signature, facts), grammar.json (what the system gives as such), weights.npz
(places and values of the weights that are not zero).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyro.array_file import read_arrays
from gyro.errors import InputError
from gyro.files import check_type, read_json, write_atomically, write_json
from gyro.version import __version__
from lm.model import LanguageModel

MODEL, GRAMMAR, WEIGHTS = "model.json", "grammar.json", "weights.npz"
LARGEST_BITS = 28

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class ModelFormat(Generic[Settings]):
    """The name and version of a format, and the dataclass of its settings, whose `bits` say how many weights it has."""

    name: str
    version: int
    settings: type[Settings]


class Head(NamedTuple, Generic[Settings]):
    """What model.json says."""

    settings: Settings
    signature: str


class Stored(NamedTuple, Generic[Settings]):
    """What a folder holds."""

    settings: Settings
    signature: str
    grammar: dict[str, Any]
    weights: NDArray[np.float32]


def write_model(
    folder: str | os.PathLike[str],
    format: ModelFormat[Any],
    grammar: Mapping[str, Any],
    weights: NDArray[np.float32],
    settings: Any,
    facts: Mapping[str, Any],
) -> str:
    """Write a model and return its signature; `facts` tell how it came about."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / GRAMMAR, grammar)
    places = np.flatnonzero(weights).astype(np.int32)
    values = weights[places]
    with write_atomically(path / WEIGHTS) as file:
        np.savez(file, places=places, values=values)
    signature = _signature(places, values, path / GRAMMAR)
    made = {"format": format.name, "version": format.version, "gyro": __version__, "signature": signature}
    write_json(path / MODEL, {**made, "facts": dict(facts), "settings": asdict(settings)})
    return signature


def _signature(places: NDArray[np.int32], values: NDArray[np.float32], grammar: Path) -> str:
    return hashlib.sha256(places.tobytes() + values.tobytes() + grammar.read_bytes()).hexdigest()[:12]


def read_head(folder: str | os.PathLike[str], format: ModelFormat[Settings]) -> Head[Settings]:
    """What a model's folder says of its making; settings that this version does not know are passed over."""
    path = Path(folder) / MODEL
    if not path.is_file():
        raise InputError("no model.json here; a folder that gyro train wrote is needed", path=folder)
    value = read_json(path)
    if (value.get("format"), value.get("version")) != (format.name, format.version):
        allowed = f"{format.name!r} version {format.version} is allowed"
        raise InputError(f"found {value.get('format')!r:.60}; {allowed}", path=path)
    known = {field.name for field in fields(format.settings)}  # type: ignore[arg-type]
    given = check_type(dict[str, Any], value.get("settings"), "settings of a model", path)
    settings = {key: value for key, value in given.items() if key in known}
    return Head(check_type(format.settings, settings, "settings of a model", path), str(value.get("signature")))


def read_model(folder: str | os.PathLike[str], format: ModelFormat[Settings]) -> Stored[Settings]:
    """Read a model; files that are not those of its making are refused."""
    settings, signature = read_head(folder, format)
    grammar = read_json(Path(folder) / GRAMMAR)
    weights = np.zeros(1 << settings.bits, dtype=np.float32)  # type: ignore[attr-defined]
    path = Path(folder) / WEIGHTS
    places, values = read_arrays(path, "the weights of a model", places=np.int32, values=np.float32)
    if len(places) != len(values) or (len(places) and not 0 <= places.min() <= places.max() < len(weights)):
        raise InputError(f"not the weights of a model: {len(values)} values do not fit to their places", path=path)
    if _signature(places, values, Path(folder) / GRAMMAR) != signature:
        raise InputError("grammar and weights are not those that model.json was written with", path=folder)
    weights[places] = values
    return Stored(settings, signature, grammar, weights)


def check_language_model(wanted: str, found: LanguageModel | None) -> None:
    """`wanted` is a signature; empty where the model was trained without one."""
    if wanted and (found is None or found.signature != wanted):
        name = "none" if found is None else found.signature
        raise InputError(f"the model was trained with the language model {wanted}; found {name}")
