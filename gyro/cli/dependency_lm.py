"""The command dependency-lm."""

from __future__ import annotations

import argparse
from functools import partial
from itertools import islice

from gyro.bar import Bar
from gyro.cli.spark_options import add_spark_arguments, cluster_of
from gyro.cli.text_options import add_text_arguments, option_sentences, text_normalisation
from gyro.errors import InputError
from gyro.notation import parse_size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="+", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the folder of the model")
    parser.add_argument("--order", type=int, default=3, metavar="N", help="order of the model (default 3)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory for lmplz (default 2G)")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N sentences")
    add_text_arguments(parser)
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.text.parsing import parsing_work
    from lm.dependency.model import load_dependency_model, train_dependency_model

    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"found --limit {arguments.limit}; at least 1 is allowed")
    normalisation = text_normalisation(arguments, arguments.corpus)
    # Tokenising is much faster than parsing: one process keeps all the parser's busy.
    sentences = option_sentences(arguments, arguments.corpus)
    with cluster_of(arguments) as cluster, Bar(total=arguments.limit, unit=" sentences", desc="parsing") as bar:
        train_dependency_model(
            islice(sentences, arguments.limit),
            arguments.output,
            order=arguments.order,
            memory=parse_size(arguments.memory),
            normalisation=normalisation,
            jobs=arguments.jobs,
            remote=None if cluster is None else partial(cluster.pool, *parsing_work()),
            parsed=bar.update,
            progress=bar.set_description,
        )
    model = load_dependency_model(arguments.output)
    print(f"{arguments.output}: dependency model of order {model.order}, signature {model.signature}")
    return 0
