"""A grid of MBR parameters: every point as a decoder of its own and sacreBLEU have it."""

from __future__ import annotations

import random
from itertools import product

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import GyroError, InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.mbr_tuning import mbr_grid, try_grid
from rescoring.posterior import Posteriors, string_posteriors
from rescoring.source import LatticeItem, LatticeSource

WORDS = ("a", "b", "c", "d", "e")
GRID = mbr_grid(
    MbrParameters(scale=1.0, alpha=0.5),
    {"scale": [0.1, 3.0, 1.0], "prune": [0.5, 9.0], "ratio": [0.4, 1.0], "alpha": [0.0, 1.0]},
)


def to_source(lattices: list[Lattice | None]) -> LatticeSource:
    items = [LatticeItem(str(number), lambda lattice=lattice: lattice) for number, lattice in enumerate(lattices, 1)]
    return LatticeSource("memory", items, "none")


def made_lattice(chance: random.Random) -> Lattice:
    strings = {tuple(chance.sample(WORDS, len(WORDS))): chance.uniform(0, 4) for _ in range(8)}
    return Lattice.from_strings(WORDS, [Hypothesis(tokens, cost) for tokens, cost in strings.items()])


def nothing(_number: int) -> Posteriors | None:
    return None


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("with_mt", [False, True])
def test_each_point_has_the_score_of_its_own_strings(jobs: int, with_mt: bool) -> None:
    chance = random.Random(4)
    lattices = [made_lattice(chance) for _ in range(4)]
    references = [chance.choice([h.tokens for h in lattice.strings()]) for lattice in lattices]
    references += [("a", "b", "c"), ("d", "e")]  # of bags that failed, which have no words
    evidence = [string_posteriors([tuple(chance.sample(WORDS, 5))]) if with_mt else None for _ in references]
    failed: list[Lattice | None] = [None, Lattice.from_strings(WORDS, [])]
    source = to_source([*lattices, *failed])
    trials = try_grid(source, lambda number: evidence[number], references, GRID, jobs=jobs)
    expected = {}
    for parameters in GRID:
        decoded = [MbrDecoder(lattice).decode(parameters, mt=evidence[n]) for n, lattice in enumerate(lattices)]
        strings = [" ".join(found.tokens) for found in decoded] + ["", ""]
        texts = [[" ".join(reference) for reference in references]]
        expected[parameters] = sacrebleu.corpus_bleu(strings, texts, tokenize="none", force=True).score
    assert {trial.parameters: trial.bleu for trial in trials} == pytest.approx(expected, abs=1e-3)
    assert len({trial.bleu for trial in trials}) > 1
    assert trials == sorted(trials, key=lambda trial: (-trial.bleu, GRID.index(trial.parameters)))


numbers = st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.9]), min_size=1, max_size=3, unique=True)


@given(st.dictionaries(st.sampled_from(["scale", "precision", "ratio", "alpha"]), numbers), st.booleans())
def test_a_grid_is_the_start_and_all_combinations_each_once(values: dict[str, list[float]], inside: bool) -> None:
    firsts = {name: listed[0] for name, listed in values.items()}
    start = MbrParameters(tokens=7.0, **(firsts if inside else {}))
    grid = mbr_grid(start, values)
    chosen = [tuple(getattr(parameters, name) for name in values) for parameters in grid]
    combinations = list(product(*values.values()))
    assert grid[0] == start
    assert {*chosen[1:]} == {*combinations} - {chosen[0]}
    assert len(grid) == len({*grid})
    assert {parameters.tokens for parameters in grid} == {7.0}


def test_each_lattice_needs_its_reference() -> None:
    with pytest.raises(InputError, match="found 1 references for 2 lattices"):
        try_grid(to_source([None, None]), nothing, [("a",)], GRID)


def test_a_lattice_that_cannot_be_read_is_named() -> None:
    def broken() -> Lattice:
        raise InputError("the file is gone")

    source = LatticeSource("memory", [LatticeItem("seven", broken)], "none")
    with pytest.raises(GyroError, match=r"lattice seven: .*the file is gone"):
        try_grid(source, nothing, [("a",)], GRID)
