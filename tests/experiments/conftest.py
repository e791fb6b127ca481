"""The tiny experiments: with the best-first decoder in a folder of its own, and that of tiny.py run to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.description import load_experiment
from experiments.laboratory import Laboratory
from tests.experiments.syntax_tiny import write_tiny
from tests.experiments.tiny import write_with_mt
from tests.once import make_once


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The tiny experiment when all its steps are done; for reading only."""

    def run(folder: Path) -> None:
        write_with_mt(folder)
        assert main(["tiny"], folder=folder, runs=folder / "runs") == 0

    folder = make_once(tmp_path_factory, "tiny-experiment", run)
    return Laboratory(load_experiment(folder / "tiny.toml"), folder / "runs" / "tiny")
