"""The first pass and the neural model in one go: to the byte what the two give one after the other."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gyro.errors import InputError
from gyro.pipeline.neural_generator import NeuralGenerator
from gyro.run.folder import open_run
from gyro.search.generator import Generator
from gyro.search.settings import Settings
from gyro.text.bag import Bag
from rescoring.neural_stage import NeuralStage
from rescoring.source import open_lattices
from rescoring.stage import Place, run_stage
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

if TYPE_CHECKING:
    from tests.conftest import World

BUDGETS = (0, 60)
NBEST = 12


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)


@pytest.fixture(scope="module")
def generator(world: World) -> Generator:
    return Generator(world.index, world.model, Settings(max_tokens=8, beta=4.0, phrase_cost="phrase=0.5"))


@pytest.fixture(scope="module")
def bags(world: World) -> list[Bag]:
    """One of a single word, one that is cut, and some between."""
    sizes = [s for s in world.held_out if 5 <= len(s) <= 7][:3] + [s for s in world.held_out if len(s) == 11][:1]
    return [Bag(tuple(s), id=f"b{n}", reference=tuple(s)) for n, s in enumerate([["the"], *sizes])]


def system(generator: Generator, model: str, budget: int) -> NeuralGenerator:
    return NeuralGenerator(generator, NeuralStage(model, budget=budget).rescorer(generator.model))


def run(made: NeuralGenerator, bags: list[Bag], folder: Path, **options: Any) -> Path:
    made.run(bags, folder, nbest=NBEST, log=io.StringIO(), **options)
    return folder


def results(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The lists and lattices of a run."""
    for path in sorted([*folder.glob("lattices/*.fst"), *folder.glob("nbest.*"), folder / "best.txt"]):
        yield path.relative_to(folder).as_posix(), path.read_bytes()


@pytest.mark.parametrize("budget", BUDGETS)
def test_one_go_is_generate_and_rescore(
    world: World, generator: Generator, model: str, bags: list[Bag], tmp_path: Path, budget: int
) -> None:
    generator.run(bags, tmp_path / "first", nbest=NBEST, log=io.StringIO())
    stage, place = NeuralStage(model, nbest=NBEST, budget=budget), Place(first_pass=str(world.model_path))
    source = open_lattices(tmp_path / "first")
    run_stage(stage, source, tmp_path / "second", place=place, log=io.StringIO())
    made = system(generator, model, budget)
    one = run(made, bags, tmp_path / "one")
    assert dict(results(one)) == dict(results(tmp_path / "second"))
    assert len(dict(results(one))) == len(bags) + 3
    firsts, thens, ours = (open_run(tmp_path / name).outcomes for name in ("first", "second", "one"))
    for first, then, outcome in zip(firsts, thens, ours, strict=True):
        assert outcome.first_pass == first
        assert outcome.model_copy(update={"first_pass": None}) == then.model_copy(update={"first_pass": None})
        assert not outcome.is_proved
    for bag, outcome, best in zip(bags, ours, open_run(one).best(), strict=True):
        ordering = system(generator, model, budget).order(bag)
        if budget == 0:  # the model sees more strings here than the lists of the run have
            assert ordering.best().cost <= (outcome.cost or 0) + 1e-3
        else:
            assert sorted(ordering.best().tokens) == sorted(best.split())


@pytest.mark.parametrize("budget", BUDGETS)
def test_parallel_and_resumed_runs_give_the_same_bytes(
    generator: Generator, model: str, bags: list[Bag], tmp_path: Path, budget: int
) -> None:
    made = system(generator, model, budget)
    whole = run(made, bags, tmp_path / "whole")
    parallel = run(made, bags, tmp_path / "parallel", jobs=2)
    resumed = shutil.copytree(whole, tmp_path / "resumed")
    (resumed / "lattices" / "000002.fst").unlink()  # its list, and those of all others, are made anew
    run(made, bags, resumed)
    for other in (parallel, resumed):
        assert dict(results(other)) == dict(results(whole))
        assert (other / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


def test_the_folder_tells_both_and_is_no_others(
    generator: Generator, model: str, bags: list[Bag], tmp_path: Path
) -> None:
    folder = run(system(generator, model, 60), bags[:2], tmp_path / "run")
    settings = open_run(folder).settings
    neural = settings.pop("neural")
    assert settings == generator.signature()
    assert set(neural) == {"neural_model", "weight", "guide", "budget", "strings"}
    assert (neural["guide"], neural["budget"], neural["strings"]) == (generator.model.signature, 60, NBEST)
    with pytest.raises(InputError, match=r"settings\.neural\.budget is 60 there and 61 here"):
        run(system(generator, model, 61), bags[:2], folder)
    with pytest.raises(InputError, match=r"settings\.neural is given only there"):
        generator.run(bags[:2], folder, nbest=NBEST, log=io.StringIO())
