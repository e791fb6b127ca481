"""The options of the neural model, for commands that show them without loading it.

add_model_arguments  --neural and --search
WEIGHT               of the neural cost, where none is given
PIECES_A_WORD        the budget of a search, where none is given
"""

from __future__ import annotations

import argparse

WEIGHT = 2.5
PIECES_A_WORD = 300  # of a search, by default


def add_model_arguments(group: argparse._ArgumentGroup) -> None:
    """The options that name the model and ask for a search."""
    group.add_argument(
        "--neural",
        default="",
        metavar="MODEL",
        help="a GGUF file, a Hugging Face folder, or the word default for the embedded model (gyro neural --install)",
    )
    group.add_argument(
        "--search",
        type=int,
        nargs="?",
        const=PIECES_A_WORD,
        metavar="BUDGET",
        help="go on from these strings to better orders, which is not proved; BUDGET is what the model may compute, in "
        f"pieces for each word of a bag ({PIECES_A_WORD} where none is given)",
    )
