"""Bags as the search takes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.ngram_beam.problem import KNOWN, SYSTEM, bag_to_problem
from gyro.errors import InputError
from gyro.run.constraint import KNOWN_BY, check_constraints
from gyro.text.annotated_bag import ROOT, AnnotatedBag
from gyro.text.bag import Bag

DOG = ("the", "dog", "saw", "the", "dog", "the")


def test_equal_units_and_words_are_one_type() -> None:
    bag = AnnotatedBag(DOG, units=((0, 1), (3, 4)), pos=("DT", "NN", "VB", "DT", "NN", "DT"))
    problem = bag_to_problem(bag, len)
    types = problem.types
    assert problem.words == ("dog", "saw", "the")
    assert problem.size == 6
    assert types.word.tolist() == [1, 2, 2, 0]  # saw; the; the dog
    assert types.begin.tolist() == [0, 1, 2, 4]
    assert types.of_length.tolist() == [0, 0, 2, 3]
    assert types.future.tolist() == [3.0, 3.0, 6.0]
    assert problem.total_future == 3 + 3 + 2 * 6
    assert types.one.tolist() == [1, 2, 4]
    assert types.field.tolist() == [1, 2, 12]
    assert types.full.tolist() == [1 + 2 + 2 * 4]


def test_without_a_model_nothing_is_expected() -> None:
    problem = bag_to_problem(Bag(DOG))
    assert (problem.total_future, problem.types.future.tolist()) == (0.0, [0.0] * 3)


def test_an_empty_bag() -> None:
    problem = bag_to_problem(Bag(()))
    assert (problem.words, problem.size, problem.types.of_length.tolist()) == ((), 0, [0, 0])


@given(st.lists(st.integers(1, 40), max_size=60))
def test_each_type_has_its_own_bits_and_all_its_copies_fit(counts: list[int]) -> None:
    """A number that counts down in these bits never borrows from its neighbours'."""
    tokens = tuple(f"w{i:02}" for i, count in enumerate(counts) for _ in range(count))
    types = bag_to_problem(Bag(tokens)).types
    seen = np.zeros(len(types.full), np.uint64)
    for lane, field, one, count in zip(types.lane, types.field, types.one, counts, strict=True):
        assert not seen[lane] & field
        seen[lane] |= field
        assert int(types.full[lane] & field) == count * int(one) <= int(field)
        assert int(one) == int(field) & -int(field)


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        ({"heads": (1, ROOT)}, "heads"),
        ({"order": ((0, 1),)}, "order"),
        ({"optional": (1,)}, "optional"),
        ({"count_limits": (1, 2)}, "counts"),
        ({"categories": (("NP",), None)}, "categories"),
        ({"inflect": True}, "lemmas without tokens"),
    ],
)
def test_what_the_search_cannot_keep_to_is_refused(annotation: dict[str, object], name: str) -> None:
    bag = AnnotatedBag(("a", "b"), id="x", **annotation)  # type: ignore[arg-type]
    with pytest.raises(InputError) as error:
        check_constraints(bag, SYSTEM, KNOWN)
    found = f"bag 'x': found the constraint {name}, which the system ngram-beam does not know"
    others = "systems gyro and best-first know" if name in KNOWN_BY["gyro"] else "system best-first knows"
    allowed = f"allowed are tokens, pos, labels, lemmas, feats, units (the {others} it)"
    assert str(error.value) == f"{found}; {allowed}"
    with pytest.raises(InputError):
        bag_to_problem(bag)


def test_information_passes() -> None:
    bag = AnnotatedBag(("a", "b"), pos=("X", "Y"), lemmas=("a", None), units=((0, 1),))
    assert check_constraints(bag, SYSTEM, KNOWN) is bag
