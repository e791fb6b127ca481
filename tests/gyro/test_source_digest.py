"""Which sources decide compiled code: those that Python's own parser finds imported, directly or not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

from gyro.source_digest import PACKAGES, source_digest, source_files

ROOT = Path(__file__).parents[2]
KEEPING = ("gyro.compilation", "gyro.source_digest")  # how code is kept does not come into it
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@cache
def imported(path: Path) -> frozenset[Path]:
    """The project files that a file imports at the left margin."""
    found: set[Path] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [str(node.module), *(f"{node.module}.{name.name}" for name in node.names)]
        for name in names:
            if name.split(".")[0] in PACKAGES and name not in KEEPING:
                stem = ROOT.joinpath(*name.split("."))
                found |= {file for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py") if file.is_file()}
    return frozenset(found)


def reached(path: Path) -> set[Path]:
    found, waiting = set(), [path]
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            waiting += imported(file)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_files_are_those_that_the_parser_of_python_finds(package: str) -> None:
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] == package:
            # A docstring may show an import, which is one file too many and does no harm.
            assert {Path(file) for file in source_files(str(path))} >= reached(path), path


def test_a_kernel_hangs_on_few_files() -> None:
    files = source_files(str(ROOT / "gyro" / "search" / "exact_kernel.py"))
    names = ("gyro/search/exact_kernel.py", "gyro/search/work.py", "gyro/row_table.py")
    assert files == {str(ROOT / name) for name in names}


def test_files_of_a_room_count_when_it_is_named() -> None:
    kernel = str(ROOT / "comparison" / "best_first" / "kernel.py")
    rooms = ("comparison.best_first",)
    added = source_files(kernel, rooms) - source_files(kernel)
    assert str(ROOT / "comparison" / "best_first" / "ccg_edge.py") in added
    assert source_digest(kernel, rooms) != source_digest(kernel)


PROGRAM = "from gyro.source_digest import source_digest; import gyro.row_table as t; print(source_digest(t.__file__))"


def printed(folder: Path | str, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), **variables}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd="/", capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def test_equal_sources_have_one_digest_wherever_they_are(tmp_path: Path) -> None:
    first, second, archive = tmp_path / "first", tmp_path / "second", tmp_path / "third.zip"
    names = ("__init__.py", "version.py", "compilation.py", "source_digest.py", "row_table.py")
    with zipfile.ZipFile(archive, "w") as file:
        for name in names:
            text = (ROOT / "gyro" / name).read_text(encoding="utf-8")
            file.writestr(f"gyro/{name}", text)
            for folder in (first, second):
                (folder / "gyro").mkdir(parents=True, exist_ok=True)
                (folder / "gyro" / name).write_text(text, encoding="utf-8")
    digest = printed(first)
    assert printed(second) == digest
    assert printed(archive) == digest
    assert printed(first, NUMBA_BOUNDSCHECK="1") != digest
    assert printed(first, NUMBA_CACHE_DIR=str(tmp_path / "kept")) == digest
    with open(second / "gyro" / "row_table.py", "a", encoding="utf-8") as file:
        file.write("\n")
    assert printed(second) != digest
