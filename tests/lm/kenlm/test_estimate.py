from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lm.kenlm.estimate
from gyro.errors import InputError
from gyro.text.corpus import Normalisation
from gyro.version import __version__
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import load_model

NONE = Normalisation("none")
Text = Callable[[int], list[list[str]]]


def test_model_and_sidecar(tmp_path: Path, small_text: Text) -> None:
    path, steps, text = tmp_path / "model.lm", list[str](), small_text(3)
    estimate_model(text, path, order=3, memory=100_000_000, normalisation=NONE, progress=steps.append)
    facts = json.loads((tmp_path / "model.lm.json").read_text())
    assert facts["gyro"] == __version__
    assert facts["order"] == 3
    assert facts["sentences"] == len(text)
    assert facts["tokens"] == sum(map(len, text))
    assert facts["size"] == path.stat().st_size
    assert facts["normalisation"] == NONE.to_json()
    assert facts["command"][:5] == ["lmplz", "-o", "3", "-S", "100000000b"]
    assert facts["discount fallback"] is True
    assert str(tmp_path) not in json.dumps(facts)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.lm", "model.lm.json"]
    assert steps == ["counting n-grams", "estimating", "writing the binary"]
    assert load_model(path).order == 3


def test_the_same_text_gives_the_same_bytes(tmp_path: Path, small_text: Text) -> None:
    for name in ("a", "b"):
        text: Iterator[list[str]] = iter(small_text(5))
        estimate_model(text, tmp_path / name, order=4, memory="64M", normalisation=NONE, keep_arpa=True)
    for end in ("", ".json", ".arpa", ".arpa.json"):
        assert (tmp_path / f"a{end}").read_bytes() == (tmp_path / f"b{end}").read_bytes()
    words = ("the", "cat", "saw")
    assert (
        load_model(tmp_path / "a.arpa").acceptor(words).cost == load_model(tmp_path / "a").acceptor(words).cost
    ).all()


def test_discounts_are_estimated_when_they_can_be(tmp_path: Path) -> None:
    words = [f"w{rank}" for rank in range(3000)]
    draw = random.Random(1).choices
    text = [draw(words, [1 / (rank + 1) for rank in range(3000)], k=10) for _ in range(800)]
    estimate_model(text, tmp_path / "m", order=3, memory="64M", normalisation=NONE, prune=(0, 0, 1))
    facts = json.loads((tmp_path / "m.json").read_text())
    assert facts["discount fallback"] is False
    assert facts["command"][6:10] == ["--prune", "0", "0", "1"]


def test_marks_in_the_text_are_blanks(tmp_path: Path) -> None:
    estimate_model([["a", "<s>", "b"], ["</s>"], [], ["b"]], tmp_path / "m", order=2, memory="64M", normalisation=NONE)
    assert {"a", "b"} <= {word for word in ("a", "b", "c") if word in load_model(tmp_path / "m")}


def test_short_sentences_under_a_high_order(tmp_path: Path) -> None:
    estimate_model([["a"], ["b"]], tmp_path / "m", order=6, memory="64M", normalisation=NONE)
    model = load_model(tmp_path / "m")
    assert model.acceptor(("a", "b")).score(["a"]) == pytest.approx(model.score(["a"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 1}, "order 1; KenLM has models of order 2 to 6"),
        ({"order": 7}, "order 7"),
        ({"memory": "much"}, "memory 'much'"),
        ({"memory": 0}, "memory 0"),
        ({"memory": "1M"}, "lmplz failed: Vocab hash size estimate"),
        ({"prune": ()}, "cut-offs ''"),
        ({"prune": (1, 0)}, "cut-offs '1 0'"),
        ({"prune": (-1,)}, "cut-offs '-1'"),
        ({"prune": (0, 0, 0, 0)}, "one to 3 counts"),
    ],
)
def test_impossible_requests(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate_model([["a"]], tmp_path / "m", **({"order": 3, "normalisation": NONE} | options))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", [[], [[]]])
def test_no_text(tmp_path: Path, text: list[list[str]]) -> None:
    with pytest.raises(InputError, match="no sentence"):
        estimate_model(text, tmp_path / "m", order=2, memory="64M", normalisation=NONE)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write: No such file"):
        estimate_model([["a"]], tmp_path / "no" / "m", order=2, normalisation=NONE)


def test_a_character_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unicode"):
        estimate_model([["\udc80"]], tmp_path / "m", order=2, memory="64M", normalisation=NONE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("script", "message"),
    [("kill -9 $$", "killed by SIGKILL"), ("echo no luck >&2; exit 3", "no luck"), ("exit 4", "code 4")],
)
def test_a_failing_lmplz_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    program, folder = tmp_path / "lmplz", tmp_path / "models"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    folder.mkdir()
    monkeypatch.setattr(lm.kenlm.estimate, "find_program", lambda name: program)
    many = (["word"] * 20 for _ in range(200_000))  # more than a pipe holds
    with pytest.raises(InputError, match=f"lmplz failed: {message}"):
        estimate_model(many, folder / "m", order=2, normalisation=NONE)
    assert not list(folder.iterdir())


def test_a_text_that_breaks_off_stops_lmplz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, alive, folder = tmp_path / "lmplz", tmp_path / "pid", tmp_path / "models"
    program.write_text(f"#!/bin/sh\necho $$ > {alive}\nexec sleep 60\n")
    program.chmod(0o755)
    folder.mkdir()
    monkeypatch.setattr(lm.kenlm.estimate, "find_program", lambda name: program)

    def text() -> Iterator[list[str]]:
        while not alive.exists() or not alive.read_text():
            time.sleep(0.01)
        yield ["a"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimate_model(text(), folder / "m", order=2, normalisation=NONE)
    with pytest.raises(ProcessLookupError):
        os.kill(int(alive.read_text()), 0)
    assert not list(folder.iterdir())


def test_an_older_model_stays_when_the_new_one_fails(tmp_path: Path, small_text: Text) -> None:
    path = tmp_path / "m"
    estimate_model(small_text(1), path, order=2, memory="64M", normalisation=NONE)
    before = path.read_bytes()
    with pytest.raises(InputError):
        estimate_model(small_text(2), path, order=2, memory="1M", normalisation=NONE)
    assert path.read_bytes() == before
    assert load_model(path).order == 2
