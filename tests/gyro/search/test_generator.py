"""From bags to lattices with a real index and a real model."""

from __future__ import annotations

import io
import random
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grammars.phrase.closure import GRAIN, parse_phrase_costs
from gyro.errors import GyroError, InputError
from gyro.index.build import build_index
from gyro.index.phrase import find_phrases
from gyro.index.reader import open_index
from gyro.run.folder import open_run
from gyro.run.outcome import EMPTY
from gyro.search.generator import Generator, order
from gyro.search.settings import MAX_TOKENS, Settings
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.bag_file import record_to_bag
from gyro.text.corpus import Normalisation
from tests.grammars.phrase.cutting import cheapest_cutting
from tests.gyro.search.constraint_problems import allowed_orders

if TYPE_CHECKING:
    from tests.conftest import World

RTN = ("full", "pruned-expansion", "pruned-parsing")
GRAMMARS = ("right-linear", "binary")


def bags_of(world: World, shortest: int, longest: int, most: int) -> list[Bag]:
    fitting = [tuple(s) for s in world.held_out if shortest <= len(s) <= longest]
    return [Bag(s, id=str(i), reference=s) for i, s in enumerate(random.Random(1).sample(fitting, most))]


def test_every_string_costs_what_kenlm_says(world: World) -> None:
    for bag in bags_of(world, 5, 9, 5):
        for algorithm in ("exact", "beam", "pruned-parsing"):
            for hypothesis in order(bag, index=world.index, model=world.model, algorithm=algorithm).nbest(5):
                assert hypothesis.cost == pytest.approx(world.model.score(hypothesis.tokens), abs=1e-3)
                assert tuple(sorted(hypothesis.tokens)) == bag.tokens


def test_the_exact_search_finds_the_best_of_all_permutations(world: World) -> None:
    for bag in bags_of(world, 5, 7, 4):
        best = min(world.model.score(p) for p in set(permutations(bag.tokens)))
        found = order(bag, index=world.index, model=world.model)
        assert found.proved
        assert found.best().cost == pytest.approx(best, abs=1e-3)


def test_the_n_cheapest_orders_are_those_of_all_permutations(world: World) -> None:
    for bag in bags_of(world, 5, 6, 3):
        expected = sorted(world.model.score(p) for p in set(permutations(bag.tokens)))[:30]
        found = Generator(world.index, world.model).nbest(bag, 30)
        assert found.proved
        assert len({h.tokens for h in found.hypotheses}) == len(expected)
        assert [h.cost for h in found.hypotheses] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("costs", ["phrase=0.7,length1=0.4,length2=0.13", "phrase=1.0,length1=2,count=0.1"])
def test_soft_costs_are_those_of_the_cheapest_cutting(world: World, costs: str) -> None:
    """Of every string near the best, so that the best of the lattice is the best of all and has the proved cost."""
    chosen = parse_phrase_costs(costs)
    for bag in bags_of(world, 5, 12, 6):
        found = find_phrases(world.index, bag, 5)
        counted = zip(found.grams, found.counts, strict=True)
        phrases = {
            tuple(bag.words[w] for w in gram): count
            for grams, counts in counted
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True)
        }
        phrases = {**{(word,): 0 for word in bag.words}, **phrases}
        orders = order(bag, index=world.index, model=world.model, phrase_cost=costs, beta=4.0)
        assert orders.proved
        assert orders.outcome.grain in (0.0, GRAIN)
        assert orders.best().cost == pytest.approx(orders.outcome.cost, abs=1e-3)
        for hypothesis in orders.nbest(50):
            cost = world.model.score(hypothesis.tokens) + cheapest_cutting(hypothesis.tokens, phrases, chosen)
            assert hypothesis.cost == pytest.approx(cost, abs=1e-3)


@pytest.mark.parametrize("rules", ["3-5", "2-5", "1-2"])
def test_exact_search_and_full_expansion_hold_the_same_strings(world: World, rules: str) -> None:
    """The strongest test there is: two searches, one language."""
    for bag in bags_of(world, 6, 8 if rules == "1-2" else 9, 6):
        full = order(bag, index=world.index, model=world.model, algorithm="full", rules=rules, first_row=99)
        exact = order(bag, index=world.index, model=world.model, rules=rules, beta=4.0)
        assert full.rung == exact.rung
        assert exact.proved
        near = full.lattice.prune(4.0)
        expected = {h.tokens: h.cost for h in near.strings()}
        got = {h.tokens: h.cost for h in exact.lattice.strings()}
        limit = exact.best().cost + 4.0 - 1e-3
        assert {t for t, c in got.items() if c <= limit} == {t for t, c in expected.items() if c <= limit}
        for tokens, cost in got.items():
            if tokens in expected:
                assert cost == pytest.approx(expected[tokens], abs=1e-3)


