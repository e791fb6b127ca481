"""The n-gram beam as a system: one bag, or many into a run folder.

GenerationSettings  how bags are ordered
NgramBeamSystem     a language model with these settings, and perhaps the unigram model of the future cost
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comparison.ngram_beam.kernel import Machine, Settings, run_beam
from comparison.ngram_beam.prefix_tree import strings_to_lattice
from comparison.ngram_beam.problem import KNOWN, SYSTEM, Problem, bag_to_problem
from comparison.ngram_beam.unigram_model import UnigramModel
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.run.batch import Summary, run_batch
from gyro.run.constraint import check_constraints
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from gyro.text.corpus import check_normalisation
from lm.model import LanguageModel

MOST_TOKENS = 250  # the automaton of a bag grows with the square of its words
BEAM = 64


@dataclass(frozen=True)
class GenerationSettings:
    """Hypotheses a row, whether the end of the sentence costs something, whether equal hypotheses are joined."""

    beam: int = BEAM
    end: bool = False
    recombine: bool = False

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise InputError(f"found a beam of {self.beam}; at least 1 is allowed")


class NgramBeamSystem:
    """Models, ready for bags."""

    def __init__(
        self,
        language_model: LanguageModel,
        settings: GenerationSettings | None = None,
        unigrams: UnigramModel | None = None,
        *,
        vouched: bool | None = None,
    ) -> None:
        if unigrams is not None:
            known = (language_model.normalisation, "the language model", unigrams.normalisation, "the unigram model")
            check_normalisation(*known, vouched=vouched)
        self.language_model = language_model
        self.settings = settings or GenerationSettings()
        self.unigrams = unigrams

    def order(self, bag: Bag) -> Ordering:
        """Order one bag: the strings of the last row as a lattice; a cost is -log of what was paid for."""
        problem = self.problem(bag)
        automaton = self.language_model.acceptor(problem.words, end=self.settings.end)
        strings, _ = self.search(problem, automaton)
        lattice = strings_to_lattice(strings, automaton)
        if lattice.empty():
            return Ordering(lattice, Outcome.failed(bag, "no order was found"))
        best = lattice.best()
        facts: dict[str, Any] = {}
        if bag.reference is not None:
            facts["reference_cost"] = best.cost if bag.reference == best.tokens else automaton.score(bag.reference)
        return Ordering(lattice, Outcome.ordered(bag, best.cost, tokens=len(bag), **facts))

    def problem(self, bag: Bag) -> Problem:
        """What the search is asked."""
        if len(bag) > MOST_TOKENS:
            raise InputError(f"bag {bag.id!r} has {len(bag)} tokens; the system ngram-beam takes {MOST_TOKENS} at most")
        return bag_to_problem(bag, None if self.unigrams is None else self.unigrams.cost)

    def search(self, problem: Problem, automaton: WordAutomaton) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The last row, best first: strings as rows of word numbers, and their costs."""
        machine = Machine(automaton.start, automaton.next_state, automaton.cost, automaton.end_cost)
        limits = Settings(self.settings.beam, self.settings.recombine)
        strings, costs = run_beam(machine, problem.types, problem.size, problem.total_future, limits)
        return strings, costs

    def signature(self) -> dict[str, Any]:
        """All that decides the results."""
        return {
            "system": SYSTEM,
            "lm": self.language_model.signature,
            "lm_order": self.language_model.order,
            "unigrams": None if self.unigrams is None else self.unigrams.signature,
            **asdict(self.settings),
        }

    def run(self, bags: Iterable[Bag], folder: str | os.PathLike[str], **options: Any) -> Summary:
        """Order many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""
        self.order(Bag(("a", "b")))  # loads the compiled code, once for all workers
        return run_batch(
            (check_constraints(bag, SYSTEM, KNOWN) for bag in bags),
            folder,
            lambda _number, bag: self.order(bag),
            settings=self.signature(),
            verify=self.language_model.verify,
            **options,
        )

    def run_text(self, folder: str | os.PathLike[str]) -> str:
        """The summary of a run says all there is."""
        return ""
