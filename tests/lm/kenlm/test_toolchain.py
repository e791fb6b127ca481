from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import pytest

from gyro.errors import InputError
from lm.kenlm import toolchain
from lm.kenlm.toolchain import (
    LMPLZ_REPAIRS,
    LMPLZ_SOURCE,
    environment_bin,
    find_program,
    install_programs,
    main,
    programs_work,
)

BROKEN_PROJECT = (
    "cmake_minimum_required(VERSION 3.10)\nproject(t CXX)\nadd_executable(lmplz lm/builder/lmplz_main.cc)\n"
)


def write_program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def write_archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def own_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own to install into; cmake is the real one, on PATH."""
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{environment_bin()}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(toolchain, "environment_bin", lambda: prefix / "bin")
    return prefix


def test_the_environments_own_programs_come_first(
    own_prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_program(tmp_path / "other" / "lmplz")
    monkeypatch.setenv("PATH", str(other.parent))
    assert find_program("lmplz") == other
    own = write_program(own_prefix / "bin" / "lmplz")
    assert find_program("lmplz") == own
    own.chmod(0o644)
    assert find_program("lmplz") == other


def test_a_missing_program_says_how_to_get_it(own_prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(own_prefix))
    with pytest.raises(InputError, match=r"lmplz is not installed; `.* -m lm\.kenlm\.toolchain` builds it"):
        find_program("lmplz")


def test_working_programs_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    before = (environment_bin() / "lmplz").stat()
    assert main([]) == 0
    assert (environment_bin() / "lmplz").stat().st_mtime_ns == before.st_mtime_ns
    assert capsys.readouterr().out == f"lmplz and build_binary are in {environment_bin()}\n"


@pytest.mark.parametrize(
    "lmplz",
    [
        "exit 1",
        "exit 0",  # no ARPA file
        # What lmplz of kenlm-ex 0.2.1 writes when it is built as it is: numbers that are no probabilities.
        r'while [ "$1" != --arpa ]; do shift; done; printf "\\1-grams:\n-0.3\ta\n0.2\tb\n\n" > "$2"',
    ],
)
def test_programs_that_do_not_work(tmp_path: Path, lmplz: str) -> None:
    assert not programs_work(tmp_path)
    write_program(tmp_path / "lmplz", lmplz)
    write_program(tmp_path / "build_binary")
    assert not programs_work(tmp_path)


def test_repairs_change_the_faults_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / LMPLZ_SOURCE
    path.parent.mkdir(parents=True)
    faults = "\n".join(f"before\n{found}\nafter" for found, _ in LMPLZ_REPAIRS)
    path.write_text(faults)
    toolchain._repair(tmp_path)
    assert path.read_text() == "\n".join(f"before\n{mended}\nafter" for _, mended in LMPLZ_REPAIRS)
    path.write_text("a later release")
    toolchain._repair(tmp_path)
    assert path.read_text() == "a later release"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"x/README": "nothing"}, "no sources of lmplz"),
        ({"x/CMakeLists.txt": ""}, "no sources of lmplz"),
        ({"../evil": "text"}, "cannot unpack: .*evil"),
    ],
)
def test_archives_of_something_else(own_prefix: Path, tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        install_programs(write_archive(tmp_path / "source.tar.gz", files))
    assert not (tmp_path / "evil").exists()
    assert not list((own_prefix / "bin").iterdir())


def test_an_archive_that_is_none(own_prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "source.tar.gz").write_text("no archive")
    assert main(["--source", str(tmp_path / "source.tar.gz")]) == 2
    assert "source.tar.gz: cannot unpack" in capsys.readouterr().err
    assert main(["--source", str(tmp_path / "none.tar.gz")]) == 2


def test_a_build_that_fails_keeps_its_log(own_prefix: Path, tmp_path: Path) -> None:
    files = {"k/CMakeLists.txt": BROKEN_PROJECT, f"k/{LMPLZ_SOURCE}": "int main() { return no_such_name; }\n"}
    with pytest.raises(InputError, match=r"the build failed: .*toolchain\.log"):
        install_programs(write_archive(tmp_path / "source.tar.gz", files))
    assert "no_such_name" in (own_prefix / "toolchain.log").read_text()
    assert sorted(path.name for path in own_prefix.iterdir()) == ["bin", "toolchain.log"]
    assert not list((own_prefix / "bin").iterdir())


def test_without_compiler_or_cmake(own_prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(own_prefix))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(InputError, match=r"no C\+\+ compiler: looked for c\+\+, g\+\+, clang\+\+"):
        install_programs()
    monkeypatch.setenv("CXX", str(write_program(own_prefix / "bin" / "mycc")))
    with pytest.raises(InputError, match=r"no cmake: .*pip install"):
        install_programs()


def test_a_prefix_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "none"))
    with pytest.raises(InputError, match="cannot write"):
        install_programs()
