"""N-best lists, in the format of Moses, as JSON Lines, and as lines of text and cost.

NbestEntry    one string of a list: its sentence, tokens, cost and named features
entries       the entries of one sentence from its hypotheses
cost_feature  the feature that is minus the cost
write_moses   write entries as `0 ||| the dog barks ||| LM= -12.34 ||| -12.34`
read_moses    read them back
write_jsonl   write entries as `{"id": "7", "rank": 1, "tokens": [...], "cost": 12.34, "features": {"LM": -12.34}}`
read_jsonl    read them back
write_tsv     write the entries of one sentence as `the dog barks<TAB>12.34`, and an empty line after them
read_tsv      read many such sentences back
WRITERS       the writers of the entries of one sentence, by name

Inside the program a cost is low when it is good. In the files the features and the total of Moses are scores, minus the
cost, as Moses has them; numbers are written so that they read back as the same float. Moses has no way to write "|" in
a token but its escape "&#124;", which is used here too; an "&" that would then read as an escape becomes "&amp;".
Text and cost, as tools for lattices print them, have no features, and an empty line ends a sentence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import IO, Any

from gyro.errors import InputError
from gyro.files import parse_json
from gyro.lattice.lattice import Hypothesis
from gyro.text.corpus import read_lines

MOST_SENTENCES = 10_000_000
_SEPARATOR = " ||| "
_AMBIGUOUS = re.compile(r"&(?=#124;|amp;)")
_ESCAPED = re.compile(r"&(?:#124|amp);")


@dataclass(frozen=True)
class NbestEntry:
    """One string of an n-best list.

    `sentence` counts from 0 and `rank` from 1; `id` is the bag's. A feature has one value or, in lists of Moses itself,
    several.
    """

    sentence: int
    tokens: tuple[str, ...]
    cost: float
    features: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rank: int = 1
    id: str = ""


def entries(
    sentence: int, id: str, hypotheses: Sequence[Hypothesis], features: Sequence[Mapping[str, float]] | None = None
) -> Iterator[NbestEntry]:
    """The entries of one sentence with the named features of each; without them, LM is minus the cost."""
    named = cost_feature("LM", hypotheses) if features is None else features
    for rank, (hypothesis, values) in enumerate(zip(hypotheses, named, strict=True), 1):
        single = {name: (float(value),) for name, value in values.items()}
        yield NbestEntry(sentence, tuple(hypothesis.tokens), hypothesis.cost, single, rank, id)


def cost_feature(name: str, hypotheses: Iterable[Hypothesis]) -> list[dict[str, float]]:
    """For each hypothesis one feature of this name: minus the cost."""
    return [{name: _negative(hypothesis.cost)} for hypothesis in hypotheses]


def write_moses(file: IO[str], items: Iterable[NbestEntry]) -> None:
    """Write entries in the format of Moses."""
    for entry in items:
        features = " ".join(f"{_name(n)}= {' '.join(map(_number, values))}" for n, values in entry.features.items())
        text = " ".join(map(_escape, entry.tokens))
        fields = (str(entry.sentence), text, features, _number(_negative(entry.cost)))
        file.write(_SEPARATOR.join(fields) + "\n")


def read_moses(path: str | PathLike[str]) -> Iterator[NbestEntry]:
    """Yield the entries of a Moses n-best file; fields after the fourth (alignments) are passed over."""
    sentence, rank = -1, 0
    for number, line in enumerate(read_lines(path), 1):
        try:
            fields = [part.strip() for part in line.split("|||")]
            if len(fields) < 4:
                raise InputError(
                    f"found {len(fields)} fields between '|||'; sentence, text, features, score are needed"
                )
            current = _parse_sentence(fields[0])
            rank = rank + 1 if current == sentence else 1
            sentence = current
            tokens = tuple(map(_unescape, fields[1].split()))
            cost = _negative(_parse_number(fields[3]))
            yield NbestEntry(sentence, tokens, cost, _parse_features(fields[2]), rank, str(sentence + 1))
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


def write_jsonl(file: IO[str], items: Iterable[NbestEntry]) -> None:
    """Write entries as JSON Lines; a feature with one value is written as a number."""
    for entry in items:
        features = {_name(n): values[0] if len(values) == 1 else list(values) for n, values in entry.features.items()}
        for number in (entry.cost, *(value for values in entry.features.values() for value in values)):
            _number(number)
        record = {"id": entry.id, "rank": entry.rank, "tokens": entry.tokens, "cost": entry.cost, "features": features}
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_jsonl(path: str | PathLike[str]) -> Iterator[NbestEntry]:
    """Yield the entries of a JSON Lines file; a sentence starts where the rank is 1."""
    sentence = -1
    for number, line in enumerate(read_lines(path), 1):
        try:
            record = _parse_record(line)
            sentence += record["rank"] == 1
            features = {name: tuple(map(float, _listed(value))) for name, value in record["features"].items()}
            tokens = tuple(record["tokens"])
            yield NbestEntry(max(sentence, 0), tokens, float(record["cost"]), features, record["rank"], record["id"])
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


def write_tsv(file: IO[str], items: Iterable[NbestEntry]) -> None:
    """Write the entries of one sentence as text and cost; a sentence without entries is an empty line alone."""
    for entry in items:
        file.write(f"{' '.join(map(_checked, entry.tokens))}\t{_number(entry.cost)}\n")
    file.write("\n")


def read_tsv(path: str | PathLike[str]) -> Iterator[NbestEntry]:
    """Yield the entries of lines of text and cost; each empty line is the end of a sentence."""
    sentence, rank = 0, 0
    for number, line in enumerate(read_lines(path), 1):
        if not line:
            sentence, rank = sentence + 1, 0
            continue
        text, tab, cost = line.rpartition("\t")
        try:
            if not tab:
                raise InputError(f"found {line!r:.40} without a tab; text, a tab and a cost are needed")
            rank += 1
            yield NbestEntry(sentence, tuple(text.split()), _parse_number(cost), {}, rank, str(sentence + 1))
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


WRITERS: dict[str, Callable[[IO[str], Iterable[NbestEntry]], None]] = {
    "moses": write_moses,
    "jsonl": write_jsonl,
    "tsv": write_tsv,
}


def _parse_sentence(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(MOST_SENTENCES)) or int(text) >= MOST_SENTENCES:
        raise InputError(f"found the sentence number {text!r:.40}; 0, 1, 2 … {MOST_SENTENCES - 1} are allowed")
    return int(text)


def _negative(number: float) -> float:
    return 0.0 - number  # and not -number, which makes -0.0


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise InputError(f"found the number {value} in an n-best list; finite ones are allowed")
    return repr(float(value))


def _name(name: str) -> str:
    if name.split() != [name] or "|" in name or "=" in name:
        raise InputError(f"found the feature name {name!r}; a word without blanks, '=' and '|' is allowed")
    return name


def _checked(token: str) -> str:
    if token.split() != [token]:
        raise InputError(f"found the token {token!r} in an n-best list; a token has no blanks and is not empty")
    return token


def _escape(token: str) -> str:
    return _AMBIGUOUS.sub("&amp;", _checked(token)).replace("|", "&#124;")


def _unescape(token: str) -> str:
    return _ESCAPED.sub(lambda match: "|" if match[0] == "&#124;" else "&", token)


def _parse_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"found {text!r:.40}; a finite number is allowed")
    return value


def _parse_features(text: str) -> dict[str, tuple[float, ...]]:
    features: dict[str, tuple[float, ...]] = {}
    name = ""
    for part in text.split():
        if part.endswith("="):
            name = part[:-1]
            if not name or name in features:
                raise InputError(f"found the feature name {name!r}; a new name before each '=' is allowed")
            features[name] = ()
        elif name:
            features[name] += (_parse_number(part),)
        else:
            raise InputError(f"found {part!r} before any feature name; features look like 'LM= -12.34'")
    return features


def _parse_record(line: str) -> dict[str, Any]:
    try:
        record = parse_json(line)
    except ValueError as error:
        raise InputError(f"not JSON: {error}") from error
    kinds: Sequence[tuple[str, type | tuple[type, ...], str]] = (
        ("id", str, "a string"),
        ("rank", int, "a whole number from 1"),
        ("tokens", list, "a list of strings"),
        ("cost", (int, float), "a number"),
        ("features", dict, "an object of numbers"),
    )
    if not isinstance(record, dict):
        raise InputError("found JSON that is not an object")
    for key, kind, allowed in kinds:
        value = record.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"found {key} {value!r:.60}; {allowed} is needed")
    if record["rank"] < 1:
        raise InputError(f"found rank {record['rank']}; a whole number from 1 is needed")
    if not all(isinstance(token, str) for token in record["tokens"]):
        raise InputError(f"found tokens {record['tokens']!r:.60}; a list of strings is needed")
    values = [number for value in record["features"].values() for number in _listed(value)]
    for value in (record["cost"], *values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"found the number {value!r:.60}; a finite number is needed")
    return record


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
