"""What the published algorithms have in common: their form, and the network that they leave.

Algorithm    one of the three
three_algorithms  all of them, of a search that can do what each one does
Network      a recursive transition network (RTN): its cells, its rules, the acceptor of a cell as the paper draws it
RtnResult    the lattice, the network and the number of arcs that each row needed
cell_lattice the acceptor of one cell out of its paths
RtnWork      counts the work of an algorithm; one that has none left has no order to give
OutOfSteps   what it raises then
check_problem  refuse what no algorithm can work with
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from grammars.phrase.grammar import PhraseGrammar
from gyro.errors import GyroError, InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice
from gyro.search.work import MILLION, Work

STEPS_PER_ARC = 500  # what OpenFst takes for an arc, or a chart for a rule, is about a millionth of a second


class Network(Protocol):
    """Cells by their bit strings, row by row."""

    def cells(self) -> list[str]:
        """The names of all cells, row by row."""
        ...

    def rules(self) -> list[str]:
        """All rules in the published form, row by row."""
        ...

    def cell(self, name: str) -> Lattice:
        """The acceptor of one cell: a path of words for a phrase rule, a path of two calls for a concatenation."""
        ...


@dataclass(frozen=True)
class RtnResult:
    """What an algorithm found; `lattice` is None when there is no parse.

    `arcs[x]` is the number of arcs of row x when it was expanded under the model; the last is the whole bag's.
    """

    lattice: Lattice | None
    rtn: Network
    arcs: tuple[int, ...]
    cells: int
    rules: int


class Algorithm(Protocol):
    """One of the three, by name in gyro.search.rtn.

    `inner` is the model under which inner cells of the binary grammar are scored, that of the sentences unless given.
    """

    def __call__(
        self,
        grammar: PhraseGrammar,
        automaton: WordAutomaton,
        *,
        inner: WordAutomaton | None = None,
        first_row: int = 6,
        beta: float = 10.0,
        work: Work | None = None,
    ) -> RtnResult: ...


def three_algorithms(search: Callable[..., RtnResult]) -> dict[str, Algorithm]:
    """Algorithm 1 parses all and prunes nothing; 2 prunes what it has parsed, but the last lattice; 3 while parsing."""
    return {
        "full": partial(search, parses_first=True, prunes=False),
        "pruned-expansion": partial(search, parses_first=True),
        "pruned-parsing": partial(search, parses_first=False),
    }


def cell_lattice(paths: Collection[Sequence[str]]) -> Lattice:
    """One path from the start to the end for each sequence of symbols."""
    symbols = tuple(sorted({symbol for path in paths for symbol in path}))
    number = {symbol: i for i, symbol in enumerate(symbols)}
    source, word, target, state = [], [], [], 1
    for path in paths:
        places = [0, *range(state + 1, state + len(path)), 1]
        state += len(path) - 1
        source += places[:-1]
        target += places[1:]
        word += [number[symbol] for symbol in path]
    return Lattice.from_arrays(symbols, 0, source, word, target, np.zeros(len(word)), [1], [0.0])


class OutOfSteps(GyroError):
    """An algorithm has used up its steps before it had an order."""


class RtnWork:
    """Takes steps for arcs and rules, and stops the algorithm when there are none left."""

    def __init__(self, work: Work | None) -> None:
        self._work = work or Work()

    def take(self, arcs: float) -> None:
        work = self._work
        work.take(arcs * STEPS_PER_ARC)
        if not work.left:
            raise OutOfSteps(f"more than {work.steps / MILLION:.0f} million steps (--steps)")
        if work.is_late():
            raise GyroError("no order within the time limit")


def check_problem(grammar: PhraseGrammar, automaton: WordAutomaton, beta: float) -> None:
    """Refuse a model over other words, and a beam that is none."""
    if automaton.words != grammar.bag.words:
        raise InputError(f"the model's automaton is over other words than those of bag {grammar.bag.id!r}")
    if not beta >= 0:
        raise InputError(f"found beta {beta}; a number that is not negative is allowed")
