"""How long the steps of an experiment of the kind "comparison" will take.

make_comparison_estimate  from the trainings and runs that are finished where there are any, else from usual times
Rate                      seconds for a piece of work
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from comparison.learning.training import read_history
from experiments.comparison import CommandStep, ComparisonLaboratory
from experiments.comparison_description import Training
from experiments.comparison_process import read_arguments, read_used
from experiments.estimate import TEXT_SECONDS, Estimate
from gyro.run.folder import RunFolder
from gyro.text.corpus import read_lines

# Seconds of one process: rough figures, rather high, for when nothing of the kind is finished.
SENTENCE_SECONDS = {"best-first": 0.004, "transition": 0.004, "ngram-beam": 0.0005, "wan": 0.002}  # and iteration
BAG_SECONDS = {"best-first": 0.03, "transition": 0.02, "ngram-beam": 0.004, "wan": 0.004, "gyro": 0.2, "rescore": 1.0}
START_SECONDS = 3.0  # of a process: models are loaded, code is compiled
MATERIAL_SECONDS = {"treebank": 5.0, "parsed treebank": 15.0, "bags": 10.0}
COUNTED = ("wan", "ngram-beam")  # systems that learn by counting, in one pass
_UNKNOWN_SYSTEM = 0.1
_ITERATIONS = 5  # where the options do not say
_EXPANSION = 4.0  # of compressed text


class Rate(NamedTuple):
    """Seconds of the processor for a sentence and iteration, or a bag; for a development bag of each iteration."""

    unit: float
    dev: float = 0.0


def make_comparison_estimate(laboratory: ComparisonLaboratory) -> Estimate:
    """Look at what is there and reckon the rest, for a machine that does nothing else.

    The laboratory is told it too, for long commands go first.
    """
    measured = _measured(laboratory)
    megabytes = _megabytes(laboratory)
    steps, weights = [], {}
    for step in laboratory.steps:
        seconds = 0.0
        if step.is_done():
            pass
        elif isinstance(step, CommandStep):
            weights[step.name] = START_SECONDS + _work_seconds(laboratory, step, _rate(step, measured))
            seconds = weights[step.name] / laboratory.jobs
        elif step.kind in MATERIAL_SECONDS:
            seconds = MATERIAL_SECONDS[step.kind]
        else:
            seconds = max(0.1, megabytes * TEXT_SECONDS[step.kind])
        steps.append((step, seconds))
    laboratory.weigh(weights)
    return Estimate(steps)


def _work_seconds(laboratory: ComparisonLaboratory, step: CommandStep, rate: Rate) -> float:
    part = step.part
    if not isinstance(part, Training):
        return laboratory.bag_count(part) * rate.unit
    table = next(table for table in laboratory.experiment.treebanks if table.name == part.table.treebank)
    facts = laboratory.material.treebank_facts(table.name)
    options = {**laboratory.experiment.training.options, **part.table.options}
    iterations = float(options.get("iterations", 1 if part.table.system in COUNTED else _ITERATIONS))
    sentences = facts.sentences if facts else table.sentences or _USUAL_SENTENCES
    dev_bags = 0 if part.table.system in COUNTED else laboratory.experiment.training.dev_sample
    return iterations * (sentences * rate.unit + dev_bags * rate.dev)


def _rate(step: CommandStep, measured: Mapping[tuple[bool, str], Rate]) -> Rate:
    """That of the same thing, else of the system, else the usual one."""
    is_training = isinstance(step.part, Training)
    usual = (SENTENCE_SECONDS if is_training else BAG_SECONDS).get(step.kind, _UNKNOWN_SYSTEM)
    bag = BAG_SECONDS.get(step.kind, _UNKNOWN_SYSTEM) if is_training else 0.0
    names = (step.part.table.name, f" {step.kind}")
    return next((measured[is_training, n] for n in names if (is_training, n) in measured), Rate(usual, bag))


def _measured(laboratory: ComparisonLaboratory) -> dict[tuple[bool, str], Rate]:
    """What finished trainings and runs took, here or in samples of other sizes: by name, and by system."""
    places = dict.fromkeys([laboratory.folder, laboratory.shared, *sorted(laboratory.shared.glob("sample-*"))])
    found: dict[tuple[bool, str], list[Rate]] = defaultdict(list)
    for step in laboratory.command_steps:
        is_training = isinstance(step.part, Training)
        for target in (place / step.target.relative_to(laboratory.folder) for place in places):
            rate = _training_rate(target) if is_training else _run_rate(target)
            for name in (step.part.table.name, f" {step.kind}") if rate else ():
                found[is_training, name] += [rate] if rate else []
    return {key: Rate(fmean(r.unit for r in rates), fmean(r.dev for r in rates)) for key, rates in found.items()}


def _training_rate(folder: Path) -> Rate | None:
    """Of what only counts it is not known."""
    history, used = read_history(folder), read_used(folder)
    sentences = sum(each.sentences for each in history)
    if used is None or not sentences:
        return None
    dev_bags = len(history) * _dev_sample(folder)
    dev = sum(each.dev_seconds or 0.0 for each in history) / max(dev_bags, 1)
    return Rate(used.share * sum(each.seconds for each in history) / sentences, used.share * dev)


def _dev_sample(folder: Path) -> int:
    """The sentences that its iterations were scored on."""
    arguments = read_arguments(folder)
    return int(arguments[arguments.index("--dev-sample") + 1]) if "--dev-sample" in arguments else 1


def _run_rate(folder: Path) -> Rate | None:
    used = read_used(folder)
    if used is None or not RunFolder(folder).is_finished:
        return None
    seconds = [float(json.loads(line)["seconds"]) for line in read_lines(RunFolder(folder).times)]
    return Rate(used.share * fmean(seconds or [0.0]))


def _megabytes(laboratory: ComparisonLaboratory) -> float:
    """The size of the tokenised text; before it is made, about what it will be."""
    if laboratory.material.text.exists():
        return laboratory.material.text.stat().st_size / 1e6
    paths = [Path(name) for name in laboratory.experiment.text.files]
    return sum(path.stat().st_size * _EXPANSION for path in paths if path.exists()) / 1e6


_USUAL_SENTENCES = 12_250
