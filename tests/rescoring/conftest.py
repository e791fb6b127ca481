"""A small text with its models: KenLM's and stupid backoff, from an index."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from gyro.index.build import build_index
from gyro.index.reader import open_index
from gyro.text.corpus import Normalisation
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from lm.stupid_backoff.model import StupidBackoff

SPLIT = Normalisation("none")


@dataclass(frozen=True)
class Models:
    """A text of the words a to e with a 3-gram and a 5-gram model and an index."""

    trigram: KenlmModel
    fivegram: KenlmModel
    backoff: StupidBackoff


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    folder, chance = tmp_path_factory.mktemp("models"), random.Random(5)
    text = [chance.choices("abcde", weights=[5, 4, 3, 2, 1], k=chance.randint(1, 9)) for _ in range(150)]
    build_index(text, folder / "index", normalisation=SPLIT)
    for order in (3, 5):
        estimate_model(text, folder / f"{order}.lm", order=order, memory="64M", normalisation=SPLIT)
    trigram, fivegram = (load_model(folder / f"{order}.lm") for order in (3, 5))
    return Models(trigram, fivegram, StupidBackoff(open_index(folder / "index")))
