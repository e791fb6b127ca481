"""A small text with its index."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.index.build import build_index
from tests.gyro.index.small_text import SPLIT, TEXT


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    build_index(TEXT, tmp_path / "index", normalisation=SPLIT)
    return tmp_path / "index"
