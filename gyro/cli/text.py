"""Commands on text: index, lm, bags, phrases."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, Any

from tqdm import tqdm

from gyro.bag_file import read_bags
from gyro.corpus import Normalisation, read_sentences
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.index import open_index
from gyro.index_build import build_index, merge_indexes
from gyro.phrase import find_phrases
from gyro.settings import parse_size


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


def index_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the index")
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest n-grams (default 5)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory to use (default 2G)")
    parser.add_argument("--merge", nargs="+", metavar="INDEX", help="merge these indexes instead of reading text")
    parser.add_argument("--info", metavar="DIR", help="tell what is in an index")
    parser.add_argument("--verify", action="store_true", help="with --info: compute all checksums again")
    add_text_arguments(parser)


def index_command(arguments: argparse.Namespace) -> int:
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
        with counted_sentences(arguments, arguments.corpus) as sentences:
            build_index(
                sentences,
                arguments.output,
                order=arguments.order,
                memory=memory,
                normalisation=text_normalisation(arguments),
            )
    print(open_index(arguments.output).info())
    return 0


def lm_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="+", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the KenLM binary to write")
    parser.add_argument("--order", type=int, default=4, metavar="N", help="order of the model (default 4)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory for lmplz (default 2G)")
    parser.add_argument("--arpa", action="store_true", help="keep the ARPA file too, as MODEL.arpa")
    parser.add_argument(
        "--prune", type=int, nargs="+", default=[0], metavar="COUNT", help="lmplz's count cut-offs by order (default 0)"
    )
    add_text_arguments(parser)


def lm_command(arguments: argparse.Namespace) -> int:
    from lm.estimate import estimate_model
    from lm.kenlm_model import load_model

    with counted_sentences(arguments, arguments.corpus) as sentences:
        estimate_model(
            sentences,
            arguments.output,
            order=arguments.order,
            memory=parse_size(arguments.memory),
            normalisation=text_normalisation(arguments),
            prune=arguments.prune,
            keep_arpa=arguments.arpa,
        )
    model = load_model(arguments.output)
    print(f"{arguments.output}: {model.order}-gram model, signature {model.signature}")
    return 0


def bags_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("references", metavar="REFERENCES", help="text, one sentence a line; - for stdin")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="JSON Lines to write (default: stdout)")
    parser.add_argument("--text", metavar="FILE", help="write the tokenised references too, one a line, for gyro score")
    add_text_arguments(parser)


def bags_command(arguments: argparse.Namespace) -> int:
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


def phrases_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", metavar="INDEX", help="the folder of an index")
    parser.add_argument("bags", metavar="BAGS", help="bags, one a line, or JSON Lines; - for stdin")
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest phrases (default 5)")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def phrases_command(arguments: argparse.Namespace) -> int:
    index = open_index(arguments.index)
    with open_output(arguments.output) as file:
        for bag in read_bags(arguments.bags):
            for phrase in find_phrases(index, bag, min(arguments.order, index.order)):
                file.write(f"{bag.id}\t{phrase.count}\t{' '.join(phrase.words)}\n")
    return 0


def open_output(path: str) -> Any:
    """Standard output for "-", else a file that takes its name when it is whole."""
    return nullcontext(sys.stdout) if path == "-" else write_atomically(path, "w")


def write_line(file: IO[str], value: object) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")
