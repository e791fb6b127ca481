"""The command parse."""

from __future__ import annotations

import argparse
from itertools import islice

from gyro.bar import Bar
from gyro.cli.text_options import add_text_arguments, option_sentences
from gyro.errors import InputError
from gyro.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="TREES", help="the CoNLL-U file to write")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N sentences")
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from grammars.conllu import tree_to_conllu, write_conllu
    from gyro.text.parsing import parse_trees, parser_name

    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"found --limit {arguments.limit}; at least 1 is allowed")
    # Tokenising is much faster than parsing: one process keeps all the parser's busy.
    sentences = option_sentences(arguments, arguments.text)
    trees = parse_trees(islice(sentences, arguments.limit), jobs=arguments.jobs)
    number = 0
    with (
        Bar(trees, total=arguments.limit, unit=" sentences", desc="parsing") as bar,
        write_atomically(arguments.output, "w") as file,
    ):
        for number, tree in enumerate(bar, 1):
            write_conllu(file, [tree_to_conllu(tree, str(number))])
    print(f"{arguments.output}: {number} trees by {parser_name()}")
    return 0
