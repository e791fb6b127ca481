"""The small JSON file beside a model that says how the model was made.

sidecar_path   MODEL.json for MODEL
fingerprint    a hash of a file's size and samples of its bytes: milliseconds, however large the file
write_sidecar  write the facts about a model, with its size, fingerprint and checksum
verify_model   compare the checksum of the whole model with that noted at its making
read_sidecar   read them and check that they belong to the model; None when there is no such file
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gyro.checksum import check_file, file_checksum
from gyro.errors import InputError
from gyro.files import read_json, write_json
from gyro.version import __version__

FORMAT = "gyro language model"
VERSION = 1

# The ends hold header and vocabulary, the middle the probabilities: models of one vocabulary differ there.
END_BYTES, SAMPLES, SAMPLE_BYTES = 1 << 20, 64, 1 << 12


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """MODEL.json for MODEL."""
    return Path(f"{os.fspath(path)}.json")


def fingerprint(path: str | os.PathLike[str]) -> str:
    """A hash of the size, both ends and evenly spread samples of a file."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256(str(size).encode())
            digest.update(file.read(END_BYTES))
            for sample in range(1, SAMPLES + 1):
                file.seek(size * sample // (SAMPLES + 1))
                digest.update(file.read(SAMPLE_BYTES))
            file.seek(max(0, size - END_BYTES))
            digest.update(file.read(END_BYTES))
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
    return digest.hexdigest()


def write_sidecar(path: str | os.PathLike[str], contents: str | os.PathLike[str], facts: Mapping[str, object]) -> None:
    """Write the facts beside `path`, with size and fingerprint of `contents`: the model, perhaps not yet so named."""
    about = {"format": FORMAT, "version": VERSION, "gyro": __version__}
    identity = {"size": Path(contents).stat().st_size, "fingerprint": fingerprint(contents)}
    identity["xxh128"] = file_checksum(contents)
    write_json(sidecar_path(path), {**facts, **about, **identity})


def read_sidecar(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The facts about a model, if somebody wrote them and they are about this file."""
    beside = sidecar_path(path)
    if not beside.exists():
        return None
    facts = read_json(beside)
    if facts.get("format") != FORMAT:
        raise InputError(f"found format {facts.get('format')!r:.40}; {FORMAT!r} is allowed beside a model", path=beside)
    if facts.get("version") != VERSION:
        raise InputError(f"found version {facts.get('version')!r:.40}; {VERSION} is allowed", path=beside)
    if facts.get("size") != Path(path).stat().st_size or facts.get("fingerprint") != fingerprint(path):
        raise InputError(f"does not belong to {path}, which was changed or cut: estimate the model again", path=beside)
    return facts


def verify_model(path: str | os.PathLike[str]) -> bool:
    """Whether a checksum of the whole model is known; InputError when the model has another.

    Its fingerprint, which is checked whenever a model is opened, does not see what is changed between the samples.
    """
    facts = read_sidecar(path)
    checksum = None if facts is None else facts.get("xxh128")
    if checksum is None:
        return False
    check_file(path, checksum)
    return True
