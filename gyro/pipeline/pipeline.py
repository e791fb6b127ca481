"""The stages of a whole run, each a method that needs the ones before it; gyro.pipeline.chain is their order.

Pipeline   a configuration and the files of its run
Scored     the scores of one stage's best strings
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from gyro.bar import Bar
from gyro.errors import InputError
from gyro.files import write_atomically, write_text
from gyro.index.build import build_index
from gyro.index.reader import VERSION, open_index
from gyro.notation import parse_size
from gyro.pipeline.config import Config
from gyro.pipeline.reference import check_ids, read_references, write_bags
from gyro.pipeline.stamp import fingerprint, make_once
from gyro.run.batch import Summary
from gyro.run.folder import open_run
from gyro.score.evaluation import Evaluation, evaluate
from gyro.search.generator import Generator
from gyro.text.bag_file import read_bags
from gyro.text.corpus import Normalisation, read_lines, read_sentences
from gyro.text.embedded import is_embedded, write_embedded
from lm.kenlm.estimate import estimate_model
from lm.loading import OwnModels, load_language_model
from rescoring.evidence import EvidenceFiles
from rescoring.source import open_lattices
from rescoring.stage import Place, Stage, TextWork, run_ready

SPLIT = Normalisation("none", False)  # of the run's own text file, whose tokens are made


class Scored(NamedTuple):
    """A stage's name, how its run went, the scores of its best strings, and whether it has whole lattices."""

    name: str
    summary: Summary
    evaluation: Evaluation
    gives_lattices: bool

    @property
    def folder(self) -> Path:
        return self.summary.folder

    @property
    def failed(self) -> int:
        """The bags without an order, whose strings are scored as empty."""
        return self.summary.failed


