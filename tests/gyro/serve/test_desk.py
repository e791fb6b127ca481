"""The work on requests: orders, costs and references are those that KenLM and all permutations give."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest

from gyro.errors import InputError
from gyro.serve.answer import Answer
from gyro.serve.desk import Desk, Neural
from gyro.serve.limit import Limits
from gyro.serve.request import OrderRequest
from gyro.text.detokenise import detokenise
from lm.loading import load_language_model
from lm.neural.model import load_neural_model
from tests.conftest import World
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

BAG = ["we", "must", "do", "it", "now", "."]
OPEN = {"max_arcs": 100_000}


@pytest.fixture(scope="module")
def desk(world: World, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    pytest.importorskip("onnxruntime", reason="needs the extra neural")
    limits = Limits(tokens=12, seconds=60)
    models = {"3-gram": world.model, "counts": load_language_model(f"stupid-backoff:{world.index_path}")}
    tiny = load_neural_model(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)
    neural = Neural(tiny, "neural", use="off", weight=0.5, budget=20)
    return Desk(world.index, models, limits, Desk.settings_for(limits, 2000), neural, {})


def ask(desk: Desk, **request: Any) -> Answer:
    return desk.order(OrderRequest.model_validate(request))


def orders_of(answer: Answer) -> list[tuple[str, ...]]:
    return [tuple(order.tokens) for order in answer.orders]


def test_the_best_orders_are_those_of_all_permutations(desk: Desk, world: World) -> None:
    answer = ask(desk, tokens=BAG, nbest=20, **OPEN)
    by_cost = sorted(world.model.score(order) for order in set(permutations(BAG)))
    assert [order.cost for order in answer.orders] == pytest.approx(by_cost[:20], abs=1e-3)
    assert answer.outcome["proved"]
    for order in answer.orders:
        assert sorted(order.tokens) == sorted(BAG)
        assert order.text == detokenise(order.tokens)


def test_costs_are_those_of_each_model_and_words_add_up(desk: Desk) -> None:
    answer = ask(desk, tokens=BAG, words=True, costs=["3-gram", "counts", "neural"])
    assert desk.neural
    for order in answer.orders:
        expected = {name: model.score(order.tokens) for name, model in desk.models.items()}
        expected["neural"] = float(desk.neural.model.costs([order.tokens])[0])
        assert order.costs == pytest.approx(expected, abs=1e-3)
        assert order.words is not None
        assert {name: sum(costs) for name, costs in order.words.items()} == pytest.approx(
            {name: expected[name] for name in desk.models}, abs=1e-2
        )
        assert all(len(costs) == len(BAG) + 1 for costs in order.words.values())


def test_another_model_may_search(desk: Desk) -> None:
    best = ask(desk, tokens=BAG, model="counts", **OPEN).orders[0]
    assert best.cost == pytest.approx(min(desk.models["counts"].score(order) for order in permutations(BAG)), abs=1e-3)


@pytest.mark.parametrize("use", ["lists", "search"])
def test_the_neural_cost_is_added(desk: Desk, use: str) -> None:
    answer = ask(desk, tokens=BAG, neural=use, neural_weight=2.0, reference=BAG)
    # A search has the costs of what it did not go on from in eight bits.
    for order in answer.orders[: 1 if use == "search" else None]:
        assert order.cost == pytest.approx(order.costs["3-gram"] + 2 * order.costs["neural"], abs=0.02)
    assert answer.settings["neural"] == use
    assert answer.reference is not None
    assert answer.reference.cost == pytest.approx(
        answer.reference.costs["3-gram"] + 2 * answer.reference.costs["neural"], abs=0.02
    )


def test_the_reference_has_its_cost_and_its_rank(desk: Desk, world: World) -> None:
    best = orders_of(ask(desk, tokens=BAG))
    worst = max(permutations(BAG), key=world.model.score)
    for reference, rank in ((best[0], 1), (best[3], 4), (worst, None)):
        told = ask(desk, tokens=BAG, reference=list(reference)).reference
        assert told is not None
        assert told.rank == rank
        assert told.cost == pytest.approx(world.model.score(reference), abs=1e-3)


def test_beta_is_the_width_of_the_lattice(desk: Desk, world: World) -> None:
    answer = ask(desk, tokens=BAG, beta=2.0, nbest=100)
    by_cost = sorted(world.model.score(order) for order in set(permutations(BAG)))
    assert len(answer.orders) == sum(cost <= by_cost[0] + 2.0 for cost in by_cost)


REFUSED: list[tuple[Mapping[str, Any], str]] = [
    ({"tokens": []}, "found a bag without tokens"),
    ({"tokens": "a " * 13}, "found a bag of 13 tokens; at most 12 are allowed"),
    ({"tokens": "a", "system": "wan"}, "found the system 'wan'; open are gyro"),
    ({"tokens": "a", "model": "x"}, "found the n-gram model 'x'; open are 3-gram, counts"),
    ({"tokens": "a", "costs": ["x"]}, "found 'x' in costs; open are 3-gram, counts, neural"),
    ({"tokens": "a", "algorithm": "x"}, "found the algorithm 'x'"),
    ({"tokens": "a", "rules": "x"}, "found"),
    ({"tokens": "a", "steps": 2001}, "found 2001 steps; at most 2000 are allowed"),
    ({"tokens": "a b", "heads": [1, -1]}, "found the constraint heads, which the system gyro does not know"),
    ({"tokens": "a", "reference": "b"}, "does not have the words of the bag"),
    ({"tokens": ["a b"]}, "found the token 'a b'"),
    ({"tokens": "a b", "positions": [[0, 1], [1, 1]]}, "found constraints that no order can keep to"),
]


@pytest.mark.parametrize(("request_", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_done_is_refused_in_a_line(desk: Desk, request_: Mapping[str, Any], message: str) -> None:
    reply = desk.do({"kind": "order", "request": dict(request_), "number": 1})
    assert reply["status"] == 422
    assert message in reply["body"]["error"]
    assert "\n" not in reply["body"]["error"]


def test_a_search_beyond_its_steps_is_no_mistake_of_the_request(desk: Desk) -> None:
    request = {
        "tokens": "the of and to in we that our is",
        "algorithm": "full",
        "rules": "1-5",
        "steps": 1,
    }
    reply = desk.do({"kind": "order", "request": request, "number": 1})
    assert reply["status"] == 503
    assert "more than 1 million steps" in reply["body"]["error"]


def test_without_a_neural_model_there_is_none(world: World) -> None:
    limits = Limits()
    desk = Desk(world.index, {"3-gram": world.model}, limits, Desk.settings_for(limits, 2000))
    with pytest.raises(InputError, match="the server was started without --neural MODEL"):
        ask(desk, tokens="a", neural="lists")
    assert desk.about().neural is None
    desk.warm()


def test_a_text_is_split_as_the_index_was(desk: Desk) -> None:
    assert desk.tokenize("We didn't.").tokens == ["we", "did", "n't", "."]


def test_constraints_are_kept(desk: Desk, world: World) -> None:
    rules = {"positions": [[0, 1], [5, -1]], "units": [[1, 2]], "order": [[3, 4]]}
    answer = ask(desk, tokens=BAG, nbest=100, **rules, **OPEN)

    def is_allowed(order: tuple[str, ...]) -> bool:
        it_first = order.index("it") < order.index("now")
        return order[0] == "we" and order[-1] == "." and "must do" in " ".join(order) and it_first

    allowed = {order for order in permutations(BAG) if is_allowed(order)}
    assert set(orders_of(answer)) == allowed
    assert answer.orders[0].cost == pytest.approx(min(map(world.model.score, allowed)), abs=1e-3)
