"""The stages of a whole run, each a method that needs the ones before it; run_pipeline.py is their order.

Pipeline   a configuration and the files of its run
Scored     the scores of one stage's best strings
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from gyro.bag_file import read_bags
from gyro.batch import Summary
from gyro.config import Config
from gyro.corpus import Normalisation, read_lines, read_sentences
from gyro.embedded import is_embedded, write_embedded
from gyro.errors import InputError
from gyro.evaluation import Evaluation, evaluate
from gyro.files import write_atomically, write_text
from gyro.generation import Generator
from gyro.index import VERSION, open_index
from gyro.index_build import build_index
from gyro.run_folder import open_run
from gyro.settings import parse_size
from gyro.stage import fingerprint, run_stage
from lm.dependency_lm import load_dependency_model, train_dependency_model
from lm.estimate import estimate_model
from lm.kenlm_model import load_model
from lm.loading import load_language_model
from rescoring.batch import name_scales, rescore_run
from rescoring.dependency_run import dependency_run, known_features
from rescoring.evidence import read_evidence
from rescoring.mbr_run import MbrTask, mbr_run
from rescoring.source import open_lattices

SPLIT = Normalisation("none", False)  # of the run's own text file, whose tokens are made


class Scored(NamedTuple):
    """A stage's name, its run folder, and the scores of its best strings."""

    name: str
    folder: Path
    evaluation: Evaluation


