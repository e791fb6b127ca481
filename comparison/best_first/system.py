"""The best-first decoder as a system: bags into a run folder, and scores on development data.

GenerationSettings  how bags are decoded
BestFirstOutcome    what came of a bag, with what the decoder tells besides
BestFirstSystem     a model with these settings: one bag, or many into a folder
dev_scorer          a function that scores a model on bags with references, for training
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoded, Decoder, Limits
from comparison.best_first.default_output import DEFAULT_OUTPUTS
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.given_tree import TreeBeams
from comparison.best_first.input import bag_input
from comparison.best_first.model import BestFirstModel, kernel_options
from comparison.best_first.output import FORMATS, complete_output, missing_groups, output_text
from comparison.learning.development import DevScore, Ordered, score_orders
from comparison.learning.model_folder import check_language_model
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import cost_feature
from gyro.run.batch import Summary, run_batch
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.annotated_bag import AnnotatedBag, as_annotated
from gyro.text.bag import Bag
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

_WARM_UP = 120.0  # seconds
_GRACE = 10.0  # a worker that takes so many times the limit is stuck


@dataclass(frozen=True)
class GenerationSettings:
    """How bags are decoded: limits, goals asked for, the beam if not the model's, whether missing words are added.

    Where all heads are given, `tree_beam` partial trees are kept and `tree_best` subtrees of each dependent tried.
    """

    time_limit: float = 60.0
    edge_limit: int = 1_000_000
    goals: int = 1
    beam: int = 0
    complete: bool = False
    tree_beam: int = TreeBeams().size  # 0: given trees are searched by agenda, like other bags
    tree_best: int = TreeBeams().best
    default_output: str = "joined"

    def __post_init__(self) -> None:
        if not self.time_limit > 0:
            raise InputError(f"found the time limit {self.time_limit}; a number of seconds over 0 is allowed")
        for name, least in (("edge_limit", 0), ("goals", 1), ("beam", 0), ("tree_beam", 0), ("tree_best", 1)):
            if getattr(self, name) < least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if self.default_output not in DEFAULT_OUTPUTS:
            allowed = " or ".join(DEFAULT_OUTPUTS)
            raise InputError(f"found the default output {self.default_output!r}; {allowed} is allowed")


class BestFirstOutcome(Outcome):
    """The words of the output and those of the bag that it lacks, the edges, and the derivations of all goals."""

    timed_out: bool = False
    words: int = 0
    missing: list[str] = Field(default=[])
    scored: int = 0
    expanded: int = 0
    derivations: list[str] = Field(default=[])


@dataclass(frozen=True)
class Output:
    """The best string of a bag, all hypotheses, and the words that a default output lacks."""

    words: tuple[str, ...]
    decoded: Decoded
    missing: tuple[str, ...]


class BestFirstSystem:
    """A model, ready for bags."""

    def __init__(
        self,
        model: BestFirstModel,
        settings: GenerationSettings | None = None,
        language_model: LanguageModel | None = None,
    ) -> None:
        check_language_model(model.settings.lm, language_model)
        self.model = model
        self.settings = settings or GenerationSettings()
        self.language_model = language_model
        options = kernel_options(model.settings, self.settings.goals)
        if self.settings.beam:
            options = options._replace(beam=self.settings.beam)
        self.decoder = Decoder(
            model.grammar,
            model.weights,
            options,
            limits=Limits(self.settings.time_limit, self.settings.edge_limit),
            trees=TreeBeams(self.settings.tree_beam, self.settings.tree_best) if self.settings.tree_beam else None,
            default_output=self.settings.default_output,
            language_model=language_model if model.settings.lm else None,
        )

    @property
    def grammar(self) -> DependencyGrammar | CcgInventory:
        grammar = self.model.grammar
        if not isinstance(grammar, DependencyGrammar | CcgInventory):
            raise TypeError(f"no output format for {type(grammar).__name__}")
        return grammar

    def order(self, bag: Bag) -> Ordering:
        """Order one bag: its hypotheses as a lattice."""
        output = self.decode(bag)
        lattice, decoded = self._lattice(bag, output), output.decoded
        outcome = BestFirstOutcome.ordered(
            bag,
            lattice.best().cost,
            rung=decoded.how,
            tokens=len(bag),
            timed_out=decoded.timed_out,
            words=len(output.words),
            missing=list(output.missing),
            scored=decoded.scored,
            expanded=decoded.expanded,
            derivations=output_text(decoded, self.grammar, as_annotated(bag), self.model.settings.tags),
        )
        return Ordering(lattice, outcome)

    def decode(self, bag: Bag) -> Output:
        """Decode one bag."""
        decoded = self.decoder.decode(bag_input(bag))
        known = as_annotated(bag)
        missing = tuple(known.tokens[place] for group in missing_groups(known, decoded) for place in group)
        words = decoded.words
        if self.settings.complete and missing:
            words, missing = complete_output(decoded, known, self.language_model), ()
        if known.inflect:
            words = _capitalised(words)
        return Output(words, decoded, missing)

    def warm_up(self) -> None:
        """Load the compiled code, which takes longer than a short time limit; forked workers share it."""
        limits, self.decoder.limits = self.decoder.limits, Limits(_WARM_UP)
        self.decode(Bag(("a", "b")))
        if self.decoder.trees is not None and self.model.grammar.obeys_heads:
            self.decode(AnnotatedBag(("a", "b"), heads=(1, ROOT)))
        self.decoder.limits = limits

    def run(self, bags: Iterable[Bag], folder: str | os.PathLike[str], **options: Any) -> Summary:
        """Decode many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""
        settings = {
            "system": "best-first",
            "model": self.model.signature,
            "model_settings": asdict(self.model.settings),
            **asdict(self.settings),
        }
        self.warm_up()
        limit = self.settings.time_limit * _GRACE + 60.0
        summary = run_batch(
            bags,
            folder,
            lambda _number, bag: self.order(bag),
            settings=settings,
            words=lambda bag: {form for token in bag_input(bag).tokens for form in _spellings(token.forms)},
            features=lambda _number, hypotheses: cost_feature("SCORE", hypotheses),
            time_limit=limit,
            verify=self._verify,
            **options,
        )
        write_derivations(folder, FORMATS[self.grammar.name])
        return summary

    def _verify(self) -> None:
        """The model itself was compared with its checksum when it was read."""
        if self.language_model is not None:
            self.language_model.verify()

    def run_text(self, folder: str | os.PathLike[str]) -> str:
        """Length and time-out ratios."""
        return SyntaxTotals(folder).text()

    def _lattice(self, bag: Bag, output: Output) -> Lattice:
        """The strings of all hypotheses; costs are scores with their sign changed."""
        inflect = as_annotated(bag).inflect
        best: dict[tuple[str, ...], float] = {output.words: -output.decoded.hypotheses[0][0]}
        for score, parts in output.decoded.hypotheses[1:]:
            words = tuple(word for part in parts for word in part.words)
            words = _capitalised(words) if inflect else words
            best[words] = min(best.get(words, float("inf")), -score)
        known = tuple(sorted({word for words in best for word in words}))
        return Lattice.from_strings(known, [Hypothesis(words, cost) for words, cost in best.items()])


