"""How long the steps of an experiment of the kind "syntax" will take.

make_syntax_estimate  from the trainings and runs that are finished where there are any, else from usual times
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from experiments.estimate import TEXT_SECONDS, Estimate
from experiments.laboratory import Step
from experiments.syntax import SyntaxLaboratory, TrainingStep
from gyro.run.folder import RunFolder
from gyro.text.corpus import read_lines

# Seconds of one process: rough figures, rather high, for when nothing of the kind is finished.
SENTENCE_SECONDS = {"dependency": 0.03, "ccg": 0.03}
# The share of its time limit that a bag takes.
LIMIT_SHARE = {"dependency run": 0.4, "ccg run": 0.6, "gyro run": 0.5}
_EXPANSION = 4.0  # of compressed text


def make_syntax_estimate(laboratory: SyntaxLaboratory) -> Estimate:
    """Look at what is there and reckon the rest."""
    learning, limits, decoding = _sentence_seconds(laboratory), _limits(laboratory), _shares(laboratory)
    steps = []
    for step in laboratory.steps:
        seconds = 0.0
        if step.is_done():
            pass
        elif isinstance(step, TrainingStep):
            seconds = step.sentences() * learning[step.kind] / laboratory.jobs
        elif step.kind in TEXT_SECONDS:
            seconds = max(0.1, _megabytes(laboratory) * TEXT_SECONDS[step.kind])
        else:
            seconds = step.bags() * limits[step.target] * decoding[step.kind] / laboratory.jobs
        steps.append((step, seconds))
    return Estimate(steps)


def _sentence_seconds(laboratory: SyntaxLaboratory) -> dict[str, float]:
    """Seconds a sentence and iteration by grammar, the scoring on development bags included."""
    found: dict[str, list[float]] = defaultdict(list)
    for table in laboratory.experiment.models:
        for each in laboratory.history(table.name):
            found[table.grammar].append((each.seconds + (each.dev_seconds or 0.0)) / max(each.sentences, 1))
    return {**SENTENCE_SECONDS, **_means(found.items())}


def _limits(laboratory: SyntaxLaboratory) -> dict[Path, float]:
    experiment = laboratory.experiment
    found = {laboratory.run_folder(decode): decode.time_limit for decode in experiment.decodes()}
    return found | {laboratory.run_folder(table): table.settings.time_limit for table in experiment.gyro}


def _shares(laboratory: SyntaxLaboratory) -> dict[str, float]:
    """The share of its time limit that a bag took in finished runs, by kind of run."""
    limits = _limits(laboratory)
    found: dict[str, list[float]] = defaultdict(list)
    for step in laboratory.steps:
        if step.kind in LIMIT_SHARE and RunFolder(step.target).is_finished:
            found[step.kind].append(fmean(_seconds(step)) / limits[step.target])
    return {**LIMIT_SHARE, **_means(found.items())}


def _seconds(step: Step) -> list[float]:
    return [float(json.loads(line)["seconds"]) for line in read_lines(RunFolder(step.target).times)] or [0.0]


def _means(lists: Iterable[tuple[str, list[float]]]) -> dict[str, float]:
    return {name: fmean(values) for name, values in lists if values}


def _megabytes(laboratory: SyntaxLaboratory) -> float:
    """The size of the tokenised text; before it is made, about what it will be."""
    if laboratory.text.exists():
        return laboratory.text.stat().st_size / 1e6
    paths = [Path(name) for name in laboratory.experiment.text.files]
    return sum(path.stat().st_size * _EXPANSION for path in paths if path.exists()) / 1e6
