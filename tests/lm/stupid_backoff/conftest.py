"""A model of four sentences."""

from __future__ import annotations

import pytest

from gyro.index.build import build_index
from gyro.index.reader import open_index
from lm.stupid_backoff.model import StupidBackoff
from tests.lm.stupid_backoff.definition import SPLIT, TEXT


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> StupidBackoff:
    path = tmp_path_factory.mktemp("text") / "index"
    build_index(TEXT, path, normalisation=SPLIT)
    return StupidBackoff(open_index(path))
