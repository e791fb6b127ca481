"""The command tokenize."""

from __future__ import annotations

import argparse

from gyro.cli.text_options import add_text_arguments, counted_sentences, text_normalisation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="+", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument(
        "-o", "--output", required=True, metavar="TEXT", help="the file to write; TEXT.tokens.json beside it says how"
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.text.tokenized import write_tokenized

    how = text_normalisation(arguments, arguments.corpus)
    with counted_sentences(arguments, arguments.corpus) as sentences:
        made = write_tokenized(sentences, arguments.output, how)
    print(f"{arguments.output}: {made.sentences:,} sentences, {made.tokens:,} tokens; {made.normalisation}")
    return 0
