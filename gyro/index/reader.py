"""The text index: all n-grams of a text, up to an order, with their counts, memory-mapped.

open_index  open an index folder; takes milliseconds whatever its size, and refuses what is damaged
TextIndex   counts of n-grams, and the vectorised step from n-grams to longer ones

The format is described in docs/index-format.md; gyro.index.build makes such folders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.array_file import map_array
from gyro.checksum import check_file
from gyro.errors import InputError
from gyro.files import read_json
from gyro.text.corpus import Normalisation

FORMAT = "gyro-text-index"
VERSION = 2
HEADER = "index.json"
MOST_ORDER = 9
WORDS, OFFSETS = "words.npy", "offsets.npy"
BEGIN, END = "<s>", "</s>"  # the marks before and after every sentence, words like the others here

Keys = NDArray[np.uint64]
Ranks = NDArray[np.int64]


def keys_name(order: int) -> str:
    """The file of the keys of a level, from the second on."""
    return f"keys.{order}.npy"


def counts_name(order: int) -> str:
    """The file of the counts of a level."""
    return f"counts.{order}.npy"


def shard_name(number: int) -> str:
    """The folder of a shard, from 0."""
    return f"shard-{number:05d}"


def file_names(order: int, shards: int = 0) -> list[str]:
    """All files of an index of this order, the header aside; with shards, each has the levels from the second on."""
    levels = [name for n in range(2, order + 1) for name in (keys_name(n), counts_name(n))]
    folders = [f"{shard_name(number)}/" for number in range(shards)] or [""]
    return [WORDS, OFFSETS, counts_name(1), *(folder + name for folder in folders for name in levels)]


def header_checksum(header: dict[str, Any]) -> str:
    """SHA-256 of the header without its own checksum, as canonical JSON."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class TextIndex:
    """An open index. Words are numbered in the order of their UTF-8 bytes, n-grams of each order likewise.

    The n-gram of rank r extended by the word w has the key r·V + w, where V is the number of words; the keys of a level
    are sorted and the place of a key is its rank. The rank of a 1-gram is the number of its word. The words BEGIN and
    END stand before and after every sentence; `num_tokens` does not count them.
    """

    def __init__(self, path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.path = path
        self.order: int = header["order"]
        self.normalisation = Normalisation.from_json(header["normalisation"])
        self.num_tokens: int = header["tokens"]
        self.num_sentences: int = header["sentences"]
        self.num_ngrams: tuple[int, ...] = tuple(header["ngrams"])
        self.signature: str = header["checksum"][:12]
        self._header = header
        self._arrays = arrays
        self.least_counts: tuple[int, ...] = tuple(header.get("least_counts", [1] * self.order))
        self._keys = [np.asarray(arrays[name]) for n in range(2, self.order + 1) if (name := keys_name(n)) in arrays]
        self._counts = [
            np.asarray(arrays[name]) for n in range(1, self.order + 1) if (name := counts_name(n)) in arrays
        ]
        self._words = np.asarray(arrays[WORDS]).data
        self._offsets = np.asarray(arrays[OFFSETS]).data

    def __repr__(self) -> str:
        size = f"{self.num_tokens:,} tokens, {self.num_sentences:,} sentences"
        return f"TextIndex({str(self.path)!r}, order {self.order}, {size})"

    def word(self, number: int) -> str:
        """The word of this number."""
        try:
            return str(self._words[self._offsets[number] : self._offsets[number + 1]], "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                "the file is damaged: it holds a word that is not UTF-8", path=self.path / WORDS
            ) from error

    def words(self) -> Iterator[str]:
        """All words, in order."""
        return map(self.word, range(self.num_ngrams[0]))

    def word_id(self, word: str) -> int | None:
        """The number of a word; None when the text does not have it."""
        wanted, low, high = word.encode("utf-8", "surrogatepass"), 0, self.num_ngrams[0]
        while low < high:
            middle = (low + high) // 2
            found = bytes(self._words[self._offsets[middle] : self._offsets[middle + 1]])
            if found == wanted:
                return middle
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return None

    def extend(self, order: int, parents: Ranks, words: Ranks) -> Ranks:
        """The ranks of n-grams of this order, each an (n-1)-gram by its rank and one more word; -1: not in the text."""
        level = self._keys[order - 2]
        keys = parents.astype(np.uint64) * np.uint64(self.num_ngrams[0]) + words.astype(np.uint64)
        places = np.searchsorted(level, keys)
        known = places < len(level)
        known[known] = level[places[known]] == keys[known]
        return np.where(known, places, -1)

    def counts(self, order: int, ranks: Ranks) -> NDArray[np.int64]:
        """How often the n-grams of these ranks occur."""
        return self._counts[order - 1][ranks].astype(np.int64)

    def count(self, tokens: Sequence[str]) -> int:
        """How often an n-gram of at most `order` words occurs; the empty one occurs at every token."""
        if len(tokens) > self.order:
            raise ValueError(f"found an n-gram of {len(tokens)} words; the index has {self.order} at most")
        if not tokens:
            return self.num_tokens
        numbers = [self.word_id(token) for token in tokens]
        rank = numbers[0]
        for order, number in enumerate(numbers[1:], 2):
            if rank is None or number is None:
                return 0
            found = int(self.extend(order, np.array([rank]), np.array([number]))[0])
            rank = None if found < 0 else found
        return 0 if rank is None else int(self.counts(len(tokens), np.array([rank]))[0])

    def info(self) -> str:
        """What is in the index, for people."""
        size = sum(entry["bytes"] for entry in self._header["files"].values())
        rows = [
            ("index", str(self.path)),
            ("signature", self.signature),
            ("format", f"{FORMAT}, version {VERSION}"),
            ("normalisation", str(self.normalisation)),
            ("sentences", f"{self.num_sentences:,}"),
            ("tokens", f"{self.num_tokens:,}"),
            *((f"{n}-grams", f"{number:,}") for n, number in enumerate(self.num_ngrams, 1)),
            *([("least counts", ", ".join(map(str, self.least_counts)))] if max(self.least_counts) > 1 else []),
            *([("shards", f"{len(self._header['shards']):,}")] if "shards" in self._header else []),
            ("size", f"{size / 1e6:,.1f} MB"),
        ]
        return "\n".join(f"{name:<15}{value}" for name, value in rows)

    def verify(self) -> None:
        """Compute the checksums of all files anew; raise InputError that names the first damaged one."""
        for name, facts in self._header["files"].items():
            if "xxh128" in facts:
                check_file(self.path / name, facts["xxh128"])
            else:  # an index of an older version
                check_file(self.path / name, facts["sha256"], "sha256")


def open_index(path: str | PathLike[str]) -> TextIndex:
    """Open an index folder.

    The header's checksum and the sizes of the files are checked; their contents only by `TextIndex.verify`.
    """
    folder = Path(path)
    header = read_header(folder)
    if "shards" in header:
        from gyro.index.sharded import ShardedIndex  # which is made of this module

        return ShardedIndex(folder, header, _map_files(folder, header, _expected_arrays(header, 1)))
    return TextIndex(folder, header, _map_files(folder, header, _expected_arrays(header, header["order"])))


def _map_files(folder: Path, header: dict[str, Any], expected: dict[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    for name in header["files"].keys() - expected.keys():
        check_size(folder / name, header["files"][name]["bytes"])
    return {name: map_file(folder / name, header["files"][name]["bytes"], *kind) for name, kind in expected.items()}


def _expected_arrays(header: dict[str, Any], levels: int) -> dict[str, tuple[str, int]]:
    """Type and length of the array of each file of the first levels."""
    ngrams = header["ngrams"][:levels]
    arrays = {WORDS: ("|u1", header["word_bytes"]), OFFSETS: ("<u8", ngrams[0] + 1)}
    for n, length in enumerate(ngrams, 1):
        arrays[counts_name(n)] = (header["count_type"], length)
        if n > 1:
            arrays[keys_name(n)] = ("<u8", length)
    return arrays


def read_header(folder: Path) -> dict[str, Any]:
    """Read and check the header of an index folder."""
    path = folder / HEADER
    if not folder.is_dir():
        raise InputError("no such folder; an index made by `gyro index` is allowed", path=folder)
    if not path.is_file():
        raise InputError(f"the folder has no {HEADER}; an index made by `gyro index` is allowed", path=folder)
    header = read_json(path)
    if header.get("format") != FORMAT:
        raise InputError(f"found the format {header.get('format')!r:.60}; {FORMAT!r} is allowed", path=path)
    if header.get("version") != VERSION:
        found = f"found version {header.get('version')!r:.20} of the format; {VERSION} is allowed"
        raise InputError(f"{found}: build the index anew", path=path)
    if header.get("checksum") != header_checksum(header):
        raise InputError("the header is damaged: its checksum is wrong", path=path)
    if not _is_header(header):
        raise InputError("the header does not list the files of an index", path=path)
    return header


def _is_header(header: dict[str, Any]) -> bool:
    """Whether all that is read from a header is there and of its type. Without pydantic, whose import takes longer than
    all the rest of opening an index.
    """
    match header:
        case {
            "order": int() as order,
            "normalisation": dict(),
            "tokens": int(),
            "sentences": int(),
            "ngrams": [*ngrams],
            "word_bytes": int(),
            "count_type": "<u4" | "<u8",
            "files": dict() as files,
        }:
            sums = [facts.get("xxh128", facts.get("sha256")) for facts in files.values() if isinstance(facts, dict)]
            numbers = [*ngrams, *(facts.get("bytes") for facts in files.values() if isinstance(facts, dict))]
            shards, least = header.get("shards", []), header.get("least_counts", [1])
            return (
                1 <= order == len(ngrams) <= MOST_ORDER
                and (isinstance(shards, list) and isinstance(least, list) and bool(shards or "shards" not in header))
                and (all(_is_shard(shard, order) for shard in shards) and len(least) in (1, order))
                and sorted(files) == sorted(file_names(order, len(shards)))
                and len(sums) == len(files)
                and all(isinstance(checksum, str) for checksum in sums)
                and all(isinstance(number, int) and number >= 0 for number in [*numbers, *least])
            )
    return False


def _is_shard(shard: object, order: int) -> bool:
    match shard:
        case {"start": [*start], "ngrams": [*ngrams], "shared": int()}:
            return all(isinstance(n, int) and n >= 0 for n in [*start, *ngrams]) and len(ngrams) == order - 1
    return False


def map_file(path: Path, size: int, dtype: str, length: int) -> NDArray[Any]:
    """Map the array of a file that has this size, type and length, or say in one line what it has."""
    check_size(path, size)
    array = map_array(path, "a file of an index")
    if array.dtype.str != dtype or array.shape != (length,):
        found = f"found {array.dtype.str} × {array.shape}; the header says {dtype} × ({length},)"
        raise InputError(found, path=path)
    return array


def check_size(path: Path, size: int) -> None:
    """Refuse a file that is missing or has another size."""
    if not path.is_file():
        raise InputError("the file is missing from the index", path=path)
    if path.stat().st_size != size:
        raise InputError(f"found {path.stat().st_size} bytes; the header says {size}", path=path)
