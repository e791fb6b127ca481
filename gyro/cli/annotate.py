"""The command annotate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.cli.output import open_output, write_line
from gyro.errors import InputError, printable
from gyro.notation import parse_slice
from gyro.text.bag_file import bag_to_record
from gyro.text.corpus import TOKEN_RULE, is_token

if TYPE_CHECKING:
    from grammars.annotation import Annotation, TreebankSentence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "treebank",
        nargs="+",
        metavar="TREEBANK",
        help="CoNLL-U, or derivations (.auto); .gz .xz .bz2 .zst too, - for CoNLL-U on stdin",
    )
    parser.add_argument("-o", "--output", default="-", metavar="BAGS", help="JSON Lines to write (default: stdout)")
    parser.add_argument("--range", metavar="A:B", help="only these sentences, counted from 1, like 1:100")
    parser.add_argument("--longest", type=int, metavar="N", help="only sentences of at most N tokens")
    group = parser.add_argument_group("what is given")
    group.add_argument("--pos", type=float, default=1.0, metavar="SHARE", help="tokens with their tags (default 1)")
    group.add_argument(
        "--heads", type=float, metavar="SHARE", help="tokens with their heads (default 0, with --lemmas 1)"
    )
    group.add_argument("--labels", action="store_true", help="relations together with the heads")
    group.add_argument("--tags", choices=("xpos", "upos"), help="which tags (default xpos, with --lemmas upos)")
    group.add_argument("--units", choices=("base-np",), help="base noun phrases as units")
    group.add_argument("--lemmas", action="store_true", help="lemmas and attributes for forms, in a labelled tree")
    group.add_argument(
        "--categories",
        metavar="MODEL",
        help="CCG: categories by the multi-tagger of a model of gyro train --tagger-cutoff",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the choice of tokens (default 0)")


def run(arguments: argparse.Namespace) -> int:
    from grammars.annotation import sentence_to_bag

    given = annotation_of(arguments)
    categories = _category_finder(arguments.categories)
    first, last = parse_slice(arguments.range) if arguments.range else (1, None)
    written = unusable = 0
    with open_output(arguments.output) as file:
        for sentence in islice(_sentences(arguments.treebank), first - 1, last):
            if arguments.longest is not None and len(sentence.words) > arguments.longest:
                continue
            texts = (*sentence.words, *(sentence.lemmas or ())) if given.lemmas else sentence.words
            bad = [text for text in texts if not is_token(text)]
            if bad:
                unusable += 1
                print(f"left out {printable(sentence.id)}: found {bad[0]!r}; {TOKEN_RULE}", file=sys.stderr)
                continue
            write_line(file, bag_to_record(sentence_to_bag(sentence, given, categories(sentence))))
            written += 1
        if not written:
            raise InputError("no sentences that can be used", path=arguments.treebank[0])
    print(f"{written} bags, {unusable} sentences left out", file=sys.stderr)
    return 0


def _category_finder(model: str | None) -> Callable[[TreebankSentence], list[tuple[str, ...]] | None]:
    """The categories of a sentence's words; none without a model."""
    if model is None:
        return lambda sentence: None
    from comparison.best_first.model import TAGGER, read_settings
    from grammars.annotation import likely_categories
    from grammars.ccg.tagger import load_tagger

    beta = read_settings(model).settings.beta
    if not beta:
        raise InputError(
            "has no multi-tagger; gyro train --grammar ccg --tagger-cutoff B makes models with one", path=model
        )
    tagger = load_tagger(Path(model) / TAGGER)
    return lambda sentence: likely_categories(tagger, sentence, beta)


def annotation_of(arguments: argparse.Namespace) -> Annotation:
    """What the options say is given."""
    from grammars.annotation import Annotation

    lemmas = arguments.lemmas
    return Annotation(
        pos=arguments.pos,
        heads=float(lemmas) if arguments.heads is None else arguments.heads,
        labels=arguments.labels or lemmas,
        tags=arguments.tags or ("upos" if lemmas else "xpos"),
        units=arguments.units == "base-np",
        lemmas=lemmas,
        seed=arguments.seed,
    )


def _sentences(paths: Sequence[str]) -> Iterator[TreebankSentence]:
    """The sentences of all files, those without names numbered through."""
    from grammars.annotation import read_treebank

    count = 0
    for path in paths:
        for sentence in read_treebank(path, count + 1):
            count += 1
            yield sentence
