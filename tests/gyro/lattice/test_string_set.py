"""Sets of strings against Python's own dictionaries."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.lattice import string_set
from gyro.lattice.string_set import EMPTY, ENDED, StringSets

Strings = dict[tuple[int, ...], int]


def strings_of_length(length: int) -> st.SearchStrategy[Strings]:
    string = st.tuples(*(st.integers(0, 3) for _ in range(length)))
    return st.dictionaries(string, st.integers(0, 9), max_size=14)


two_sets = st.integers(0, 4).flatmap(lambda length: st.tuples(strings_of_length(length), strings_of_length(length)))


@given(two_sets)
@settings(deadline=None)
def test_a_union_has_each_string_at_its_lower_cost(pair: tuple[Strings, Strings]) -> None:
    sets = StringSets()
    one, other = (sets.of_strings(strings.items()) for strings in pair)
    expected = {s: min(part[s] for part in pair if s in part) for s in {**pair[0], **pair[1]}}
    united = sets.union(one, other)
    assert list(sets.strings(*united)) == sorted(expected.items())
    assert sets.union(other, one) == united == sets.of_strings(expected.items())


@given(two_sets, st.integers(-5, 5))
@settings(deadline=None)
def test_equal_sets_have_equal_numbers_and_common_costs_are_an_offset(pair: tuple[Strings, Strings], more: int) -> None:
    sets = StringSets()
    (one, offset), (other, _) = (sets.of_strings(strings.items()) for strings in pair)
    dearer, dearer_offset = sets.of_strings((string, cost + more) for string, cost in pair[0].items())
    assert dearer == one
    if pair[0]:
        assert dearer_offset == offset + more
        assert offset == min(pair[0].values())
    relative = [{s: cost - min(part.values()) for s, cost in part.items()} for part in pair]
    assert (one == other) == (relative[0] == relative[1])


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(strings_of_length(n), st.lists(st.integers(0, 3), max_size=n))))
@settings(deadline=None)
def test_only_strings_with_an_ending(case: tuple[Strings, list[int]]) -> None:
    strings, ending = case
    sets = StringSets()
    length = len(next(iter(strings), ()))
    found = sets.ending_with(sets.of_strings(strings.items()), length, ending)
    kept = {s: cost for s, cost in strings.items() if list(s[len(s) - len(ending) :]) == ending}
    assert list(sets.strings(*found)) == sorted(kept.items())


def test_the_empty_set_and_the_empty_string() -> None:
    sets = StringSets()
    assert sets.of_strings([]) == (EMPTY, 0)
    assert sets.of_strings([((), 3)]) == (ENDED, 3)
    assert list(sets.strings(EMPTY)) == []
    assert list(sets.strings(ENDED, 2)) == [((), 2)]


def test_a_full_store_grows_and_keeps_its_numbers() -> None:
    sets = StringSets()
    first = sets.of_strings([((1, 2), 0)])
    many = [((i, j), (i * j) % 7) for i in range(90) for j in range(90)]
    whole = sets.of_strings(many)
    assert len(sets.store.sets) > string_set.FIRST_ROOM
    assert list(sets.strings(*whole)) == sorted(many)
    assert sets.of_strings([((1, 2), 0)]) == first
