from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.row_table import RowTable, add_row, make_table

NUMBERS = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize("width", [1, 3])
@settings(deadline=None)
@given(data=st.data())
def test_numbers_are_those_of_a_dict(width: int, data: st.DataObject) -> None:
    row = st.tuples(*[NUMBERS] * width)
    table, expected = RowTable(width), dict[tuple[int, ...], int]()
    for rows in data.draw(st.lists(st.lists(row, max_size=50), max_size=6)):
        numbers = [expected.setdefault(one, len(expected)) for one in rows]
        assert table.number(np.array(rows, np.int64).reshape(-1, width)).tolist() == numbers
        assert len(table) == len(expected)
        assert list(map(tuple, table.rows.tolist())) == list(expected)


def test_many_rows() -> None:
    rows = np.random.default_rng(3).integers(0, 300, (100_000, 2))
    table = RowTable(2)
    numbers = np.concatenate([table.number(part) for part in np.array_split(rows, 17)])
    assert np.array_equal(table.rows[numbers], rows)
    assert len(table) == len(np.unique(rows, axis=0))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), max_size=40))
def test_rows_one_by_one(rows: list[tuple[int, int]]) -> None:
    """Numbers are those of a dictionary that is filled in the same order."""
    stored, slots = make_table(len(rows), 2)
    known: dict[tuple[int, int], int] = {}
    count = 0
    for row in rows:
        number, count = add_row(stored, slots, count, row)
        assert number == known.setdefault(row, len(known))
    assert count == len(known)
    assert stored[:count].tolist() == [list(row) for row in known]
