"""Treebanks for the best-first decoder: the grammar and examples of training, the bags of development.

Prepared training material comes from CoNLL-U (dependency grammar; CCG by conversion) or AUTO files (CCG).

TrainingSet         a grammar, its treebank, and what was left out
dependency_training make one from dependency trees
ccg_training        make one from derivations
read_derivations    CCG derivations of files: AUTO, or CoNLL-U by conversion; tags and heads where they are missing
development_bags    bags with references, given what the model's training was given
tag_categories      candidate categories for the words of sentences, by a multi-tagger on the original order
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.input import Given, ccg_example, dependency_example, unit_categories
from comparison.best_first.learner import Example
from comparison.best_first.model import ModelSettings
from comparison.learning.development import choose_bags
from comparison.learning.sampling import draw
from comparison.learning.training import Treebank
from grammars.annotation import Annotation, TreebankSentence, derivation_to_sentence, tree_to_sentence
from grammars.ccg.derivation import AutoEntry, Derivation, Node, leaves, postorder, read_auto
from grammars.ccg.grammar import NO_POS, assign_heads, fill_pos
from grammars.ccg.report import ConversionReport, convert_all
from grammars.ccg.tagger import MultiTagger, train_tagger
from grammars.conllu import is_projective, is_usable, read_conllu
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import is_token
from gyro.text.parsing import tag_sentences
from lm.model import LanguageModel

AnyPath = str | PathLike[str]
Tree = TypeVar("Tree")


class TrainingSet(NamedTuple):
    """What training needs; `notes` tell what was left out or filled in."""

    grammar: DependencyGrammar | CcgInventory
    treebank: Treebank[Example]
    notes: tuple[str, ...]
    tagger: MultiTagger | None = None


def dependency_training(
    paths: Sequence[AnyPath], settings: ModelSettings, *, limit: int | None = None, model: LanguageModel | None = None
) -> TrainingSet:
    """Read dependency trees; those that are not projective, or have no tokens of ours, are left out."""
    trees = [tree for path in paths for tree in read_conllu(path)]
    kept = [tree for tree in trees if is_usable(tree) and None not in tree.heads and is_projective(tree.heads)]
    notes = (f"{len(kept)} of {len(trees)} trees; the others are not projective or not usable",)
    kept = draw(kept, limit, settings.seed)
    if not kept:
        raise InputError("found no projective tree to learn from", path=paths[0])
    grammar = DependencyGrammar.from_trees(
        kept, labelled=settings.labels, tag_kind=settings.tags, templates=settings.templates, dp=settings.dp
    )
    given = Given(**{name: key in settings.given for name, key in _GIVEN.items()})

    def example(number: int) -> Example | None:
        try:
            return dependency_example(kept[number], grammar, given, tag_kind=settings.tags, model=model)
        except InputError:
            return None

    texts = (f"{' '.join(tree.forms)} {tree.heads}" for tree in kept)
    return TrainingSet(grammar, Treebank(len(kept), example, _signature(texts)), notes)


_GIVEN = {"tags": "pos", "heads": "heads", "units": "units", "lemmas": "lemmas"}


def ccg_training(
    paths: Sequence[AnyPath], settings: ModelSettings, *, limit: int | None = None, model: LanguageModel | None = None
) -> TrainingSet:
    """Read derivations, and train the multi-tagger on them if the settings have a cut-off for it."""
    entries, notes = read_derivations(paths)
    trees = draw([entry.derivation for entry in entries], limit, settings.seed)
    if not trees:
        raise InputError("found no derivation to learn from", path=paths[0])
    units = "units" in settings.given
    names = unit_categories(trees) if units else ()
    inventory = CcgInventory.from_derivations(trees, unit_categories=names, cutoff=settings.cutoff, dp=settings.dp)
    tagger = train_tagger(trees, epochs=_TAGGER_EPOCHS, seed=settings.seed) if settings.beta else None

    def example(number: int) -> Example | None:
        tree = trees[number]
        categories = None if tagger is None else tag_categories(tagger, tree, settings.beta)
        try:
            return ccg_example(tree, inventory, units=units, categories=categories, model=model)
        except InputError:
            return None

    numbers = inventory.grammar.summary()
    size = f"{numbers.categories} categories, {numbers.unary} unary and {numbers.binary} binary rules"
    texts = (f"{leaf.word} {leaf.category}" for tree in trees for leaf in leaves(tree))
    return TrainingSet(inventory, Treebank(len(trees), example, _signature(texts)), (*notes, size), tagger)


_TAGGER_EPOCHS = 6


def tag_categories(tagger: MultiTagger, tree: Derivation, beta: float) -> list[tuple[str, ...]]:
    """The categories of each word that the multi-tagger finds likely in the original order."""
    words = leaves(tree)
    tagged = tagger.tag([leaf.word for leaf in words], [leaf.pos for leaf in words], beta)
    return [tuple(category for category, _ in found) for found in tagged]


def read_derivations(paths: Sequence[AnyPath]) -> tuple[list[AutoEntry], tuple[str, ...]]:
    """Derivations, with notes on what was converted, tagged or given heads."""
    entries: list[AutoEntry] = []
    notes: list[str] = []
    for path in paths:
        if ".auto" in Path(path).suffixes:
            entries += read_auto(path)
        else:
            report = ConversionReport()
            entries += convert_all(read_conllu(path), report)
            notes.append(f"{path}: {report.converted} of {report.trees} trees converted")
    entries = [entry for entry in entries if all(is_token(leaf.word) for leaf in leaves(entry.derivation))]
    untagged = [entry for entry in entries if all(leaf.pos == NO_POS for leaf in leaves(entry.derivation))]
    if untagged:
        tags = tag_sentences([leaf.word for leaf in leaves(entry.derivation)] for entry in untagged)
        entries = list(fill_pos(entries, lambda _words: next(tags)))
        notes.append(f"{len(untagged)} derivations tagged by spaCy")
    if entries and not any(_has_right_head(entry.derivation) for entry in entries):
        entries = [AutoEntry(entry.header, assign_heads(entry.derivation), entry.end) for entry in entries]
        notes.append("all heads were on the left: assigned by category")
    return entries, tuple(notes)


def _has_right_head(tree: Derivation) -> bool:
    return any(isinstance(part, Node) and part.head == 1 for part in postorder(tree))


def development_bags(
    paths: Sequence[AnyPath], settings: ModelSettings, *, sample: int, tagger: MultiTagger | None = None
) -> list[AnnotatedBag]:
    """Bags of development data, a fixed sample of them, given what training was given."""
    known = settings.given
    annotation = Annotation(
        pos=float("pos" in known or "lemmas" in known),
        heads=float("heads" in known or "lemmas" in known),
        labels=settings.labels and "heads" in known,
        tags=settings.tags,
        units="units" in known,
        lemmas="lemmas" in known,
    )
    sentences = _development(paths, settings, tagger)
    return choose_bags(sentences, annotation, sample=sample, seed=settings.seed, path=paths[0])


def _development(
    paths: Sequence[AnyPath], settings: ModelSettings, tagger: MultiTagger | None
) -> Iterator[tuple[TreebankSentence, list[tuple[str, ...]] | None]]:
    if settings.grammar == "dependency":
        for number, tree in enumerate((tree for path in paths for tree in read_conllu(path)), 1):
            yield tree_to_sentence(tree, tree.sent_id or str(number)), None
        return
    entries, _ = read_derivations(paths)
    for number, entry in enumerate(entries, 1):
        categories = None if tagger is None else tag_categories(tagger, entry.derivation, settings.beta)
        yield derivation_to_sentence(entry.derivation, str(number)), categories


def _signature(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()[:12]
