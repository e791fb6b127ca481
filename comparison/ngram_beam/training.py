"""Counting the words of text and treebanks for the unigram model.

TextOptions    how text files are read, as `gyro lm` reads them
is_treebank    is a file CoNLL-U by its name?
count_corpora  the model of several files, and how many sentences were counted and left out
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from comparison.ngram_beam.unigram_model import UnigramModel, count_words
from grammars.conllu import ConlluSentence, is_usable, read_conllu
from gyro.bar import Bar
from gyro.text.corpus import Normalisation, read_sentences

TREEBANK = ".conllu"


@dataclass(frozen=True)
class TextOptions:
    """How text becomes sentences; of treebanks that tells but the case."""

    normalisation: Normalisation = field(default_factory=Normalisation)
    paragraphs: bool = False
    json_field: str = ""
    jobs: int = 1
    limit: int | None = None  # sentences of each file


@dataclass
class Counted:
    """The sentences that were counted, and those left out for words that are no tokens."""

    sentences: int = 0
    left_out: int = 0


def is_treebank(path: str) -> bool:
    """Is it CoNLL-U by its name?

    >>> is_treebank("train.conllu.xz"), is_treebank("news.txt")
    (True, False)
    """
    return TREEBANK in Path(path).suffixes


def count_corpora(paths: Sequence[str], options: TextOptions) -> tuple[UnigramModel, Counted]:
    """Count the words of files; treebanks alone leave it open how text becomes tokens."""
    counted = Counted()
    normalisation = None if all(map(is_treebank, paths)) else options.normalisation
    with Bar(_sentences(paths, options, counted), unit=" sentences", unit_scale=True) as bar:
        return count_words(bar, normalisation), counted


def _sentences(paths: Sequence[str], options: TextOptions, counted: Counted) -> Iterator[Sequence[str]]:
    for path in paths:
        if is_treebank(path):
            sentences: Iterable[Sequence[str]] = _treebank_sentences(path, options.normalisation.lowercase, counted)
        else:
            sentences = read_sentences(
                [path],
                options.normalisation,
                paragraphs=options.paragraphs,
                jobs=options.jobs,
                json_field=options.json_field,
            )
        for sentence in islice(sentences, options.limit):
            counted.sentences += 1
            yield sentence


def _treebank_sentences(path: str, lowercase: bool, counted: Counted) -> Iterator[Sequence[str]]:
    for tree in read_conllu(path):
        if not is_usable(tree):
            counted.left_out += 1
            continue
        yield _lowercased(tree) if lowercase else tree.forms


def _lowercased(tree: ConlluSentence) -> list[str]:
    return [form.lower() for form in tree.forms]
