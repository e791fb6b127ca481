from __future__ import annotations

from pathlib import Path

import pytest

from gyro.cli import main
from tests.gyro.report.samples import REFERENCES, make_run


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    found = {
        "perfect": make_run(folder / "perfect", 0, lm_order=4),
        "turned": make_run(folder / "turned", 1, fail=3, algorithm="beam"),
        "few": make_run(folder / "few", 2, REFERENCES[:1] + REFERENCES[2:3]),
    }
    (found["turned"] / "oracle-lattice.txt").write_text("".join(line + "\n" for line in REFERENCES))
    (folder / "plain.txt").write_text("".join(line + "\n" for line in [*REFERENCES[:4], "it is ! ."]))
    return {**found, "plain": folder / "plain.txt"}


@pytest.fixture(scope="session")
def page(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("page") / "report.html"
    options = ["--title", "A & <B>", "--baseline", "turned", "--name", f"file <i>={runs['plain']}"]
    assert main(["report", str(runs["perfect"]), f"{runs['turned']}:turned", *options, "-o", str(output)]) == 0
    return output