class Pipeline:
    """A configuration and the files of its run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = Path(config.run.folder)
        self.text = self.folder / "text.tok"
        self.index = self.folder / "index"
        self.model = self.folder / "model.lm"
        self.dependency_model = self.folder / "dependency.lm"
        self.bags = self.folder / "bags.jsonl"
        self.generated = self.folder / "generated"
        self.stages: list[Scored] = []

    # ---- text to models and bags

    def prepare(self) -> None:
        """Keep a copy of the configuration, and see that all input is there before any work begins."""
        for name in (*self.config.text.files, *self.config.bags.references):
            if not is_embedded(name) and not Path(name).is_file():
                raise InputError("no such file", path=name)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", self.config.source)

    def tokenise_text(self) -> None:
        text = self.config.text
        files = self._sources(text.files)
        facts = {"files": [fingerprint(f) for f in files], "paragraphs": text.paragraphs}
        facts |= text.normalisation.to_json()
        run_stage("text", self.text, facts, lambda: self._write_tokens(files))

    def make_index(self) -> None:
        table, normalisation = self.config.index, self.config.text.normalisation
        options: dict[str, Any] = {"order": table.order, "normalisation": normalisation}

        def make() -> None:
            build_index(self._sentences("indexing"), self.index, memory=parse_size(table.memory), **options)

        facts = {"text": fingerprint(self.text), "order": table.order, "format": VERSION}
        run_stage("index", self.index, facts, make)

    def make_model(self) -> None:
        table, normalisation = self.config.lm, self.config.text.normalisation
        options: dict[str, Any] = {"order": table.order, "normalisation": normalisation}

        def make() -> None:
            estimate_model(self._sentences("estimating"), self.model, memory=parse_size(table.memory), **options)

        run_stage("model", self.model, {"text": fingerprint(self.text), "order": table.order}, make)

    def make_dependency_model(self) -> None:
        table = self.config.dependency
        if table is None:
            return
        facts = {"text": fingerprint(self.text), "order": table.order, "sentences": table.sentences}

        def make() -> None:
            # A sample spread over the whole text, which may change from its beginning to its end.
            total = sum(1 for _ in read_lines(self.text))
            step = max(1, total // table.sentences) if table.sentences else 1
            train_dependency_model(
                islice(self._sentences("parsing"), 0, None, step),
                self.dependency_model,
                order=table.order,
                memory=parse_size(self.config.lm.memory),
                normalisation=self.config.text.normalisation,
                jobs=self.config.run.jobs,
            )

        run_stage("dependency model", self.dependency_model, facts, make)

    def make_bags(self) -> None:
        files = self._sources(self.config.bags.references)
        facts = vars(self.config.bags) | {"references": [fingerprint(f) for f in files]}
        run_stage("bags", self.bags, facts | self.config.text.normalisation.to_json(), lambda: self._write_bags(files))

    # ---- lattices

    def generate(self) -> Summary:
        generator = Generator(open_index(self.index), load_model(self.model), self.config.generate)
        summary = generator.run(list(read_bags(self.bags)), self.generated, **self._batch())
        self._score(f"first pass, {generator.model.order}-gram", self.generated)
        return summary

    def rescore(self) -> None:
        """Higher-order models over the whole lattices."""
        table = self.config.rescore
        if table is None:
            return
        own = "stupid-backoff:"
        names = [f"{own}{self.index}:{m.removeprefix(own)}" if m.startswith(own) else m for m in table.models]
        scales = name_scales([load_language_model(name) for name in names], table.weights)
        folder = self.folder / "rescored"
        rescore_run(open_lattices(self.generated), folder, scales, keep=table.keep, **self._batch())
        self._score("+ " + " ".join(scale.name for scale in scales), folder)

    def rescore_dependencies(self) -> None:
        """The dependency model on n-best lists of the last lattices."""
        table = self.config.dependency
        if table is None:
            return
        before, folder = self.stages[-1].folder, self.folder / "dependency"
        model = load_dependency_model(self.dependency_model)
        options = self._batch() | {"nbest": table.nbest}
        options |= {"weight": table.weight, "known": known_features(before)}
        dependency_run(open_lattices(before), folder, model, **options)
        self._score(f"{self.stages[-1].name} + dependency LM", folder)

    def decode_mbr(self) -> None:
        """Minimum Bayes risk over the lattices, first by their own posteriors, then by those of MT systems too."""
        parameters, mt = self.config.mbr, self.config.mt
        if parameters is None:
            return
        rescored = self.folder / "rescored"
        before = next(s for s in reversed(self.stages) if s.folder in (rescored, self.generated))
        source = open_lattices(before.folder)
        mbr_run(MbrTask(source, replace(parameters, alpha=1.0)), self.folder / "mbr", **self._batch())
        self._score(f"{before.name} + LMBR", self.folder / "mbr")
        if mt is not None:
            evidence = read_evidence([mt.file], "outputs", self.config.text.normalisation, field=mt.field)
            task = MbrTask(source, parameters, evidence, mt.by, fingerprint(Path(mt.file)))
            mbr_run(task, self.folder / "mbr-mt", **self._batch())
            self._score(f"{before.name} + LMBR with MT", self.folder / "mbr-mt")

    # ---- parts of stages

    def _batch(self) -> dict[str, Any]:
        run = self.config.run
        return {"jobs": run.jobs, "nbest": run.nbest, "overwrite": True}

    def _score(self, name: str, folder: Path) -> None:
        run = open_run(folder)
        references = [bag.reference or () for bag in run.bags]
        self.stages.append(Scored(name, folder, evaluate([line.split() for line in run.best()], references)))

    def _sources(self, names: Sequence[str]) -> list[Path]:
        return [write_embedded(n, self.folder / "text") if is_embedded(n) else Path(n) for n in names]

    def _sentences(self, what: str) -> Iterator[list[str]]:
        sentences = read_sentences([self.text], SPLIT)
        yield from tqdm(sentences, desc=what, unit=" sentences", unit_scale=True, disable=None)

    def _write_tokens(self, files: Sequence[Path]) -> None:
        text = self.config.text
        sentences = read_sentences(files, text.normalisation, paragraphs=text.paragraphs, jobs=self.config.run.jobs)
        with write_atomically(self.text, "w") as file:
            for sentence in tqdm(sentences, desc="tokenising", unit=" sentences", unit_scale=True, disable=None):
                file.write(" ".join(sentence) + "\n")

    def _write_bags(self, files: Sequence[Path]) -> None:
        """The id of a bag is the number of its line (of paragraphs: sentence) in the files: others find it again."""
        table = self.config.bags
        sentences = read_sentences(
            files,
            self.config.text.normalisation,
            paragraphs=table.paragraphs,
            json_field=table.json_field,
            keep_empty=True,
        )
        fitting = [(i, s) for i, s in enumerate(sentences, 1) if max(1, table.shortest) <= len(s) <= table.longest]
        if not fitting:
            raise InputError(f"no sentence of {table.shortest} to {table.longest} tokens", path=files[0])
        if table.sample and table.sample < len(fitting):
            chosen = sorted(random.Random(table.seed).sample(range(len(fitting)), table.sample))
            fitting = [fitting[i] for i in chosen]
        with write_atomically(self.bags, "w") as file:
            for number, reference in fitting:
                line = {"id": str(number), "tokens": sorted(reference), "reference": reference}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