@pytest.mark.parametrize(("costs", "overlap"), [("", 0), ("", 2), ("phrase=0.7,length2=0.4,count=0.1", 1)])
def test_wide_open_all_searches_give_the_same(world: World, costs: str, overlap: int) -> None:
    for bag in bags_of(world, 6, 8, 4):
        alike = {"rules": "2-5", "phrase_cost": costs, "overlap": overlap}
        rtn = [
            order(bag, index=world.index, model=world.model, algorithm=a, grammar=g, first_row=2, beta=1e6, **alike)
            for a in RTN
            for g in GRAMMARS
        ]
        exact = order(bag, index=world.index, model=world.model, beta=1e6, **alike)
        assert exact.proved
        expected = {h.tokens: h.cost for h in exact.lattice.strings()}
        for result in rtn:
            assert {h.tokens: h.cost for h in result.lattice.strings()} == pytest.approx(expected, abs=2e-3)
            assert result.rung == exact.rung


def test_inner_cells_may_be_scored_as_if_they_stood_anywhere(world: World) -> None:
    """Pruned hard, both are parts of the same language, and not the same part of every bag."""
    hard = {"algorithm": "pruned-parsing", "grammar": "binary", "rules": "1-5", "first_row": 2, "beta": 0.5}
    differ = 0
    for bag in bags_of(world, 7, 10, 12):
        best = order(bag, index=world.index, model=world.model).best()
        found = [
            order(bag, index=world.index, model=world.model, cell_start=start, **hard).best()
            for start in ("sentence", "anywhere")
        ]
        for hypothesis in found:
            assert hypothesis.cost >= best.cost - 1e-3
            assert hypothesis.cost == pytest.approx(world.model.score(hypothesis.tokens), abs=1e-3)
        differ += found[0].tokens != found[1].tokens
    assert differ


def test_joints_without_a_model_keep_the_pieces_costs(world: World) -> None:
    bag = bags_of(world, 25, 32, 1)[0]
    ordering = Generator(world.index, world.model, Settings(max_tokens=9, joints="none")).order(bag)
    reference, tokens = bag.reference or (), ordering.best().tokens
    cost = 0.0
    for begin in range(0, len(bag), 9):
        piece = tokens[begin : begin + 9]
        assert sorted(piece) == sorted(reference[begin : begin + 9])
        edges = {"bos": begin == 0, "eos": begin + 9 >= len(bag)}
        cost += world.model.score(piece, **edges)
    assert ordering.best().cost == pytest.approx(cost, abs=1e-2)
    assert ordering.best().cost == pytest.approx(sum(piece.cost for piece in ordering.outcome.pieces), abs=1e-2)


@pytest.mark.parametrize("algorithm", ["exact", "beam", "pruned-parsing"])
def test_the_order_of_the_input_means_nothing(world: World, tmp_path: Path, algorithm: str) -> None:
    bag = bags_of(world, 9, 9, 1)[0]
    written = []
    for seed in range(3):
        tokens = list(bag.tokens)
        random.Random(seed).shuffle(tokens)
        ordering = order(tokens, index=world.index, model=world.model, algorithm=algorithm)
        ordering.write(tmp_path / "lattice.fst")
        written.append((tmp_path / "lattice.fst").read_bytes())
    assert written[0] == written[1] == written[2]


def test_fallback_rungs_are_taken_in_turn(world: World) -> None:
    known = [p.words for p in find_phrases(world.index, Bag(("the", "united", "states", "of", "america")))]
    assert ("the", "united", "states", "of", "america") in known
    cases = {
        "the united states of america": "rules",
        "the united states of america zyzzyva": "rules",  # a word that the index does not know is a rule by itself
        "united states zyzzyva": "2-gram rules",
        "america america america": "1-gram rules",
    }
    for text, rung in cases.items():
        ordering = order(text.split(), index=world.index, model=world.model, algorithm="pruned-parsing", rules="3-5")
        assert (text, ordering.rung) == (text, rung)


def test_a_search_over_the_rtn_without_steps_fails_and_says_so(world: World) -> None:
    bag = bags_of(world, 9, 9, 1)[0]
    with pytest.raises(GyroError, match=r"more than 1 million steps \(--steps\)"):
        order(bag, index=world.index, model=world.model, algorithm="pruned-parsing", rules="1-5", steps=1)


