"""Changes of a file's bytes at random.

mutate  a changed copy
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

NUMBER = re.compile(rb"\d+(?:\.\d+)?")
LARGE = (b"9" * 400, b"9" * 5000, b"1e999", b"-1", b"0", b"NaN", b"4294967296", b"9223372036854775808")
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**25, 1.5, 1e308, "", "x", "\x1b[2J", "\ud800", "a b", [], {}, [[]], {"a": None}),
    [0, "a", None],
)
DEEP = b"[" * 100_000


def mutate(data: bytes, dice: random.Random) -> bytes:
    """One or two changes: flipped bits, a cut, bytes put in or taken out or doubled, numbers, JSON values."""
    for _ in range(dice.choice((1, 1, 2))):
        data = dice.choice(CHANGES)(data, dice)
    return data


def _flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 4, 50)) if data else 0):
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    new = dice.choice((dice.randbytes(dice.randrange(1, 9)), b"\0", b"\n", b"\xff", b"\x1b[2J", b'"', b" ", b"\t"))
    return data[:at] + new + data[at:]


def _remove_or_double(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.randrange(1, 40))
    return data[:start] + (data[start:end] * 2 if dice.random() < 0.5 else b"") + data[end:]


def _number(data: bytes, dice: random.Random) -> bytes:
    found = list(NUMBER.finditer(data[:100_000]))
    if not found:
        return data
    match = dice.choice(found)
    return data[: match.start()] + dice.choice(LARGE) + data[match.end() :]


def _json_value(data: bytes, dice: random.Random) -> bytes:
    """Another value somewhere in the JSON of the file or of one of its lines."""
    lines = [data] if data.startswith(b"{\n") else data.split(b"\n")
    at = dice.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    if dice.random() < 0.05:
        lines[at] = DEEP
    else:
        lines[at] = json.dumps(_replaced(value, dice)).encode()
    return b"\n".join(lines)


def _replaced(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(sorted(value))
        return {**value, key: _replaced(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return [*value[:place], _replaced(value[place], dice), *value[place + 1 :]]
    return dice.choice(VALUES)


CHANGES = (_flip, _cut, _insert, _remove_or_double, _number, _json_value, _json_value)
