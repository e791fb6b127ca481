from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import version

import gyro
from gyro import version as module


def test_versions_are_those_that_are_installed() -> None:
    rows = dict(module.versions())
    assert rows["gyro"] == gyro.__version__
    assert rows["Python"] == platform.python_version()
    assert rows["numpy"] == version("numpy")


def test_the_program_tells_it() -> None:
    command = [sys.executable, "-m", "gyro", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"gyro {gyro.__version__}\n"


def test_the_short_way_has_all_its_names() -> None:
    for name in gyro.__all__:
        assert getattr(gyro, name) is not None
