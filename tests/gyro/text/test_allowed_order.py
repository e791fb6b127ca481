"""Whether an order keeps to constraints, against all orders that do."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.text.allowed_order import is_allowed
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from tests.gyro.search.constraint_problems import allowed_orders, constrained


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(constrained(), st.data())
def test_allowed_are_just_those_of_brute_force(bag: AnnotatedBag, data: st.DataObject) -> None:
    expected = allowed_orders(bag)
    for order in expected:
        assert is_allowed(bag, order)
    for order in itertools.permutations(bag.tokens):
        assert is_allowed(bag, order) == (order in expected)
    other = tuple(data.draw(st.lists(st.sampled_from("abcd"), max_size=5)))
    assert is_allowed(bag, other) == (other in expected)


def test_many_equal_words_are_no_trouble() -> None:
    bag = AnnotatedBag(("a",) * 60 + ("b", "c"), units=((0, 60),), order=((60, 61),))
    assert is_allowed(bag, ("a",) * 60 + ("b", "c"))
    assert not is_allowed(bag, ("c",) + ("a",) * 60 + ("b",))
    assert is_allowed(Bag(("a",) * 60), ("a",) * 60)
    assert not is_allowed(Bag(("a",) * 60), ("a",) * 59)
