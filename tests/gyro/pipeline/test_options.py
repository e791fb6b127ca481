"""GYRO as a system: the options of its search, and those of the neural model after it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.errors import InputError
from gyro.pipeline.neural_generator import NeuralGenerator
from gyro.pipeline.options import WHOLE, add_arguments, open_system
from gyro.search.generator import Generator
from gyro.search.settings import Settings
from rescoring.neural import NeuralSearcher
from rescoring.neural_options import PIECES_A_WORD
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

if TYPE_CHECKING:
    from tests.conftest import World


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)


def opened(world: World, *words: str) -> Generator | NeuralGenerator:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return open_system(parser.parse_args(["--index", str(world.index_path), "--lm", str(world.model_path), *words]))


def test_without_a_model_it_is_the_generator(world: World) -> None:
    system = opened(world)
    assert isinstance(system, Generator)
    assert system.settings == Settings()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ([], WHOLE),
        (["--max-tokens", "20"], WHOLE | {"max_tokens": 20}),  # what the user says, also where it is the default
        (["--steps", "30000", "--max-arcs", "0"], {"max_tokens": 0}),
        (["--algorithm", "beam"], WHOLE | {"algorithm": "beam"}),
        (["--algorithm", "full"], {"algorithm": "full"}),  # which cannot order long bags whole
    ],
)
def test_with_one_bags_are_ordered_whole(world: World, model: str, words: list[str], change: dict[str, int]) -> None:
    system = opened(world, "--neural", model, *words)
    assert isinstance(system, NeuralGenerator)
    assert system.generator.settings == Settings(**change)  # type: ignore[arg-type]


def test_the_guide_of_the_search_is_the_generators_model(world: World, model: str) -> None:
    system = opened(world, "--neural", model, "--search", "--neural-weight", "1.5")
    assert isinstance(system, NeuralGenerator)
    assert isinstance(system.rescorer, NeuralSearcher)
    assert system.rescorer.guide is system.generator.model
    assert (system.rescorer.budget, system.rescorer.weight) == (PIECES_A_WORD, 1.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--search"], "found --search, which goes with --neural"),
        (["--search", "0"], "found --search, which goes with --neural"),
        (["--neural-weight", "2"], "found --neural-weight, which goes with --neural"),
        (["--neural", "no.gguf"], r"no\.gguf: no such model"),
        (["--neural", "{model}", "--neural-weight", "0"], "found the weight 0.0 of the neural model"),
        (["--neural", "{model}", "--neural-weight", "nan"], "found the weight nan"),
        (["--neural", "{model}", "--search", "-5"], "found a budget of -5"),
        (["--neural", "{model}", "--index", ""], "--index DIR and --lm MODEL are needed"),
    ],
)
def test_mistakes(world: World, model: str, words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        opened(world, *(word.format(model=model) for word in words))


def test_no_model_installed_is_one_line(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm.neural.embedded.default_places", lambda: (tmp_path / "a", tmp_path / "b"))
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    with pytest.raises(InputError, match="no neural model is installed: `gyro neural --install` gets one"):
        opened(world, "--neural", "default")
