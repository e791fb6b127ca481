"""Tiny models of every family, ready for the runtime."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lm.neural.gguf_file import read_gguf
from lm.neural.model import NeuralModel
from lm.neural.weights import Checkpoint
from tests.lm.neural.tiny import tiny_model, write_gguf
from tests.once import make_once

# More than one vector of the processor, and room for words of a thousand letters.
NUMBERS = {"hidden_size": 64, "intermediate_size": 96, "max_position_embeddings": 2048, "sliding_window": 2048}


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Checkpoint]:
    """The tiny model of a kind of tests.lm.neural.tiny; its graphs are made beside it when they are first asked for."""

    def make(folder: Path, kind: str) -> None:
        model = tiny_model(kind, seed=3, tied=kind != "llama3", **NUMBERS)
        NeuralModel(read_gguf(write_gguf(model, folder / "tiny.gguf")))

    @cache
    def checkpoint(kind: str) -> Checkpoint:
        folder = make_once(tmp_path_factory, f"neural-{kind}", lambda path: make(path, kind))
        return read_gguf(folder / "tiny.gguf")

    return checkpoint


@pytest.fixture(scope="session")
def neural_models(checkpoints: Callable[[str], Checkpoint]) -> Callable[[str], NeuralModel]:
    """The same as models that score strings."""
    return cache(lambda kind: NeuralModel(checkpoints(kind)))
