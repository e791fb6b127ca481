"""The cells of the binary grammar: each is the set of its strings.

Cell        what names a cell: its coverage, and the context that must stand before it
Cells       cells of one row
Rules       rules of one row: pairs of cells, and phrases
BinaryRows  the cells of all rows
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.grammar import Context, Coverages, PhraseGrammar
from gyro.lattice.string_set import EMPTY, StringSets

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]
Cell = tuple[int, int]


@dataclass(frozen=True)
class Cells:
    """Cells of one row: what each covers, the number of its context, its set of strings and the offset of its costs."""

    coverage: Coverages
    context: Ints
    strings: Ints
    offset: Ints

    @classmethod
    def none(cls) -> Cells:
        return cls(np.empty(0, np.uint64), *(np.empty(0, np.int64) for _ in range(3)))

    def __len__(self) -> int:
        return len(self.coverage)

    def identities(self) -> list[Cell]:
        """Coverage and context of each."""
        return list(zip(self.coverage.tolist(), self.context.tolist(), strict=True))

    def only(self, chosen: Any) -> Cells:
        return Cells(self.coverage[chosen], self.context[chosen], self.strings[chosen], self.offset[chosen])


@dataclass(frozen=True)
class Rules:
    """Rules of one row: the parts' sets and offsets, a bound of the right part, the result, and the cheapest string."""

    sides: Ints
    bound: Costs
    coverage: Coverages
    context: Ints
    cost: Costs

    def __len__(self) -> int:
        return len(self.cost)

    @classmethod
    def none(cls) -> Rules:
        return cls(np.empty((0, 4), np.int64), np.empty(0), np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0))

    @staticmethod
    def together(parts: list[Rules]) -> Rules:
        columns = ("sides", "bound", "coverage", "context", "cost")
        return Rules(*(np.concatenate([getattr(part, name) for part in [Rules.none(), *parts]]) for name in columns))

    def only(self, chosen: Any) -> Rules:
        return Rules(*(c[chosen] for c in (self.sides, self.bound, self.coverage, self.context, self.cost)))


@dataclass
class BinaryRows:
    """The cells of each row (row 0 is empty), and the pairs of cells of which rows were made."""

    grammar: PhraseGrammar
    sets: StringSets
    rows: list[Cells] = field(default_factory=list)
    rules: int = 0
    arcs: list[int] = field(default_factory=list)  # of the expansions, by row; 0 where nothing is pruned

    def whole(self) -> tuple[int, int]:
        """The strings of the whole bag: their set and its offset."""
        row = self.rows[len(self.grammar.bag)]
        return (int(row.strings[0]), int(row.offset[0])) if len(row) else (EMPTY, 0)

    def ending_with(self, cells: Cells, length: int, needed: Context) -> Cells:
        """What is left of cells when their strings must end with a context, or be its end: then the rest is theirs."""
        if not needed or not len(cells):
            return cells
        ending, before = needed[-length:], needed[:-length]
        pairs = zip(cells.strings.tolist(), cells.offset.tolist(), strict=True)
        strings, offset = np.array([self.sets.ending_with(pair, length, ending) for pair in pairs], np.int64).T
        context = np.array([self._stronger(number, before) for number in range(len(self.grammar.contexts))], np.int64)
        found = Cells(cells.coverage, context[cells.context], strings, offset)
        return found.only((strings != EMPTY) & (found.context >= 0))

    def _stronger(self, number: int, other: Context) -> int:
        """Of two contexts the one that implies the other; -1 when they exclude each other."""
        one = self.grammar.contexts[number]
        longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
        if longer[len(longer) - len(shorter) :] != shorter:
            return -1
        # A part of a context is one as well: the beginning of the same phrase.
        return self.grammar.contexts.index(longer)

    def pairs(self, row: int) -> Iterator[tuple[Cell, Cell, Cell]]:
        """All pairs of cells that make one of a row, and that cell; for small bags."""
        made = set(self.rows[row].identities())
        for length in range(1, row):
            for right in self.rows[row - length].identities():
                for left in self.ending_with(self.rows[length], length, self.grammar.contexts[right[1]]).identities():
                    result = (left[0] + right[0], left[1])
                    fits, _ = self.grammar.code.add(np.array([left[0]], np.uint64), np.uint64(right[0]))
                    if fits[0] and result in made:
                        yield left, right, result
