"""The command bags."""

from __future__ import annotations

import argparse

from gyro.bar import Bar
from gyro.cli.output import open_output
from gyro.cli.text_options import add_text_arguments, text_splitting
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.pipeline.reference import check_ids, read_references, write_bags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_line = "text, one sentence a line, or treebanks .conllu; .gz .xz .bz2 .zst too, - for stdin"
    parser.add_argument("references", nargs="+", metavar="REFERENCES", help=help_line)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="JSON Lines to write (default: stdout)")
    parser.add_argument("--text", metavar="FILE", help="write the tokenised references too, one a line, for gyro score")
    help_line = "number the bags, instead of keeping the id or src_id of JSON Lines and the sent_id of treebanks"
    parser.add_argument("--numbered", action="store_true", help=help_line)
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """The id of a bag is that of its sentence or the number of its line, so that it can be found in files with the same
    lines; empty lines have no bag. Of paragraphs it is the number of the sentence.
    """
    files = arguments.references
    found = read_references(
        files,
        text_splitting(arguments, files),
        paragraphs=arguments.paragraphs,
        json_field=arguments.json_field,
        jobs=arguments.jobs,
        numbered=arguments.numbered,
    )
    with Bar(found, unit=" sentences", unit_scale=True, desc="reading") as bar:
        references = [reference for reference in bar if reference.tokens]
    try:
        check_ids(references, files[0])
    except InputError as error:
        raise InputError(f"{error}; --numbered gives others") from error
    with open_output(arguments.output) as file:
        write_bags(file, references)
    if arguments.text:
        with write_atomically(arguments.text, "w") as file:
            file.writelines(" ".join(tokens) + "\n" for _, tokens in references)
    return 0
