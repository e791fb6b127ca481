"""Files that are changed at random are read, or refused in one line: never a traceback, never a dead process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import World
from tests.damage.material import write_material
from tests.damage.reading import KINDS
from tests.once import make_once

SEED, CASES = 11, 160
# Those that are read by much the same code share a process.
TRAINED = ("best-first", "tagger", "ngram", "wan", "transition")  # folders of the systems of the comparison

GROUPS = {
    "runs": [name for name in KINDS if name.startswith(("run/", "halfway/"))],
    "text": [
        name
        for name in KINDS
        if name.startswith(("text", "trees", "config", "moses", "mt", "list", "post", "judgements"))
    ],
    "lattices": ["plain.fst", "packed.fst.gz", "tuples.fst", "pairs.fst", "words.map"],
    "indexes": [name for name in KINDS if name.startswith(("index/", "header/"))],
    "neural": [name for name in KINDS if name.startswith("neural/")],
    "models": [name for name in KINDS if name.startswith(("bare", "known", "small", *TRAINED))],
}


def test_every_kind_of_file_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_damaged_files_are_read_or_refused(
    group: str, world: World, ordered: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = make_once(
        tmp_path_factory,
        f"damage-{group}",
        lambda folder: write_material(folder, ordered / "first", world.index_path, world.model_path),
    )
    cases = CASES * (4 if group == "lattices" else 1)
    command = [sys.executable, "-m", "tests.damage", str(folder), str(SEED), str(cases), *GROUPS[group]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert done.stdout.count("\n") == cases * len(GROUPS[group])
