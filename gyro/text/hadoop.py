"""Text from wherever Hadoop reads: a cluster's own files, S3 and the like, read and tokenised in Spark's executors.

list_files      the files of some paths: a folder stands for all that are in it
local_files     their names on this machine, if all are files that every machine has at the same place
read_in_spark   the tokenised sentences of files, as an RDD; the same sentences as those of `gyro.text.corpus`

Plain, .gz and .bz2 files are read by Hadoop, plain and .bz2 ones in pieces by several tasks. It does not know .xz, and
.zst not everywhere: such a file is fetched and unpacked by one task as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from gyro.errors import InputError
from gyro.spark.connection import Spark
from gyro.text.corpus import Normalisation, line_text, lines_to_sentences, unpack_lines

WHOLE = (".xz", ".zst")
PACKED = (".gz", ".bz2", *WHOLE)
LARGEST_WHOLE = 1 << 30  # bytes of a file that one task fetches
RECORD = ".tokens.json"  # of gyro tokenize, beside its text


class TextFile(NamedTuple):
    """A file as Hadoop names it, and its bytes."""

    path: str
    size: int


def list_files(spark: Spark, paths: Sequence[str]) -> list[TextFile]:
    """The files of these paths, sorted in a folder; hidden ones and records of gyro tokenize are none."""
    files: list[TextFile] = []
    for path in paths:
        if path == "-":
            raise InputError("standard input is not for executors; give files that they see")
        with spark.told():
            found = spark.list_files(path)
        texts = [TextFile(*one) for one in found if not one[0].endswith(RECORD)]
        if not texts:
            raise InputError("no such file, or a folder without text", path=path)
        files += texts
    for path, size in files:
        if size == 0 and path.endswith(PACKED):
            raise InputError(f"damaged or truncated .{path.rpartition('.')[2]} file: the file is empty", path=path)
        if size > LARGEST_WHOLE and path.endswith(WHOLE):
            found_size = f"found {size >> 20} MB in a file that is read as a whole"
            raise InputError(f"{found_size}; divide it, or pack it as .bz2, which is read in pieces", path=path)
    return files


def local_files(files: Iterable[TextFile]) -> list[str]:
    """Their names on this machine; none unless all are files of machines."""
    parts = [urlsplit(file.path) for file in files]
    return [unquote(part.path) for part in parts] if all(part.scheme == "file" for part in parts) else []


def read_in_spark(
    spark: Spark,
    files: Sequence[TextFile],
    normalisation: Normalisation,
    *,
    paragraphs: bool = False,
    json_field: str = "",
) -> Any:
    """An RDD of the sentences of the files."""
    whole = [file.path for file in files if file.path.endswith(WHOLE)]
    lines = [file.path for file in files if not file.path.endswith(WHOLE)]
    name = lines[0] if len(lines) == 1 else f"one of {len(lines)} files, like {files[0].path}"
    split = partial(_sentences, normalisation=normalisation, paragraphs=paragraphs)
    rdds = []
    if lines:
        rdds.append(spark.read_lines(lines).mapPartitions(partial(_text_of_lines, field=json_field, path=name)))
    if whole:
        rdds.append(spark.read_whole(whole).flatMap(partial(_text_of_file, field=json_field)))
    return (rdds[0] if len(rdds) == 1 else rdds[0].union(rdds[1])).mapPartitions(split)


def _sentences(lines: Iterable[str], normalisation: Normalisation, paragraphs: bool) -> Iterator[list[str]]:
    return lines_to_sentences(lines, normalisation, paragraphs, keep_empty=False)


def _text_of_file(file: tuple[str, bytes], field: str) -> Iterator[str]:
    path, content = file
    for number, line in enumerate(unpack_lines(content, path), 1):
        yield line_text(line, field, path, number) if field else line


def _text_of_lines(lines: Iterable[bytes], field: str, path: str) -> Iterator[str]:
    for raw in lines:
        line = _decode(raw, path)
        yield line_text(line, field, path) if field else line


def _decode(raw: bytes, path: str) -> str:
    try:
        return raw.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        begin = bytes(error.object[: error.start]).decode("utf-8")[:40]
        found = f"found the byte 0x{byte:02x} at column {error.start + 1} of the line that begins {begin!r}"
        raise InputError(f"{found}; UTF-8 is allowed", path=path) from error
