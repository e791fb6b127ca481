from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

import lm.dependency.parse
from gyro.cli import dependency_lm as command
from gyro.errors import InputError
from gyro.text.corpus import ROOT, Heads, Normalisation, read_sentences
from gyro.text.parsing import parser_name
from lm.dependency.model import load_dependency_model, train_dependency_model
from lm.dependency.parse import Parsed, parse_corpus, read_parses

NORMALISATION = Normalisation("none")


@pytest.fixture
def parser_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Blocks of three sentences and a parser that hangs all words on the first; the sentences that it was given."""
    calls: list[tuple[str, ...]] = []

    def parse(sentences: Iterable[Sequence[str]], *, jobs: int = 1, remote: object = None) -> Iterator[Heads]:
        for tokens in sentences:
            calls.append(tuple(tokens))
            yield (ROOT, *[0 for _ in tokens[1:]])

    monkeypatch.setattr(lm.dependency.parse, "SENTENCES_PER_BLOCK", 3)
    monkeypatch.setattr(lm.dependency.parse, "parse_sentences", parse)
    return calls


def numbered(count: int) -> list[list[str]]:
    return [["word", str(number)] for number in range(count)]


def parse_numbered(count: int, folder: Path, normalisation: Normalisation = NORMALISATION) -> list[Path]:
    return parse_corpus(numbered(count), folder, normalisation=normalisation)


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_what_is_parsed_is_read(tmp_path: Path, parser_calls: list[tuple[str, ...]], count: int) -> None:
    finished: list[int] = []
    paths = parse_corpus(numbered(count), tmp_path / "parts", normalisation=NORMALISATION, progress=finished.append)
    assert len(paths) == -(-count // 3)
    assert list(read_parses(paths)) == [Parsed(tuple(tokens), (ROOT, 0)) for tokens in numbered(count)]
    assert sum(finished) == count


@pytest.mark.parametrize(("first", "again"), [(6, 8), (7, 7), (8, 3), (0, 2)])
def test_blocks_of_an_earlier_run_are_kept(
    tmp_path: Path, parser_calls: list[tuple[str, ...]], first: int, again: int
) -> None:
    parse_numbered(first, tmp_path)
    parser_calls.clear()
    finished: list[int] = []
    paths = parse_corpus(numbered(again), tmp_path, normalisation=NORMALISATION, progress=finished.append)
    assert len(parser_calls) == max(0, again - first)
    assert sum(finished) == again
    assert [parsed.tokens[1] for parsed in read_parses(paths)] == [str(number) for number in range(again)]


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", None])
def test_a_damaged_block_is_parsed_again(
    tmp_path: Path, parser_calls: list[tuple[str, ...]], damage: bytes | None
) -> None:
    paths = parse_numbered(7, tmp_path)
    whole = [path.read_bytes() for path in paths]
    paths[1].write_bytes(whole[1].replace(b"\n-1 0\n", b"\n-1 1\n", 1) if damage is None else damage)
    with pytest.raises(InputError, match="damaged"):
        list(read_parses(paths))
    parser_calls.clear()
    assert parse_numbered(7, tmp_path) == paths
    assert len(parser_calls) == 4
    assert [path.read_bytes() for path in paths] == whole


def test_parses_of_something_else_are_refused(tmp_path: Path, parser_calls: list[tuple[str, ...]]) -> None:
    parse_numbered(6, tmp_path)
    with pytest.raises(InputError, match="parses of other text; remove the folder"):
        parse_corpus([["other"]] * 6, tmp_path, normalisation=NORMALISATION)
    with pytest.raises(InputError, match="another run: normalisation differ"):
        parse_numbered(6, tmp_path, Normalisation("none", lowercase=True))
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert settings["parser"] == parser_name()
    (tmp_path / "settings.json").write_text(json.dumps({**settings, "parser": "another 1.0"}))
    with pytest.raises(InputError, match="another run: parser differ"):
        parse_numbered(6, tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        parse_numbered(1, tmp_path / "file" / "parts")


TRAIN = """
import sys
import lm.dependency.parse
from gyro.text.corpus import Normalisation, read_sentences
from lm.dependency.model import train_dependency_model
lm.dependency.parse.SENTENCES_PER_BLOCK = 100
sentences = read_sentences([sys.argv[1]], Normalisation("none"))
train_dependency_model(sentences, sys.argv[2], memory="64M", normalisation=Normalisation("none"), jobs=2)
"""


def write_text(path: Path, count: int) -> Path:
    """Short sentences, all different."""
    nouns, verbs = ("dog", "cat", "mother-in-law", "boy's", "king"), ("saw", "did n't see", "likes", "ate")
    lines = (f"The {nouns[n % 5]} {verbs[n % 4]} {n} {nouns[n % 3]} ." for n in range(count))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, killed, undisturbed = write_text(tmp_path / "text", 3000), tmp_path / "killed", tmp_path / "undisturbed"
    process = subprocess.Popen([sys.executable, "-c", TRAIN, str(text), str(killed)])
    while not (tmp_path / "killed.parts" / "000001.parses").exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not killed.exists()
    assert 2 <= len(list(tmp_path.glob("killed.parts/*.parses"))) < 30
    monkeypatch.setattr(lm.dependency.parse, "SENTENCES_PER_BLOCK", 100)
    for path in (killed, undisturbed):
        sentences = read_sentences([text], NORMALISATION)
        train_dependency_model(sentences, path, memory="64M", normalisation=NORMALISATION)
    assert folder_bytes(killed) == folder_bytes(undisturbed)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "text", "undisturbed"]


def run_command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, path = write_text(tmp_path / "text", 60), tmp_path / "model"
    assert run_command(str(text), "-o", str(path), "--tokenized", "--limit", "50", "--memory", "64M") == 0
    assert "dependency model of order 3" in capsys.readouterr().out
    assert json.loads((path / "dependency.json").read_text())["sentences"] == 50
    model = load_dependency_model(path)
    assert model.normalisation == NORMALISATION
    assert model.parser == parser_name()
    with pytest.raises(InputError, match="--limit 0"):
        run_command(str(text), "-o", str(path), "--limit", "0")


def test_a_wrong_order_is_refused_before_anything_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found order 9"):
        train_dependency_model(iter(()), tmp_path / "m", order=9, normalisation=NORMALISATION)
    assert not list(tmp_path.iterdir())
