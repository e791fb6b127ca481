"""Tables in Markdown, read back by another reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.markdown import markdown_table
from tests.experiments.tables import read_table

names = st.lists(st.text("abcτ ≤1-", min_size=1, max_size=6).map(str.strip), min_size=1, max_size=4, unique=True)


@given(names, st.data())
def test_what_is_written_is_read_back_in_columns_of_one_width(head: list[str], data: st.DataObject) -> None:
    cell = st.text("ab|–% ", max_size=7).map(str.strip)
    row = st.lists(cell, min_size=len(head), max_size=len(head))
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    table = markdown_table(head, iter(rows))
    assert read_table(table) == [dict(zip(head, each, strict=True)) for each in rows]
    assert len({len(line) for line in table.split("\n")}) == 1
    # No wider than it must be: some cell fills each column.
    written = [[text.replace("|", "\\|") for text in each] for each in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*written, strict=True)]
    assert len(table.split("\n")[0]) == sum(widths) + 3 * len(head) + 1


def test_a_table_without_rows_says_so() -> None:
    assert markdown_table(["a", "b"], []) == "(none)"


def test_a_row_that_does_not_fit_the_head_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        markdown_table(["a"], [["1", "2"]])
