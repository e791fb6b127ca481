"""The options of every command that reads text, and the sentences that they ask for.

add_text_arguments  the options
text_normalisation  how text becomes tokens, by the options or by what gyro tokenize noted beside it
text_splitting      how it is split when it is read: text of gyro tokenize at its blanks
option_sentences    the sentences of files
counted_sentences   the same with a bar that counts them
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gyro.bar import Bar
from gyro.errors import InputError
from gyro.text.corpus import Normalisation, read_sentences
from gyro.text.tokenized import common_record


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


def text_normalisation(arguments: argparse.Namespace, files: Sequence[str]) -> Normalisation:
    """How the text of the files becomes tokens. Text of gyro tokenize has been made so already: then as it was made."""
    return _noted(arguments, files) or Normalisation("none" if arguments.tokenized else "spacy-en", arguments.lowercase)


def text_splitting(arguments: argparse.Namespace, files: Sequence[str]) -> Normalisation:
    """How the text of the files is split into tokens when it is read."""
    return text_normalisation(arguments, files) if _noted(arguments, files) is None else Normalisation("none")


def _noted(arguments: argparse.Namespace, files: Sequence[str]) -> Normalisation | None:
    """What gyro tokenize noted, if it made the files; options that would split them anew are refused."""
    made = common_record(files)
    if made is None:
        return None
    for name in ("paragraphs", "json_field", *([] if made.lowercase else ["lowercase"])):
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            raise InputError(f"found {option} with the output of gyro tokenize ({made}); give it there", path=files[0])
    return made


def option_sentences(
    arguments: argparse.Namespace, files: Sequence[str], *, jobs: int = 1, keep_empty: bool = False
) -> Iterator[list[str]]:
    """The sentences of the files."""
    return read_sentences(
        files,
        text_splitting(arguments, files),
        paragraphs=arguments.paragraphs,
        jobs=jobs,
        json_field=arguments.json_field,
        keep_empty=keep_empty,
    )


@contextmanager
def counted_sentences(arguments: argparse.Namespace, files: Sequence[str]) -> Iterator[Iterator[list[str]]]:
    """The sentences of the files, with a bar that counts them."""
    sentences = option_sentences(arguments, files, jobs=arguments.jobs)
    with Bar(sentences, unit=" sentences", unit_scale=True, desc="reading") as bar:
        yield iter(bar)
