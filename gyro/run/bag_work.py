"""What a batch makes of one bag, in a worker or in an executor of Spark.

BagWork   the work on a bag, and its lines of the lists
Work      the work on a bag and its number, counted from 0; a bag without an order has an outcome alone
Features  the named scores of each hypothesis in the n-best list of a bag, given by its number: higher is better
HandOver  how a batch ends in an executor: with its work, which the executor does then as it is told
no_lists  what comes of a bag without an order
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import WRITERS, entries
from gyro.run.journal import NO_LISTS
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag

Work = Callable[[int, Bag], Ordering | Outcome]
Features = Callable[[int, Sequence[Hypothesis]], Sequence[Mapping[str, float]]]


@dataclass(frozen=True)
class BagWork:
    """The work on a bag, and its lines of the lists."""

    work: Work
    features: Features
    nbest: int

    def order(self, number: int, bag: Bag, keep: Callable[[Lattice], None]) -> list[Any]:
        """Order a bag: outcome, number of tokens, and lines of the lists, as JSON. `keep` gets the lattice, if any."""
        found = self.work(number, bag)
        if isinstance(found, Outcome):
            return no_lists(found, bag)
        if found.lattice.empty():
            return no_lists(Outcome.failed(bag, "no order was found"), bag)
        keep(found.lattice)
        return [found.outcome.to_json(), len(bag), self.lists(number, bag.id, found.lattice)]

    def lists(self, number: int, id: str, lattice: Lattice) -> list[str]:
        """The bag's lines of best.txt, nbest.txt and nbest.jsonl."""
        hypotheses = lattice.nbest(self.nbest)
        scores = self.features(number, hypotheses)
        lists = (list_text(format, number, id, hypotheses, scores) for format in ("moses", "jsonl"))
        return [" ".join(hypotheses[0].tokens) + "\n", *lists]


class HandOver(Exception):
    """The work of a batch, and all that decides its results."""

    def __init__(self, work: BagWork, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self.work = work
        self.settings = settings


def no_lists(outcome: Outcome, bag: Bag) -> list[Any]:
    """The same for a bag without an order."""
    return [outcome.to_json(), len(bag), [text.decode() for text in NO_LISTS]]


def list_text(
    format: str, number: int, id: str, hypotheses: Sequence[Hypothesis], scores: Sequence[Mapping[str, float]]
) -> str:
    """A bag's lines of an n-best list."""
    text = io.StringIO()
    WRITERS[format](text, entries(number, id, hypotheses, scores))
    return text.getvalue()


def load_compiled() -> None:
    """Compiled code is loaded at its first use: here once, for all workers that are forked after it."""
    Lattice.from_strings(("a",), [Hypothesis(("a",), 0.0)]).nbest(1)
