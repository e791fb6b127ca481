"""The experiments that compare all systems: text and treebanks are made, models trained, the same bags ordered.

ComparisonLaboratory  an experiment of the kind "comparison", its files, and its steps: each is skipped when it is done
CommandStep           a step that is a command of gyro: a training, a run or a stage

Systems are known through their options alone, those of `gyro train` and `gyro generate`, and run as processes of their
own. What the commands of a comparison need of each other decides their order; those that can go at once do. A step that
fails is told at the end, and the others go on. A sample of another size than the TOML's has a folder of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.comparison_description import ComparisonExperiment, Decode, Rescoring, Training
from experiments.comparison_entry import parse_condition, to_arguments
from experiments.comparison_material import Material
from experiments.comparison_process import Command, Used, read_used, run_commands
from experiments.experiment import folder_name
from experiments.laboratory import Step
from gyro.errors import GyroError, InputError
from gyro.files import write_text
from gyro.run.folder import RunFolder
from gyro.run.system import SYSTEMS, system_kind, trained_kinds

NBEST = 10
Made = Decode | Rescoring


@dataclass(frozen=True)
class CommandStep(Step):
    """A step with its command; `part` is what it is about."""

    command: Command
    part: Training | Made

    def is_done(self) -> bool:
        return self.command.is_done()


class ComparisonLaboratory:
    """An experiment, and where its files are."""

    def __init__(
        self, experiment: ComparisonExperiment, folder: Path, *, sample: int | None = None, jobs: int = 2
    ) -> None:
        self.experiment = experiment.with_sample(sample) if sample else experiment
        self.jobs = jobs
        self.shared = folder
        self.folder = folder / f"sample-{sample}" if sample else folder
        self.material = Material(self.experiment, folder, self.folder, jobs)
        self.failed: dict[str, str] = {}
        self._weights: Mapping[str, float] = {}
        self._tried = False

    # ---- where things are

    def model_folder(self, training: Training) -> Path:
        return self.folder / "models" / folder_name(training.name)

    def run_folder(self, made: Made) -> Path:
        return self.folder / folder_name(made.set) / folder_name(made.given) / folder_name(made.name)

    def used(self, part: Training | Made) -> Used | None:
        """What a training or run took; None as long as it is not done."""
        return read_used(self._target(part))

    def _target(self, part: Training | Made) -> Path:
        return self.model_folder(part) if isinstance(part, Training) else self.run_folder(part)

    def finished(self, set_name: str, given: str) -> dict[str, Path]:
        """The finished runs on a set under a condition, by name, in the order of the file."""
        made: list[Made] = [*self.experiment.decodes(), *self.experiment.rescorings()]
        named = {each.name: self.run_folder(each) for each in made if (each.set, each.given) == (set_name, given)}
        return {name: path for name, path in named.items() if RunFolder(path).is_finished}

    def check(self) -> None:
        """See that all files are there before any work begins."""
        experiment = self.experiment
        files = [*experiment.treebank.train, *experiment.treebank.dev, *experiment.treebank.test]
        files += [*experiment.text.files, *(name for table in experiment.sets.values() for name in table.references)]
        for name in files:
            if not Path(name).is_file():
                raise InputError("no such file", path=name)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", experiment.source)

    # ---- steps

    @cached_property
    def steps(self) -> list[Step]:
        """All steps, done or not."""
        return [*self._material_steps(), *self.command_steps]

    def weigh(self, seconds: Mapping[str, float]) -> None:
        """Tell how long commands are likely to take, by name."""
        self._weights = seconds

    def _material_steps(self) -> Iterator[Step]:
        material, experiment = self.material, self.experiment
        yield self._step("text", "text", material.text, material.make_text)
        yield self._step("words of the treebank", "bags", material.train_text, material.make_train_text)
        if any(run.system == "gyro" for run in experiment.runs):
            yield self._step("index", "index", material.index, material.make_index)
        if experiment.models:
            yield self._step("half of dev", "bags", material.half, material.make_half)
        for bank in experiment.treebanks:
            kind = "parsed treebank" if bank.parser else "treebank"
            work = partial(material.make_treebank, bank)
            yield self._step(f"treebank {bank.name}", kind, material.treebank(bank.name), work)
        for lm in experiment.language_models:
            work = partial(material.make_language_model, lm)
            kind = "model" if lm.text else "treebank"
            yield self._step(f"language model {lm.name}", kind, material.language_model(lm.name), work)
        for name in dict.fromkeys(decode.set for decode in experiment.decodes()):
            last = [decode.given for decode in experiment.decodes() if decode.set == name][-1]
            yield self._step(f"bags, {name}", "bags", material.bags(name, last), partial(material.make_bags, name))

    def _step(self, name: str, kind: str, target: Path, work: Callable[[], None]) -> Step:
        return Step(name, kind, target, _no_bags, partial(self._try, name, work))

    def _try(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except GyroError as error:
            self.failed[name] = str(error)
            print(f"failed: {name}: {error}", flush=True)

    @cached_property
    def command_steps(self) -> list[CommandStep]:
        """Trainings, runs and stages."""
        experiment = self.experiment
        steps = [self._command_step(training) for training in experiment.trainings()]
        made: list[Made] = [*experiment.decodes(), *experiment.rescorings()]
        return steps + [self._command_step(each) for each in made]

    def _command_step(self, part: Training | Made) -> CommandStep:
        target = self._target(part)
        count: Callable[[], int] = _no_bags
        is_whole: Callable[[], bool] = target.is_dir
        if isinstance(part, Training):
            name, kind = f"training: {part.name}", part.table.system
        else:
            name, count = f"{part.name}, {part.set}, {part.given}", partial(self.bag_count, part)
            kind, is_whole = part.table.system if isinstance(part, Decode) else "rescore", partial(_is_finished, target)
        arguments, weight = partial(self.arguments, part), partial(self._weight, name)
        command = Command(name, target, arguments, self._inputs(part), is_whole, weight)
        return CommandStep(name, kind, target, count, self.run_commands, command, part)

    def run_commands(self) -> None:
        """Run all commands that are not done; the first step does it for all."""
        if not self._tried:
            self._tried = True
            commands = (step.command for step in self.command_steps)
            self.failed |= run_commands(commands, self.jobs, partial(print, flush=True))

    def _weight(self, name: str) -> float:
        return self._weights.get(name, 0.0)

    def bag_count(self, made: Made) -> int:
        """The bags of a run; before they are made, about as many as there will be."""
        path, text = self.material.bags(made.set, made.given), self.experiment.text
        usual = text.held_out if made.set == text.held_out_name else _USUAL_BAGS
        there = sum(1 for _ in path.open("rb")) if path.exists() else usual
        return min(made.bags or there, there)

    # ---- what one would type

    def arguments(self, part: Training | Made) -> list[str]:
        """Those of the command."""
        if isinstance(part, Training):
            return self._train(part)
        return self._generate(part) if isinstance(part, Decode) else self._rescore(part)

    def _inputs(self, part: Training | Made) -> list[Path]:
        material = self.material
        if isinstance(part, Training):
            table = part.table
            lm = [material.language_model(table.lm)] if table.lm else []
            return [material.treebank(table.treebank), *([material.text] if table.text else []), *lm, material.half]
        if isinstance(part, Rescoring):
            lm = [material.language_model(part.table.lm)] if part.table.lm else []
            return [self.run_folder(part.source), *lm]
        training, name = self.experiment.training_of(part), self.experiment.lm_of(part)
        inputs = [material.bags(part.set, part.given)]
        inputs += [self.model_folder(training)] if training else []
        return inputs + ([material.language_model(name)] if name else [])

    def _train(self, training: Training) -> list[str]:
        table, material = training.table, self.material
        if table.system not in SYSTEMS or not SYSTEMS[table.system].is_trained:
            allowed = ", ".join(name for name, entry in SYSTEMS.items() if entry.is_trained)
            raise InputError(f"found the system {table.system!r}, which is not trained; allowed are {allowed}")
        parser = argparse.ArgumentParser()
        trained_kinds()[table.system].add_training_arguments(parser)
        wanted = {"dev": str(material.half), "dev_sample": self.experiment.training.dev_sample}
        wanted |= self.experiment.training.options
        wanted |= parse_condition(training.given).training_options() if training.given else {}
        # Not every system has all of these, as one that learns no weights has no use for development data.
        known = {name: value for name, value in wanted.items() if _has(parser, name)}
        options = {**known, **({"lm": material.language_model(table.lm)} if table.lm else {}), **table.options}
        corpus = [str(material.treebank(table.treebank)), *([str(material.text)] if table.text else [])]
        return ["train", table.system, *corpus, "-o", str(self.model_folder(training)), *to_arguments(options)]

    def _generate(self, run: Decode) -> list[str]:
        table, material = run.table, self.material
        if table.system not in SYSTEMS:
            raise InputError(f"found the system {table.system!r}; allowed are {', '.join(SYSTEMS)}")
        parser = argparse.ArgumentParser()
        system_kind(table.system).add_arguments(parser)
        training, lm = self.experiment.training_of(run), self.experiment.lm_of(run)
        options: dict[str, Any] = {"system": table.system, "range": f"1:{run.bags}" if run.bags else False}
        options |= {"nbest": NBEST, "jobs": 1}
        options |= {"model": self.model_folder(training)} if training else {}
        options |= {"lm": material.language_model(lm)} if lm else {}
        options |= {"index": material.index} if _has(parser, "index") else {}
        bags, folder = material.bags(run.set, run.given), self.run_folder(run)
        return ["generate", str(bags), "-o", str(folder), *to_arguments({**options, **table.options, **run.choice})]

    def _rescore(self, stage: Rescoring) -> list[str]:
        table = stage.table
        options: dict[str, Any] = {"range": f"1:{stage.bags}" if stage.bags else False, "nbest": NBEST, "jobs": 1}
        options |= {"lm": self.material.language_model(table.lm)} if table.lm else {}
        source, folder = self.run_folder(stage.source), self.run_folder(stage)
        return ["rescore", str(source), "-o", str(folder), *to_arguments({**options, **table.options})]


_USUAL_BAGS = 2000


def _has(parser: argparse.ArgumentParser, name: str) -> bool:
    return "--" + name.replace("_", "-") in parser._option_string_actions


def _is_finished(folder: Path) -> bool:
    return RunFolder(folder).is_finished


def _no_bags() -> int:
    return 0
