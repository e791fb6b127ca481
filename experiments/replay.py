"""In an executor of Spark: a step of an experiment, as far as the start of its batch.

hand_over  go through it; its batch ends as a HandOver
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.__main__ import KINDS
from experiments.place import Executor
from gyro.errors import InputError
from gyro.text.bag import Bag


def hand_over(experiment: Mapping[str, Any], _bag: Bag, _copies: Mapping[str, Any]) -> None:
    """Open what the step opens; nothing is written before a batch begins."""
    kind, folder = KINDS[experiment["kind"]], Path(experiment["folder"])
    if not folder.is_dir():
        raise InputError("no such folder", path=folder.absolute())
    place = Executor()
    laboratory = kind.laboratory(
        kind.load(Path(experiment["path"])), folder, sample=experiment["sample"], jobs=1, place=place
    )
    next(step for step in laboratory.steps if step.name == experiment["step"]).do()