def _spellings(forms: Sequence[str]) -> set[str]:
    return {*forms, *(_capitalised((form,))[0] for form in forms)} if len(forms) > 1 else {*forms, *_capitalised(forms)}


def _capitalised(words: Sequence[str]) -> tuple[str, ...]:
    """A sentence of chosen forms starts with a capital."""
    from grammars.inflection import capitalise

    return (capitalise(words[0]), *words[1:]) if words else ()


def write_derivations(folder: str | os.PathLike[str], ending: str) -> Path:
    """Put the derivations of all bags of a run, n-best, into one file."""
    path = Path(folder) / f"nbest.{ending}"
    with write_atomically(path, "w") as file:
        for outcome in decoded_outcomes(folder):
            file.writelines(outcome.derivations)
    return path


def decoded_outcomes(folder: str | os.PathLike[str]) -> list[BestFirstOutcome]:
    """The outcomes of the bags of a run that were decoded."""
    return [outcome for outcome in open_run(folder).outcomes_as(BestFirstOutcome) if outcome.ok]


class SyntaxTotals:
    """Length and time-out ratios of a run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        known = decoded_outcomes(folder)
        self.length_ratio = sum(outcome.words for outcome in known) / max(sum(o.tokens or 0 for o in known), 1)
        self.timeout_ratio = sum(outcome.timed_out for outcome in known) / max(len(known), 1)

    def text(self) -> str:
        """Two lines, like those of a Summary."""
        return f"length ratio  {self.length_ratio:.1%}\ntime-outs     {self.timeout_ratio:.1%}"


def dev_scorer(
    bags: Sequence[Bag], settings: GenerationSettings, language_model: LanguageModel | None = None, jobs: int = 1
) -> Callable[[BestFirstModel], DevScore]:
    """A function that decodes the bags with a model and scores the result."""

    def score(model: BestFirstModel) -> DevScore:
        system = BestFirstSystem(model, settings, language_model)
        system.warm_up()

        def order(bag: Bag) -> Ordered:
            output = system.decode(bag)
            return Ordered(output.words, output.decoded.timed_out, output.decoded.seconds)

        return score_orders(bags, order, jobs)

    return score
