"""The command lm."""

from __future__ import annotations

import argparse

from gyro.cli.text_options import add_text_arguments, counted_sentences, text_normalisation
from gyro.notation import parse_size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="+", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the KenLM binary to write")
    parser.add_argument("--order", type=int, default=4, metavar="N", help="order of the model (default 4)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory for lmplz (default 2G)")
    parser.add_argument("--arpa", action="store_true", help="keep the ARPA file too, as MODEL.arpa")
    parser.add_argument(
        "--prune", type=int, nargs="+", default=[0], metavar="COUNT", help="lmplz's count cut-offs by order (default 0)"
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from lm.kenlm.estimate import estimate_model
    from lm.kenlm.model import load_model

    how = text_normalisation(arguments, arguments.corpus)
    with counted_sentences(arguments, arguments.corpus) as sentences:
        estimate_model(
            sentences,
            arguments.output,
            order=arguments.order,
            memory=parse_size(arguments.memory),
            normalisation=how,
            prune=arguments.prune,
            keep_arpa=arguments.arpa,
        )
    model = load_model(arguments.output)
    print(f"{arguments.output}: {model.order}-gram model, signature {model.signature}")
    return 0
