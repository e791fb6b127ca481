"""Language models by name: the one way to a model.

load_language_model  open the model that a name like `kenlm:news.lm` or `stupid-backoff:news.index:5` stands for
OwnModels            what the names `kenlm:4` and `stupid-backoff:5` stand for where index and models were made together
split_name           the kind and the place in a name
KINDS                the table of kinds; a new kind is a room with a module that has `open_named`, and its line here
MODEL_HELP           what can be named, for the help of commands
VOUCH_HELP           what --vouch says there
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from gyro.errors import InputError

if TYPE_CHECKING:
    from lm.model import LanguageModel


class Entry(NamedTuple):
    """The module that opens models of a kind, how they are named, and what their columns in n-best lists begin with."""

    module: str
    help: str
    column: str


KINDS = {
    "kenlm": Entry("lm.kenlm.model", "a KenLM binary or ARPA file", "LM"),
    "stupid-backoff": Entry("lm.stupid_backoff.model", "stupid-backoff:INDEX[:ORDER]", "SB"),
}
DEFAULT_KIND = "kenlm"
MODEL_HELP = ", or ".join(entry.help for entry in KINDS.values())
VOUCH_HELP = "models and index are of text that was split alike, although of text that came split this is not recorded"


@dataclass(frozen=True)
class OwnModels:
    """The index and the KenLM models, by order, of a pipeline or an experiment."""

    index: Path | None = None
    kenlm: Mapping[int, Path] = field(default_factory=dict)


class Kind(Protocol):
    """A module that opens models of one kind."""

    def open_named(self, place: str, own: OwnModels) -> LanguageModel:
        """The model at the place that stands behind the kind in a name; an order alone means one of its own."""


def load_language_model(name: str, own: OwnModels | None = None) -> LanguageModel:
    """Open a model.

    load_language_model("news.lm")                    # an ARPA file or a KenLM binary; "kenlm:news.lm" is the same
    load_language_model("stupid-backoff:news.index")  # over the counts of a text index, with its order
    load_language_model("stupid-backoff:news.index:4")
    load_language_model("stupid-backoff:4", OwnModels(index))
    """
    kind, place = split_name(name)
    if not place:
        raise InputError(f"found the model {name!r}; {kind}:PLACE is allowed")
    return cast(Kind, import_module(KINDS[kind].module)).open_named(place, own or OwnModels())


def split_name(name: str) -> tuple[str, str]:
    """The kind of model and where it is; what is there under the whole name is a file of KenLM's.

    >>> split_name("stupid-backoff:5"), split_name("news.lm")
    (('stupid-backoff', '5'), ('kenlm', 'news.lm'))
    """
    kind, colon, place = name.partition(":")
    return (kind, place) if colon and kind in KINDS and not os.path.exists(name) else (DEFAULT_KIND, name)
