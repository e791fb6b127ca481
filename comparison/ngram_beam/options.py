"""The n-gram beam as a system of gyro.run.system: its options at `gyro generate` and `gyro train`.

add_arguments, open_system             for bags
add_training_arguments, train_system   for text and treebanks
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from gyro.errors import InputError
from lm.loading import VOUCH_HELP

if TYPE_CHECKING:
    from comparison.ngram_beam.system import NgramBeamSystem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("n-gram beam")
    group.add_argument(
        "--lm", default=os.environ.get("GYRO_LM"), metavar="MODEL", help="the language model; else that of $GYRO_LM"
    )
    group.add_argument("--model", metavar="MODEL", help="a model of gyro train ngram-beam: rank by the future cost too")
    group.add_argument("--vouch", action="store_true", help=VOUCH_HELP)
    group.add_argument("--beam", type=int, default=64, metavar="N", help="hypotheses a row (default 64)")
    group.add_argument("--end", action="store_true", help="the end of the sentence costs something too")
    group.add_argument(
        "--recombine", action="store_true", help="join hypotheses with the same words left and the same state"
    )


def open_system(arguments: argparse.Namespace) -> NgramBeamSystem:
    """The system that the options ask for."""
    from comparison.ngram_beam.system import GenerationSettings, NgramBeamSystem
    from comparison.ngram_beam.unigram_model import read_unigrams
    from lm.loading import load_language_model

    if not arguments.lm:
        raise InputError("--lm MODEL is needed: a language model, that of gyro lm for one")
    settings = GenerationSettings(arguments.beam, arguments.end, arguments.recombine)
    unigrams = None if arguments.model is None else read_unigrams(arguments.model)
    return NgramBeamSystem(load_language_model(arguments.lm), settings, unigrams, vouched=arguments.vouch)


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "corpus", nargs="+", metavar="CORPUS", help="text, or by the name .conllu treebanks; .gz .xz .bz2 .zst too"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the folder of the model")
    parser.add_argument("--limit", type=int, metavar="N", help="count the first N sentences of each file only")
    group = parser.add_argument_group("text")
    group.add_argument("--tokenized", action="store_true", help="the text is split into tokens by blanks already")
    group.add_argument("--lowercase", action="store_true", help="turn text and treebanks into lower case")
    group.add_argument("--paragraphs", action="store_true", help="running text: split it into sentences")
    group.add_argument("--json-field", default="", metavar="NAME", help="the text is this field of JSON Lines")
    group.add_argument(
        "--jobs", "-j", type=int, default=1, metavar="N", help="processes that read the text (default 1)"
    )


def train_system(arguments: argparse.Namespace) -> str:
    """Count the words of text and treebanks."""
    from comparison.ngram_beam.training import TextOptions, count_corpora
    from comparison.ngram_beam.unigram_model import write_unigrams
    from gyro.text.corpus import Normalisation

    for name in ("limit", "jobs"):
        if (value := getattr(arguments, name)) is not None and value < 1:
            raise InputError(f"found --{name} {value}; at least 1 is allowed")
    normalisation = Normalisation("none" if arguments.tokenized else "spacy-en", arguments.lowercase)
    options = TextOptions(
        normalisation, arguments.paragraphs, arguments.json_field, jobs=arguments.jobs, limit=arguments.limit
    )
    model, counted = count_corpora(arguments.corpus, options)
    if counted.left_out:
        print(f"left out {counted.left_out} sentences of treebanks: a word is no token", file=sys.stderr)
    write_unigrams(model, arguments.output, {"sentences": counted.sentences})
    return f"{arguments.output}: {len(model.counts)} words, {counted.sentences} sentences, signature {model.signature}"
