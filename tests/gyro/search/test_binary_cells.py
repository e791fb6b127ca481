"""Cells and the contexts that they need."""

from __future__ import annotations

import numpy as np

from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet
from gyro.lattice.string_set import StringSets
from gyro.search.binary_cells import BinaryRows, Cells, Rules
from gyro.text.bag import Bag


def rows_of(*phrases: str, overlap: int = 2) -> BinaryRows:
    """Rows without cells, of the grammar of these phrases over a, b and c."""
    bag = Bag(("a", "b", "c"))
    known = PhraseSet.from_phrases(bag.words, {tuple(phrase.split()): 1 for phrase in phrases})
    return BinaryRows(PhraseGrammar(bag, known, overlap=overlap), StringSets())


def cells_of(rows: BinaryRows, *cells: tuple[tuple[int, ...], str]) -> Cells:
    """Cells with a context and strings like "a b|b a"."""
    made = []
    for context, text in cells:
        strings = [tuple("abc".index(word) for word in string.split()) for string in text.split("|")]
        found, offset = rows.sets.of_strings((string, 0) for string in strings)
        coverage = sum(int(rows.grammar.code.units[word]) for word in strings[0])
        made.append((coverage, rows.grammar.contexts.index(context), found, offset))
    coverage_column, *columns = zip(*made, strict=True)
    return Cells(np.array(coverage_column, np.uint64), *(np.array(column, np.int64) for column in columns))


def test_strings_must_end_with_the_context_or_be_its_end() -> None:
    """The context a b is met by `c a b`; by `b` its end is met, and a must stand before that."""
    rows = rows_of("a b c")
    contexts = rows.grammar.contexts
    assert contexts == ((), (0,), (0, 1))
    two = rows.ending_with(cells_of(rows, ((), "a b|b a"), ((), "c b")), 2, (0, 1))
    assert [list(rows.sets.strings(int(s), int(o))) for s, o in zip(two.strings, two.offset, strict=True)] == [
        [((0, 1), 0)]
    ]
    one = rows.ending_with(cells_of(rows, ((), "b"), ((), "c"), ((0,), "b")), 1, (0, 1))
    assert [contexts[number] for number in one.context] == [(0,), (0,)]


def test_contexts_that_exclude_each_other_make_nothing() -> None:
    rows = rows_of("a b c", "b c")  # `c` may follow b, or stand after a b where that costs less: never here
    assert rows.grammar.contexts == ((), (1,))
    left = cells_of(rows, ((1,), "c"))
    assert len(rows.ending_with(left, 1, (1,))) == 0


def test_rules_are_put_together_and_chosen() -> None:
    one = Rules(np.array([[2, 0, 1, 0]]), np.zeros(1), np.array([3], np.uint64), np.zeros(1, np.int64), np.array([0.5]))
    both = Rules.together([one, Rules.none(), one])
    assert (len(both), len(both.only(both.cost > 1)), len(Rules.together([]))) == (2, 0, 0)
    assert Cells.none().identities() == []
