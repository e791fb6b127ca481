"""Text in: files, lines, sentences, tokens. This module and gyro.text.parsing alone touch spaCy.

RESERVED             the strings that are never tokens, because models and automata use them as marks
is_token             may this string be a token?
check_words          refuse words that models use as marks, or cannot encode
Normalisation        how text became tokens; recorded in indexes and models
check_normalisation  refuse to use two things together that were made from text in different ways
read_lines           the lines of a file, plain or compressed, or of standard input
tokenize             the tokens of one sentence
read_sentences       the tokenised sentences of several files, one a line or from running paragraphs
object_id            the id of an object in JSON Lines
lines_to_sentences   the same of lines
unpack_lines         the lines of a file that is in memory as it is
line_text            the text of one line of JSON Lines

A token is never empty, holds no white space in the sense of `str.split` and no NUL, and is none of RESERVED. Apart from
that the characters stay as they are: there is no Unicode normalisation.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import zstandard

from gyro.errors import InputError
from gyro.files import parse_object
from gyro.pool import stream_tasks

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from spacy.language import Language

AnyPath = str | PathLike[str]
Heads = tuple[int, ...]  # the place of each token's head; ROOT for the root

RESERVED = frozenset({"<s>", "</s>", "<unk>", "<eps>"})
TOKENIZERS = ("spacy-en", "none")

ROOT = -1

LINES_PER_TASK = 2000
# spaCy keeps every word that it has seen. Past this many it is made anew: its memory must not grow with the text.
MOST_WORDS_IN_SPACY = 200_000
TOKEN_RULE = f"a token is Unicode text without white space and none of {' '.join(sorted(RESERVED))}"
# A line beyond these is no sentence and no bag, but what damaged or wrong files have.
LONGEST_LINE = 64 << 20  # bytes
MOST_TOKENS_IN_LINE = 1_000_000
PIECE = 1 << 20  # of a file, read at once
# Of a zstd file a byte may unpack to 32 KB: pieces of this size bound what is unpacked at once to 32 MB.
ZSTD_PIECE = 1 << 10
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zstandard.ZstdError)


def is_token(word: str) -> bool:
    """May this string be a token? TOKEN_RULE says in words what is allowed.

    >>> [is_token(word) for word in ("dog", "two words", "</s>", "")]
    [True, False, False, False]
    """
    is_text = word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)
    return word.split() == [word] and word not in RESERVED and "\0" not in word and is_text


def check_words(words: Iterable[str], marks: Collection[str] = RESERVED) -> None:
    """Raise InputError when a word is one of the marks of models, or no Unicode text."""
    for word in words:
        if word in marks:
            raise InputError(f"found the word {word!r}, which is a mark of models; other words are allowed")
        try:
            word.encode()
        except UnicodeEncodeError as error:
            found = error.object[error.start]
            raise InputError(f"found the character {found!r}; text in Unicode is allowed") from error


@dataclass(frozen=True)
class Normalisation:
    """How text became tokens: the tokeniser ("spacy-en", or "none" for text that is already split) and the case.

    spaCy's version is recorded with it, but two versions are not held to be different.

    >>> Normalisation("none", lowercase=True).to_json()
    {'lowercase': True, 'spacy': None, 'tokenizer': 'none'}
    """

    tokenizer: str = "spacy-en"
    lowercase: bool = False
    spacy: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise InputError(f"found the tokenizer {self.tokenizer!r}; {' or '.join(TOKENIZERS)} is allowed")
        if self.tokenizer == "spacy-en" and self.spacy is None:
            object.__setattr__(self, "spacy", version("spacy"))

    def to_json(self) -> dict[str, Any]:
        """The JSON object that stands in the header of an index or beside a model."""
        return {"lowercase": self.lowercase, "spacy": self.spacy, "tokenizer": self.tokenizer}

    @classmethod
    def from_json(cls, value: object) -> Normalisation:
        """Read what `to_json` gave."""
        known = isinstance(value, dict) and isinstance(value.get("spacy"), str | None)
        if not known or not isinstance(value, dict) or not isinstance(value.get("lowercase"), bool):
            raise InputError(f"found the normalisation {value!r:.60}; an object of tokenizer and lowercase is allowed")
        return cls(str(value.get("tokenizer")), value["lowercase"], value.get("spacy"))

    def __str__(self) -> str:
        return f"tokenizer {self.tokenizer}, {'lowercased' if self.lowercase else 'case kept'}"


def check_normalisation(
    a: Normalisation | None, name_a: str, b: Normalisation | None, name_b: str, *, vouched: bool | None = None
) -> None:
    """Raise InputError when the two differ; None stands for unknown and goes with everything.

    Text that was split before it came here has no record of how: somebody who knows may vouch that it was split as the
    other was (None: nobody could). That one is in lower case and the other is not cannot be vouched for.
    """
    if a is None or b is None or a == b:
        return
    can_be_vouched = "none" in (a.tokenizer, b.tokenizer) and a.lowercase == b.lowercase
    if vouched and can_be_vouched:
        return
    told = f"{name_a} ({a}) and {name_b} ({b}) were made from text in different ways; make them alike"
    can_be_vouched &= vouched is not None
    raise InputError(f"{told}, or give --vouch if the text was split alike" if can_be_vouched else told)


class _ZstdFile(io.RawIOBase):
    """A zstd file as a raw stream that, unlike zstandard's own reader, notices when its end is missing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._frame = self._new_frame()
        self._in_frame = True
        self._ready = memoryview(b"")

    @staticmethod
    def _new_frame() -> zstandard.ZstdDecompressionObj:
        return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else b""
            data = data or self._file.read(ZSTD_PIECE)
            if not data:
                if self._in_frame:
                    raise EOFError("the end of the last frame is missing")
                return 0
            if self._frame.eof:
                self._frame = self._new_frame()
            self._ready = memoryview(self._frame.decompress(data))
            self._in_frame = not self._frame.eof
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_zstd(file: Path | IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_ZstdFile(open(file, "rb") if isinstance(file, Path) else file), 1 << 17)


