"""References to make bags of, each with its id.

read_references  the sentences of text, JSON Lines and treebanks
check_ids        refuse an id that comes twice
write_bags       their bags as JSON Lines
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from grammars.conllu import read_conllu
from gyro.errors import InputError, printable
from gyro.text.corpus import TOKEN_RULE, AnyPath, Normalisation, is_token, read_sentences

TREEBANK = ".conllu"


class Reference(NamedTuple):
    """A sentence; one without words has no bag."""

    id: str
    tokens: list[str]


def read_references(
    paths: Sequence[AnyPath],
    normalisation: Normalisation,
    *,
    paragraphs: bool = False,
    json_field: str = "",
    jobs: int = 1,
    numbered: bool = False,
) -> Iterator[Reference]:
    """Yield the sentences of the files, those without words too.

    Ids are those of the objects in JSON Lines (gyro.text.corpus.object_id) and of the sentences in files .conllu, whose
    words are taken as they are. Elsewhere, or if they are to be `numbered`, they are the numbers of the lines, counted
    through all files, and of paragraphs those of the sentences.
    """
    count = 0
    for path in paths:
        if TREEBANK in Path(path).suffixes:
            found: Iterable[Reference] = _of_treebank(path, normalisation.lowercase)
        else:
            found = _of_text(path, normalisation, paragraphs=paragraphs, json_field=json_field, jobs=jobs)
        for id, tokens in found:
            count += 1
            yield Reference(str(count) if numbered or not id else id, tokens)


def _of_text(
    path: AnyPath, normalisation: Normalisation, *, paragraphs: bool, json_field: str, jobs: int
) -> Iterator[Reference]:
    ids: list[str] = []
    options = {"paragraphs": paragraphs, "json_field": json_field}
    sentences = read_sentences([path], normalisation, **options, jobs=jobs, keep_empty=True, ids=ids)  # type: ignore[arg-type]
    for number, tokens in enumerate(sentences):
        yield Reference(ids[number] if json_field and not paragraphs else "", tokens)


def _of_treebank(path: AnyPath, lowercase: bool) -> Iterator[Reference]:
    for tree in read_conllu(path):
        words = [form.lower() for form in tree.forms] if lowercase else list(tree.forms)
        bad = next((word for word in words if not is_token(word)), None)
        if bad is not None:
            print(f"left out {printable(tree.sent_id)}: found {bad!r}; {TOKEN_RULE}", file=sys.stderr)
        yield Reference(tree.sent_id, words if bad is None else [])


def check_ids(references: Iterable[Reference], path: AnyPath) -> None:
    """Refuse an id that comes twice: others could not find the bag by it."""
    seen: set[str] = set()
    for reference in references:
        if reference.id in seen:
            raise InputError(f"found the id {reference.id!r:.60} twice; each may come once", path=path)
        seen.add(reference.id)


def write_bags(file: IO[str], references: Iterable[Reference]) -> None:
    """Write a bag for each reference, a JSON object a line."""
    for id, tokens in references:
        line = {"id": id, "tokens": sorted(tokens), "reference": tokens}
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
