"""Treebanks for the transition system: the grammar and examples of training, the bags of development.

TrainingSet        a grammar, its treebank, and what was left out
read_training      make one from dependency trees
development_bags   bags with references, given what the model's training was given
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

from comparison.learning.development import choose_bags
from comparison.learning.sampling import draw
from comparison.learning.training import Treebank
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.model import TransitionSettings
from comparison.transition.oracle import Example, make_example
from grammars.annotation import Annotation, read_treebank
from grammars.conllu import is_projective, is_usable, read_conllu
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from lm.model import LanguageModel

AnyPath = str | PathLike[str]
_MOST_REMEMBERED = 2 << 30  # bytes of language model tables; sentences past that are prepared anew in each pass


class TrainingSet(NamedTuple):
    """What training needs; `note` tells what was left out."""

    grammar: TransitionGrammar
    treebank: Treebank[Example]
    note: str


def read_training(
    paths: Sequence[AnyPath],
    settings: TransitionSettings,
    *,
    limit: int | None = None,
    model: LanguageModel | None = None,
) -> TrainingSet:
    """Read trees; those that are not projective, or have no tokens of ours, are left out.

    With a limit so many of them are drawn by the settings' seed; a larger limit has all those of a smaller one.
    """
    trees = [tree for path in paths for tree in read_conllu(path)]
    kept = [tree for tree in trees if is_usable(tree) and None not in tree.heads and is_projective(tree.heads)]
    if not kept:
        raise InputError("found no projective tree to learn from", path=paths[0])
    note = f"{len(kept)} of {len(trees)} trees; the others are not projective or not usable"
    if limit is not None and limit < len(kept):
        kept = draw(kept, limit, settings.seed)
        note += f"; {limit} of them drawn"
    grammar = TransitionGrammar.from_trees(kept, settings.features, tag_kind=settings.tags)
    made: dict[int, Example | None] = {}
    room = _MOST_REMEMBERED

    def example(number: int) -> Example | None:
        nonlocal room
        if number in made:
            return made[number]
        try:
            found = make_example(kept[number], grammar, settings.given, tag_kind=settings.tags, model=model)
        except InputError:
            found = None
        if (size := 0 if found is None else _table_bytes(found)) <= room:
            made[number], room = found, room - size
        return found

    digest = hashlib.sha256()
    for tree in kept:
        digest.update(f"{' '.join(tree.forms)} {tree.heads}\n".encode())
    return TrainingSet(grammar, Treebank(len(kept), example, digest.hexdigest()[:12]), note)


def _table_bytes(example: Example) -> int:
    """What the tables of a language model take, which are most of an example."""
    problem = example.prepared.problem
    return int(problem.lm_next.nbytes + problem.lm_bin.nbytes + problem.lm_gain.nbytes)


def development_bags(paths: Sequence[AnyPath], settings: TransitionSettings, *, sample: int) -> list[AnnotatedBag]:
    """Bags of development data, a fixed sample of them, given what training was given."""
    annotation = Annotation(
        pos=float("pos" in settings.given),
        heads=float("heads" in settings.given),
        units="units" in settings.given,
        tags=settings.tags,
    )
    sentences = ((sentence, None) for path in paths for sentence in read_treebank(path))
    return choose_bags(sentences, annotation, sample=sample, seed=settings.seed, path=paths[0])
