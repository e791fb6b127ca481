from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lm.kenlm.model
from gyro.errors import InputError
from gyro.text.corpus import Normalisation
from lm.kenlm.bag_acceptor import BagStates, find_bag_states
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import load_model
from lm.kenlm.probing import FIXED, SANITY, open_probing, read_header

Files = Callable[[str, int], Path]
Text = Callable[[int], list[list[str]]]


def test_a_model_says_what_it_is(model_files: Files) -> None:
    model = load_model(model_files("probing", 4))
    assert model.order == 4
    assert model.normalisation is None
    assert "cat" in model
    assert "zebra" not in model
    assert model.signature == load_model(str(model_files("probing", 4))).signature
    assert model.signature != load_model(model_files("probing", 3)).signature
    assert len(model.signature) == 12
    assert repr(model).endswith("4.probing', order 4)")


def test_the_sidecar_gives_the_normalisation(tmp_path: Path, small_text: Text) -> None:
    path = tmp_path / "model.lm"
    lowercased = Normalisation("none", lowercase=True)
    estimate_model(small_text(1), path, order=2, memory="64M", normalisation=lowercased)
    assert load_model(path).normalisation == lowercased


def test_loading_an_arpa_file_says_nothing(model_files: Files, capfd: pytest.CaptureFixture[str]) -> None:
    load_model(model_files("arpa", 3))
    assert capfd.readouterr() == ("", "")


ORDER, MULTIPLIER, TYPE, COUNTS = len(SANITY), len(SANITY) + 4, len(SANITY) + 8, len(SANITY) + FIXED.size
DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "empty": ("probing", lambda data: b"", "not a model that KenLM reads"),
    "foreign": ("probing", lambda data: b"\x7fELF" + bytes(1000), "not a model that KenLM reads"),
    "text": ("probing", lambda data: b"one sentence a line\n", "not a model that KenLM reads"),
    "half the test values": ("probing", lambda data: data[:70], "not a model that KenLM reads"),
    "another version": ("probing", lambda data: data.replace(b"version 5", b"version 4", 1), "version 4"),
    "unfinished": (
        "probing",
        lambda data: b"mmap lm http://kheafield.com/code incomplete\n".ljust(500, b"\0"),
        "finish",
    ),
    "half a header": ("probing", lambda data: data[: len(SANITY) + 6], "damaged|cut short"),
    "no counts": ("probing", lambda data: data[: len(SANITY) + FIXED.size + 3], "cut short"),
    "half": ("probing", lambda data: data[: len(data) // 2], "cut short"),
    "half a trie": ("trie", lambda data: data[: len(data) // 2], "size"),
    "half a quantised trie": ("quantised", lambda data: data[: len(data) // 2], "End of file"),
    "half an ARPA file": ("arpa", lambda data: data[: len(data) // 2], "not a model that KenLM reads"),
    "order 0": ("probing", lambda data: data[:ORDER] + b"\0" + data[ORDER + 1 :], "order other than"),
    "order 200": ("trie", lambda data: data[:ORDER] + b"\xc8" + data[ORDER + 1 :], "order other than"),
    "type 9": ("probing", lambda data: data[:TYPE] + b"\x09" + data[TYPE + 1 :], "damaged"),
    "no number": ("probing", lambda data: data[:MULTIPLIER] + b"\xff" * 4 + data[MULTIPLIER + 4 :], "damaged"),
    "endless counts": ("probing", lambda data: data[:COUNTS] + b"\xff" * 16 + data[COUNTS + 16 :], "cut short"),
    "endless trie": ("trie", lambda data: data[:COUNTS] + b"\xff" * 16 + data[COUNTS + 16 :], "cut short"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused_in_one_line(model_files: Files, tmp_path: Path, name: str) -> None:
    file_type, change, message = DAMAGE[name]
    path = tmp_path / "damaged.lm"
    path.write_bytes(change(model_files(file_type, 3).read_bytes()))
    with pytest.raises(InputError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert ".cc:" not in str(caught.value)


@pytest.mark.parametrize("name", ["nothing.lm", "."])
def test_missing_files(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / name)


def test_a_full_hash_table_does_not_hang(model_files: Files, tmp_path: Path) -> None:
    data = bytearray(model_files("probing", 2).read_bytes())
    vocabulary = -(-(COUNTS + 16) // 8) * 8 + 8
    number_of_words = int.from_bytes(data[COUNTS : COUNTS + 8], "little")
    for entry in range(int(number_of_words * 1.5)):
        data[vocabulary + 12 * entry : vocabulary + 12 * entry + 8] = (entry + 1).to_bytes(8, "little")
    path = tmp_path / "full.lm"
    path.write_bytes(data)
    header = read_header(path)
    assert header is not None
    assert open_probing(path, header) is None


def test_a_sidecar_of_another_model_is_refused(model_files: Files, tmp_path: Path, small_text: Text) -> None:
    path = tmp_path / "model.lm"
    estimate_model(small_text(1), path, order=2, memory="64M", normalisation=Normalisation("none"))
    shutil.copy(model_files("probing", 3), path)
    with pytest.raises(InputError, match=r"model.lm.json: does not belong to .*model.lm"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something"}, "format 'something'"),
        ({"version": 99}, "version 99"),
        ({"size": 3}, "does not belong"),
        ({"fingerprint": "0"}, "does not belong"),
        ({"normalisation": 7}, "normalisation"),
    ],
)
def test_damaged_sidecars_are_refused(
    tmp_path: Path, small_text: Text, change: dict[str, object], message: str
) -> None:
    path, sidecar = tmp_path / "model.lm", tmp_path / "model.lm.json"
    estimate_model(small_text(1), path, order=2, memory="64M", normalisation=Normalisation("none"))
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | change))
    with pytest.raises(InputError, match=message):
        load_model(path)
    sidecar.write_text("{")
    with pytest.raises(InputError, match="not a JSON file"):
        load_model(path)


@pytest.mark.parametrize("file_type", ["probing", "trie"])
def test_words_that_cannot_be(model_files: Files, file_type: str) -> None:
    model = load_model(model_files(file_type, 2))
    with pytest.raises(InputError, match="'</s>'"):
        model.acceptor(("a", "</s>"))
    with pytest.raises(InputError, match=r"'\\udc80'"):
        model.acceptor(("a", "\udc80"))


def test_when_bulk_look_ups_disagree_kenlm_is_believed(model_files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    right = load_model(model_files("probing", 3))

    def wrong(*arguments: object, **options: bool) -> BagStates:
        states = find_bag_states(*arguments, **options)  # type: ignore[arg-type]
        return states._replace(log10=states.log10 + np.float32(0.5))

    monkeypatch.setattr(lm.kenlm.model, "find_bag_states", wrong)
    model = load_model(model_files("probing", 3))
    assert not model.reads_in_bulk
    monkeypatch.undo()
    words = ("the", "cat", "saw")
    assert np.array_equal(model.acceptor(words).cost, right.acceptor(words).cost)
