"""The tiny experiment with the best-first decoder, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.syntax_tiny import write_tiny


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)
