"""The command bags."""

from __future__ import annotations

import argparse

from gyro.cli.output import open_output, write_line
from gyro.cli.text_options import add_text_arguments, counted_sentences
from gyro.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("references", metavar="REFERENCES", help="text, one sentence a line; - for stdin")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="JSON Lines to write (default: stdout)")
    parser.add_argument("--text", metavar="FILE", help="write the tokenised references too, one a line, for gyro score")
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """The id of a bag is the number of its line, so that it can be found in files with the same lines; empty lines have
    no bag. Of paragraphs it is the number of the sentence.
    """
    with counted_sentences(arguments, [arguments.references], keep_empty=True) as sentences:
        numbered = [(number, sentence) for number, sentence in enumerate(sentences, 1) if sentence]
    with open_output(arguments.output) as file:
        for number, reference in numbered:
            write_line(file, {"id": str(number), "tokens": sorted(reference), "reference": reference})
    if arguments.text:
        with write_atomically(arguments.text, "w") as file:
            file.writelines(" ".join(reference) + "\n" for _, reference in numbered)
    return 0
