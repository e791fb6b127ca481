"""The first pass and the neural model in one go.

NeuralGenerator  a generator, and what goes on from its lattices: a system like the generator itself

The results are those of the two one after the other, `gyro generate` and `gyro rescore --neural`, to the byte; one run
folder holds them, and the lattices between are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from gyro.lattice.lattice import Hypothesis
from gyro.run.batch import Summary, run_batch
from gyro.run.folder import RunFolder
from gyro.run.outcome import Ordering
from gyro.search.generator import Generator
from gyro.text.bag import Bag
from rescoring.neural import Before, NeuralRescorer

NBEST = 100  # strings of the first pass that the model sees


class NeuralGenerator:
    """Orders bags with a generator, then by a neural model; a search has the generator's own model as its guide."""

    def __init__(self, generator: Generator, rescorer: NeuralRescorer) -> None:
        self.generator = generator
        self.rescorer = rescorer

    def __repr__(self) -> str:
        return f"NeuralGenerator({self.generator!r}, {self.rescorer.model!r})"

    def signature(self, nbest: int = NBEST) -> dict[str, Any]:
        """How the results are made."""
        return {**self.generator.signature(), "neural": {**self.rescorer.settings, "strings": nbest}}

    def verify(self) -> None:
        """Compare index and models with the checksums of their making."""
        self.generator.verify()
        self.rescorer.verify()

    def order(self, bag: Bag) -> Ordering:
        """Order one bag."""
        return self._rescored(bag, self.generator.order(bag), NBEST)

    def run(self, bags: Iterable[Bag], folder: str | PathLike[str], *, nbest: int = NBEST, **options: Any) -> Summary:
        """Order many bags into a run folder; the model sees the `nbest` cheapest strings of the first pass."""
        found: dict[int, Ordering] = {}  # the last one alone: its list is made right after it

        def first_pass(number: int, bag: Bag) -> Ordering:
            found.clear()
            found[number] = self.generator.order(bag)
            return found[number]

        def work(number: int, bag: Bag) -> Ordering:
            return self._rescored(bag, first_pass(number, bag), nbest)

        def before(number: int) -> Before:
            # Of a bag whose lattice is there and whose list is to be made anew, the first pass is not known.
            first = found.get(number) or first_pass(number, RunFolder(folder).read_bags()[number])
            strings = first.nbest(nbest)
            columns = self.generator.features(number, strings)
            return Before(first.lattice, {s.tokens: scores for s, scores in zip(strings, columns, strict=True)})

        def features(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
            return self.rescorer.columns(hypotheses, lambda: before(number))

        return run_batch(
            self.generator.checked(bags),
            folder,
            work,
            settings=self.signature(nbest),
            features=features,
            nbest=nbest,
            verify=self.verify,
            **self.generator.limits(),
            **options,
        )

    def run_text(self, folder: str | PathLike[str]) -> str:
        """The summary of a run says all there is."""
        return ""

    def _rescored(self, bag: Bag, first: Ordering, nbest: int) -> Ordering:
        found = self.rescorer.rescore(bag, first.lattice, nbest)
        return Ordering(found.lattice, found.outcome.model_copy(update={"first_pass": first.outcome}))
