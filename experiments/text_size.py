"""The experiments with texts of several sizes: an index and a model of each, what the index holds, and runs with them.

TextSizeLaboratory  an experiment of the kind "text-size", its files, and its steps: each is skipped when it is done
Part                a part of the text, or the whole of it, with its index and model
Try                 one run: a way to order bags, a part's index, and its own model or that of the whole text
TextStep            a step on so many tokens of text
choose_lines        which lines of a text are a random part of it

Each part is a random choice of the sentences of every larger one. The whole text, its index and its model are below the
experiment's folder, the parts in parts/, runs below the set's name. A sample of another size than the TOML's has a
folder of its own beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import folder_name
from experiments.laboratory import Step
from experiments.place import Place
from experiments.text_size_coverage import Piece, from_json, measure_pieces
from experiments.text_size_description import TextSizeExperiment, Way
from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json, write_text
from gyro.index.reader import TextIndex, open_index
from gyro.pipeline.config import Config, RunTable
from gyro.pipeline.pipeline import Pipeline
from gyro.pipeline.stamp import fingerprint, make_once
from gyro.run.folder import RunFolder
from gyro.search.generator import Generator
from gyro.text.bag import Bag
from gyro.text.bag_file import read_bags
from gyro.text.corpus import read_lines
from lm.loading import load_language_model

NBEST = 1
# Of the whole text before it is counted.
USUAL_TOKENS = 15_000_000


@dataclass(frozen=True)
class TextStep(Step):
    """A step that reads so many tokens."""

    tokens: Callable[[], int]


@dataclass(frozen=True)
class Part:
    """A part of the text; `size` is the number of tokens asked for, 0 for the whole."""

    size: int
    pipeline: Pipeline

    @property
    def name(self) -> str:
        return f"{self.size:,} tokens" if self.size else "whole text"

    @property
    def folder_name(self) -> str:
        return str(self.size) if self.size else "whole"

    def open_index(self) -> TextIndex:
        return open_index(self.pipeline.index)


@dataclass(frozen=True)
class Try:
    """One run; `model` is "own" or "whole", and for the whole text always "own"."""

    way: Way
    part: Part
    model: str

    @property
    def name(self) -> str:
        of = "" if not self.part.size else ", own model" if self.model == "own" else ", model of the whole"
        return f"{self.way.name}, {self.part.name}{of}"


class TextSizeLaboratory:
    """An experiment, and where its files are."""

    def __init__(
        self,
        experiment: TextSizeExperiment,
        folder: Path,
        *,
        sample: int | None = None,
        jobs: int = 2,
        place: Place | None = None,
    ) -> None:
        self.place = place or Place()
        self.experiment = experiment.with_sample(sample or experiment.sample)
        self.jobs = jobs
        self.shared = folder
        self.folder = folder if self.experiment.sample == experiment.sample else folder / f"sample-{sample}"
        self.whole = Part(0, self._pipeline(folder))
        parts = (Part(size, self._pipeline(folder / "parts" / str(size))) for size in experiment.sizes)
        self.parts = (*parts, self.whole)

    # ---- where things are

    def tries(self) -> list[Try]:
        """All runs on a set. With the index of the whole text, both models are the same one."""
        return [
            Try(way, part, model)
            for way in self.experiment.ways
            for part in self.parts
            for model in (way.models if part.size else ("own",))
        ]

    def run_folder(self, set_name: str, each: Try) -> Path:
        return self.folder / set_name / f"{folder_name(each.way.name)}-{each.part.folder_name}-{each.model}"

    def coverage_file(self, set_name: str, part: Part) -> Path:
        return self.folder / set_name / f"coverage-{part.folder_name}.json"

    def pieces(self, set_name: str, part: Part) -> list[Piece] | None:
        """What the index of a part holds of the bags; None before it is measured."""
        path = self.coverage_file(set_name, part)
        if not path.exists():
            return None
        pieces: list[dict[str, Any]] = read_json(path)["pieces"]
        return [from_json(each) for each in pieces]

    def bags(self, set_name: str) -> list[Bag]:
        return list(read_bags(self.folder / set_name / "bags.jsonl"))

    # ---- steps

    def check(self) -> None:
        """See that all files are there before any work begins."""
        for set_name in self.experiment.sets:
            self._bags_pipeline(set_name).prepare()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", self.experiment.source)

    @cached_property
    def steps(self) -> list[Step]:
        """All steps, done or not."""
        return [*self._text_steps(), *self._bag_steps()]

    def _text_steps(self) -> Iterator[Step]:
        whole = self.whole.pipeline
        yield TextStep("text", "text", whole.text, _no_bags, whole.tokenise_text, _usual_tokens)
        for part in self.parts:
            pipeline, tokens = part.pipeline, partial(_tokens_of, part)
            if part.size:
                work = partial(self._write_part, part)
                yield TextStep(f"{part.name}, text", "part", pipeline.text, _no_bags, work, _usual_tokens)
            yield TextStep(f"{part.name}, index", "index", pipeline.index, _no_bags, pipeline.make_index, tokens)
            yield TextStep(f"{part.name}, model", "model", pipeline.model, _no_bags, pipeline.make_model, tokens)

    def _bag_steps(self) -> Iterator[Step]:
        for name in self.experiment.sets:
            pipeline, count = self._bags_pipeline(name), partial(self._count, name)
            yield Step(f"bags, {name}", "bags", pipeline.bags, _no_bags, pipeline.make_bags)
            for part in self.parts:
                target, work = self.coverage_file(name, part), partial(self._measure, name, part)
                yield Step(f"coverage, {part.name}, {name}", "coverage", target, count, work)
            for each in self.tries():
                folder, work = self.run_folder(name, each), partial(self._generate, name, each)
                yield Step(f"{each.name}, {name}", each.way.generate.algorithm, folder, count, work)

    # ---- the work

    def _write_part(self, part: Part) -> None:
        whole, target, seed = self.whole.pipeline.text, part.pipeline.text, self.experiment.seed

        def make() -> None:
            lengths = np.array([len(line.split()) for line in read_lines(whole)], np.int64)
            if part.size > lengths.sum():
                raise InputError(f"found a size of {part.size} tokens; the text has {lengths.sum()}")
            with write_atomically(target, "w") as file:
                file.writelines(
                    line + "\n" for line in compress(read_lines(whole), choose_lines(lengths, part.size, seed))
                )

        make_once(f"text, {part.name}", target, {"text": fingerprint(whole), "size": part.size, "seed": seed}, make)

    def _measure(self, set_name: str, part: Part) -> None:
        rules, most = self.experiment.rules, self.experiment.max_tokens
        index, target = part.open_index(), self.coverage_file(set_name, part)

        def make() -> None:
            references = [bag.reference or () for bag in self.bags(set_name)]
            pieces = (
                piece for n, words in enumerate(references) for piece in measure_pieces(index, n, words, rules, most)
            )
            write_json(target, {"rules": list(rules), "pieces": [asdict(piece) for piece in pieces]})

        bags = fingerprint(self._bags_pipeline(set_name).bags)
        facts = {"index": index.signature, "bags": bags, "rules": list(rules), "max_tokens": most}
        make_once(f"coverage, {part.name}", target, facts, make)

    def _generate(self, set_name: str, each: Try) -> None:
        source = each.part if each.model == "own" else self.whole
        model = load_language_model(f"kenlm:{source.pipeline.model}")
        generator = Generator(each.part.open_index(), model, each.way.generate)
        folder = self.run_folder(set_name, each)
        options = {"jobs": self.jobs, "nbest": NBEST, "overwrite": True, **self.place.options()}
        generator.run(self.bags(set_name), folder, **options)

    # ---- parts of it

    def _pipeline(self, folder: Path) -> Pipeline:
        """A pipeline for the text, index and model in a folder; those of the whole text are named as elsewhere."""
        experiment = self.experiment
        config = Config(
            source=experiment.source,
            run=RunTable(str(folder), jobs=self.jobs),
            text=experiment.text,
            bags=next(iter(experiment.sets.values())),
            index=experiment.index,
            lm=experiment.lm,
        )
        pipeline = Pipeline(config)
        pipeline.model = folder / f"{experiment.lm.order}-gram.lm"
        return pipeline

    def _bags_pipeline(self, set_name: str) -> Pipeline:
        table = replace(self.experiment.sets[set_name], sample=self.experiment.sample)
        pipeline = Pipeline(replace(self.whole.pipeline.config, bags=table))
        pipeline.bags = self.folder / set_name / "bags.jsonl"
        return pipeline

    def _count(self, set_name: str) -> int:
        """The bags of a set; before it is made, about as many as there will be."""
        return len(self.bags(set_name)) if self._bags_pipeline(set_name).bags.exists() else self.experiment.sample

    def is_run(self, set_name: str, each: Try) -> bool:
        return RunFolder(self.run_folder(set_name, each)).is_finished


def choose_lines(lengths: NDArray[np.int64], size: int, seed: int) -> list[bool]:
    """Which lines, of so many tokens each, make up a random part of at least `size` tokens.

    Lines are taken in a random order that the seed alone decides, so a smaller part is within every larger one.

    >>> sum(choose_lines(np.full(10, 5), 21, 1))
    5
    """
    order = np.random.default_rng(seed).permutation(len(lengths))
    taken = int(np.searchsorted(np.cumsum(lengths[order]), size)) + 1
    chosen = np.zeros(len(lengths), np.bool_)
    chosen[order[:taken]] = True
    return list(chosen.tolist())


def _tokens_of(part: Part) -> int:
    return part.size or USUAL_TOKENS


def _usual_tokens() -> int:
    return USUAL_TOKENS


def _no_bags() -> int:
    return 0
