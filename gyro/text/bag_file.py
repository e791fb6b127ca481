"""Files of bags. docs/formats.md describes them.

read_bags       bags of a file: one a line, blank-separated, or JSON Lines with `id`, `tokens` and perhaps more
read_bag_files  the bags of several, one file after the other
parse_bag       one line of such a file
record_to_bag   the bag of a JSON object: an AnnotatedBag when there is any annotation
bag_to_record   the JSON object of a bag
edge_positions  the positions of a prefix and a suffix
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from gyro.errors import InputError
from gyro.files import parse_json
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.corpus import read_lines

# A brace and a quoted key: a bag may well have the token "{", but tokenised text has blanks round quotation marks.
STARTS_JSON = re.compile(r'\s*\{\s*"[^"\s]*"\s*:')


def read_bags(path: str | PathLike[str], before: int = 0) -> Iterator[Bag]:
    """Yield the bags of a file ("-": standard input), each error with its line.

    The id of one that has none is the number of its line, after so many lines of other files.
    """
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield parse_bag(line, before + number)
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


def read_bag_files(paths: Iterable[str | PathLike[str]]) -> Iterator[Bag]:
    """Yield the bags of several files; their lines are numbered through."""
    count = 0
    for path in paths:
        for bag in read_bags(path, count):
            yield bag
            count += 1


def parse_bag(line: str, number: int) -> Bag:
    """Read one line; `number` is the bag's id unless JSON gives another.

    >>> parse_bag("the dog barks", 1).tokens
    ('barks', 'dog', 'the')
    >>> parse_bag('{"tokens": ["the", "dog", "barks"], "heads": [1, 2, -1]}', 1).heads
    (-1, 0, 1)
    """
    if not STARTS_JSON.match(line):
        return Bag(tuple(line.split()), id=str(number))
    try:
        value = parse_json(line)
    except ValueError as error:
        raise InputError(f"found a line that starts like a JSON object but is not one: {error}") from error
    return record_to_bag(value, number)


def record_to_bag(record: Mapping[str, Any], number: int) -> Bag:
    """The bag of a JSON object; keys that are null count as missing, keys that are not known are passed over."""
    name = record.get("id")
    id = str(number if name is None else name)
    given = {key: read(record[key], key) for key, read in _READERS.items() if record.get(key) is not None}
    reference = None if record.get("reference") is None else _strings(record["reference"], "reference")
    inflect = record.get("tokens") is None and "lemmas" in given
    tokens = _strings(record["lemmas"], "lemmas") if inflect else _strings(record.get("tokens"), "tokens")
    if not given:
        return Bag(tokens, id=id, reference=reference)
    if "counts" in given:
        given["count_limits"] = given.pop("counts")
    ends = edge_positions(given.pop("prefix", ()), given.pop("suffix", ()))
    if ends:
        given["positions"] = (*given.get("positions", ()), *ends)
    return AnnotatedBag(tokens, id=id, reference=reference, inflect=inflect, **given)


def bag_to_record(bag: Bag) -> dict[str, Any]:
    """The JSON object of a bag, without the keys for which there is nothing to say.

    >>> bag_to_record(AnnotatedBag(("a", "b"), id="7", pos=("DT", None)))
    {'id': '7', 'tokens': ('a', 'b'), 'pos': ('DT', None)}
    """
    record: dict[str, Any] = {"id": bag.id, "tokens": bag.tokens}
    if bag.reference is not None:
        record["reference"] = bag.reference
    if not isinstance(bag, AnnotatedBag):
        return record
    for key in _READERS:
        if key in ("prefix", "suffix"):  # these are positions
            continue
        value = getattr(bag, "count_limits" if key == "counts" else key)
        if value:
            record[key] = value
    if bag.inflect:
        record["lemmas"] = record.pop("tokens")
    return record


def edge_positions(prefix: Sequence[int], suffix: Sequence[int]) -> list[tuple[int, int]]:
    """The positions of the tokens at these places, when they are the first words and the last ones.

    >>> edge_positions((4, 2), (3, 0))
    [(4, 1), (2, 2), (3, -2), (0, -1)]
    """
    first = [(place, number) for number, place in enumerate(prefix, 1)]
    return first + [(place, number - len(suffix)) for number, place in enumerate(suffix)]


def _strings(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, Sequence) or not all(isinstance(token, str) for token in value):
        raise InputError(f"found {name} {value!r:.60}; a list of strings is allowed")
    return tuple(value)


def _texts(value: object, name: str) -> tuple[str | None, ...]:
    """One string a token, or null; a single string is split at its blanks."""
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, Sequence) or not all(text is None or isinstance(text, str) for text in value):
        raise InputError(f"found {name} {value!r:.60}; a list of strings and nulls is allowed")
    return tuple(value)


def _numbers(value: object, name: str) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not all(_is_number(number) for number in value):
        raise InputError(f"found {name} {value!r:.60}; a list of whole numbers is allowed")
    return tuple(value)


def _places(value: object, name: str) -> tuple[int | None, ...]:
    if not isinstance(value, list | tuple) or not all(place is None or _is_number(place) for place in value):
        raise InputError(f"found {name} {value!r:.60}; a list of whole numbers and nulls is allowed")
    return tuple(value)


def _chains(value: object, name: str) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"found {name} {value!r:.60}; a list of lists of places is allowed")
    return tuple(_numbers(chain, f"in {name}") for chain in value)


def _pairs(value: object, name: str) -> tuple[tuple[int, int], ...]:
    pairs: Sequence[Any] = value if isinstance(value, list | tuple) else [None]
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs):
        raise InputError(
            f"found {name} {value!r:.60}; a list of pairs of a place and a number is allowed, like [[0, 1]]"
        )
    return tuple((place, number) for place, number in pairs)


def _groups(value: object, name: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    groups: Sequence[Any] = value if isinstance(value, list | tuple) else [None]
    if not all(isinstance(group, list | tuple) and len(group) == 2 and _is_number(group[1]) for group in groups):
        allowed = "a list of pairs of places and how many of them are used is allowed, like [[[0, 1], 1]]"
        raise InputError(f"found {name} {value!r:.60}; {allowed}")
    return tuple((_numbers(places, f"in {name}"), count) for places, count in groups)


def _categories(value: object, name: str) -> tuple[tuple[str, ...] | None, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"found {name} {value!r:.60}; a list of lists of strings, or nulls, is allowed")
    return tuple(None if names is None else _strings(names, f"in {name}") for names in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_READERS: dict[str, Callable[[object, str], Any]] = {
    "pos": _texts,
    "heads": _places,
    "labels": _texts,
    "lemmas": _texts,
    "feats": _texts,
    "units": _chains,
    "counts": _numbers,
    "optional": _numbers,
    "order": _chains,
    "positions": _pairs,
    "prefix": _numbers,
    "suffix": _numbers,
    "choices": _groups,
    "categories": _categories,
}
