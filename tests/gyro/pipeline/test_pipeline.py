"""The stages of a run, one after the other, in one small folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.errors import InputError
from gyro.index.reader import open_index
from gyro.pipeline.config import Config, load_config
from gyro.pipeline.pipeline import Pipeline
from gyro.run.folder import open_run
from gyro.score.evaluation import evaluate
from gyro.text.bag_file import read_bags
from lm.loading import load_language_model
from lm.neural.model import load_neural_model
from rescoring.mbr_stage import MbrStage
from rescoring.neural_stage import NeuralStage
from rescoring.source import open_lattices
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

if TYPE_CHECKING:
    from tests.conftest import World

CONFIG = """
[run]
folder = "{folder}/run"
nbest = 20
[text]
files = ["{text}"]
tokenized = true
[index]
order = 4
memory = "256M"
[lm]
order = 3
memory = "256M"
[bags]
references = ["{folder}/references.txt"]
shortest = 4
longest = 7
sample = 5
[generate]
rules = "1-4"
beta = 4.0
[rescore]
models = ["stupid-backoff:4"]
weights = [0.5]
[mbr]
scale = 0.4
[mt]
file = "{folder}/mt.jsonl"
by = "order"
"""


@pytest.fixture
def config(world: World, tmp_path: Path) -> Config:
    (tmp_path / "references.txt").write_text("\n".join(" ".join(s) for s in world.held_out[:400]) + "\n\n")
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(folder=tmp_path, text=world.text))
    return load_config(path)


def write_evidence(pipeline: Pipeline, folder: Path) -> None:
    """Two systems that both say the reference."""
    lines = [{"outputs": dict.fromkeys("AB", " ".join(bag.reference or ()))} for bag in read_bags(pipeline.bags)]
    (folder / "mt.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_stage_reads_what_those_before_it_wrote(world: World, config: Config, tmp_path: Path) -> None:
    pipeline = Pipeline(config)
    pipeline.prepare()
    assert (pipeline.folder / "config.toml").read_text() == config.source
    pipeline.tokenise_text()
    assert pipeline.text.read_text() == world.text.read_text()
    pipeline.make_index()
    assert open_index(pipeline.index).num_ngrams == world.index.num_ngrams[:4]
    pipeline.make_model()
    pipeline.make_stage_models()  # none of the stages needs one
    assert not (pipeline.folder / "dependency.lm").exists()
    pipeline.make_bags()
    references = (tmp_path / "references.txt").read_text().splitlines()
    bags = list(read_bags(pipeline.bags))
    assert len(bags) == 5
    for bag in bags:
        assert 4 <= len(bag) <= 7
        assert references[int(bag.id) - 1].split() == list(bag.reference or ())
    write_evidence(pipeline, tmp_path)
    assert pipeline.generate().ok == 5
    pipeline.rescore()
    names = ["generated", "rescored", "mbr", "mbr-mt"]
    assert [stage.folder.name for stage in pipeline.stages] == names
    for stage in pipeline.stages:
        outputs = [line.split() for line in open_run(stage.folder).best()]
        assert stage.evaluation == evaluate(outputs, [bag.reference or () for bag in bags])
    # Every system says the reference, and a quarter of the weight is all that speaks against it.
    assert pipeline.stages[-1].evaluation["bleu"] >= pipeline.stages[0].evaluation["bleu"]


def test_the_neural_model_is_searched_with_and_mbr_starts_from_its_orders(
    config: Config, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = str(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)
    stages = {"neural": NeuralStage(model, budget=60), "mbr": MbrStage(scale=0.1)}
    pipeline = Pipeline(replace(config, stages=stages, mt=None))
    for step in (pipeline.prepare, pipeline.tokenise_text, pipeline.make_index, pipeline.make_model):
        step()
    pipeline.make_bags()
    pipeline.generate()
    pipeline.rescore()
    first = "first pass, 3-gram"
    assert [(stage.name, stage.folder.name) for stage in pipeline.stages] == [
        (first, "generated"),
        (f"{first} + neural search", "neural"),
        (f"{first} + neural search + LMBR", "mbr"),
    ]
    searched = open_run(pipeline.folder / "neural")
    guide = load_language_model(str(pipeline.model))
    assert searched.settings["guide"] == guide.signature
    assert searched.settings["neural_model"] == load_neural_model(model).signature
    assert open_run(pipeline.folder / "mbr").settings["lattices"] == open_lattices(pipeline.folder / "neural").signature


def test_a_model_that_is_not_there_is_told_before_any_work(config: Config, tmp_path: Path) -> None:
    stages = {**config.stages, "neural": NeuralStage("no.gguf")}
    with pytest.raises(InputError, match=r"no\.gguf: no such model; .*`gyro neural --install` gets"):
        Pipeline(replace(config, stages=stages)).prepare()
    assert not (tmp_path / "run").exists()


def test_a_sample_is_drawn_by_its_seed_and_small_ones_are_all(config: Config) -> None:
    def ids(**change: int) -> list[str]:
        pipeline = Pipeline(replace(config, bags=replace(config.bags, **change)))
        pipeline.prepare()
        pipeline.make_bags()
        return [bag.id for bag in read_bags(pipeline.bags)]

    everything = ids(sample=0)
    assert len(everything) > 20
    assert ids(sample=10_000) == everything
    first = ids(sample=8)
    assert len(first) == 8
    assert set(first) < set(everything)
    assert first == sorted(first, key=int)
    assert ids(sample=8, seed=config.bags.seed + 1) != first == ids(sample=8)


def test_input_is_looked_for_before_any_work(config: Config, tmp_path: Path) -> None:
    (tmp_path / "references.txt").unlink()
    with pytest.raises(InputError, match=r"references\.txt: no such file"):
        Pipeline(config).prepare()
    assert not (tmp_path / "run").exists()


def test_no_sentence_of_the_wanted_size_is_told(config: Config) -> None:
    pipeline = Pipeline(replace(config, bags=replace(config.bags, shortest=500, longest=600)))
    pipeline.prepare()
    with pytest.raises(InputError, match=r"references\.txt: no sentence of 500 to 600 tokens"):
        pipeline.make_bags()
