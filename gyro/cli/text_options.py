"""The options of every command that reads text, and the sentences that they ask for.

add_text_arguments  the options
text_normalisation  how they say that text is normalised
counted_sentences   the sentences of files, with a bar that counts them
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tqdm import tqdm

from gyro.text.corpus import Normalisation, read_sentences


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say how text is read: the same for every command that reads text."""
    group = parser.add_argument_group("text")
    group.add_argument("--tokenized", action="store_true", help="the text is split into tokens by blanks already")
    group.add_argument("--lowercase", action="store_true", help="turn all text into lower case")
    group.add_argument("--paragraphs", action="store_true", help="running text: split it into sentences")
    group.add_argument("--json-field", default="", metavar="NAME", help="the text is this field of JSON Lines")
    group.add_argument(
        "--jobs", "-j", type=int, default=1, metavar="N", help="processes that read the text (default 1)"
    )


def text_normalisation(arguments: argparse.Namespace) -> Normalisation:
    return Normalisation("none" if arguments.tokenized else "spacy-en", arguments.lowercase)


@contextmanager
def counted_sentences(
    arguments: argparse.Namespace, files: Sequence[str], *, keep_empty: bool = False
) -> Iterator[Iterator[list[str]]]:
    """The sentences of the files, with a bar that counts them when somebody looks."""
    sentences = read_sentences(
        files,
        text_normalisation(arguments),
        paragraphs=arguments.paragraphs,
        jobs=arguments.jobs,
        json_field=arguments.json_field,
        keep_empty=keep_empty,
    )
    with tqdm(sentences, unit=" sentences", unit_scale=True, disable=None, desc="reading") as bar:
        yield iter(bar)
