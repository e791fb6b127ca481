"""The system: lattices, outcomes, run folders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comparison.ngram_beam.system import MOST_TOKENS, GenerationSettings, NgramBeamSystem
from comparison.ngram_beam.unigram_model import UnigramModel, count_words
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.run.folder import open_run
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation
from lm.stupid_backoff.model import StupidBackoff
from tests.comparison.ngram_beam.twin import plain_beam, walker_step
from tests.conftest import NORMALISATION, World


def bags_of(world: World, count: int, longest: int = 14) -> list[Bag]:
    """With a unit of the first two words that stay together."""
    sentences = [s for s in world.held_out if 3 <= len(s) <= longest][:count]
    return [AnnotatedBag(tuple(s), id=f"b{i}", reference=tuple(s), units=((1, 2),)) for i, s in enumerate(sentences)]


def end_cost(ends: Callable[[Any], Any], state: int) -> float:
    return float(ends(np.array([state]))[0])


@pytest.fixture(scope="module")
def unigrams(world: World) -> UnigramModel:
    return count_words(world.held_out, NORMALISATION)


@pytest.mark.parametrize("end", [False, True])
def test_a_lattice_has_the_last_row_at_the_costs_of_the_model(world: World, unigrams: UnigramModel, end: bool) -> None:
    system = NgramBeamSystem(world.model, GenerationSettings(beam=7, end=end), unigrams)
    for bag in bags_of(world, 10):
        assert isinstance(bag, AnnotatedBag)
        ordering = system.order(bag)
        inside = {place for unit in bag.units for place in unit}
        units = [tuple(bag.tokens[place] for place in unit) for unit in bag.units]
        units += [(token,) for place, token in enumerate(bag.tokens) if place not in inside]
        walker = world.model.walkers()(bag.words)
        ends = walker.end if end else np.zeros_like
        twin = plain_beam(
            units,
            walker.start,
            walker_step(walker, bag.words),
            7,
            end=partial(end_cost, ends),
            future=unigrams.cost,
        )
        found = ordering.nbest(100)
        assert {string for string, _ in found} == {string for string, _ in twin}
        for string, cost in found:
            assert Counter(string) == Counter(bag.tokens)
            assert cost == pytest.approx(world.model.score(string, eos=end), rel=1e-5)
        assert ordering.outcome.cost == ordering.best().cost
        assert ordering.outcome.tokens == len(bag)


def test_the_cost_of_the_reference(world: World) -> None:
    system = NgramBeamSystem(world.model, GenerationSettings(beam=64))
    found = 0
    for bag in bags_of(world, 20, longest=8):
        outcome = system.order(bag).outcome
        assert outcome.cost is not None
        if system.order(bag).best().tokens == bag.reference:
            assert outcome.reference_cost == outcome.cost
            found += 1
        else:
            assert outcome.reference_cost == pytest.approx(world.model.score(bag.reference or (), eos=False), abs=1e-4)
    assert 0 < found < 20
    assert system.order(Bag(("a", "b"))).outcome.reference_cost is None


def test_the_future_cost_changes_orders_and_not_their_costs(world: World, unigrams: UnigramModel) -> None:
    bags = bags_of(world, 30)
    plain, ahead = (NgramBeamSystem(world.model, unigrams=model) for model in (None, unigrams))
    orders = [(plain.order(bag).best(), ahead.order(bag).best()) for bag in bags]
    assert any(a.tokens != b.tokens for a, b in orders)
    for pair in orders:
        for best in pair:
            assert best.cost == pytest.approx(world.model.score(best.tokens, eos=False), rel=1e-5)
    assert sum(b.cost for _, b in orders) < sum(a.cost for a, _ in orders)


def test_a_string_that_two_ways_make_comes_once() -> None:
    """`a b a b`: the unit first or last."""
    bag = AnnotatedBag(("a", "b", "a", "b"), units=((0, 1),))
    ordering = NgramBeamSystem(OneState(), GenerationSettings(beam=1000)).order(bag)  # type: ignore[arg-type]
    assert ["".join(string) for string, _ in ordering.nbest(100)] == ["aabb", "abab", "abba", "baab", "baba"]


class OneState:
    """A model of which every word costs log 2."""

    order, signature, normalisation = 1, "none", None

    def acceptor(self, words: tuple[str, ...], *, start: bool = True, end: bool = True) -> WordAutomaton:
        shape = (1, len(words))
        return WordAutomaton(words, 0, np.zeros(shape, np.int32), np.full(shape, math.log(2)), np.zeros(1))


def test_other_models_and_bags_of_no_and_one_word(world: World) -> None:
    for model in (world.model, StupidBackoff(world.index)):
        for end in (False, True):
            system = NgramBeamSystem(model, GenerationSettings(end=end))
            for tokens in ((), ("people",), ("zzz", "qqq")):
                best = system.order(Bag(tokens)).best()
                assert sorted(best.tokens) == sorted(tokens)
                assert best.cost == pytest.approx(model.score(best.tokens, eos=end), rel=1e-5)


def test_what_is_refused(world: World) -> None:
    system = NgramBeamSystem(world.model)
    tokens = ("a",) * (MOST_TOKENS + 1)
    with pytest.raises(InputError, match=r"bag 'x' has 251 tokens; the system ngram-beam takes 250 at most"):
        system.order(Bag(tokens, id="x"))
    with pytest.raises(InputError, match="found the constraint order"):
        system.order(AnnotatedBag(("a", "b"), order=((0, 1),)))
    with pytest.raises(InputError, match=r"found a beam of 0; at least 1 is allowed"):
        GenerationSettings(beam=0)
    with pytest.raises(InputError, match=r"the language model .* and the unigram model .* in different ways"):
        NgramBeamSystem(world.model, unigrams=UnigramModel({"a": 1}, Normalisation("none")))
    NgramBeamSystem(world.model, unigrams=UnigramModel({"a": 1}))  # of treebanks


def test_a_run_is_the_same_for_any_number_of_processes(world: World, unigrams: UnigramModel, tmp_path: Path) -> None:
    bags = bags_of(world, 12)
    system = NgramBeamSystem(world.model, GenerationSettings(beam=8), unigrams)
    for jobs in (1, 2):
        summary = system.run(bags, tmp_path / str(jobs), jobs=jobs, nbest=3)
        assert (summary.ok, summary.failed) == (12, 0)
        assert system.run_text(tmp_path / str(jobs)) == ""
    one, two = (open_run(tmp_path / str(jobs)) for jobs in (1, 2))
    for name in ("best.txt", "nbest.txt", "nbest.jsonl", "results.jsonl", "run.json", "checksums.xxh128"):
        assert (one.folder.path / name).read_bytes() == (two.folder.path / name).read_bytes()
    best = [line.split() for line in (tmp_path / "1" / "best.txt").read_text().splitlines()]
    assert best == [list(system.order(bag).best().tokens) for bag in bags]


def test_a_run_refuses_constraints_before_it_begins_and_tells_of_bags_that_are_too_long(
    world: World, tmp_path: Path
) -> None:
    system = NgramBeamSystem(world.model)
    bad = AnnotatedBag(("a", "b"), id="bad", optional=(0,))
    with pytest.raises(InputError, match=r"bag 'bad': found the constraint optional"):
        system.run([*bags_of(world, 2), bad], tmp_path / "refused")
    summary = system.run([Bag(("a",) * 251, id="long"), Bag(("a", "b"), id="short")], tmp_path / "long")
    assert (summary.ok, summary.failed) == (1, 1)
    assert "251 tokens" in summary.text()


@pytest.mark.parametrize("changed", [{"beam": 9}, {"end": True}, {"recombine": True}, {"unigrams": True}])
def test_each_setting_is_in_the_signature(world: World, unigrams: UnigramModel, changed: dict[str, object]) -> None:
    usual = NgramBeamSystem(world.model).signature()
    model = unigrams if changed.pop("unigrams", False) else None
    other = NgramBeamSystem(world.model, GenerationSettings(**changed), model).signature()  # type: ignore[arg-type]
    assert len(set(usual.items()) ^ set(other.items())) == 2
