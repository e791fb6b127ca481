from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gyro.errors import InputError
from gyro.pool import run_tasks
from lm.neural.compiled import FORMAT, Engine, compiled_folder
from lm.neural.trie import make_trie
from lm.neural.weights import Checkpoint, Weights
from tests.lm.neural.tiny import tiny_model, write_gguf

Checkpoints = Callable[[str], Checkpoint]
STRINGS = [[5, 6, 7], [5, 9]]
OF_EACH = ("body.onnx", "head.onnx", "rows.npy", "start.npz")
FILES = {f"{precision}-{part}" for precision in ("f32", "int8") for part in OF_EACH}
FILES |= {"embedding.npy", "facts.json", "f32.bin", "int8.bin", "int8-scale.npy"}


@pytest.fixture
def checkpoint(checkpoints: Checkpoints, tmp_path: Path) -> Checkpoint:
    """A tiny model in a folder of its own, without graphs."""
    path = tmp_path / "model" / "tiny.gguf"
    path.parent.mkdir()
    return replace(checkpoints("llama"), path=Path(shutil.copy(checkpoints("llama").path, path)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def unreadable() -> Weights:
    raise AssertionError("the weights are read again")


def costs(folder: Path, checkpoint: Checkpoint) -> list[float]:
    engine = Engine(folder, "f32", checkpoint.shape)
    trie = make_trie(STRINGS)
    return list(map(float, engine.costs(engine.compute(trie), trie.parent[1:], trie.piece)))


def test_the_folder_is_made_once(checkpoint: Checkpoint, capsys: pytest.CaptureFixture[str]) -> None:
    folder = compiled_folder(checkpoint)
    assert folder == checkpoint.path.with_name("tiny.gguf.gyro")
    assert {path.name for path in folder.iterdir()} == FILES
    assert capsys.readouterr().err.startswith("preparing tiny.gguf for the runtime")
    assert compiled_folder(replace(checkpoint, read_weights=unreadable)) == folder
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in checkpoint.path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.gyro"]


def test_another_model_under_the_same_name_is_noticed(checkpoint: Checkpoint, checkpoints: Checkpoints) -> None:
    before = costs(compiled_folder(checkpoint), checkpoint)
    other = replace(checkpoints("qwen3"), path=checkpoint.path)
    folder = compiled_folder(other)
    assert costs(folder, other) == costs(compiled_folder(checkpoints("qwen3")), other) != before
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("facts", [None, "", "{", "[]", "{}", f'{{"format": {FORMAT}, "signature": "another"}}'])
def test_a_folder_that_is_not_whole_is_made_anew(checkpoint: Checkpoint, facts: str | None) -> None:
    folder = checkpoint.path.with_name("tiny.gguf.gyro")
    folder.mkdir()
    (folder / "f32-body.onnx").write_bytes(b"half of a graph")
    if facts is not None:
        (folder / "facts.json").write_text(facts, encoding="utf-8")
    assert compiled_folder(checkpoint) == folder
    assert len(costs(folder, checkpoint)) == 4


def test_what_fails_half_way_leaves_nothing(checkpoint: Checkpoint) -> None:
    def fail() -> Weights:
        raise InputError("the disk is on fire")

    with pytest.raises(InputError, match="on fire"):
        compiled_folder(replace(checkpoint, read_weights=fail))
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["tiny.gguf"]


def test_without_a_writable_place_the_cache_is_used(checkpoint: Checkpoint, cache: Path) -> None:
    """No folder can be made in a place that is no folder, not even by root."""
    place = checkpoint.path.parent / "archive"
    place.touch()
    folder = compiled_folder(replace(checkpoint, path=place / "tiny.gguf"))
    assert folder == cache / "gyro" / checkpoint.signature
    assert len(costs(folder, checkpoint)) == 4
    assert compiled_folder(replace(checkpoint, path=place / "tiny.gguf", read_weights=unreadable)) == folder


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_read_only_folder_is_left_alone(checkpoint: Checkpoint, cache: Path) -> None:
    checkpoint.path.parent.chmod(0o500)
    try:
        assert compiled_folder(checkpoint) == cache / "gyro" / checkpoint.signature
    finally:
        checkpoint.path.parent.chmod(0o700)


def test_no_place_at_all_is_told_in_one_line(checkpoint: Checkpoint, cache: Path) -> None:
    cache.touch()
    with pytest.raises(InputError, match="cannot write the graphs of the model") as error:
        compiled_folder(replace(checkpoint, path=checkpoint.path / "tiny.gguf"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("stale", [False, True])
def test_two_processes_at_once(checkpoint: Checkpoint, stale: bool) -> None:
    folder = checkpoint.path.with_name("tiny.gguf.gyro")
    if stale:
        folder.mkdir()
        (folder / "facts.json").write_text("{}", encoding="utf-8")
    ends = list(run_tasks([0, 1, 2, 3], lambda _: costs(compiled_folder(checkpoint), checkpoint), jobs=4))
    assert [end.result for end in ends] == [costs(folder, checkpoint)] * 4
    assert sorted(path.name for path in folder.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.gyro"]


@pytest.mark.parametrize("name", sorted(FILES - {"facts.json"}))
@pytest.mark.parametrize("content", [None, b"", b"something else"])
def test_a_damaged_file_is_told_in_one_line(checkpoint: Checkpoint, name: str, content: bytes | None) -> None:
    folder = compiled_folder(checkpoint)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        Engine(folder, "int8" if name.startswith("int8") else "f32", checkpoint.shape)
    assert "\n" not in str(error.value)


def test_packed_weights_give_nearly_the_same(tmp_path: Path, checkpoints: Checkpoints) -> None:
    """Whatever the numbers of a file are packed in, its graphs are those of the unpacked ones."""
    from lm.neural.gguf_file import read_gguf

    packed = read_gguf(write_gguf(tiny_model("llama", seed=3), tmp_path / "q8.gguf", packing="Q8_0"))
    whole = read_gguf(write_gguf(tiny_model("llama", seed=3), tmp_path / "f32.gguf"))
    found, wanted = (costs(compiled_folder(one), one) for one in (packed, whole))
    np.testing.assert_allclose(found, wanted, atol=0.1)
    assert found != wanted
