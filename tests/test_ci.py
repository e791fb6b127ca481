"""What CI runs, with programs that only say what they were asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "run"
PACKAGES = {
    "fstinfo": "libfst-tools",
    "chromium": "chromium",
    "java": "openjdk-17-jre-headless",
    "xxhsum": "xxhash",
}


def make_program(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def run(folder: Path, programs: dict[str, str]) -> tuple[list[str], list[str]]:
    """The script with these programs alone and what it needs to start; the lines that it prints, and its errors."""
    for name in ("bash", "dirname"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    for name, lines in {"make": 'echo make "$@"', "id": "echo 0", **programs}.items():
        make_program(folder / name, lines)
    environment = {"PATH": str(folder), "LOG": str(folder / "log")}
    bash = os.fspath(folder / "bash")
    result = subprocess.run([bash, str(SCRIPT)], env=environment, capture_output=True, text=True, check=True)
    return result.stdout.splitlines(), result.stderr.splitlines()


APT = 'echo "$@" >> "$LOG"'
ALL = dict.fromkeys(PACKAGES, "true")


@pytest.mark.parametrize("there", [(), ("java",), ("fstinfo", "chromium")])
def test_what_is_missing_is_installed(tmp_path: Path, there: tuple[str, ...]) -> None:
    assert run(tmp_path, {"apt-get": APT, **dict.fromkeys(there, "true")}) == (["make test"], [])
    wanted = [f"install --yes --no-install-recommends {PACKAGES[name]}" for name in PACKAGES if name not in there]
    assert (tmp_path / "log").read_text().splitlines() == ["update", *wanted]


@pytest.mark.parametrize("programs", [{"apt-get": APT, **ALL}, {"apt-get": APT, "id": "echo 1000"}, {}])
def test_nothing_is_installed_without_need_right_or_apt(tmp_path: Path, programs: dict[str, str]) -> None:
    assert run(tmp_path, programs) == (["make test"], [])
    assert not (tmp_path / "log").exists()


def test_a_failed_installation_is_one_line_and_tests_go_on(tmp_path: Path) -> None:
    apt = f'{APT}; case "$*" in *chromium|update) echo broken >&2; exit 100;; esac'
    output, errors = run(tmp_path, {"apt-get": apt})
    assert output == ["make test"]
    assert errors == ["chromium could not be installed: the tests that need it skip, and say so"]
    assert len((tmp_path / "log").read_text().splitlines()) == 1 + len(PACKAGES)
