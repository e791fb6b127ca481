from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import ANY_HEAD, IS_ROOT
from comparison.best_first.problem import Input, InputToken, _Fields, prepare
from gyro.errors import InputError
from lm.kenlm.model import KenlmModel

LIMITS = st.integers(0, 9).flatmap(lambda most: st.tuples(st.integers(0, most), st.just(most))) | st.just((1, 1))


def coverage(fields: _Fields, used: Counter[int]) -> Any:
    total = np.zeros(fields.width, dtype=np.uint64)
    for slot, count in used.items():
        for _ in range(count):
            total = total + fields.one(slot)
    return total


@given(st.data())
def test_counters_against_arithmetic(data: st.DataObject) -> None:
    limits = data.draw(st.lists(LIMITS, min_size=1, max_size=40))
    fields = _Fields(limits)

    def some_use() -> Counter[int]:
        return Counter({slot: data.draw(st.integers(0, most)) for slot, (_, most) in enumerate(limits)})

    one, other = some_use(), some_use()
    together = coverage(fields, one) + coverage(fields, other)
    both = one + other
    fits = not np.any((together + fields.bias) & fields.guard)
    assert fits == all(both[slot] <= most for slot, (_, most) in enumerate(limits))
    if fits:
        complete = np.all((together + fields.goal_bias) & fields.goal_guard == fields.goal_guard)
        assert complete == all(both[slot] >= least for slot, (least, _) in enumerate(limits))
        assert list(together) == list(coverage(fields, both))


def test_thirty_two_different_words_fit_one_check() -> None:
    assert [_Fields([(1, 1)] * count).width for count in (1, 32, 33, 64, 65)] == [1, 1, 2, 2, 3]


def tokens(text: str, **columns: list[Any]) -> tuple[InputToken, ...]:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return tuple(InputToken((word,), **row) for word, row in zip(text.split(), rows or [{}] * 99, strict=False))


# Tokens that can take each other's place share a slot.
SLOTS = [
    (Input(tokens("a b a")), [[(0,), (2,)], [(1,)]]),
    (Input(tokens("a b a", pos=["X", None, "Y"])), [[(0,)], [(2,)], [(1,)]]),
    (Input(tokens("a b a", head=[1, None, None])), [[(0,)], [(2,)], [(1,)]]),
    (Input(tokens("a b a b"), units=((0, 1), (2, 3))), [[(0, 1), (2, 3)]]),
    (Input(tokens("a b a b"), units=((0, 1), (3, 2))), [[(0, 1)], [(3, 2)]]),
    (Input(tokens("a a a"), order=((1, 0),)), [[(0,)], [(1,)], [(2,)]]),
    (Input(tokens("a a a", count=[1, 2, 1])), [[(0,), (2,)], [(1,)]]),
    (Input(tokens("a a a", optional=[True, False, False])), [[(1,), (2,)], [(0,)]]),
]


@pytest.mark.parametrize(("given_bag", "wanted"), SLOTS)
def test_slots(given_bag: Input, wanted: list[Any], dependency: DependencyGrammar) -> None:
    prepared = prepare(given_bag, dependency)
    assert sorted(map(list, prepared.slots)) == sorted(wanted)
    for slot, groups in enumerate(prepared.slots):
        assert {prepared.slot_of(place) for group in groups for place in group} == {slot}


def test_leaves_are_forms_and_tags(dependency: DependencyGrammar) -> None:
    given_bag = Input((InputToken(("saw", "dogs")), InputToken(("the",), pos="JJ")))
    leaves = prepare(given_bag, dependency).leaves
    found = {(leaf.words, tuple(dependency.tags[tag] for tag in leaf.tags)) for leaf in leaves}
    saw = {(("saw",), ("NN",)), (("saw",), ("VBD",))}
    assert found == saw | {(("dogs",), ("NNS",)), (("the",), ("JJ",))}


def test_given_heads_become_slots(dependency: DependencyGrammar) -> None:
    prepared = prepare(Input(tokens("a b c d", head=[1, -1, None, 1])), dependency)
    heads = [int(prepared.problem.given_head[prepared.slot_of(place)]) for place in range(4)]
    assert heads == [prepared.slot_of(1), IS_ROOT, ANY_HEAD, prepared.slot_of(1)]


def test_a_bag_without_words_is_refused(dependency: DependencyGrammar) -> None:
    with pytest.raises(InputError, match="found a bag without words"):
        prepare(Input(()), dependency)


def test_a_label_that_was_not_seen_is_refused(labelled: DependencyGrammar) -> None:
    with pytest.raises(InputError, match="found the label 'xyzzy'; the model has "):
        prepare(Input(tokens("a b", label=["xyzzy", None])), labelled)


def test_a_language_model_of_a_high_order_is_refused(dependency: DependencyGrammar, model_of_order_6: Any) -> None:
    with pytest.raises(InputError, match="found a language model of order 6; at most 5 is allowed here"):
        prepare(Input(tokens("a b")), dependency, model_of_order_6)


@pytest.fixture(scope="module")
def model_of_order_6(language_models: Any) -> KenlmModel:
    model: KenlmModel = language_models(6)
    return model