def test_a_long_reference_is_cut_and_joined(world: World) -> None:
    bag = bags_of(world, 25, 32, 1)[0]
    for settings in (Settings(max_tokens=9), Settings(max_tokens=9, algorithm="beam")):
        ordering = Generator(world.index, world.model, settings).order(bag)
        assert len(ordering.outcome.pieces) == -(-len(bag) // 9)
        for hypothesis in ordering.nbest(5):
            assert tuple(sorted(hypothesis.tokens)) == bag.tokens
            assert hypothesis.cost == pytest.approx(world.model.score(hypothesis.tokens), abs=1e-2)
            assert sorted(hypothesis.tokens[:9]) == sorted((bag.reference or ())[:9])


def test_phrase_costs_stay_when_pieces_are_joined(world: World) -> None:
    bag = bags_of(world, 12, 16, 1)[0]
    plain = Generator(world.index, world.model, Settings(max_tokens=6, phrase_cost="")).order(bag)
    soft = Generator(world.index, world.model, Settings(max_tokens=6, phrase_cost="phrase=1.0")).order(bag)
    best = soft.best()
    # Between 1 and 6 words a phrase, each costs 1: the cost lies that much above the model's.
    assert len(bag) / 5 <= best.cost - world.model.score(best.tokens) + 1e-2 <= len(bag) + 2e-2
    assert plain.best().cost == pytest.approx(world.model.score(plain.best().tokens), abs=1e-2)


def test_soft_costs_prefer_fewer_phrases(world: World) -> None:
    bag = bags_of(world, 8, 10, 1)[0]
    cheap = order(bag, index=world.index, model=world.model)
    dear = order(bag, index=world.index, model=world.model, phrase_cost="phrase=50")
    assert world.model.score(cheap.best().tokens) <= world.model.score(dear.best().tokens) + 1e-6


def test_an_empty_bag_has_the_empty_order(world: World) -> None:
    for algorithm in ("exact", "pruned-parsing"):
        best = order([], index=world.index, model=world.model, algorithm=algorithm).best()
        assert best.tokens == ()
        assert best.cost == pytest.approx(world.model.score(()), abs=1e-4)

    for found, rung in (
        (order([], index=world.index, model=world.model), EMPTY),
        (order(["a"], index=world.index, model=world.model), "rules"),
    ):
        assert found.rung == rung


@pytest.mark.parametrize("settings", [Settings(rules="1"), Settings(rules="1", algorithm="pruned-parsing", beta=3.0)])
def test_rules_of_one_word_need_no_index(world: World, settings: Settings) -> None:
    with_index, without = Generator(world.index, world.model, settings), Generator(None, world.model, settings)
    for sentence in [s for s in world.held_out if 4 <= len(s) <= 8][:6]:
        found = [generator.order(Bag(tuple(sentence))) for generator in (with_index, without)]
        assert found[0].lattice.strings() == found[1].lattice.strings()
    assert without.signature()["index"] is None
    without.verify()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(), "rules of up to 5 words need an index"),
        (Settings(rules="1", phrase_cost="count=0.5"), "phrase costs that go by counts need an index"),
    ],
)
def test_what_needs_an_index_says_so(world: World, settings: Settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Generator(None, world.model, settings)


def test_a_bag_that_is_too_large_is_told_what_is_allowed(world: World) -> None:
    with pytest.raises(InputError, match=f"found a bag of {MAX_TOKENS + 1} tokens; {MAX_TOKENS} can be .*--max-tokens"):
        order(["a"] * (MAX_TOKENS + 1), index=world.index, model=world.model)


def test_long_bags_without_a_reference(world: World) -> None:
    tokens = [t for s in world.held_out[:4] for t in s][:40]
    with pytest.raises(InputError, match="has 40 tokens and no reference"):
        order(tokens, index=world.index, model=world.model, algorithm="pruned-parsing")
    found = order(tokens, index=world.index, model=world.model, time_limit=5.0)
    assert sorted(found.best().tokens) == sorted(tokens)


def test_index_and_model_must_agree(world: World, tmp_path: Path) -> None:
    build_index([["a", "b"]], tmp_path / "cased", normalisation=Normalisation("none", False))
    with pytest.raises(InputError, match="index"):
        Generator(open_index(tmp_path / "cased"), world.model)
    with pytest.raises(InputError, match=r"make them alike$"):  # the case differs: nobody can vouch for that
        Generator(open_index(tmp_path / "cased"), world.model, vouched=True)
    build_index([["a", "b"]], tmp_path / "split", normalisation=Normalisation("none", True))
    with pytest.raises(InputError, match="or give --vouch if the text was split alike"):
        Generator(open_index(tmp_path / "split"), world.model, Settings(rules="1-2"), vouched=False)
    Generator(open_index(tmp_path / "split"), world.model, Settings(rules="1"), vouched=True)
    with pytest.raises(InputError, match="order"):
        Generator(world.index, world.model, Settings(rules="1-7"))


CONSTRAINTS: list[dict[str, Any]] = [
    {"order": [[4, 0], [1, 3, 2]]},
    {"units": [[3, 1], [0, 4]]},
    {"prefix": [2, 0], "positions": [[1, -1]]},
    {"optional": [0, 1, 4], "positions": [[3, -2]]},
    {"counts": [1, 2, 1, 1, 1], "order": [[1, 0]]},
    {"choices": [[[0, 1, 2], 2]], "positions": [[0, 1]]},
    {"choices": [[[0, 1], 1], [[2, 4], 1]]},
]


@pytest.mark.parametrize("more", CONSTRAINTS)
def test_the_best_of_all_orders_that_keep_to_the_constraints(world: World, more: dict[str, Any]) -> None:
    for number, plain in enumerate(bags_of(world, 5, 5, 2)):
        bag = record_to_bag({"tokens": plain.reference, **more}, number)
        assert isinstance(bag, AnnotatedBag)
        allowed = {order: world.model.score(order) for order in allowed_orders(bag)}
        found = order(bag, index=world.index, model=world.model, beta=1000.0)
        assert found.proved
        assert {h.tokens for h in found.nbest(10**6)} == set(allowed)
        assert found.best().cost == pytest.approx(min(allowed.values()), abs=1e-3)
        by_beam = order(bag, index=world.index, model=world.model, algorithm="beam").best()
        assert allowed[by_beam.tokens] == pytest.approx(by_beam.cost, abs=1e-3)
        listed = Generator(world.index, world.model).nbest(bag, 10)
        assert listed.proved
        assert [h.cost for h in listed.hypotheses] == pytest.approx(sorted(allowed.values())[:10], abs=1e-3)


@pytest.mark.parametrize("settings", [{"rules": "3-5"}, {"phrase_cost": "phrase=1.5"}, {"rules": "2-3", "overlap": 1}])
def test_constraints_with_other_rules_and_costs(world: World, settings: dict[str, Any]) -> None:
    """Fewer strings are allowed, or they cost more; what there is keeps to the constraints."""
    for number, plain in enumerate(bags_of(world, 6, 6, 2)):
        bag = record_to_bag({"tokens": plain.reference, "order": [[5, 0]], "optional": [1], "units": [[2, 3]]}, number)
        assert isinstance(bag, AnnotatedBag)
        found = order(bag, index=world.index, model=world.model, beta=1000.0, **settings)
        assert found.proved
        unconstrained = {
            h.tokens: h.cost
            for tokens in {tuple(sorted(o)) for o in allowed_orders(bag)}
            for h in Generator(world.index, world.model, Settings(beta=1000.0, **settings))
            .order(Bag(tokens))
            .nbest(1000)
        }
        expected = {o: unconstrained[o] for o in allowed_orders(bag) if o in unconstrained}
        if found.rung == "rules":
            listed = {h.tokens: h.cost for h in found.nbest(10**6)}
            assert min(listed.values()) == pytest.approx(min(expected.values()), abs=1e-3)
            assert all(listed[o] == pytest.approx(expected[o], abs=1e-3) for o in listed.keys() & expected.keys())


def test_a_bag_with_constraints_is_never_cut(world: World) -> None:
    (plain,) = bags_of(world, 12, 14, 1)
    assert plain.reference is not None
    bag = record_to_bag({"tokens": plain.reference, "reference": plain.reference, "order": [[0, 11]]}, 1)
    found = order(bag, index=world.index, model=world.model, max_tokens=5)
    assert not found.outcome.pieces
    assert found.proved


@pytest.mark.parametrize("algorithm", RTN)
def test_algorithms_that_know_no_constraints(world: World, algorithm: str) -> None:
    bag = record_to_bag({"id": "7", "tokens": ["the", "cat"], "order": [[1, 0]]}, 1)
    with pytest.raises(
        InputError, match=rf"'7': .* order, which the algorithm {algorithm} does not know; exact and beam"
    ):
        order(bag, index=world.index, model=world.model, algorithm=algorithm)
    with pytest.raises(InputError, match="the network of a bag"):
        Generator(world.index, world.model).network(bag)


def test_contradicting_constraints_fail_by_name_and_the_others_are_ordered(world: World, tmp_path: Path) -> None:
    given: list[dict[str, Any]] = [
        {"id": "x", "tokens": "the people of america", "positions": [[0, 1], [1, 1]]},
        {"id": "y", "tokens": "the people of america", "positions": [[1, -1]]},
    ]
    bags = [record_to_bag(record, 1) for record in given]
    summary = Generator(world.index, world.model).run(bags, tmp_path / "run", log=io.StringIO())
    assert summary.failed == 1
    first, second = open_run(tmp_path / "run").outcomes
    assert first.reason == (
        "found constraints that no order can keep to: 'people' is the first word; 'the' is the first word"
    )
    assert second.is_proved


def test_an_order_without_words(world: World) -> None:
    bag = record_to_bag({"tokens": ["the"], "optional": [0]}, 1)
    assert order(bag, index=world.index, model=world.model).best().tokens in ((), ("the",))
