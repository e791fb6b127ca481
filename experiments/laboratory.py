"""The steps of an experiment, in order, each skipped when what it makes is there.

Laboratory   an experiment and its files
Step         one piece of work: what it makes, how large it is, and how to do it

Text, index and models are below the experiment's folder; the bags and runs of a set are below its own. A sample of
another size than the experiment's has a folder of its own beside them, so that a try leaves the results as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, Setting, folder_name
from experiments.place import Place as WorkPlace
from experiments.stage import TunedStage
from gyro.errors import InputError
from gyro.files import read_json, write_json, write_text
from gyro.index.reader import open_index
from gyro.pipeline.config import BagsTable, Config, ModelTable, RunTable
from gyro.pipeline.pipeline import Pipeline
from gyro.pipeline.stamp import fingerprint, make_once
from gyro.run.folder import RunFolder, open_run
from gyro.search.generator import Generator
from gyro.text.bag import Bag
from gyro.text.bag_file import read_bags
from lm.loading import OwnModels, load_language_model
from rescoring.evidence import EvidenceFiles
from rescoring.oracle import oracle_report
from rescoring.source import open_lattices
from rescoring.stage import Development, Place, run_stage

NBEST = 100


@dataclass(frozen=True)
class Step:
    """One piece of work on a number of bags, or on the text (`bags` is 0 then).

    `kind` is the algorithm, the kind of stage or the part of the text's work: steps of a kind take about as long.
    """

    name: str
    kind: str
    target: Path
    bags: Callable[[], int]
    do: Callable[[], None]

    def is_done(self) -> bool:
        """Whether the target is there; that it was made the same way is seen when the step is done again."""
        folder = RunFolder(self.target)
        if folder.run.exists():
            return folder.is_finished and read_json(folder.run).get("bags") == self.bags()
        return self.target.exists() and self.target.with_name(self.target.name + ".stage.json").exists()


class Laboratory:
    """An experiment, and where its files are."""

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        *,
        sample: int | None = None,
        jobs: int = 2,
        place: WorkPlace | None = None,
    ) -> None:
        self.place = place or WorkPlace()
        self.experiment = experiment.with_sample(sample or experiment.sample)
        self.jobs = jobs
        self.shared = folder
        self.folder = folder if self.experiment.sample == experiment.sample else folder / f"sample-{sample}"
        self.models = {order: folder / f"{order}-gram.lm" for order in experiment.model_orders()}

    # ---- where things are

    def run_folder(self, set_name: str, name: str) -> Path:
        """The run of a setting or stage on a set."""
        return self.folder / set_name / folder_name(name)

    def tuned_file(self, stage: TunedStage) -> Path:
        """What tuning found for a stage that is tuned."""
        return self.folder / "tuned" / f"{folder_name(stage.name)}.json"

    def values(self, stage: TunedStage) -> dict[str, Any] | None:
        """The values of a stage: known beforehand, or found for it or another one; None before they are."""
        tuned = self.experiment.values_of(stage)
        if (known := tuned.tuning.known()) is not None:
            return known
        return read_json(path) if (path := self.tuned_file(tuned)).exists() else None

    def bags_file(self, set_name: str) -> Path:
        return self.folder / set_name / "bags.jsonl"

    def bags(self, set_name: str, longest: int = 0) -> list[Bag]:
        """The bags of a set, all or those of at most so many tokens."""
        return [bag for bag in read_bags(self.bags_file(set_name)) if not longest or len(bag) <= longest]

    def runs(self, set_name: str) -> list[tuple[Path, str]]:
        """The finished runs of a set with their names, in the order of the file."""
        named = [(self.run_folder(set_name, part.name), part.name) for part in self.experiment.parts]
        return [(path, name) for path, name in named if RunFolder(path).is_finished]

    # ---- steps

    def check(self) -> None:
        """See that all files and models of others are there before any work begins."""
        for set_name in self.experiment.sets:
            table = self.experiment.sets[set_name]
            if table.mt and not Path(table.mt).is_file():
                raise InputError("no such file", path=table.mt)
            self._pipeline(set_name).prepare()
        for stage in self.experiment.stages:
            stage.tuning.check()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", self.experiment.source)

    @cached_property
    def steps(self) -> list[Step]:
        """All steps, done or not."""
        return [*self._text_steps(), *self._bag_steps(), *self._generation_steps(), *self._stage_steps()]

    def _text_steps(self) -> Iterator[Step]:
        first = self._pipeline(next(iter(self.experiment.sets)))
        yield Step("text", "text", first.text, _no_bags, first.tokenise_text)
        yield Step("index", "index", first.index, _no_bags, first.make_index)
        for order in self.models:
            pipeline = self._pipeline(self.experiment.development, order)
            yield Step(f"{order}-gram model", "model", pipeline.model, _no_bags, pipeline.make_model)
        for stage in self.experiment.estimated:
            name, target = f"{stage.kind} model", self.shared / stage.model_file
            yield Step(name, name, target, _no_bags, partial(first.estimate, stage))

    def _bag_steps(self) -> Iterator[Step]:
        for name in self.experiment.sets:
            pipeline = self._pipeline(name)
            yield Step(f"bags, {name}", "bags", pipeline.bags, _no_bags, pipeline.make_bags)

    def _generation_steps(self) -> Iterator[Step]:
        for setting in self.experiment.settings:
            for name in self.experiment.setting_sets(setting):
                folder, count = self.run_folder(name, setting.name), partial(self._count, name, setting.table.longest)
                work = partial(self._generate, setting, name)
                yield Step(f"{setting.name}, {name}", setting.generate.algorithm, folder, count, work)
                yield from self._oracle_steps(setting.table.oracles, setting.name, name, count)

    def _stage_steps(self) -> Iterator[Step]:
        experiment = self.experiment
        for stage in experiment.stages:
            longest = experiment.first_setting(stage).table.longest
            if experiment.is_tuned(stage):
                count = partial(self._count, experiment.development_of(stage), longest)
                target, work = self.tuned_file(stage), partial(self._tune, stage)
                yield Step(f"{stage.name}, tuning", f"tuning {stage.kind}", target, count, work)
            for name in experiment.stage_sets(stage):
                count = partial(self._count, name, longest)
                folder = self.run_folder(name, stage.name)
                yield Step(f"{stage.name}, {name}", stage.kind, folder, count, partial(self._run_stage, stage, name))
                yield from self._oracle_steps(stage.table.oracles, stage.name, name, count)

    def _oracle_steps(self, wanted: bool, name: str, set_name: str, count: Callable[[], int]) -> Iterator[Step]:
        folder = self.run_folder(set_name, name)
        target = folder / "oracle-lattice.txt"
        if wanted:
            yield Step(f"{name}, {set_name}, oracles", "oracles", target, count, partial(self._find_oracles, folder))

    # ---- the work

    def _generate(self, setting: Setting, set_name: str) -> None:
        bags = self.bags(set_name, setting.table.longest)
        if not bags:
            print(f"{setting.name}: no bag of {set_name} has at most {setting.table.longest} tokens; left out")
            return
        model = load_language_model(f"kenlm:{self.models[setting.table.lm]}")
        generator = Generator(open_index(self.shared / "index"), model, setting.generate)
        folder = self.run_folder(set_name, setting.name)
        generator.run(bags, folder, **self._batch(), **self.place.options())
        _drop_oracles(folder, setting.table.oracles)

    def _tune(self, stage: TunedStage) -> None:
        set_name = self.experiment.development_of(stage)
        lattices, target = self.run_folder(set_name, stage.source), self.tuned_file(stage)
        if not RunFolder(lattices).is_finished:
            return
        development = Development(
            lattices=lattices,
            references=[bag.reference or () for bag in open_run(lattices).bags],
            place=self._place(stage, set_name),
            folder=self.folder / "tuned" / folder_name(stage.name),
            options=self._batch(),
        )

        def make() -> None:
            tuned = stage.tuning.tune(development)
            write_json(target, {**tuned.values, "bleu": round(tuned.bleu, 2)})

        facts: dict[str, Any] = {"stage": repr(stage), "lattices": open_lattices(lattices).signature}
        if stage.tuning.needs_mt and (evidence := development.place.mt):
            facts["mt"] = [fingerprint(Path(file)) for file in evidence.files]
        make_once(f"{stage.name}, tuning", target, facts, make)

    def _run_stage(self, stage: TunedStage, set_name: str) -> None:
        lattices, place, values = (
            self.run_folder(set_name, stage.source),
            self._place(stage, set_name),
            self.values(stage),
        )
        if values is not None and RunFolder(lattices).is_finished:
            folder = self.run_folder(set_name, stage.name)
            options = {**self._batch(), **self.place.options()}
            run_stage(stage.tuning.stage(values, place), open_lattices(lattices), folder, place=place, **options)
            _drop_oracles(folder, stage.table.oracles)

    def _find_oracles(self, folder: Path) -> None:
        if not RunFolder(folder).is_finished:
            return
        source = open_lattices(folder)
        target = folder / "oracle-lattice.txt"

        def make() -> None:
            references = [bag.reference or () for bag in open_run(folder).bags]
            report = oracle_report(source, references, nbest=NBEST, jobs=self.jobs)
            _write_strings(folder / f"oracle-{NBEST}-best.txt", report.nbest.strings)
            _write_strings(target, report.lattice.strings)

        make_once("oracles", target, {"lattices": source.signature, "nbest": NBEST}, make)

    # ---- parts of it

    def _batch(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "nbest": NBEST, "overwrite": True}

    def _place(self, stage: TunedStage, set_name: str) -> Place:
        file, normalisation = self.experiment.sets[set_name].mt, self.experiment.text.normalisation
        mt = EvidenceFiles((file,), normalisation, by="id") if file else None
        first_pass = f"kenlm:{self.experiment.first_setting(stage).table.lm}"
        return Place(OwnModels(self.shared / "index", self.models), self.shared, first_pass, mt)

    def _pipeline(self, set_name: str, order: int = 4) -> Pipeline:
        """A pipeline for text, models and bags; all pipelines of an experiment have the same text and index."""
        experiment = self.experiment
        table: dict[str, Any] = {key: value for key, value in vars(experiment.sets[set_name]).items() if key != "mt"}
        config = Config(
            source=experiment.source,
            run=RunTable(str(self.shared), jobs=self.jobs),
            text=experiment.text,
            bags=replace(BagsTable(**table), sample=experiment.sample),
            index=experiment.index,
            lm=ModelTable(order, experiment.lm.memory),
        )
        pipeline = Pipeline(config)
        pipeline.bags = self.bags_file(set_name)
        pipeline.model = self.shared / f"{order}-gram.lm"
        return pipeline

    def _count(self, set_name: str, longest: int) -> int:
        """The bags of a set; before it is made, about as many as there will be."""
        if self.bags_file(set_name).exists():
            return len(self.bags(set_name, longest))
        sample = self.experiment.sample
        return sample if not longest else min(sample, round(sample * longest / _USUAL_LONGEST))


_USUAL_LONGEST = 36  # most sentences are shorter


def _no_bags() -> int:
    return 0


def _drop_oracles(folder: Path, wanted: bool) -> None:
    """Remove oracles that are not asked for any more: nothing would keep them true to the lattices."""
    for path in () if wanted else folder.glob("oracle-*"):
        path.unlink()


def _write_strings(path: Path, strings: tuple[tuple[str, ...], ...]) -> None:
    write_text(path, "".join(" ".join(string) + "\n" for string in strings))
