"""How long the steps of an experiment of the kind "text-size" will take.

make_text_size_estimate  from the seconds a bag of finished runs where there are any, else from usual times
"""

from __future__ import annotations

import json
from statistics import fmean

from experiments.estimate import BAG_SECONDS, TEXT_SECONDS, Estimate
from experiments.text_size import TextSizeLaboratory, TextStep
from gyro.run.folder import RunFolder
from gyro.text.corpus import read_lines

# Seconds of one process, rather high.
COVERAGE_SECONDS = 0.1
PART_SECONDS = 0.05  # for each megabyte of the whole text
_BYTES_A_TOKEN = 5.5


def make_text_size_estimate(laboratory: TextSizeLaboratory) -> Estimate:
    """Look at what is there and reckon the rest."""
    bag_seconds = _measured(laboratory)
    text_seconds = {**TEXT_SECONDS, "part": PART_SECONDS}
    steps = []
    for step in laboratory.steps:
        if step.is_done():
            seconds = 0.0
        elif isinstance(step, TextStep):
            seconds = max(0.1, step.tokens() * _BYTES_A_TOKEN / 1e6 * text_seconds[step.kind])
        elif step.kind == "coverage":
            seconds = step.bags() * COVERAGE_SECONDS
        else:
            seconds = max(0.1, step.bags() * bag_seconds.get(step.kind, 0.0) / laboratory.jobs)
        steps.append((step, seconds))
    return Estimate(steps)


def _measured(laboratory: TextSizeLaboratory) -> dict[str, float]:
    """Mean seconds a bag by kind of step, of what is finished here or on a sample of another size."""
    found: dict[str, list[float]] = {}
    kinds = {step.target.name: step.kind for step in laboratory.steps}
    for place in (laboratory.shared, *sorted(laboratory.shared.glob("sample-*"))):
        for name in laboratory.experiment.sets:
            for path in sorted((place / name).glob("*")):
                if path.name in kinds and path.is_dir() and RunFolder(path).is_finished:
                    lines = read_lines(RunFolder(path).times)
                    found.setdefault(kinds[path.name], []).extend(float(json.loads(line)["seconds"]) for line in lines)
    return {**BAG_SECONDS, **{kind: fmean(seconds) for kind, seconds in found.items() if seconds}}