OPENERS: dict[str, Callable[[Any], Any]] = {  # of a path or an open file
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _open_zstd,
}


def read_lines(path: AnyPath) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their ends; "-" is standard input, .gz .xz .bz2 .zst are unpacked.

    Only a line feed ends a line (with or without a carriage return before it); a byte order mark is dropped. However
    large a file is unpacked, no more than a line and a piece of it are in memory.
    """
    yield from _decoded(partial(_open_binary, path), path)


def unpack_lines(content: bytes, path: AnyPath) -> Iterator[str]:
    """The same of a file that is in memory as it is; its name says how it is packed."""
    opener = OPENERS.get(Path(path).suffix, nullcontext)
    if not content and opener is not nullcontext:
        raise InputError(f"damaged or truncated {Path(path).suffix} file: the file is empty", path=path)
    yield from _decoded(partial(opener, io.BytesIO(content)), path)


def _decoded(open_file: Callable[[], Any], path: AnyPath) -> Iterator[str]:
    number = 0
    try:
        with open_file() as file:
            for number, raw in enumerate(_split_lines(file, path), 1):
                line = raw.decode("utf-8").removesuffix("\r")
                yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{error.object[error.start]:02x} at column {error.start + 1}; UTF-8 is allowed"
        raise InputError(found, path=path, line=number) from error
    except DAMAGE as error:
        raise InputError(f"damaged or truncated {Path(path).suffix} file: {error}", path=path) from error
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path=path) from error


def _split_lines(file: Any, path: AnyPath) -> Iterator[bytes]:
    """The lines of a binary file without their line feeds; InputError for one that is too long."""
    number, pieces, size = 1, [b""], 0  # of the line that is not yet at its end
    while piece := file.read1(PIECE):
        lines = piece.split(b"\n")
        pieces.append(lines[0])
        size += len(lines[0])
        if len(lines) > 1:
            lines[0] = b"".join(pieces)
            *whole, last = lines
            for line in whole:
                if len(line) > MOST_TOKENS_IN_LINE:
                    _check_length(line, path, number)
                yield line
                number += 1
            pieces, size = [last], len(last)
        if size > LONGEST_LINE:
            _check_length(b"".join(pieces), path, number)
    if size:
        line = b"".join(pieces)
        _check_length(line, path, number)
        yield line


def _check_length(line: bytes, path: AnyPath, number: int) -> None:
    if len(line) > LONGEST_LINE:
        raise InputError(
            f"found a line of more than {LONGEST_LINE >> 20} MB, which is the most", path=path, line=number
        )
    if len(line) > MOST_TOKENS_IN_LINE and len(line.split()) > MOST_TOKENS_IN_LINE:
        raise InputError(f"found a line of more than {MOST_TOKENS_IN_LINE:,} tokens", path=path, line=number)


def _open_binary(path: AnyPath) -> Any:
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file")
        return nullcontext(sys.stdin.buffer)
    opener = OPENERS.get(Path(path).suffix)
    if opener is None:
        return open(path, "rb")
    if Path(path).is_file() and Path(path).stat().st_size == 0:
        raise EOFError("the file is empty")  # gzip alone would take it for an empty text
    return opener(Path(path))


@cache
def _blank_english() -> Language:
    import spacy

    return spacy.blank("en")


@cache
def _sentencizer() -> Callable[[Any], Any]:
    from spacy.pipeline import Sentencizer

    sentencizer: Callable[[Any], Any] = Sentencizer()
    return sentencizer


def _english() -> Language:
    if len(_blank_english().vocab) > MOST_WORDS_IN_SPACY:
        _blank_english.cache_clear()
    return _blank_english()


def _split(text: str, tokenizer: str) -> list[str]:
    text = text.replace("\0", " ")  # lmplz takes NUL for a blank; so do we
    if tokenizer == "none":
        return text.split()
    # Joined and split again: spaCy returns runs of blanks as tokens.
    return " ".join([token.text for token in _english().tokenizer(text)]).split()


def _finish(tokens: list[str], lowercase: bool) -> list[str]:
    if lowercase:
        tokens = " ".join(tokens).lower().split()
    if RESERVED.isdisjoint(tokens):
        return tokens
    return [token for token in tokens if token not in RESERVED]


def tokenize(text: str, normalisation: Normalisation) -> list[str]:
    """The tokens of one sentence.

    >>> tokenize("She didn't go.", Normalisation("spacy-en", lowercase=True))
    ['she', 'did', "n't", 'go', '.']
    """
    return _finish(_split(text, normalisation.tokenizer), normalisation.lowercase)


def _split_paragraph(text: str, normalisation: Normalisation) -> list[list[str]]:
    """The sentences of a paragraph: spaCy's rules see the tokens before they are lowercased and filtered."""
    from spacy.tokens import Doc

    tokens = _split(text, normalisation.tokenizer)
    if not tokens:
        return []
    doc = _sentencizer()(Doc(_english().vocab, words=tokens))
    return [_finish(tokens[s.start : s.end], normalisation.lowercase) for s in doc.sents]


