"""The command verify, and damage that opening does not see."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.errors import InputError
from gyro.index.reader import open_index
from lm.kenlm import sidecar
from lm.kenlm.model import load_model
from tests.conftest import World
from tests.damage.material import write_trained


@pytest.fixture
def model(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the world's model, which is small: with smaller samples its fingerprint does not see it whole."""
    monkeypatch.setattr(sidecar, "END_BYTES", 1 << 12)
    monkeypatch.setattr(sidecar, "SAMPLE_BYTES", 1 << 6)
    shutil.copy(world.model_path, tmp_path / "model.lm")
    facts = {"normalisation": world.index.normalisation.to_json()}
    sidecar.write_sidecar(tmp_path / "model.lm", tmp_path / "model.lm", facts)
    return tmp_path / "model.lm"


def test_what_is_sound_is_told(world: World, ordered: Path, rescored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [world.model_path, world.index_path, ordered / "first", rescored / "trees"]
    capsys.readouterr()
    assert main(["verify", *map(str, places)]) == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = ["a language model", "an index", "a run", "a dependency language model"]
    assert [line.startswith(f"{place}: {kind}") for line, place, kind in zip(lines, places, kinds, strict=True)] == [
        True
    ] * 4


def test_bits_that_the_fingerprint_does_not_see_are_found(
    model: Path, ordered: Path, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(model.read_bytes())
    data[len(data) // 130] ^= 1  # half-way to the first of 64 samples
    model.write_bytes(data)
    assert sidecar.read_sidecar(model) is not None  # its fingerprint is still that of the model
    with pytest.raises(InputError, match="the file is damaged"):
        load_model(model).verify()
    assert main(["verify", str(model)]) == 2
    assert "model.lm: the file is damaged or was changed" in capsys.readouterr().err
    # A new run looks by itself.
    words = ["generate", str(ordered / "bags.jsonl"), "-o", str(tmp_path / "run"), "--index", str(world.index_path)]
    assert main([*words, "--lm", str(model)]) == 2
    assert "model.lm: the file is damaged or was changed" in capsys.readouterr().err


def test_a_run_on_swapped_lattices_is_refused(
    ordered: Path, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ordered / "first", tmp_path / "first")
    one, other, *_ = sorted((tmp_path / "first" / "lattices").rglob("*.fst*"))
    shutil.copy(other, one)
    words = ["rescore", str(tmp_path / "first"), "-o", str(tmp_path / "second"), "--lm", str(world.model_path)]
    assert main(words) == 2
    assert f"{one.name}: the file is damaged or was changed" in capsys.readouterr().err


def test_a_damaged_index_is_found(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(world.index_path, tmp_path / "index")
    file = tmp_path / "index" / "counts.3.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    open_index(tmp_path / "index")
    assert main(["verify", str(tmp_path / "index")]) == 2
    assert "counts.3.npy: the file is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "message"),
    [("missing", "no such file or folder"), ("", "a folder of another kind"), ("text", "no checksum is known")],
)
def test_what_has_no_checksum_is_refused(
    place: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("a b\n")
    assert main(["verify", str(tmp_path / place)]) == 2
    assert message in capsys.readouterr().err


def test_models_of_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trained(tmp_path)
    names = {
        "best-first": "best-first model",
        "ngram-beam": "unigrams",
        "wan": "wan model",
        "transition": "transition model",
    }
    capsys.readouterr()
    assert main(["verify", *(str(tmp_path / name) for name in names)]) == 0
    wanted = [f"{tmp_path / name}: {kind}, as it was made" for name, kind in names.items()]
    assert capsys.readouterr().out.splitlines() == wanted
    for name in names:
        (tmp_path / name / "model.json").write_text('{"format": "gyro soup"}')
        assert main(["verify", str(tmp_path / name)]) == 2
        assert "found 'gyro soup'; allowed are gyro best-first model" in capsys.readouterr().err
