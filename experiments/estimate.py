"""How long the steps of an experiment will take.

Estimate       seconds for each step that is not done
make_estimate  from the seconds a bag of finished runs where there are any, else from usual ones
time_text      seconds for people
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from experiments.laboratory import Laboratory, Step
from gyro.run.folder import RunFolder
from gyro.text.corpus import read_lines
from gyro.text.embedded import is_embedded
from rescoring.stage import stage_kinds

# Seconds of one process for a bag: rough figures, rather high, for when no run of the kind is finished.
BAG_SECONDS = {
    "exact": 0.6,
    "beam": 0.1,
    "pruned-parsing": 5.0,
    "pruned-expansion": 8.0,
    "full": 4.0,
    "oracles": 0.25,
    **{name: kind.bag_seconds for name, kind in stage_kinds().items()},
    **{f"tuning {name}": kind.tuning.bag_seconds for name, kind in stage_kinds().items()},
}
# Seconds for each megabyte of tokenised text.
TEXT_SECONDS = {"text": 1.0, "index": 0.3, "model": 0.7, "bags": 0.0}

_EMBEDDED_BYTES = 12_000_000
_EXPANSION = {".xz": 4.0, ".gz": 3.0, ".bz2": 4.0, ".zst": 3.5}


@dataclass(frozen=True)
class Estimate:
    """The seconds of each step; 0 for one that is done."""

    steps: Sequence[tuple[Step, float]]

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.steps)

    def text(self) -> str:
        """A line for each step that is not done, and the sum."""
        todo = [(step, seconds) for step, seconds in self.steps if seconds]
        width = max((len(step.name) for step, _ in todo), default=0) + 2
        lines = [
            f"{step.name:<{width}}{f'{step.bags()} bags' if step.bags() else '':>10}{time_text(s):>10}"
            for step, s in todo
        ]
        done = len(self.steps) - len(todo)
        return "\n".join([*lines, f"{done} of {len(self.steps)} steps are done; about {time_text(self.seconds)} to go"])


def make_estimate(laboratory: Laboratory) -> Estimate:
    """Look at what is there and reckon the rest."""
    by_run, by_kind = _measured(laboratory)
    estimated = {f"{stage.kind} model": stage.estimate_seconds for stage in laboratory.experiment.estimated}
    megabytes = _text_bytes(laboratory) / 1e6
    steps = []
    for step in laboratory.steps:
        if step.is_done():
            seconds = 0.0
        elif step.kind in estimated:
            seconds = estimated[step.kind] / laboratory.jobs
        elif step.kind in TEXT_SECONDS:
            seconds = max(0.1, megabytes * TEXT_SECONDS[step.kind])
        else:
            usual = by_run.get(step.target.name) or by_kind.get(step.kind) or BAG_SECONDS[step.kind]
            seconds = step.bags() * usual / laboratory.jobs
        steps.append((step, seconds))
    return Estimate(steps)


def time_text(seconds: float) -> str:
    """Seconds for people.

    >>> time_text(7.2), time_text(200), time_text(4000)
    ('7 s', '3 min', '1 h 7 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _measured(laboratory: Laboratory) -> tuple[dict[str, float], dict[str, float]]:
    """Mean seconds a bag of the runs that are finished, by the folder's name and by the kind of step.

    A run on the other set, or on a sample of another size, tells as much.
    """
    kinds = {step.target.name: step.kind for step in laboratory.steps}
    sets = laboratory.experiment.sets
    by_run: dict[str, list[float]] = defaultdict(list)
    by_kind: dict[str, list[float]] = defaultdict(list)
    for place in (laboratory.shared, *sorted(laboratory.shared.glob("sample-*"))):
        for path in (child for name in sets if (place / name).is_dir() for child in sorted((place / name).iterdir())):
            if path.name in kinds and RunFolder(path).is_finished:
                seconds = _seconds(path)
                by_run[path.name] += seconds
                by_kind[kinds[path.name]] += seconds
    return _means(by_run), _means(by_kind)


def _means(lists: dict[str, list[float]]) -> dict[str, float]:
    return {name: fmean(values) for name, values in lists.items() if values}


def _seconds(path: Path) -> list[float]:
    return [float(json.loads(line)["seconds"]) for line in read_lines(RunFolder(path).times)]


def _text_bytes(laboratory: Laboratory) -> float:
    """The size of the tokenised text; before it is made, about what it will be."""
    made = laboratory.shared / "text.tok"
    return made.stat().st_size if made.exists() else sum(_source_bytes(laboratory.experiment.text.files))


def _source_bytes(files: Iterable[str]) -> Iterable[float]:
    for name in files:
        if is_embedded(name):
            yield _EMBEDDED_BYTES
        elif Path(name).exists():
            yield Path(name).stat().st_size * _EXPANSION.get(Path(name).suffix, 1.0)
