"""The unigram model of the future cost, as a folder of plain files.

UnigramModel    how often each word comes in a text, and what that makes it cost
count_words     the model of sentences
write_unigrams  write a model
read_unigrams   read one that was written, compared with its signature
parse_counts    the table of its counts, whatever the signature

The folder: model.json (format, normalisation of the text, signature, numbers) and counts.tsv (a word, a tab and its
count a line, sorted by word).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gyro.errors import InputError
from gyro.files import check_type, read_json, write_atomically, write_json
from gyro.text.corpus import TOKEN_RULE, Normalisation, is_token
from gyro.version import __version__

HEAD, COUNTS = "model.json", "counts.tsv"
FORMAT, VERSION = "gyro unigrams", 1

# How often the unknown word was seen: each word that the text does not have costs what this one does.
UNKNOWN_COUNT = 1
_LONGEST_COUNT = 18  # digits


@dataclass(frozen=True)
class UnigramModel:
    """Counts of words. The normalisation is that of the text; None: of treebanks, whose tokens are as they are.

    >>> model = UnigramModel({"dog": 2, "the": 5})
    >>> round(model.cost("dog"), 4), round(model.cost("cat"), 4)
    (1.3863, 2.0794)
    """

    counts: Mapping[str, int]
    normalisation: Normalisation | None = None

    @cached_property
    def total(self) -> int:
        """The words of the text and the unknown one."""
        return sum(self.counts.values()) + UNKNOWN_COUNT

    def cost(self, word: str) -> float:
        """-log p(word), where the unknown word stands for all words that the text does not have."""
        return math.log(self.total / self.counts.get(word, UNKNOWN_COUNT))

    @cached_property
    def signature(self) -> str:
        """A short hash of counts and normalisation."""
        return _signature(_table(self.counts), self.normalisation)


def count_words(sentences: Iterable[Sequence[str]], normalisation: Normalisation | None = None) -> UnigramModel:
    """The model of tokenised sentences."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    if not counts:
        raise InputError("found no words to count")
    return UnigramModel(counts, normalisation)


def write_unigrams(model: UnigramModel, folder: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
    """Write a model; `facts` tell how it came about. The head comes last: with it the model is whole."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder: {error.strerror}", path=folder) from error
    with write_atomically(path / COUNTS) as file:
        file.write(_table(model.counts))
    normalisation = None if model.normalisation is None else model.normalisation.to_json()
    made = {"format": FORMAT, "version": VERSION, "gyro": __version__, "signature": model.signature}
    numbers = {"words": len(model.counts), "tokens": model.total - UNKNOWN_COUNT}
    write_json(path / HEAD, {**made, **numbers, "normalisation": normalisation, "facts": dict(facts)})


def read_unigrams(folder: str | os.PathLike[str]) -> UnigramModel:
    """Read a model; files that are not those of its making are refused."""
    path = Path(folder)
    if not (path / HEAD).is_file():
        raise InputError(f"no {HEAD} here; a folder that gyro train ngram-beam wrote is needed", path=folder)
    head = read_json(path / HEAD)
    if (head.get("format"), head.get("version")) != (FORMAT, VERSION):
        raise InputError(f"found {head.get('format')!r:.60}; {FORMAT!r} version {VERSION} is allowed", path=path / HEAD)
    signature = check_type(str, head.get("signature"), "signature of a model", path / HEAD)
    try:
        given = head.get("normalisation")
        normalisation = None if given is None else Normalisation.from_json(given)
    except InputError as error:
        raise InputError(str(error), path=path / HEAD) from error
    try:
        table = (path / COUNTS).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path / COUNTS) from error
    if _signature(table, normalisation) != signature:
        raise InputError("counts and normalisation are not those that model.json was written with", path=folder)
    return UnigramModel(parse_counts(table, path / COUNTS), normalisation)


def _table(counts: Mapping[str, int]) -> bytes:
    return "".join(f"{word}\t{counts[word]}\n" for word in sorted(counts)).encode()


def parse_counts(table: bytes, path: Path) -> dict[str, int]:
    """The counts of a table's lines, each a word and its count, sorted by word."""
    try:
        lines = table.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError("found bytes that are no UTF-8", path=path) from error
    counts: dict[str, int] = {}
    last = ""
    for number, line in enumerate(lines, 1):
        word, _, count = line.partition("\t")
        if not is_token(word):
            raise InputError(f"found the word {word!r:.60}; {TOKEN_RULE}", path=path, line=number)
        if not (count.isascii() and count.isdecimal() and len(count) <= _LONGEST_COUNT and int(count) > 0):
            raise InputError(f"found the count {count!r:.60}; a number from 1 on is allowed", path=path, line=number)
        if word <= last:
            message = f"found the word {word!r:.60} after {last!r:.60}; sorted words are allowed"
            raise InputError(message, path=path, line=number)
        counts[word], last = int(count), word
    return counts


def _signature(table: bytes, normalisation: Normalisation | None) -> str:
    made = b"null" if normalisation is None else json.dumps(normalisation.to_json(), sort_keys=True).encode()
    return hashlib.sha256(made + b"\n" + table).hexdigest()[:12]
