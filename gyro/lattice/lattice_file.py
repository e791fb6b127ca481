"""Lattices in files: arrays and words to an OpenFst file and back.

read_lattice_file    the words and the arrays of a file of ours or of another tool
encode_lattice       the bytes of an OpenFst vector file, gzipped or not
write_lattice_file   such a file, gzipped when its name ends in .gz

`gyro.lattice.lattice.Lattice.read`, `Lattice.encode` and `Lattice.write` are the way here.
"""

from __future__ import annotations

import dataclasses
import gzip
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike

import numpy as np

from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.openfst_format import COSTS, STANDARD, FstArrays, check_arrays, encode_vector
from gyro.lattice.openfst_reader import FstFile, Symbols, decode_file

EPSILON = "<eps>"
GZIP_LEVEL = 6  # 9 takes ten times as long and saves a tenth
LARGEST_FILE = 1 << 30  # bytes of a lattice, unpacked: 60 million arcs

AnyPath = str | PathLike[str]


def read_lattice_file(path: AnyPath, format: LatticeFormat) -> tuple[tuple[str, ...], FstArrays]:
    """The words, sorted, and the acceptor over them: label i + 1 is the ith, 0 is epsilon."""
    file = decode_file(_file_bytes(path), path, format.scales)
    arrays, symbols = _one_side(file, format.project)
    nothing = {*format.epsilon, *format.marks}.difference(symbols or ())
    arrays = _without_labels(arrays, nothing) if nothing else arrays
    if not np.array_equal(arrays.input, arrays.output):
        found = "found a transducer; a lattice has the same labels on both sides"
        raise InputError(f"{found}, or --project input or output says which side counts", path=path)
    try:
        check_arrays(arrays)
        labels = np.unique(arrays.output[arrays.output > 0]).tolist()
        names = [_word(label, symbols, format) for label in labels]
    except InputError as error:
        raise InputError(str(error), path=path) from error
    words = tuple(sorted(set(names)))
    number = {word: i + 1 for i, word in enumerate(words)}
    new = np.array([0, *(number[name] for name in names)], np.int32)
    label = new[np.searchsorted([0, *labels], arrays.output)]
    return words, dataclasses.replace(arrays, input=label, output=label)


def encode_lattice(
    words: Sequence[str],
    arrays: FstArrays,
    labels: Mapping[str, int] | None = None,
    *,
    symbols: bool = True,
    arc_type: str = STANDARD,
    gzipped: bool = False,
) -> bytes:
    """The file of the acceptor in which label i + 1 is the ith word; `labels` gives each word another label."""
    if arc_type not in COSTS:
        raise InputError(f"found the type {arc_type!r} of arcs; allowed are {' and '.join(COSTS)}")
    used = np.unique(arrays.output).tolist()
    names = {label: words[label - 1] for label in used}
    ids = _chosen_labels(names, labels)
    table = np.zeros(len(words) + 1, np.int32)
    table[used] = [ids[label] for label in used]
    label = table[arrays.output]
    # Sorted anew, for the labels may have another order than the words.
    order = np.lexsort((arrays.cost, arrays.target, label, arrays.source))
    fst = dataclasses.replace(arrays, input=label, output=label).with_arcs(order)
    shown = {0: EPSILON} | {ids[label]: word for label, word in names.items()}
    data = encode_vector(fst, shown if symbols else None, arc_type)
    return gzip.compress(data, GZIP_LEVEL, mtime=0) if gzipped else data


def write_lattice_file(
    path: AnyPath,
    words: Sequence[str],
    arrays: FstArrays,
    labels: Mapping[str, int] | None = None,
    *,
    symbols: bool = True,
    arc_type: str = STANDARD,
) -> None:
    """Write the same to a file, gzipped when its name ends in .gz."""
    gzipped = str(path).endswith(".gz")
    data = encode_lattice(words, arrays, labels, symbols=symbols, arc_type=arc_type, gzipped=gzipped)
    with write_atomically(path) as file:
        file.write(data)


def _one_side(file: FstFile, side: str | None) -> tuple[FstArrays, Symbols | None]:
    """The arrays with the labels of that side on both, and its symbols; all as it is for no side."""
    if side is None:
        return file.arrays, file.input_symbols if file.output_symbols is None else file.output_symbols
    if side == "input":
        return dataclasses.replace(file.arrays, output=file.arrays.input), file.input_symbols
    return dataclasses.replace(file.arrays, input=file.arrays.output), file.output_symbols


def _without_labels(arrays: FstArrays, labels: set[int]) -> FstArrays:
    """The same with epsilon in the place of these labels."""
    chosen = list(labels)
    in_label, out_label = (np.where(np.isin(side, chosen), np.int32(0), side) for side in (arrays.input, arrays.output))
    return dataclasses.replace(arrays, input=in_label, output=out_label)


def _word(label: int, symbols: Symbols | None, format: LatticeFormat) -> str:
    if symbols is not None:
        if label not in symbols:
            raise InputError(f"found the label {label}, which is not in the symbol table")
        return symbols[label]
    words = format.words_of_labels()
    if words is None:
        return str(label)
    word = words.get(label, format.unknown)
    if word is None:
        found = f"found the label {label}, which is not in the word map {format.wordmap}"
        raise InputError(f"{found}; --epsilon {label} leaves it out, --unknown WORD gives such labels a word")
    return word


def _chosen_labels(symbols: Mapping[int, str], labels: Mapping[str, int] | None) -> dict[int, int]:
    if labels is None:
        return {label: label for label in symbols}
    for word in symbols.values():
        if word not in labels:
            raise InputError(f"found the word {word!r}, for which no label was given")
    chosen = {label: labels[word] for label, word in symbols.items()}
    if len(set(chosen.values())) < len(chosen) or min(chosen.values(), default=1) < 1:
        raise InputError("found labels that are not distinct positive numbers")
    return chosen


def _file_bytes(path: AnyPath) -> bytes:
    """The bytes of a file, unpacked; no more than LARGEST_FILE of them, whatever the file unpacks to."""
    try:
        with open(path, "rb") as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            data = (gzip.GzipFile(fileobj=file) if is_packed else file).read(LARGEST_FILE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip file: {error}", path=path) from error
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
    if len(data) > LARGEST_FILE:
        raise InputError(f"found a lattice of more than {LARGEST_FILE >> 20} MB, which is the most", path=path)
    return data
