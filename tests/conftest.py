"""What many tests share: a small world of real text, with its index and its model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gyro.compilation import QUIET
from gyro.index.build import build_index
from gyro.index.reader import TextIndex, open_index
from gyro.text.corpus import Normalisation, read_sentences
from gyro.text.embedded import write_embedded
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from tests.once import make_once

# Compiled code takes its time at the first example, and a test never asserts a time.
settings.register_profile("gyro", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gyro")

# What programs say on standard error is tested, and must not hang on what is compiled already.
os.environ[QUIET] = "1"
# Nor may the shell that tests are started from decide what they do.
for name in ("GYRO_INDEX", "GYRO_LM", "SPARK_MASTER"):
    os.environ.pop(name, None)

NORMALISATION = Normalisation("spacy-en", True)
SPLIT = Normalisation("none", False)  # of the world's own files, whose tokens are made


@dataclass(frozen=True)
class World:
    """Addresses of 1961–1963 as text, with index and 3-gram model; `held_out` are sentences of 1964–1967."""

    text: Path
    index_path: Path
    model_path: Path
    index: TextIndex
    model: KenlmModel
    held_out: list[list[str]]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = make_once(tmp_path_factory, "world", write_world)
    text, index_path, model_path = (folder / name for name in ("text.tok", "index", "model.lm"))
    held_out = list(read_sentences([folder / "held_out.tok"], SPLIT))
    return World(text, index_path, model_path, open_index(index_path), load_model(model_path), held_out)


def write_world(folder: Path) -> None:
    """The files of the world."""
    for name, years in (("text.tok", "sotu:1961-1963"), ("held_out.tok", "sotu:1964-1967")):
        sentences = read_sentences([write_embedded(years, folder)], NORMALISATION, paragraphs=True)
        (folder / name).write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    text = list(read_sentences([folder / "text.tok"], SPLIT))
    build_index(text, folder / "index", order=5, normalisation=NORMALISATION)
    estimate_model(text, folder / "model.lm", order=3, memory=256 << 20, normalisation=NORMALISATION)
