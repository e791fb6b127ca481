"""The systems that are scored and compared: run folders and files of sentences.

read_systems  systems and their common references
parse_system  "PATH", "PATH:NAME" or "NAME=PATH" → (path, name)
Systems       what `read_systems` gives
unique_names  a short name for each system
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from gyro.errors import InputError
from gyro.files import parse_json
from gyro.score.evaluation import read_outputs
from gyro.text.corpus import read_lines

Sentence = tuple[str, ...]


@dataclass(frozen=True)
class Systems:
    """The outputs of systems on the same sentences, by name; `ids` are those of the bags, where a run has them."""

    outputs: Mapping[str, tuple[Sentence, ...]]
    references: tuple[Sentence, ...]
    ids: tuple[str, ...] | None


def parse_system(text: str) -> tuple[Path, str | None]:
    """The path and, if given, the name; what is there under the whole text is a path without a name.

    >>> parse_system("runs/no-such-run:4-gram")
    (PosixPath('runs/no-such-run'), '4-gram')
    >>> parse_system("4-gram=runs/no-such-run")
    (PosixPath('runs/no-such-run'), '4-gram')
    """
    if not Path(text).exists():
        before, colon, name = text.rpartition(":")
        if colon and before and name and "/" not in name:
            return Path(before), name
        name, equals, after = text.partition("=")
        if equals and name and after:
            return Path(after), name
    return Path(text), None


def read_systems(
    named: Sequence[tuple[Path, str | None]], reference_path: str | PathLike[str] | None = None
) -> Systems:
    """Read systems and their references; without a file of references those of the runs, which must agree."""
    if not named:
        raise InputError("found no system to score")
    source = Path(reference_path) if reference_path is not None else _common_references([path for path, _ in named])
    references = tuple(tuple(line.split()) for line in read_lines(source))
    outputs = {
        name: tuple(read_outputs(_outputs_path(path), references, source))
        for name, (path, _) in zip(unique_names(named), named, strict=True)
    }
    ids = next((found for path, _ in named if (found := _read_ids(path)) is not None), None)
    return Systems(outputs, references, ids if ids is not None and len(ids) == len(references) else None)


def unique_names(named: Sequence[tuple[Path, str | None]]) -> list[str]:
    """The given names; for the others as much of the end of the path as tells them apart."""
    paths = [path.resolve() for path, _ in named]
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = [name or "/".join(path.parts[-parts:]) for path, (_, name) in zip(paths, named, strict=True)]
        if len({*names}) == len(names):
            return names
    twice = next(name for name in names if names.count(name) > 1)
    raise InputError(f"found the system {twice!r} twice; systems have names of their own (PATH:NAME)")


def _common_references(paths: Sequence[Path]) -> Path:
    sources = [path / "references.txt" for path in paths if path.is_dir()]
    for source in sources:
        if not source.is_file():
            raise InputError("the bags of this run have no references; give a file of them", path=source.parent)
    if not sources:
        raise InputError("no references: give a file, or a run whose bags have them", path=paths[0])
    first = list(read_lines(sources[0]))
    for source in sources[1:]:
        others = list(read_lines(source))
        if others != first:
            pairs = enumerate(zip(first, others, strict=False), 1)
            line = next((n for n, (one, other) in pairs if one != other), min(len(first), len(others)) + 1)
            raise InputError(f"found other references than in {sources[0]}", path=source, line=line)
    return sources[0]


def _outputs_path(path: Path) -> Path:
    if not path.is_dir():
        return path
    if not (path / "best.txt").is_file():
        raise InputError("no best.txt here; a finished run or a file of sentences is needed", path=path)
    return path / "best.txt"


def _read_ids(path: Path) -> tuple[str, ...] | None:
    if not (path / "bags.jsonl").is_file():
        return None
    try:
        return tuple(str(parse_json(line)["id"]) for line in read_lines(path / "bags.jsonl"))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("found a line that is no bag with an id", path=path / "bags.jsonl") from error
