"""error_line  the one line with which a command is refused."""

from __future__ import annotations

import pytest

from gyro.cli import main


def error_line(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    capsys.readouterr()
    try:
        code = main(arguments)
    except SystemExit as stopped:  # argparse
        code = int(stopped.code or 0)
    assert code == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("gyro") and ": " in line]
    assert len(lines) == 1
    return lines[0]
