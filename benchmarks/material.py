"""What the benchmarks run on: development text and references, and what is made of them once, in runs/benchmarks.

is_missing      say that a benchmark is skipped, and which file it lacks
references      the references of the test set, tokenised
tokenised_text  the development text as a file of tokens
made_index      its index
made_model      its KenLM model of an order
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from gyro.files import write_atomically
from gyro.index.build import build_index
from gyro.text.corpus import Normalisation, read_lines, read_sentences, tokenize
from lm.kenlm.estimate import estimate_model

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
TEXT = (DATA / "text" / "wikinews.txt.xz", DATA / "text" / "enwiki_sample.txt.xz")
REFERENCES = DATA / "mt" / "wmt21.de-en.jsonl.xz"
CACHE = ROOT / "runs" / "benchmarks"
NORMALISATION = Normalisation()
SPLIT = Normalisation("none")  # of text that is tokenised already
ORDER = 5  # of the index


def is_missing(*paths: Path) -> bool:
    """Is one of these files not there? Then a line says so."""
    lacking = next((path for path in paths if not path.exists()), None)
    if lacking is not None:
        print(f"skipped: {lacking} is not there")
    return lacking is not None


def references() -> Iterator[list[str]]:
    """The tokens of each reference."""
    return (tokenize(json.loads(line)["ref"], NORMALISATION) for line in read_lines(REFERENCES))


def tokenised_text() -> Path:
    """The development text, a sentence a line, with blanks between its tokens."""

    def make(path: Path) -> None:
        with write_atomically(path, "w") as file:
            file.writelines(" ".join(tokens) + "\n" for tokens in read_sentences(TEXT, NORMALISATION, jobs=2))

    return _made("text.tok", "a minute", make)


def made_index() -> Path:
    """The index of the development text."""

    def make(path: Path) -> None:
        sentences = read_sentences([tokenised_text()], SPLIT)
        build_index(sentences, path, order=ORDER, normalisation=NORMALISATION)

    return _made("news.index", "half a minute", make)


def made_model(order: int) -> Path:
    """The KenLM model of the development text with this order."""

    def make(path: Path) -> None:
        sentences = read_sentences([tokenised_text()], SPLIT)
        estimate_model(sentences, path, order=order, normalisation=NORMALISATION)

    return _made(f"news-{order}gram.lm", "two minutes", make)


def _made(name: str, time: str, make: Callable[[Path], None]) -> Path:
    """The file or folder of this name, made unless it is there."""
    path = CACHE / name
    if not path.exists():
        print(f"making {path.relative_to(ROOT)} (about {time})", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        make(path)
    return path
