"""The transition system as a system: bags into a run folder, and scores on development data.

GenerationSettings   how bags are decoded
TransitionOutcome    what came of a bag, with what the decoder tells besides
TransitionSystem     a model with these settings: one bag, or many into a folder
dev_scorer           a function that scores a model on bags with references, for training
write_trees          the trees of a run in one file
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from comparison.learning.development import DevScore, Ordered, score_orders
from comparison.learning.model_folder import check_language_model
from comparison.transition.decoder import Decoded, Decoder
from comparison.transition.model import TransitionModel
from comparison.transition.output import tree_text
from comparison.transition.problem import bag_given
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import cost_feature
from gyro.run.batch import Summary, run_batch
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.annotated_bag import as_annotated
from gyro.text.bag import Bag
from lm.model import LanguageModel

TREES = "nbest.conllu"


@dataclass(frozen=True)
class GenerationSettings:
    """How bags are decoded: the beam if not the model's, and how many trees of each are written."""

    beam: int = 0
    trees: int = 1

    def __post_init__(self) -> None:
        for name in ("beam", "trees"):
            if getattr(self, name) < 0:
                raise InputError(f"found {name} {getattr(self, name)}; at least 0 is allowed")


class TransitionOutcome(Outcome):
    """The actions that were scored, the states that were made of them, and the best trees."""

    scored: int = 0
    expanded: int = 0
    derivations: list[str] = Field(default=[])


class TransitionSystem:
    """A model, ready for bags."""

    def __init__(
        self,
        model: TransitionModel,
        settings: GenerationSettings | None = None,
        language_model: LanguageModel | None = None,
    ) -> None:
        check_language_model(model.settings.lm, language_model)
        self.model = model
        self.settings = settings or GenerationSettings()
        self.language_model = language_model if model.settings.lm else None
        beam = self.settings.beam or model.settings.beam
        self.decoder = Decoder(model.grammar, model.weights, beam, self.language_model)

    def decode(self, bag: Bag) -> Decoded:
        """All hypotheses of a bag."""
        return self.decoder.decode(bag_given(bag))

    def order(self, bag: Bag) -> Ordering:
        """Order one bag: its hypotheses as a lattice."""
        decoded = self.decode(bag)
        known, model = as_annotated(bag), self.model
        count = min(self.settings.trees, len(decoded.scores))
        outcome = TransitionOutcome.ordered(
            bag,
            -float(decoded.scores[0]),
            tokens=len(bag),
            scored=decoded.scored,
            expanded=decoded.made,
            derivations=[tree_text(decoded, i, model.grammar, known, model.settings.tags) for i in range(count)],
        )
        return Ordering(_lattice(decoded), outcome)

    def run(self, bags: Iterable[Bag], folder: str | os.PathLike[str], **options: Any) -> Summary:
        """Decode many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""
        settings = {
            "system": "transition",
            "model": self.model.signature,
            "model_settings": asdict(self.model.settings),
            **asdict(self.settings),
        }
        self.decode(Bag(("a", "b")))  # loads the compiled code, which forked workers then share
        summary = run_batch(
            map(_checked, bags),
            folder,
            lambda _number, bag: self.order(bag),
            settings=settings,
            features=lambda _number, hypotheses: cost_feature("SCORE", hypotheses),
            verify=self._verify,
            **options,
        )
        write_trees(folder)
        return summary

    def run_text(self, folder: str | os.PathLike[str]) -> str:
        """The work on a bag."""
        found = _outcomes(folder)
        scored = sum(outcome.scored for outcome in found) / max(len(found), 1)
        return f"scored        {scored:,.0f} actions a bag"

    def _verify(self) -> None:
        """The model itself was compared with its checksum when it was read."""
        if self.language_model is not None:
            self.language_model.verify()


def _checked(bag: Bag) -> Bag:
    """The bag, unless it has what this system cannot obey."""
    bag_given(bag)
    return bag


def _lattice(decoded: Decoded) -> Lattice:
    """The strings of all hypotheses, each with its best score; costs are scores with their sign changed."""
    best: dict[tuple[str, ...], float] = {}
    for number, score in enumerate(decoded.scores):
        best.setdefault(decoded.words(number), -float(score))
    known = tuple(sorted({word for words in best for word in words}))
    return Lattice.from_strings(known, [Hypothesis(words, cost) for words, cost in best.items()])


def _outcomes(folder: str | os.PathLike[str]) -> list[TransitionOutcome]:
    return [outcome for outcome in open_run(folder).outcomes_as(TransitionOutcome) if outcome.ok]


def write_trees(folder: str | os.PathLike[str]) -> Path:
    """Put the trees of all bags of a run into one file."""
    path = Path(folder) / TREES
    with write_atomically(path, "w") as file:
        for outcome in _outcomes(folder):
            file.writelines(outcome.derivations)
    return path


def dev_scorer(
    bags: Sequence[Bag], language_model: LanguageModel | None = None, jobs: int = 1
) -> Callable[[TransitionModel], DevScore]:
    """A function that decodes the bags with a model and scores the result."""

    def score(model: TransitionModel) -> DevScore:
        system = TransitionSystem(model, language_model=language_model)
        system.decode(Bag(("a", "b")))

        def order(bag: Bag) -> Ordered:
            began = time.monotonic()
            words = system.decode(bag).words()
            return Ordered(words, False, time.monotonic() - began)

        return score_orders(bags, order, jobs)

    return score
