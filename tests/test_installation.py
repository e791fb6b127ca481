"""The installed program: what pip makes of the clone, also of one in a folder named gyro; docs/install.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def project() -> dict[str, dict[str, object]]:
    settings: dict[str, dict[str, object]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings


def test_every_extra_is_explained() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    extras = project()["project"]["optional-dependencies"]
    assert isinstance(extras, dict)
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(extras)


def copy_of_sources(folder: Path) -> None:
    """What an installation needs of the clone."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "run_pipeline.py"):
        shutil.copy(ROOT / name, folder)
    for name in ("gyro", "grammars", "lm", "rescoring", "comparison"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def outcome(*command: str | Path, folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return (result.stdout + result.stderr).strip()


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--editable"], []], ids=["editable", "plain"])
def test_a_clone_named_gyro_does_not_hide_the_package_from_its_parent(tmp_path: Path, options: list[str]) -> None:
    parent, environment = tmp_path / "projects", tmp_path / "environment"
    parent.mkdir()
    copy_of_sources(parent / "gyro")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    installed = subprocess.run(
        [*pip, *options, parent / "gyro"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    if installed.returncode != 0 and re.search(r"setuptools|onnection", installed.stderr):
        pytest.skip("pip cannot get setuptools from the package index")
    assert installed.returncode == 0, installed.stderr
    ours = parent / "gyro" if options else next(environment.glob("lib/python*/site-packages"))
    (parent / "script.py").write_text("import gyro, lm\nprint(gyro.__file__, lm.__file__)\n")
    files = f"{ours / 'gyro' / '__init__.py'} {ours / 'lm' / '__init__.py'}"
    version = outcome(environment / "bin" / "gyro", "--version", folder=tmp_path)
    assert re.fullmatch(r"gyro \d+\.\d+\.\d+", version)
    for folder in (parent, parent / "gyro", tmp_path):
        assert outcome(environment / "bin" / "gyro", "--version", folder=folder) == version
        assert outcome(python, "-m", "gyro", "--version", folder=folder) == version
        assert outcome(python, parent / "script.py", folder=folder) == files
    for folder in (parent, tmp_path):  # in the clone itself, the clone comes first
        assert outcome(python, "-c", "import gyro, lm; print(gyro.__file__, lm.__file__)", folder=folder) == files
