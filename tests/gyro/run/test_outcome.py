"""One record from the search to the files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.run.outcome import Outcome, Search
from gyro.text.bag import Bag
from tests.orders import ordered

BAG = Bag(("a", "b"), id="7")


class LoudOutcome(Outcome):
    """A system with something to tell of its own."""

    shouts: int = 0


def test_what_was_never_set_is_not_written() -> None:
    outcome = Outcome.ordered(BAG, 1.5, tokens=2, rung="rules")
    assert json.dumps(outcome.to_json()) == (
        '{"id": "7", "status": "ok", "reason": null, "cost": 1.5, "rung": "rules", "tokens": 2}'
    )
    assert Outcome.failed(BAG, "no parse").to_json() == {
        "id": "7",
        "status": "failed",
        "reason": "no parse",
        "cost": None,
    }


def test_infinities_become_null() -> None:
    facts = Search(cost=1.0, lower_bound=float("-inf"), beta=float("inf")).to_json()
    assert facts == {"cost": 1.0, "lower_bound": None, "beta": None}


def test_pieces_are_called_runs_in_files_and_carry_the_proof() -> None:
    pieces = [Search(rung="rules", proved=True, tokens=20), Search(rung="2-gram rules", proved=True, tokens=3)]
    outcome = Outcome.ordered(BAG, 3.0, proved=False, pieces=pieces)
    assert outcome.to_json()["runs"] == [piece.to_json() for piece in pieces]
    assert (outcome.is_proved, outcome.searches) == (True, pieces)
    half = Outcome.ordered(BAG, 3.0, proved=False, pieces=[pieces[0], Search(proved=False)])
    assert not half.is_proved
    whole = Outcome.ordered(BAG, 3.0, proved=True)
    assert whole.is_proved
    assert whole.searches == [whole]


facts = st.fixed_dictionaries(
    {"cost": st.floats(-1e6, 1e6)},
    optional={
        "rung": st.sampled_from(["rules", "goal"]),
        "proved": st.booleans(),
        "tokens": st.integers(0, 300),
        "lower_bound": st.floats(-1e6, 1e6) | st.just(float("-inf")),
        "nodes": st.integers(0, 10**9),
        "shouts": st.integers(0, 9),
        "other": st.lists(st.text(max_size=3), max_size=2),
    },
)


@given(facts=facts)
def test_a_record_that_is_read_is_written_the_same(facts: dict[str, Any]) -> None:
    """Also one with fields that only its maker knows: a run that goes on must not lose them."""
    line = json.dumps(LoudOutcome.ordered(BAG, **facts).to_json(), allow_nan=False)
    for kind in (Outcome, LoudOutcome):
        again = kind.from_json(json.loads(line), "results.jsonl", 1)
        assert json.dumps(again.to_json()) == line
    assert LoudOutcome.from_json(json.loads(line), "r", 1).shouts == facts.get("shouts", 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "great"}, "status"),
        ({"cost": "low"}, "cost"),
        ({"cost": True}, "cost"),
        ({"tokens": 2.5}, "tokens"),
        ({"proved": "yes"}, "proved"),
        ({"runs": [{"cost": []}]}, "runs.0.cost"),
        ({"runs": {}}, "runs"),
        ({"id": None}, "id"),
    ],
)
def test_wrong_types_are_one_line_with_their_place(change: dict[str, Any], message: str) -> None:
    record = {**Outcome.ordered(BAG, 1.0).to_json(), **change}
    with pytest.raises(InputError, match=rf"r\.jsonl:3: found no result of a bag: {message}") as caught:
        Outcome.from_json(record, "r.jsonl", 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, "x", [], [1]])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="found no result of a bag"):
        Outcome.from_json(value, "r.jsonl", 1)


def test_an_ordering_knows_its_best_strings() -> None:
    ordering = ordered(BAG, [Hypothesis(("a", "b"), 2.0), Hypothesis(("b", "a"), 1.0)], proved=True, rung="rules")
    assert ordering.best() == Hypothesis(("b", "a"), 1.0)
    assert [h.tokens for h in ordering.nbest(5)] == [("b", "a"), ("a", "b")]
    assert (ordering.proved, ordering.rung) == (True, "rules")
