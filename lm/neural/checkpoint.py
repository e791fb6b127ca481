"""Models by name.

open_checkpoint  the model that a path or `default` stands for
"""

from __future__ import annotations

from pathlib import Path

from lm.neural.weights import Checkpoint


def open_checkpoint(name: str) -> Checkpoint:
    from lm.neural.gguf_file import read_gguf

    return read_gguf(Path(name))
