"""How the lattice files of other tools are to be read, and the word maps that go with them.

LatticeFormat   what bare labels mean, what the numbers of a weight are worth, which side of a transducer counts
OWN_FORMAT      that of our own files, in which nothing has to be said
read_wordmap    the words of labels, out of a file with a label and a word a line
is_label        whether a text is the number of a label

This is light: a command line says what it has to say with it before a lattice is read.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from types import MappingProxyType
from typing import Any, Self

from gyro.checksum import file_checksum
from gyro.errors import InputError
from gyro.text.corpus import read_lines

SIDES = ("input", "output")
LARGEST_LABEL = 2**31 - 1


@dataclass(frozen=True)
class LatticeFormat:
    """Marks, epsilon labels and word map are for labels without a symbol: the symbols in a file say what is what.

    >>> LatticeFormat(marks=(1, 2), epsilon=(999999999,)).text()
    'marks [1, 2] epsilon [999999999]'
    """

    marks: tuple[int, ...] = ()  # the labels of sentence start and end, which are no words
    epsilon: tuple[int, ...] = ()  # labels that stand for nothing, like those of deletions
    scales: tuple[float, ...] = ()  # what each number of a weight is multiplied with
    project: str | None = None  # the side of a transducer
    wordmap: str | None = None  # a file
    unknown: str | None = None  # the word for labels that are not in the word map

    def __post_init__(self) -> None:
        for scale in self.scales:
            if not math.isfinite(scale):
                raise InputError(f"found the scale {scale}; finite numbers are allowed")
        if self.project not in (None, *SIDES):
            raise InputError(f"found the side {self.project!r} of a transducer; allowed are {' and '.join(SIDES)}")
        if self.unknown is not None and self.wordmap is None:
            raise InputError("found a word for labels that are not in the word map, and no word map")

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace, prefix: str = "") -> Self:
        """What the options of a command say (gyro.cli.lattice_options); those that it does not have are left out."""
        said: dict[str, Any] = {name: getattr(arguments, prefix + name, None) for name in cls.__dataclass_fields__}
        given = {name: value for name, value in said.items() if value is not None}
        return cls(**given | {name: tuple(value) for name, value in given.items() if isinstance(value, list)})

    @classmethod
    def of_evidence(cls, arguments: argparse.Namespace) -> Self:
        """That of the evidence of MT systems: its own options or, when none is given, those of the hypotheses."""
        own = cls.from_arguments(arguments, "mt_")
        return cls.from_arguments(arguments) if own == cls() else own

    def words_of_labels(self) -> Mapping[int, str] | None:
        """The word map, if there is one."""
        return None if self.wordmap is None else read_wordmap(self.wordmap)

    def settings(self) -> dict[str, Any]:
        """What tells one way of reading from another; of a word map, what is in it."""
        said = {name: getattr(self, name) for name in type(self).__dataclass_fields__}
        if self.wordmap is not None:
            self.words_of_labels()  # which reports a file that cannot be read
            said["wordmap"] = file_checksum(self.wordmap)[:12]
        return {name: list(v) if isinstance(v, tuple) else v for name, v in said.items() if v not in ((), None)}

    def text(self) -> str:
        """The same as a line, which is empty when nothing was said."""
        return " ".join(f"{name} {value}" for name, value in self.settings().items())


OWN_FORMAT = LatticeFormat()


def read_wordmap(path: str | PathLike[str]) -> Mapping[int, str]:
    """The words by their labels. A line has a word and its label, in this order or the other, the same in all lines.

    Where both columns could be the labels, the second is, as MT decoders write it. The map of a file is kept, for every
    lattice asks for it.
    """
    try:
        now = os.stat(path)
    except (OSError, ValueError) as error:  # a name with a NUL in it is no name
        raise InputError(f"cannot read: {getattr(error, 'strerror', error)}", path=path) from error
    return _wordmap(os.fspath(path), now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=4)
def _wordmap(path: str, _changed: int, _size: int) -> Mapping[int, str]:
    rows = [(number, line.split()) for number, line in enumerate(read_lines(path), 1) if line.strip()]
    for number, row in rows:
        if len(row) != 2:
            raise InputError(f"found {len(row)} columns; a word and its label are needed", path=path, line=number)
    column = 1 if all(is_label(row[1]) for _, row in rows) else 0
    words: dict[int, str] = {}
    for number, row in rows:
        if not is_label(row[column]):
            found = f"found {' '.join(row)!r:.60}; a word and its label are needed, in one order throughout"
            raise InputError(found, path=path, line=number)
        label = int(row[column])
        if label in words:
            raise InputError(f"found the label {label} again; each may come once", path=path, line=number)
        words[label] = row[1 - column]
    if not words:
        raise InputError("found no words; a word and its label a line are needed", path=path)
    return MappingProxyType(words)


def is_label(text: str) -> bool:
    """Whether a text is the number of a label."""
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LARGEST_LABEL
