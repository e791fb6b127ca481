"""The systems of Wan et al. as one of gyro.run.system: a bag by one of four methods, or many into a run folder.

METHODS            viterbi, lmo, cle, ab
GenerationSettings how bags are ordered
WanOutcome         what came of a bag, with its tree
Order              what the search finds
WanSystem          models with these settings
output_tree        a tree as CoNLL-U has it
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from comparison.wan.arborescence import Tree, best_tree
from comparison.wan.assignment import Positions, assign_tree, data_positions, wan_positions
from comparison.wan.linearise import LinearSettings, linearise
from comparison.wan.model import WanModel
from comparison.wan.vertex import Vertex, bag_vertices, tag_of
from comparison.wan.viterbi import BEAM, beam_order
from grammars.conllu import ConlluSentence, ConlluToken, conllu_text
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import cost_feature
from gyro.run.batch import Summary, run_batch
from gyro.run.constraint import check_constraints
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.annotated_bag import AnnotatedBag, as_annotated
from gyro.text.bag import Bag
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

METHODS = VITERBI, LMO, CLE, AB = ("viterbi", "lmo", "cle", "ab")
OF_TREES = (CLE, AB)
SYSTEM = "wan"
Q = OF_DATA, OF_PAPER = ("data", "wan")
KNOWN = frozenset({"units"})  # the constraints of bags that all methods keep to, if not told to split units
TREES = "nbest.conllu"
LOOSE, LOOSE_ROOT = "dep", "dep:root"  # relations; the latter of further children of the root
_NAMES = {VITERBI: "LM", LMO: "JOINTS", CLE: "TREE", AB: "TREE"}  # of the costs in n-best lists


@dataclass(frozen=True)
class GenerationSettings:
    """How bags are ordered.

    `q` names the rule of argument positions, with `least_share` for that of the data, and `may_stay_empty` is of them
    too (ab); `single_root` allows the root one child (cle); `beam` and `end` are viterbi's. All methods may `split`
    units.
    """

    method: str = AB
    split: bool = False
    q: str = "data"
    least_share: float = 0.0
    may_stay_empty: bool = False
    single_root: bool = False
    linear: LinearSettings = field(default_factory=LinearSettings)
    beam: int = BEAM
    end: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("method", METHODS), ("q", Q)):
            if getattr(self, name) not in allowed:
                raise InputError(f"found the {name} {getattr(self, name)!r}; allowed are {', '.join(allowed)}")
        if not 0 <= self.least_share < 1:
            raise InputError(f"found the least share {self.least_share}; 0 to less than 1 is allowed")
        if self.beam < 1:
            raise InputError(f"found a beam of {self.beam}; at least 1 is allowed")

    def of_method(self) -> dict[str, Any]:
        """The settings that decide what the method gives."""
        names = {VITERBI: ("beam", "end"), LMO: (), CLE: ("single_root",), AB: ("q", "least_share", "may_stay_empty")}[
            self.method
        ]
        found = {name: getattr(self, name) for name in ("method", "split", *names)}
        return found if self.method == VITERBI else {**found, **asdict(self.linear)}


class WanOutcome(Outcome):
    """What came of a bag; of cle and ab also the tree, as CoNLL-U."""

    tree: str = ""


class Order(NamedTuple):
    """An order, with the tree that it is of."""

    vertices: Sequence[int]  # numbers of vertices, counted from 1
    cost: float
    tree: Tree | None = None


class WanSystem:
    """Models, ready for bags."""

    def __init__(
        self, language_model: LanguageModel, settings: GenerationSettings | None = None, model: WanModel | None = None
    ) -> None:
        self.language_model = language_model
        self.settings = settings or GenerationSettings()
        self.model = model if self.settings.method in OF_TREES else None
        if self.settings.method in OF_TREES and model is None:
            raise InputError(f"the method {self.settings.method} needs a model that gyro train wan wrote")
        self._positions: Callable[[str], Positions] = wan_positions
        if self.model is not None and self.settings.q == OF_DATA:
            self._positions = data_positions(self.model, self.settings.least_share)

    def order(self, bag: Bag) -> Ordering:
        """Order one bag: a lattice of one string."""
        known = as_annotated(check_constraints(bag, SYSTEM, KNOWN))
        vertices, found = self.search(known)
        chosen = [vertices[number - 1] for number in found.vertices]
        words = tuple(known.tokens[place] for vertex in chosen for place in vertex.places)
        lattice = Lattice.from_strings(bag.words, [Hypothesis(words, found.cost)])
        facts = {}
        if found.tree is not None and self.model is not None:
            tree = output_tree(known, vertices, found.vertices, found.tree, self.model)
            facts["tree"] = conllu_text(
                replace(tree, comments=(f"# sent_id = {bag.id or '0'}", f"# cost = {found.cost:.6f}"))
            )
        outcome = WanOutcome.ordered(bag, lattice.best().cost, rung=self.settings.method, tokens=len(bag), **facts)
        return Ordering(lattice, outcome)

    def search(self, bag: AnnotatedBag) -> tuple[tuple[Vertex, ...], Order]:
        """The vertices of a bag, and their order."""
        tagger = None if self.model is None else self.model.tagger
        vertices = bag_vertices(bag, tagger, units=not self.settings.split)
        return vertices, self._order(vertices, bag.tokens)

    def _order(self, vertices: Sequence[Vertex], tokens: Sequence[str]) -> Order:
        settings, words = self.settings, [tuple(tokens[place] for place in vertex.places) for vertex in vertices]
        if settings.method == VITERBI:
            found = beam_order(words, self.language_model, beam=settings.beam, end=settings.end)
            return Order([number + 1 for number in found.order], found.cost)
        if self.model is None:
            star = np.zeros(len(vertices) + 1, np.int64)  # all words hang on the root, after it
            linear = linearise(Tree(star, star, 0.0), words, self.language_model, settings.linear)
            return Order(linear.order, linear.cost)
        costs = self.model.costs(vertices)
        if settings.method == CLE:
            tree = best_tree(costs.arcs, single_root=settings.single_root)
        else:
            positions = [self._positions(vertex.tag) for vertex in vertices]
            tree = assign_tree(costs, positions, may_stay_empty=settings.may_stay_empty)
        return Order(linearise(tree, words, self.language_model, settings.linear).order, tree.cost, tree)

    def warm_up(self) -> None:
        """Load the compiled code; forked workers share it."""
        self.order(Bag(("a", "b")))

    def run(self, bags: Iterable[Bag], folder: str | os.PathLike[str], **options: Any) -> Summary:
        """Order many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""
        settings = {"system": SYSTEM, "lm": self.language_model.signature, **self.settings.of_method()}
        if self.model is not None:
            settings |= {"model": self.model.signature, "model_settings": asdict(self.model.settings)}
        self.warm_up()
        name = _NAMES[self.settings.method]
        summary = run_batch(
            bags,
            folder,
            lambda _number, bag: self.order(bag),
            settings=settings,
            features=lambda _number, hypotheses: cost_feature(name, hypotheses),
            verify=self.language_model.verify,
            **options,
        )
        if self.settings.method in OF_TREES:
            write_trees(folder)
        return summary

    def run_text(self, folder: str | os.PathLike[str]) -> str:
        """Nothing besides the summary."""
        return ""


