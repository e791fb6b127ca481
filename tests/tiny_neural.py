"""A tiny random neural model for tests of what is built on one.

write_tiny_neural  write it, with its graphs beside it; for tests.once.make_once
"""

from __future__ import annotations

from pathlib import Path

from lm.neural.model import load_neural_model
from tests.lm.neural.tiny import tiny_model, write_gguf

NAME = "tiny.gguf"


def write_tiny_neural(folder: Path) -> None:
    load_neural_model(write_gguf(tiny_model("llama", seed=11), folder / NAME)).load()
