"""The experiments with the syntactic best-first decoder: models are trained, bags decoded, GYRO run beside them.

SyntaxLaboratory  an experiment of the kind "syntax", its files, and its steps: each is skipped when it is done
TrainingStep      a step that is done when a model has had all its iterations

Models that are not trained yet are trained side by side, one process each; all that is stopped goes on where it was.
The language model, index and text are below the experiment's folder, models in models/, runs below the set's name. A
sample of another size than the TOML's has a folder of its own beside them.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from comparison.best_first.model import TAGGER, BestFirstModel, ModelSettings, load_model
from comparison.best_first.system import BestFirstSystem, GenerationSettings
from comparison.best_first.training import train
from comparison.best_first.treebank import ccg_training, dependency_training
from comparison.learning.development import DevScore
from comparison.learning.training import Iteration, read_history
from experiments.experiment import folder_name
from experiments.laboratory import Step
from experiments.place import Place
from experiments.syntax_description import Decode, GyroTable, LearnerTable, SyntaxExperiment
from grammars.annotation import Annotation, TreebankSentence, likely_categories, read_treebank, sentence_to_bag
from grammars.ccg.tagger import MultiTagger, load_tagger
from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json, write_text
from gyro.index.build import build_index
from gyro.index.reader import open_index
from gyro.notation import parse_size
from gyro.pipeline.stamp import fingerprint, make_once
from gyro.pool import Failure, run_tasks
from gyro.run.folder import RunFolder
from gyro.score.evaluation import evaluate
from gyro.search.generator import Generator
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation, is_token, read_sentences
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import load_model as load_language_model
from lm.model import LanguageModel

NBEST = 10
PLAN = "plan.json"
SPLIT = Normalisation("none", False)  # of the text file, whose tokens are made


@dataclass(frozen=True)
class TrainingStep(Step):
    """The training of a model; `sentences` are those of all its iterations that are still to come."""

    done: Callable[[], bool]
    sentences: Callable[[], int]

    def is_done(self) -> bool:
        return self.done()


class SyntaxLaboratory:
    """An experiment, and where its files are."""

    def __init__(
        self,
        experiment: SyntaxExperiment,
        folder: Path,
        *,
        sample: int | None = None,
        jobs: int = 2,
        place: Place | None = None,
    ) -> None:
        self.place = place or Place()
        self.experiment = experiment.with_sample(sample) if sample else experiment
        self.jobs = jobs
        self.shared = folder
        self.folder = folder / f"sample-{sample}" if sample else folder
        self.text, self.index = folder / "text.tok", folder / "index"
        self.model_file = folder / f"{experiment.text.order}-gram.lm"
        self._sentences: dict[str, list[TreebankSentence]] = {}

    # ---- where things are

    def model_folder(self, name: str) -> Path:
        return self.folder / "models" / folder_name(name)

    def run_folder(self, run: Decode | GyroTable) -> Path:
        """Named for all that tells a run from others, so that tables that ask for the same run share it."""
        if isinstance(run, GyroTable):
            return self.folder / run.set / folder_name(run.name)
        table, model = run.table, self.experiment.model(run.candidates[0])
        pos, heads = given_shares(model.settings(), run.pos, run.heads)
        name = run.candidates[0] if len(run.candidates) == 1 else f"best of {table.name}"
        name += f", {run.bags} bags, {run.time_limit:g} s, POS {pos:.0%}, heads {heads:.0%}"
        name += "".join(f", {key} {getattr(table, key)}" for key in ("edge_limit", "beam") if getattr(table, key))
        return self.folder / table.set / folder_name(name + (", complete" if table.complete else ""))

    def history(self, name: str) -> list[Iteration]:
        """How the iterations of a model went, so far."""
        return read_history(self.model_folder(name))

    def runs(self, set_name: str) -> list[tuple[Path, str]]:
        """The finished runs of a set with their names, in the order of the file, GYRO's last."""
        found: list[Decode | GyroTable] = [*self.experiment.decodes(set_name)]
        found += [table for table in self.experiment.gyro if table.set == set_name]
        named: dict[Path, str] = {}
        for run in found:
            named.setdefault(self.run_folder(run), run.name)
        return [(path, name) for path, name in named.items() if RunFolder(path).is_finished]

    def check(self) -> None:
        """See that all files are there before any work begins."""
        treebank = self.experiment.treebank
        text = self.experiment.text.files if self.experiment.needs_text else []
        for name in (*treebank.train, *treebank.dev, *treebank.test, *text):
            if not Path(name).is_file():
                raise InputError("no such file", path=name)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.toml", self.experiment.source)

    @cached_property
    def steps(self) -> list[Step]:
        """All steps, done or not."""
        return [*self._text_steps(), *self._training_steps(), *self._run_steps()]

    # ---- text

    def _text_steps(self) -> Iterator[Step]:
        if not self.experiment.needs_text:
            return
        yield Step("text", "text", self.text, _no_bags, self._make_text)
        if self.experiment.gyro:
            yield Step("index", "index", self.index, _no_bags, self._make_index)
        yield Step(f"{self.experiment.text.order}-gram model", "model", self.model_file, _no_bags, self._make_model)

    def _make_text(self) -> None:
        files = [Path(name) for name in self.experiment.text.files]
        treebank = [Path(name) for name in self.experiment.treebank.train]

        def make() -> None:
            with write_atomically(self.text, "w") as file:
                for sentence in read_sentences(files, Normalisation(), jobs=self.jobs) if files else ():
                    file.write(" ".join(sentence) + "\n")
                for path in treebank:
                    words = (tree.words for tree in read_treebank(path) if all(map(is_token, tree.words)))
                    file.writelines(" ".join(tokens) + "\n" for tokens in words)

        make_once("text", self.text, {"files": [fingerprint(path) for path in (*files, *treebank)]}, make)

    def _make_index(self) -> None:
        table = self.experiment.text
        options: dict[str, Any] = {"order": table.index_order, "normalisation": Normalisation()}

        def make() -> None:
            build_index(read_sentences([self.text], SPLIT), self.index, memory=parse_size(table.memory), **options)

        make_once("index", self.index, {"text": fingerprint(self.text), "order": table.index_order}, make)

    def _make_model(self) -> None:
        table = self.experiment.text
        options: dict[str, Any] = {"order": table.order, "normalisation": Normalisation()}

        def make() -> None:
            sentences = read_sentences([self.text], SPLIT)
            estimate_model(sentences, self.model_file, memory=parse_size(table.memory), **options)

        make_once("model", self.model_file, {"text": fingerprint(self.text), "order": table.order}, make)

    @cached_property
    def language_model(self) -> LanguageModel:
        return load_language_model(self.model_file)

    # ---- bags

    def sentences(self, set_name: str) -> list[TreebankSentence]:
        """The sentences of a set that can be used by every system, whatever is given."""
        if set_name not in self._sentences:
            paths = getattr(self.experiment.treebank, set_name)
            found = [sentence for path in paths for sentence in read_treebank(path)]
            self._sentences[set_name] = [s for s in found if all(map(is_token, (*s.words, *(s.lemmas or ()))))]
        return self._sentences[set_name]

    def sample(self, set_name: str, count: int) -> list[TreebankSentence]:
        """So many of them, the same at each call; a smaller sample is part of a larger one."""
        sentences = self.sentences(set_name)
        order = list(range(len(sentences)))
        random.Random(self.experiment.seed).shuffle(order)
        return [sentences[place] for place in sorted(order[:count])]

    def bags(
        self,
        set_name: str,
        count: int,
        settings: ModelSettings,
        tagger: MultiTagger | None = None,
        *,
        pos: float | None = None,
        heads: float | None = None,
    ) -> list[AnnotatedBag]:
        """Bags given what the model's training was given, or shares of it; for CCG also the tagger's categories."""
        tagged, attached = given_shares(settings, pos, heads)
        annotation = Annotation(
            pos=tagged,
            heads=attached,
            labels=settings.labels and attached > 0,
            tags=settings.tags,
            units="units" in settings.given,
            lemmas="lemmas" in settings.given,
            seed=self.experiment.seed,
        )
        bags = []
        for sentence in self.sample(set_name, count):
            categories = None if tagger is None else likely_categories(tagger, sentence, settings.beta)
            bags.append(sentence_to_bag(sentence, annotation, categories))
        return bags

    # ---- models

    def _training_steps(self) -> Iterator[Step]:
        for table in self.experiment.models:
            yield TrainingStep(
                f"training: {table.name}",
                table.grammar,
                self.model_folder(table.name),
                _no_bags,
                partial(self._train_missing, table),
                partial(self.is_trained, table),
                partial(self._sentences_to_learn, table),
            )

    def _plan(self, table: LearnerTable) -> dict[str, Any]:
        """All that decides what becomes of a training, but for the number of iterations."""
        paths = [Path(name) for name in (*self.experiment.treebank.train, *self.experiment.treebank.dev)]
        text = fingerprint(self.text) if table.lm_weight and self.text.exists() else None
        facts = {"treebank": [fingerprint(path) for path in paths], "text": text, "seed": self.experiment.seed}
        return {**{name: value for name, value in asdict(table).items() if name != "iterations"}, **facts}

    def is_trained(self, table: LearnerTable) -> bool:
        """Whether a model has had all its iterations, in the way that the file asks for."""
        return self._is_begun(table) and len(self.history(table.name)) >= table.iterations

    def _is_begun(self, table: LearnerTable) -> bool:
        path = self.model_folder(table.name) / PLAN
        return path.exists() and read_json(path) == json.loads(json.dumps(self._plan(table)))

    def _sentences_to_learn(self, table: LearnerTable) -> int:
        """Those of the iterations to come; the whole treebank counts as about so many as the English Web Treebank."""
        done = len(self.history(table.name)) if self._is_begun(table) else 0
        return (table.sentences or _USUAL_SENTENCES) * max(table.iterations - done, 0)

    def _train_missing(self, table: LearnerTable) -> None:
        """Train all models that are not trained yet, unless this one is."""
        if self.is_trained(table):
            return
        missing = [each for each in self.experiment.models if not self.is_trained(each)]

        def work(number: int) -> None:
            self._train(missing[number])

        failed = []
        for ended in run_tasks(range(len(missing)), work, jobs=self.jobs):
            if isinstance(ended.result, Failure):
                failed.append(f"{missing[ended.task].name}: {ended.result.reason}")
        if failed:
            raise InputError(f"{len(failed)} of {len(missing)} trainings failed; {'; '.join(failed)}")

    def _train(self, table: LearnerTable) -> None:
        folder = self.model_folder(table.name)
        if folder.exists() and not self._is_begun(table):
            shutil.rmtree(folder)
        write_json(_made(folder) / PLAN, self._plan(table))
        model = self.language_model if table.lm_weight else None
        settings = table.settings("" if model is None else model.signature)
        prepare = ccg_training if settings.grammar == "ccg" else dependency_training
        paths = self.experiment.treebank.train
        material = prepare(paths, settings, limit=table.sentences or None, model=model)
        print("\n".join(f"{table.name}: {note}" for note in material.notes), flush=True)
        if material.tagger is not None:
            material.tagger.save(folder / TAGGER)
        bags = self.bags("dev", table.dev_bags, settings, material.tagger)
        train(
            material.treebank,
            material.grammar,
            settings,
            folder,
            evaluate=partial(score_model, bags, table.dev_time_limit, model),
            facts={"notes": list(material.notes)},
            report=lambda line: print(f"{table.name}: {line}", flush=True),
        )

    def chosen_model(self, run: Decode) -> str:
        """The model of a run: of several candidates the one that was best on the development bags of its training."""
        return max(run.candidates, key=lambda name: max(each.dev_bleu or 0.0 for each in self.history(name)))

    # ---- runs

    def _run_steps(self) -> Iterator[Step]:
        wanted: dict[Path, Decode] = {}
        for decode in self.experiment.decodes():
            wanted.setdefault(self.run_folder(decode), decode)
        for decode in wanted.values():
            grammar = self.experiment.model(decode.candidates[0]).grammar
            count, work = partial(int, decode.bags), partial(self._decode, decode)
            yield Step(f"{decode.name}, {decode.table.set}", f"{grammar} run", self.run_folder(decode), count, work)
        for table in self.experiment.gyro:
            work, folder = partial(self._generate, table), self.run_folder(table)
            yield Step(f"{table.name}, {table.set}", "gyro run", folder, partial(int, table.bags), work)

    def _decode(self, run: Decode) -> None:
        folder = self.model_folder(self.chosen_model(run))
        model = load_model(folder)
        tagger = load_tagger(folder / TAGGER) if model.settings.beta else None
        table = run.table
        settings = GenerationSettings(run.time_limit, table.edge_limit, beam=table.beam, complete=table.complete)
        language_model = self.language_model if model.settings.lm or table.complete else None
        bags = self.bags(table.set, run.bags, model.settings, tagger, pos=run.pos, heads=run.heads)
        system = BestFirstSystem(model, settings, language_model)
        system.run(bags, self.run_folder(run), **self._batch())

    def _generate(self, table: GyroTable) -> None:
        sentences = self.sample(table.set, table.bags)
        bags = [Bag(sentence.words, id=sentence.id, reference=sentence.words) for sentence in sentences]
        generator = Generator(open_index(self.index), self.language_model, table.settings)
        generator.run(bags, self.run_folder(table), **self._batch())

    def _batch(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "nbest": NBEST, "overwrite": True, **self.place.options()}


_USUAL_SENTENCES = 12_500


def _no_bags() -> int:
    return 0


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def given_shares(settings: ModelSettings, pos: float | None, heads: float | None) -> tuple[float, float]:
    """The shares of tags and of heads that bags are given: what is asked for, else what the training was given."""
    known = settings.given
    usual = (float("pos" in known or "lemmas" in known), float("heads" in known or "lemmas" in known))
    return usual[0] if pos is None else pos, usual[1] if heads is None else heads


def score_model(bags: Sequence[Bag], limit: float, language_model: LanguageModel | None, m: BestFirstModel) -> DevScore:
    """Decode the bags one after the other in this process: a training is one of several processes already."""
    system = BestFirstSystem(m, GenerationSettings(limit), language_model)
    system.warm_up()
    outputs = [system.decode(bag) for bag in bags]
    bleu = evaluate([output.words for output in outputs], [bag.reference or () for bag in bags])["bleu"]
    return DevScore(
        bleu,
        sum(len(output.words) for output in outputs) / max(sum(map(len, bags)), 1),
        sum(output.decoded.timed_out for output in outputs) / len(bags),
        sum(output.decoded.seconds for output in outputs),
    )
