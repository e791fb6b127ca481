"""Language models by name.

load_language_model  open the model that a string names: a file of KenLM's, or `stupid-backoff:INDEX[:ORDER]`
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from gyro.errors import InputError
from gyro.index import open_index
from lm.kenlm_model import load_model
from lm.model import LanguageModel
from lm.stupid_backoff import StupidBackoff


def _load_stupid_backoff(place: str) -> LanguageModel:
    match = None if os.path.isdir(place) else re.fullmatch(r"(.+):(\d+)", place)
    return StupidBackoff(open_index(match[1] if match else place), int(match[2]) if match else None)


KINDS: dict[str, Callable[[str], LanguageModel]] = {"kenlm": load_model, "stupid-backoff": _load_stupid_backoff}


def load_language_model(name: str) -> LanguageModel:
    """Open a model.

    load_language_model("news.lm")                    # an ARPA file or a KenLM binary; "kenlm:news.lm" is the same
    load_language_model("stupid-backoff:news.index")  # over the counts of a text index, with its order
    load_language_model("stupid-backoff:news.index:4")
    """
    kind, colon, place = name.partition(":")
    if colon and kind in KINDS and not os.path.exists(name):
        if not place:
            raise InputError(f"found the model {name!r}; {kind}:PLACE is allowed")
        return KINDS[kind](place)
    if os.path.isdir(name):
        raise InputError("found a folder; a file of KenLM's, or stupid-backoff:INDEX is allowed", path=name)
    return load_model(name)
