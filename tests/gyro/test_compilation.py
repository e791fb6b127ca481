"""Compiled code that is kept: never old, never lost, and said once. Each case is a small project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gyro.compilation import NOTICE, QUIET
from gyro.source_digest import PACKAGES

ROOT = Path(__file__).parents[2]

CALLER = """
from gyro.compilation import compiled
from gyro.callee import FACTOR, scaled

@compiled
def total(values):
    sum = 0
    for value in values:
        sum += scaled(value)
    return sum + FACTOR
"""
CALLEE = """
from gyro.compilation import compiled
from gyro.number import NUMBER

FACTOR = {factor}

@compiled
def scaled(value):
    return {formula}
"""
NUMBER = "NUMBER = {number}\n"
PROGRAM = "import numpy as np; from gyro.caller import total; print(total(np.arange(4)))"


class Project:
    """A copy of what keeps code, with a function that calls another one's in another file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package, self.home = folder, folder / "gyro", folder / "home"
        self.package.mkdir()
        for name in ("compilation.py", "source_digest.py"):
            shutil.copy(ROOT / "gyro" / name, self.package)
        self.write("__init__", "")
        self.write("caller", CALLER)
        self.write("callee", CALLEE.format(factor=0, formula="2 * value"))
        self.write("number", NUMBER.format(number=1))

    def write(self, module: str, text: str) -> None:
        (self.package / f"{module}.py").write_text(text, encoding="utf-8")

    @property
    def kept(self) -> Path:
        return self.package / "__pycache__" / "compiled"

    def code(self) -> list[str]:
        """The files with machine code, without the digests of their folders."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*.nbc"))
        return sorted(f"{path.parent.name.partition('-')[0]}/{path.name.partition('-')[0]}" for path in found)

    def start(self, program: str = PROGRAM, **variables: str) -> subprocess.Popen[str]:
        own = {"PYTHONPATH": str(self.folder), "XDG_CACHE_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {name: value for name, value in os.environ.items() if name != QUIET} | own | variables
        return subprocess.Popen(
            [sys.executable, "-c", program], env=environment, cwd="/", text=True, stdout=-1, stderr=-1
        )

    def run(self, program: str = PROGRAM, **variables: str) -> tuple[str, str]:
        """What the program prints, and what it says on standard error."""
        process = self.start(program, **variables)
        out, error = process.communicate()
        assert process.returncode == 0, error
        return out.strip(), error.strip()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_code_is_made_once_and_never_older_than_a_callee(project: Project) -> None:
    assert project.run() == ("12", NOTICE)
    assert project.code() == ["gyro.callee/callee.scaled", "gyro.caller/caller.total"]
    assert project.run() == ("12", "")
    project.write("callee", CALLEE.format(factor=0, formula="3 * value"))
    assert project.run() == ("18", NOTICE)
    project.write("callee", CALLEE.format(factor=100, formula="3 * value"))  # a constant, frozen in the caller
    assert project.run()[0] == "118"
    project.write("callee", CALLEE.format(factor=0, formula="NUMBER * value"))
    assert project.run()[0] == "6"
    project.write("number", NUMBER.format(number=5))  # a file without compiled code
    assert project.run()[0] == "30"


def test_an_old_version_is_found_again_and_the_oldest_go(project: Project) -> None:
    for factor in (0, 1, 2, 3):
        project.write("callee", CALLEE.format(factor=factor, formula="value"))
        assert project.run() == (str(6 + factor), NOTICE)
    assert len(list(project.kept.glob("gyro.caller-*"))) == 3
    project.write("callee", CALLEE.format(factor=2, formula="value"))
    assert project.run() == ("8", "")
    project.write("callee", CALLEE.format(factor=0, formula="value"))
    assert project.run() == ("6", NOTICE)


def test_what_does_not_matter_compiles_nothing(project: Project) -> None:
    project.run()
    project.write("other", "NUMBER = 1\n")
    project.write("__init__", "'''A package.'''\n")
    assert project.run() == ("12", "")


def test_nothing_is_said_when_it_is_not_wished(project: Project) -> None:
    assert project.run(**{QUIET: "1"}) == ("12", "")


FORKED = """
import os, sys, numpy as np
from gyro.caller import total
for kind in ("int64", "int32", "float64"):
    if os.fork() == 0:
        print(total(np.arange(4).astype(kind)), flush=True)
        os._exit(0)
for _ in range(3):
    os.wait()
"""


def test_forked_processes_say_it_once(project: Project) -> None:
    out, error = project.run(FORKED)
    assert sorted(out.split()) == ["12", "12", "12.0"]
    assert error == NOTICE


def test_processes_that_begin_together_compile_once_and_lose_nothing(project: Project) -> None:
    kinds = ("int64", "int32", "float64", "float32")
    program = "import numpy as np; from gyro.caller import total; print(total(np.arange(4).astype({!r})))"
    processes = [project.start(program.format(kind)) for kind in kinds * 2]
    results = [float(process.communicate()[0]) for process in processes]
    assert results == [12.0] * 8
    # One file for each type of argument, and all of them are found.
    assert len([name for name in project.code() if "total" in name]) == 4
    for kind in kinds:
        out, error = project.run(program.format(kind))
        assert (float(out), error) == (12.0, "")


def test_a_folder_that_cannot_be_written_is_read_and_the_users_own_is_written(project: Project) -> None:
    """As in an installation by root, who may write everywhere: a file in the way of the folder stands for that."""
    project.run()
    shutil.move(project.kept, project.folder / "code")
    project.kept.write_text("")
    assert project.run() == ("12", NOTICE)
    assert (project.home / "gyro" / "compiled").is_dir()
    assert project.run() == ("12", "")


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_code_of_an_installation_by_another_user_is_found(project: Project) -> None:
    project.run()
    project.folder.chmod(0o755)
    for path in (project.package, *project.package.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    program = f"import os; os.geteuid() or os.setuid(65534); {PROGRAM}"
    process = project.start(program, XDG_CACHE_HOME="/nonexistent")
    out, error = process.communicate()
    assert (out.strip(), error) == ("12", "")
    out, error = project.start(
        program.replace("np.arange(4)", "np.arange(4.0)"), XDG_CACHE_HOME="/nonexistent"
    ).communicate()
    assert (out.strip(), error.strip()) == ("12.0", NOTICE)  # nowhere to write: it works all the same
    for path in (project.package, *(path for path in project.package.rglob("*") if path.is_dir())):
        path.chmod(0o755)


def test_numbas_own_variables_are_heeded(project: Project, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere"
    assert project.run(NUMBA_CACHE_DIR=str(kept)) == ("12", NOTICE)
    assert list((kept / "gyro").glob("gyro.caller-*"))
    assert not project.kept.exists()
    assert project.run(NUMBA_DISABLE_JIT="1") == ("12", "")


def test_every_compiled_function_of_the_project_is_kept_so() -> None:
    """numba's own cache would keep old code: nothing else may use it."""
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert "cache=True" not in text or "njit" not in text, path
