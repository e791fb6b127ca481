"""GYRO as a system of gyro.run.system: its search and, if wished, a neural model after it in one go.

add_arguments  the options of both
open_system    the system that they ask for

With a neural model, bags are ordered whole unless --max-tokens says otherwise: nobody who has a bag alone could cut it.
Then the first pass is only where the model begins, and WHOLE has what it may take.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gyro.errors import InputError
from gyro.search import options
from rescoring.neural_options import WEIGHT, add_model_arguments

if TYPE_CHECKING:
    from gyro.pipeline.neural_generator import NeuralGenerator
    from gyro.search.generator import Generator

WHOLE = {"max_tokens": 0, "steps": 1000, "max_arcs": 50_000}  # defaults with --neural


class _Default(int):
    """A default, which is told from the same number given by the user."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of the search, and of the neural model."""
    options.add_arguments(parser)
    parser.set_defaults(**{name: _Default(parser.get_default(name)) for name in WHOLE})
    others = " and ".join(f"--{name.replace('_', '-')} {value}" for name, value in WHOLE.items())
    group = parser.add_argument_group(
        "a neural model, for the n-best strings of each bag",
        f"With it, exact and beam have the defaults {others}: bags are ordered whole.",
    )
    add_model_arguments(group)
    group.add_argument(
        "--neural-weight",
        type=float,
        metavar="λ",
        help=f"of its cost beside that of the first pass ({WEIGHT:g} where none is given)",
    )


def open_system(arguments: argparse.Namespace) -> Generator | NeuralGenerator:
    """The generator alone, or with the neural model."""
    if not arguments.neural:
        for name in ("search", "neural_weight"):
            if getattr(arguments, name) is not None:
                raise InputError(f"found --{name.replace('_', '-')}, which goes with --neural MODEL")
        return options.open_system(arguments)
    from gyro.pipeline.neural_generator import NeuralGenerator
    from rescoring.neural_stage import NeuralStage

    weight = WEIGHT if arguments.neural_weight is None else arguments.neural_weight
    stage = NeuralStage(arguments.neural, weight, budget=arguments.search or 0)
    stage.check()
    generator = options.open_system(_ordered_whole(arguments))
    return NeuralGenerator(generator, stage.rescorer(generator.model))


def _ordered_whole(arguments: argparse.Namespace) -> argparse.Namespace:
    """With the defaults of WHOLE, where the algorithm can order long bags and the user has not said otherwise."""
    changes = {name: value for name, value in WHOLE.items() if isinstance(getattr(arguments, name), _Default)}
    fit = arguments.algorithm in ("exact", "beam")
    return argparse.Namespace(**{**vars(arguments), **(changes if fit else {})})
