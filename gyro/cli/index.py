"""The command index."""

from __future__ import annotations

import argparse

from gyro.cli.text_options import add_text_arguments, counted_sentences, text_normalisation
from gyro.errors import InputError
from gyro.notation import parse_size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the index")
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest n-grams (default 5)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory to use (default 2G)")
    parser.add_argument("--merge", nargs="+", metavar="INDEX", help="merge these indexes instead of reading text")
    parser.add_argument("--info", metavar="DIR", help="tell what is in an index")
    parser.add_argument("--verify", action="store_true", help="with --info: compute all checksums again")
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.index.build import build_index, merge_indexes
    from gyro.index.reader import open_index

    if arguments.info:
        index = open_index(arguments.info)
        if arguments.verify:
            index.verify()
        print(index.info())
        return 0
    if not arguments.output or bool(arguments.corpus) == bool(arguments.merge):
        raise InputError("gyro index takes CORPUS… -o DIR, or --merge INDEX… -o DIR, or --info DIR")
    memory = parse_size(arguments.memory)
    if arguments.merge:
        merge_indexes(arguments.merge, arguments.output, memory=memory)
    else:
        how = text_normalisation(arguments, arguments.corpus)
        with counted_sentences(arguments, arguments.corpus) as sentences:
            build_index(
                sentences,
                arguments.output,
                order=arguments.order,
                memory=memory,
                normalisation=how,
            )
    print(open_index(arguments.output).info())
    return 0