def lines_to_sentences(
    lines: Iterable[str], normalisation: Normalisation, paragraphs: bool, keep_empty: bool
) -> Iterator[list[str]]:
    """The tokenised sentences of lines."""
    for line in lines:
        if paragraphs:
            yield from filter(None, _split_paragraph(line, normalisation))
        elif (tokens := tokenize(line, normalisation)) or keep_empty:
            yield tokens


def read_sentences(
    paths: Sequence[AnyPath],
    normalisation: Normalisation,
    *,
    paragraphs: bool = False,
    jobs: int = 1,
    json_field: str = "",
    keep_empty: bool = False,
    progress: Callable[[int], None] | None = None,
    ids: list[str] | None = None,
) -> Iterator[list[str]]:
    """Yield the tokenised sentences of the files, in order, without the empty ones.

    A line is a sentence or, with `paragraphs`, a paragraph that spaCy's rules split. `jobs` processes share the work of
    spaCy; the result does not depend on their number. `progress` gets the number of lines read since its last call.
    With `json_field` the files are JSON Lines, and that field of each object is the line; `ids` gets the id of each
    that was read, empty for one without. With `keep_empty` a line
    without tokens is an empty sentence, so that the n-th sentence is the n-th line; paragraphs never have empty ones.
    """
    tasks = _task_lines(paths, json_field, progress, ids)
    if jobs > 1 and (paragraphs or normalisation.tokenizer != "none"):
        _blank_english()
        work = partial(_work, normalisation=normalisation, paragraphs=paragraphs, keep_empty=keep_empty)
        for text in stream_tasks(tasks, work, jobs=jobs):
            yield from map(str.split, text.splitlines())
    else:
        for lines in tasks:
            yield from lines_to_sentences(lines, normalisation, paragraphs, keep_empty)


def object_id(value: Mapping[str, Any]) -> str | None:
    """The id of an object in JSON Lines: its `id`, else its `src_id`.

    A `src_id` that is a bare number is none: it would be taken for the number of a line.

    >>> object_id({"src_id": "news.7"}), object_id({"src_id": 2})
    ('news.7', None)
    """
    if value.get("id") is not None:
        return str(value["id"])
    source = value.get("src_id")
    return None if source is None or str(source).isdecimal() else str(source)


def _read_field(path: AnyPath, name: str, ids: list[str] | None) -> Iterator[str]:
    """Yield one text field of the JSON objects of a file, a line each."""
    for number, line in enumerate(read_lines(path), 1):
        value = parse_object(line, path, number)
        if ids is not None:
            ids.append(object_id(value) or "")
        yield _object_text(value, name, path, number)


def line_text(line: str, name: str, path: AnyPath, number: int | None = None) -> str:
    """The text under a name in the JSON object of a line, as one line."""
    return _object_text(parse_object(line, path, number), name, path, number)


def _object_text(value: Mapping[str, Any], name: str, path: AnyPath, number: int | None) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise InputError(f"found no text under {name!r}; an object with that field is needed", path=path, line=number)
    return " ".join(text.splitlines())


def _task_lines(
    paths: Sequence[AnyPath], json_field: str, progress: Callable[[int], None] | None, ids: list[str] | None
) -> Iterator[list[str]]:
    for path in paths:
        lines = _read_field(path, json_field, ids) if json_field else read_lines(path)
        while task := list(islice(lines, LINES_PER_TASK)):
            yield task
            if progress is not None:
                progress(len(task))


def _work(lines: list[str], normalisation: Normalisation, paragraphs: bool, keep_empty: bool) -> str:
    """One string, because a million small lists cost more to send between processes than to make."""
    sentences = lines_to_sentences(lines, normalisation, paragraphs, keep_empty)
    return "".join(" ".join(sentence) + "\n" for sentence in sentences)