def output_tree(
    bag: AnnotatedBag, vertices: Sequence[Vertex], order: Sequence[int], tree: Tree, model: WanModel
) -> ConlluSentence:
    """A tree in the order of the output. Words of a unit hang on its last, the root's further children on its first."""
    ends = dict(zip(order, np.cumsum([len(vertices[number - 1].places) for number in order]).tolist(), strict=True))
    top = next((ends[number] - 1 for number in order if tree.heads[number] == 0), ROOT)
    tokens = []
    for number in order:
        vertex, own = vertices[number - 1], ends[number] - 1
        above = int(tree.heads[number])
        head = ends[above] - 1 if above else ROOT if own == top else top
        for place in vertex.places[:-1]:
            tokens.append(_token(bag.tokens[place], tag_of(bag, place, model.tagger), own, LOOSE, model))
        relation = "root" if head == ROOT else LOOSE if above else LOOSE_ROOT
        tokens.append(_token(vertex.word, vertex.tag, head, relation, model))
    return ConlluSentence(tuple(tokens))


def _token(form: str, tag: str, head: int, relation: str, model: WanModel) -> ConlluToken:
    upos, xpos = (tag or "_", "_") if model.settings.tags == "upos" else ("_", tag or "_")
    return ConlluToken(form, upos=upos, xpos=xpos, head=head, deprel=relation)


def write_trees(folder: str | os.PathLike[str]) -> Path:
    """Put the trees of all bags of a run into one file."""
    path = Path(folder) / TREES
    with write_atomically(path, "w") as file:
        file.writelines(outcome.tree for outcome in open_run(folder).outcomes_as(WanOutcome) if outcome.ok)
    return path
