"""Small models of every file type, made once, from text with some grammar in it."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.text.corpus import Normalisation
from lm.kenlm.estimate import estimate_model
from lm.kenlm.sidecar import sidecar_path
from lm.kenlm.toolchain import find_program

FILE_TYPES = {
    "probing": ("probing",),
    "sparse": ("-p", "7.3", "probing"),
    "nameless": ("-v", "probing"),
    "trie": ("trie",),
    "array": ("-a", "22", "trie"),
    "quantised": ("-q", "8", "-b", "8", "-a", "22", "trie"),
}


@pytest.fixture(scope="session", autouse=True)
def programs() -> None:
    """Everything here needs lmplz and build_binary; say so at once."""
    try:
        find_program("lmplz"), find_program("build_binary")
    except InputError as error:
        pytest.fail(str(error))


def make_text(seed: int, sentences: int = 120) -> list[list[str]]:
    """Sentences of a toy grammar, with repeated words, accents and a token of three hash blocks."""
    choice = random.Random(seed).choice
    noun = ["cat", "dog", "café", "straightforwardness", "house", "the"]
    verb = ["saw", "sees", "liked", "'s"]

    def phrase(depth: int) -> list[str]:
        words = [choice(["the", "a", "some"]), choice(noun)]
        return words if depth == 0 or choice([0, 1]) else [*words, choice(["of", "near"]), *phrase(depth - 1)]

    return [
        [*phrase(2), choice(verb), *phrase(1), choice([".", ".", "!", "?"])] if choice([0, 1, 1]) else [choice(noun)]
        for _ in range(sentences)
    ]


@pytest.fixture(scope="session")
def small_text() -> Callable[[int], list[list[str]]]:
    """small_text(seed) is a text of 120 sentences."""
    return make_text


@pytest.fixture(scope="session")
def build_binary() -> Callable[..., None]:
    """build_binary(arpa, target, *options) runs KenLM's own program."""

    def run(arpa: Path, target: Path, *options: str) -> None:
        command = [str(find_program("build_binary")), "-T", f"{target}.sort", *options, str(arpa), str(target)]
        subprocess.run(command, check=True, capture_output=True)

    return run


@pytest.fixture(scope="session")
def model_files(
    tmp_path_factory: pytest.TempPathFactory, build_binary: Callable[..., None]
) -> Callable[[str, int], Path]:
    """model_files(file type, order) is the path of a model; "arpa" is a type too."""
    folder = tmp_path_factory.mktemp("models")

    def make(file_type: str, order: int) -> Path:
        estimated, arpa, path = folder / f"{order}.lm", folder / f"{order}.lm.arpa", folder / f"{order}.{file_type}"
        if not arpa.exists():
            estimate_model(
                make_text(order),
                estimated,
                order=order,
                memory="64M",
                normalisation=Normalisation("none"),
                keep_arpa=True,
            )
            sidecar_path(arpa).unlink()
        if file_type == "arpa":
            return arpa
        if not path.exists():
            build_binary(arpa, path, *FILE_TYPES[file_type])
        return path

    return make
