"""The lines of a file by their numbers, read only when they are asked for.

LineFile    a sequence of what the lines say; in memory are the places of the lines alone
json_lines  such a sequence of a JSON Lines file
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Generic, TypeVar, overload

from gyro.errors import InputError
from gyro.files import parse_object

T = TypeVar("T")


class LineFile(Sequence[T], Generic[T]):
    """What the lines of a file say, by `parse`, which gets a line and its number counted from 1.

    The file is mapped: forked processes share it, and one that takes its name later does not change what is read.
    """

    def __init__(self, path: str | PathLike[str], parse: Callable[[str, int], T]) -> None:
        self.path = path
        self._parse = parse
        self._places = array("q", [0])
        try:
            with open(path, "rb") as file:
                for line in file:
                    self._places.append(self._places[-1] + len(line))
                self._data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self._places[-1] else b""
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", path=path) from error

    def __len__(self) -> int:
        return len(self._places) - 1

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[T]: ...
    def __getitem__(self, number: int | slice) -> T | Sequence[T]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        place = range(len(self))[number]
        data: bytes = self._data[self._places[place] : self._places[place + 1]]
        try:
            return self._parse(data.decode(), place + 1)
        except UnicodeDecodeError as error:
            raise InputError("found a line that is not UTF-8", path=self.path, line=place + 1) from error

    def __iter__(self) -> Iterator[T]:
        return (self[number] for number in range(len(self)))


def json_lines(path: str | PathLike[str], parse: Callable[[dict[str, Any], int], T]) -> LineFile[T]:
    """The lines of a JSON Lines file, each an object that `parse` makes something of."""
    return LineFile(path, lambda line, number: parse(parse_object(line, path, number), number))
