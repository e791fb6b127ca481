"""Text → dependency parses in a folder, block by block, so that a killed run goes on where it was.

Parsed        the tokens of a sentence and their heads
parse_corpus  parse sentences into the folder's block files; those of an earlier run are kept
read_parses   the parsed sentences of block files, in order

A block file, 000000.parses and so on, has a line of JSON (format, version, number of sentences, SHA-256 of the tokens
and of the heads) and then two lines a sentence: its tokens, and the places of their heads counted from 0, -1 for the
root. settings.json says how the text was split and which parser made the trees. Files get their names when they are
whole, in order: a killed run leaves the first ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, islice, tee
from pathlib import Path
from typing import NamedTuple

from gyro.errors import InputError
from gyro.files import parse_json, read_json, write_atomically, write_json
from gyro.text.corpus import Heads, Normalisation
from gyro.text.parsing import RemotePool, parse_sentences, parser_name

FORMAT, VERSION = "gyro parses", 1
SENTENCES_PER_BLOCK = 5000  # the same batches for the parser whether a run was killed or not: a multiple of its tasks


class Parsed(NamedTuple):
    """A sentence and its tree."""

    tokens: tuple[str, ...]
    heads: Heads


def parse_corpus(
    sentences: Iterable[Sequence[str]],
    folder: Path,
    *,
    normalisation: Normalisation,
    jobs: int = 1,
    remote: RemotePool | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Path]:
    """Parse the sentences, and give the block files that hold them; `progress` gets numbers of finished sentences.

    An earlier run's blocks are kept if they hold these very sentences, and refused if they hold others.
    """
    _check_settings(folder, normalisation)
    tell = progress or (lambda finished: None)
    remaining = iter(sentences)
    paths: list[Path] = []
    unparsed: list[Sequence[str]] = []
    for path in _block_paths(folder):
        unparsed = list(islice(remaining, SENTENCES_PER_BLOCK))
        if not unparsed or not _holds(path, unparsed):
            break
        paths.append(path)
        tell(len(unparsed))
    # The parser reads some tasks ahead of its results: tee keeps just these sentences.
    given, kept = tee(chain(unparsed, remaining))
    trees = zip(kept, parse_sentences(given, jobs=jobs, remote=remote), strict=True)
    for path in _block_paths(folder, len(paths)):
        block = []
        for tokens, heads in islice(trees, SENTENCES_PER_BLOCK):
            block.append(Parsed(tuple(tokens), heads))
            tell(1)
        if not block:
            break
        _write_block(path, block)
        paths.append(path)
    return paths


def read_parses(paths: Iterable[Path]) -> Iterator[Parsed]:
    """Yield the parsed sentences of block files."""
    for path in paths:
        block = _read_block(path)
        if block is None:
            raise InputError("damaged: remove it, and the same command makes it again", path=path)
        yield from block


def _block_paths(folder: Path, first: int = 0) -> Iterator[Path]:
    return (folder / f"{number:06}.parses" for number in count(first))


def _check_settings(folder: Path, normalisation: Normalisation) -> None:
    """Refuse a folder whose parses were made in another way."""
    made = {"normalisation": normalisation.to_json(), "parser": parser_name(), "block": SENTENCES_PER_BLOCK}
    settings = {"format": FORMAT, "version": VERSION, **made}
    path = folder / "settings.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=folder) from error
    if not path.exists():
        write_json(path, settings)
    elif (found := read_json(path)) != settings:
        differ = " and ".join(key for key in settings if found.get(key) != settings[key]) or "settings"
        raise InputError(f"holds parses of another run: {differ} differ; remove the folder to start anew", path=folder)


def _holds(path: Path, sentences: Sequence[Sequence[str]]) -> bool:
    """Whether a block is there and whole; InputError when it holds other sentences."""
    block = _read_block(path)
    if block is not None and [parsed.tokens for parsed in block] != [tuple(tokens) for tokens in sentences]:
        raise InputError("holds parses of other text; remove the folder to start anew", path=path.parent)
    return block is not None


def _write_block(path: Path, block: Sequence[Parsed]) -> None:
    texts = [" ".join(parsed.tokens) for parsed in block]
    trees = [" ".join(map(str, parsed.heads)) for parsed in block]
    header = {"format": FORMAT, "version": VERSION, **_header(texts, trees)}
    with write_atomically(path, "w") as file:
        file.write(json.dumps(header) + "\n")
        file.writelines(f"{text}\n{tree}\n" for text, tree in zip(texts, trees, strict=True))


def _read_block(path: Path) -> list[Parsed] | None:
    """The sentences of a block file; None when it is not there, cut or changed."""
    try:
        first, *lines = path.read_bytes().decode().removesuffix("\n").split("\n")
        header = parse_json(first)
    except (OSError, ValueError):
        return None
    texts, trees = lines[0::2], lines[1::2]
    if header != {"format": FORMAT, "version": VERSION, **_header(texts, trees)}:
        return None
    return [Parsed(tuple(text.split()), tuple(map(int, tree.split()))) for text, tree in zip(texts, trees, strict=True)]


def _header(texts: Sequence[str], trees: Sequence[str]) -> dict[str, object]:
    text, heads = (hashlib.sha256("\n".join(lines).encode()).hexdigest() for lines in (texts, trees))
    return {"sentences": len(texts), "text": text, "heads": heads}
