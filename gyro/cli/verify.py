"""The command verify."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from gyro.errors import InputError

ALLOWED = "a model, an index, tokenised text or the folder of a run is allowed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="models, indexes, tokenised text and folders of runs")


def run(arguments: argparse.Namespace) -> int:
    for path in map(Path, arguments.paths):
        print(f"{path}: {_verify(path)}")
    return 0


def _verify(path: Path) -> str:
    """Check what is there by the file that tells its kind."""
    if path.is_dir():
        for name, check in _KINDS.items():
            if (path / name).is_file():
                return check(path)
        raise InputError(f"found a folder of another kind; {ALLOWED}", path=path)
    if not path.is_file():
        raise InputError(f"no such file or folder; {ALLOWED}", path=path)
    return _verify_model(path) if (text := _verify_text(path)) is None else text


def _verify_text(path: Path) -> str | None:
    from gyro.text.tokenized import read_record

    record = read_record(path)
    return None if record is None else f"tokenised text, {record.sentences:,} sentences as they were written"


def _verify_run(path: Path) -> str:
    from gyro.run.checksum import verify_run

    return f"a run, {verify_run(path)} files as they were written"


def _verify_index(path: Path) -> str:
    from gyro.index.reader import open_index

    open_index(path).verify()
    return "an index, as it was made"


def _verify_model(path: Path) -> str:
    from lm.kenlm.sidecar import sidecar_path, verify_model

    if not verify_model(path):
        raise InputError(f"no checksum is known: it would be in {sidecar_path(path).name} beside it", path=path)
    return "a language model, as it was made"


def _verify_dependency_model(path: Path) -> str:
    from lm.dependency.model import SEQUENCES, load_dependency_model

    load_dependency_model(path)
    _verify_model(path / SEQUENCES)
    return "a dependency language model, as it was made"


def _verify_trained_model(path: Path) -> str:
    from gyro.files import read_json

    name = read_json(path / "model.json").get("format")
    if name not in _TRAINED:
        raise InputError(f"found {name!r:.60}; allowed are {', '.join(_TRAINED)}", path=path / "model.json")
    module, function = _TRAINED[name]
    getattr(import_module(module), function)(path)  # it is read whole, and its checksum compared
    return f"{name.removeprefix('gyro ')}, as it was made"


# What model.json says that a folder holds → the function that reads it.
_TRAINED = {
    "gyro best-first model": ("comparison.best_first.model", "load_model"),
    "gyro transition model": ("comparison.transition.model", "load_model"),
    "gyro wan model": ("comparison.wan.model", "read_wan_model"),
    "gyro unigrams": ("comparison.ngram_beam.unigram_model", "read_unigrams"),
}
_KINDS: dict[str, Callable[[Path], str]] = {
    "run.json": _verify_run,
    "index.json": _verify_index,
    "dependency.json": _verify_dependency_model,
    "model.json": _verify_trained_model,
}