class Pipeline:
    """A configuration and the files of its run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = Path(config.run.folder)
        self.text = self.folder / "text.tok"
        self.index = self.folder / "index"
        self.model = self.folder / "model.lm"
        self.bags = self.folder / "bags.jsonl"
        self.generated = self.folder / "generated"
        self.stages: list[Scored] = []

    # ---- text to models and bags

    def prepare(self) -> None:
        """Keep a copy of the configuration, and see that all input is there before any work begins."""
        for name in (*self.config.text.files, *self.config.bags.references):
            if not is_embedded(name) and not Path(name).is_file():
                raise InputError("no such file", path=name)
        for stage in self.config.stages.values():
            stage.check()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", self.config.source)

    def tokenise_text(self) -> None:
        text = self.config.text
        files = self._sources(text.files)
        facts = {"files": [fingerprint(f) for f in files], "paragraphs": text.paragraphs}
        facts |= text.normalisation.to_json()
        make_once("text", self.text, facts, lambda: self._write_tokens(files))

    def make_index(self) -> None:
        table, normalisation = self.config.index, self.config.text.normalisation
        options: dict[str, Any] = {"order": table.order, "normalisation": normalisation}

        def make() -> None:
            build_index(self._sentences("indexing"), self.index, memory=parse_size(table.memory), **options)

        facts = {"text": fingerprint(self.text), "order": table.order, "format": VERSION}
        make_once("index", self.index, facts, make)

    def make_model(self) -> None:
        table, normalisation = self.config.lm, self.config.text.normalisation
        options: dict[str, Any] = {"order": table.order, "normalisation": normalisation}

        def make() -> None:
            estimate_model(self._sentences("estimating"), self.model, memory=parse_size(table.memory), **options)

        make_once("model", self.model, {"text": fingerprint(self.text), "order": table.order}, make)

    def make_stage_models(self) -> None:
        """The models that stages after the first pass need, estimated on the same text."""
        for stage in self.config.stages.values():
            self.estimate(stage)

    def estimate(self, stage: Stage) -> None:
        stage.estimate(self._text_work())

    def _text_work(self) -> TextWork:
        def sentences(wanted: int) -> Iterator[list[str]]:
            # A sample spread over the whole text, which may change from its beginning to its end.
            total = sum(1 for _ in read_lines(self.text))
            step = max(1, total // wanted) if wanted else 1
            return islice(self._sentences("parsing"), 0, None, step)

        return TextWork(
            facts=fingerprint(self.text),
            folder=self.folder,
            normalisation=self.config.text.normalisation,
            memory=parse_size(self.config.lm.memory),
            jobs=self.config.run.jobs,
            sentences=sentences,
            make=make_once,
        )

    def make_bags(self) -> None:
        files = self._sources(self.config.bags.references)
        facts = vars(self.config.bags) | {"references": [fingerprint(f) for f in files]}
        make_once("bags", self.bags, facts | self.config.text.normalisation.to_json(), lambda: self._write_bags(files))

    # ---- lattices

    def generate(self) -> Summary:
        generator = Generator(open_index(self.index), load_language_model(str(self.model)), self.config.generate)
        summary = generator.run(read_bags(self.bags), self.generated, **self._batch())
        self._score(f"first pass, {generator.model.order}-gram", summary, gives_lattices=True)
        return summary

    def rescore(self) -> None:
        """Every stage after the first pass; each starts from the last run whose lattices it can take."""
        place = self._place()
        for stage in self.config.stages.values():
            before = next(s for s in reversed(self.stages) if stage.takes_lists or s.gives_lattices)
            source = open_lattices(before.folder)
            for name, variant in stage.variants(place):
                ready = variant.ready(source, place)
                summary = run_ready(ready, source, self.folder / name, **self._batch())
                self._score(ready.title(before.name), summary, gives_lattices=stage.gives_lattices)

    # ---- parts of stages

    def _batch(self) -> dict[str, Any]:
        run = self.config.run
        return {"jobs": run.jobs, "nbest": run.nbest, "gzip": run.gzip, "overwrite": True}

    def _place(self) -> Place:
        mt, normalisation = self.config.mt, self.config.text.normalisation
        files = None if mt is None else EvidenceFiles((mt.file,), normalisation, field=mt.field, by=mt.by)
        return Place(OwnModels(self.index), self.folder, str(self.model), files)

    def _score(self, name: str, summary: Summary, *, gives_lattices: bool) -> None:
        run = open_run(summary.folder)
        references = [bag.reference or () for bag in run.bags]
        scores = evaluate([line.split() for line in run.best()], references)
        self.stages.append(Scored(name, summary, scores, gives_lattices))

    def _sources(self, names: Sequence[str]) -> list[Path]:
        return [write_embedded(n, self.folder / "text") if is_embedded(n) else Path(n) for n in names]

    def _sentences(self, what: str) -> Iterator[list[str]]:
        sentences = read_sentences([self.text], SPLIT)
        yield from Bar(sentences, desc=what, unit=" sentences", unit_scale=True)

    def _write_tokens(self, files: Sequence[Path]) -> None:
        text = self.config.text
        sentences = read_sentences(files, text.normalisation, paragraphs=text.paragraphs, jobs=self.config.run.jobs)
        with write_atomically(self.text, "w") as file:
            for sentence in Bar(sentences, desc="tokenising", unit=" sentences", unit_scale=True):
                file.write(" ".join(sentence) + "\n")

    def _write_bags(self, files: Sequence[Path]) -> None:
        """The ids of bags are those of `gyro bags`: others find them again."""
        table = self.config.bags
        options = {"paragraphs": table.paragraphs, "json_field": table.json_field}
        found = read_references(files, self.config.text.normalisation, **options)  # type: ignore[arg-type]
        fitting = [one for one in found if max(1, table.shortest) <= len(one.tokens) <= table.longest]
        check_ids(fitting, files[0])
        if not fitting:
            raise InputError(f"no sentence of {table.shortest} to {table.longest} tokens", path=files[0])
        if table.sample and table.sample < len(fitting):
            chosen = sorted(random.Random(table.seed).sample(range(len(fitting)), table.sample))
            fitting = [fitting[i] for i in chosen]
        with write_atomically(self.bags, "w") as file:
            write_bags(file, fitting)
