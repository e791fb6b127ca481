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
        self.as_user: list[str] = []
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
        command = [*self.as_user, sys.executable, "-c", program]
        return subprocess.Popen(command, env=environment, cwd="/", text=True, stdout=-1, stderr=-1)

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
    project.write("callee", CALLEE.format(factor=100, formula="NUMBER * value"))  # a constant of the caller
    assert project.run()[0] == "106"
    project.write("number", NUMBER.format(number=5))  # a file without compiled code
    assert project.run()[0] == "130"


def test_an_old_version_is_found_again_and_the_oldest_go(project: Project) -> None:
    for factor in (0, 1, 2, 3):
        project.write("number", f"{NUMBER.format(number=1)}# {factor}\n")
        assert project.run("import gyro.callee as c; print(c.scaled(21))") == ("42", NOTICE)
    assert len(list(project.kept.glob("gyro.callee-*"))) == 3
    project.write("number", f"{NUMBER.format(number=1)}# 2\n")
    assert project.run("import gyro.callee as c; print(c.scaled(21))") == ("42", "")


def test_what_does_not_matter_compiles_nothing(project: Project) -> None:
    project.run()
    project.write("other", "NUMBER = 1\n")
    project.write("__init__", "'''A package.'''\n")
    assert project.run() == ("12", "")


def test_damaged_code_is_compiled_anew(project: Project) -> None:
    for ending in ("nbi", "nbc"):
        project.run()
        for path in project.kept.rglob(f"*.{ending}"):
            path.write_bytes(path.read_bytes()[:40])
        assert project.run() == ("12", NOTICE)
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
    kinds = ("int64", "float64")
    program = "import numpy as np; from gyro.caller import total; print(total(np.arange(4).astype({!r})))"
    processes = [project.start(program.format(kind)) for kind in kinds * 2]
    results = [float(process.communicate()[0]) for process in processes]
    assert results == [12.0] * 4
    # One file for each type of argument, and all of them are found.
    assert len([name for name in project.code() if "total" in name]) == 2
    for kind in kinds:
        out, error = project.run(program.format(kind))
        assert (float(out), error) == (12.0, "")


# Root may write everywhere, unless it gives that up.
NO_ROOT = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.mark.skipif(bool(NO_ROOT) and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_code_of_a_folder_that_cannot_be_written_is_found_and_more_goes_to_the_users_own(project: Project) -> None:
    """As after an installation for all users."""
    project.run()
    folders = [project.package, *(path for path in project.package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    project.as_user = NO_ROOT
    more = PROGRAM.replace("np.arange(4)", "np.arange(4.0)")
    try:
        assert project.run() == ("12", "")
        assert project.run(more) == ("12.0", NOTICE)
        assert project.run(more) == ("12.0", "")
        assert list((project.home / "gyro" / "compiled").glob("gyro.caller-*"))
        assert project.run(more, XDG_CACHE_HOME="/proc") == ("12.0", NOTICE)  # nowhere to write: it works all the same
    finally:
        for folder in folders:
            folder.chmod(0o755)


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
