"""The dependency language model of Shen et al. (2008, 2010).

tree_sequences             a tree as the sequences of words that the model generates
estimate_dependency_model  write a model from parsed sentences
train_dependency_model     write a model from text: parse it, in a folder that a killed run goes on from, and estimate
load_dependency_model      open a model
DependencyModel            the cost of a tree

A tree is generated from the root: first the root itself, then for every head its left dependents, from the nearest
outward, and its right dependents likewise, each side closed by an end. A word is given the head, marked as head and
with its side, and the words that are already on that side, of both together as many as the order allows. So the model
is an n-gram model over sequences of a marked head and its dependents, and lmplz estimates it.

Marked heads are only ever given, never generated, but lmplz knows nothing of that and leaves some probability for
them. It is taken out: p(w | context) is divided by 1 - p(any marked head | context). Since no marked head was ever seen
inside a sequence, that probability is the back-off weight of the context times a constant, the mark mass of the model.
So the words that can follow a context have probabilities that sum to one.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gyro.errors import InputError
from gyro.files import read_json, scratch_folder, write_json
from gyro.text.corpus import ROOT, Normalisation
from gyro.text.parsing import RemotePool, parser_name
from gyro.version import __version__
from lm.dependency.parse import Parsed, parse_corpus, read_parses
from lm.kenlm.estimate import LOWEST_ORDER, estimate_model
from lm.kenlm.model import KenlmModel, load_model
from lm.kenlm.probing import HIGHEST_ORDER
from lm.kenlm.toolchain import find_program

FORMAT, VERSION = "gyro dependency language model", 1
SEQUENCES, FACTS = "sequences.lm", "dependency.json"
# The thin space keeps marks and tokens apart: no token has white space in it, and for KenLM it is a letter like others.
LEFT, RIGHT, TOP = "\u2009←", "\u2009→", "\u2009↓"
END = "</s>"
CACHED_EVENTS = 1 << 18


def tree_sequences(tokens: Sequence[str], heads: Sequence[int]) -> list[tuple[str, ...]]:
    """The root after its mark; then, head by head from the root down, the marked head with each side's dependents.

    tree_sequences(["the", "dog", "barks"], [1, 2, ROOT]) is, with ~ for the thin space,
    [(~↓, barks), (barks~←, dog), (barks~→,), (dog~←, the), (dog~→,), (the~←,), (the~→,)]
    """
    if len(tokens) != len(heads):
        raise InputError(f"found {len(heads)} heads for {len(tokens)} tokens")
    if not tokens:
        return []
    left: list[list[int]] = [[] for _ in tokens]
    right: list[list[int]] = [[] for _ in tokens]
    reached = [place for place, head in enumerate(heads) if head == ROOT]
    for place, head in enumerate(heads):
        if head != ROOT and 0 <= head < len(tokens):
            (left if place < head else right)[head].append(place)
    if len(reached) != 1:
        raise InputError(f"found {len(reached)} roots in {' '.join(tokens)!r:.60}; a tree has one")
    sequences: list[tuple[str, ...]] = [(TOP, tokens[reached[0]])]
    for head in reached:  # it grows by the dependents
        for mark, places in ((LEFT, left[head][::-1]), (RIGHT, right[head])):
            sequences.append((tokens[head] + mark, *[tokens[place] for place in places]))
            reached += places
    if len(reached) != len(tokens):
        raise InputError(f"found heads that are no tree over {' '.join(tokens)!r:.60}")
    return sequences


def estimate_dependency_model(
    parses: Iterable[Parsed],
    path: str | os.PathLike[str],
    *,
    order: int = 3,
    memory: str | int = "2G",
    normalisation: Normalisation,
    parser: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write the model of these trees as the folder `path`; `progress` is told the name of each step as it begins."""
    target = _check_target(path, order)
    marks: set[str] = {TOP}
    counts = {"sentences": 0, "tokens": 0}

    def sequences() -> Iterator[tuple[str, ...]]:
        for tokens, heads in parses:
            counts["sentences"] += 1
            counts["tokens"] += len(tokens)
            for sequence in tree_sequences(tokens, heads):
                marks.add(sequence[0])
                yield sequence

    try:
        with scratch_folder(target) as scratch:
            new, old = scratch / "new", scratch / "old"
            new.mkdir()
            file = new / SEQUENCES
            estimate_model(
                sequences(), file, order=order, memory=memory, normalisation=normalisation, progress=progress
            )
            model = load_model(file)
            made = {"order": order, "normalisation": normalisation.to_json(), "parser": parser, **counts}
            mass = math.fsum(math.exp(-model.score([mark], bos=False, eos=False)) for mark in marks)
            about = {"format": FORMAT, "version": VERSION, "gyro": __version__, "signature": model.signature}
            write_json(new / FACTS, {**made, **about, "mark mass": mass})
            if target.exists():
                os.replace(target, old)
            os.replace(new, target)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=target) from error


def train_dependency_model(
    sentences: Iterable[Sequence[str]],
    path: str | os.PathLike[str],
    *,
    order: int = 3,
    memory: str | int = "2G",
    normalisation: Normalisation,
    jobs: int = 1,
    remote: RemotePool | None = None,
    parsed: Callable[[int], None] | None = None,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Parse the sentences with spaCy in `jobs` processes or in `remote` ones, and write their model as a folder.

    Until it is there, PATH.parts holds the parses: the same call goes on from them. `parsed` gets numbers of sentences.
    """
    target = _check_target(path, order)
    find_program("lmplz")  # raises here when lmplz is not installed, not after hours of parsing
    parts = Path(f"{target}.parts")
    blocks = parse_corpus(sentences, parts, normalisation=normalisation, jobs=jobs, remote=remote, progress=parsed)
    estimate_dependency_model(
        read_parses(blocks),
        target,
        order=order,
        memory=memory,
        normalisation=normalisation,
        parser=parser_name(),
        progress=progress,
    )
    shutil.rmtree(parts)


def _check_target(path: str | os.PathLike[str], order: int) -> Path:
    if not LOWEST_ORDER <= order <= HIGHEST_ORDER:
        raise InputError(f"found order {order}; KenLM has models of order {LOWEST_ORDER} to {HIGHEST_ORDER}")
    target = Path(path)
    if target.exists() and not (target / FACTS).exists():
        raise InputError(
            "there is something else under this name; another name, or an older model is allowed", path=path
        )
    return target


class DependencyModel:
    """A model in a folder.

    model = load_dependency_model("news.dep")
    model.score("the dog barks".split(), (1, 2, ROOT))  # natural-log cost of the tree
    """

    def __init__(self, path: Path, sequences: KenlmModel, mark_mass: float, parser: str | None) -> None:
        self.path = path
        self.parser = parser
        self.normalisation = sequences.normalisation
        self.signature = sequences.signature
        self.order = sequences.order
        self._sequences = sequences
        self._event_cost = lru_cache(CACHED_EVENTS)(self._find_event_cost)
        # p(any mark | context) by p(TOP | context): both are the context's back-off weight times a unigram probability
        self._marks_by_top = mark_mass * math.exp(sequences.score([TOP], bos=False, eos=False))

    def __repr__(self) -> str:
        return f"DependencyModel({str(self.path)!r}, order {self.order})"

    def verify(self) -> None:
        """Compare the model with the checksum of its making."""
        self._sequences.verify()

    def score(self, tokens: Sequence[str], heads: Sequence[int]) -> float:
        """The cost of a tree: of its root, and of every head's dependents and ends on both sides."""
        return sum(map(self._sequence_cost, tree_sequences(tokens, heads)))

    def _sequence_cost(self, sequence: tuple[str, ...]) -> float:
        """The cost of all but the mark in front. Nothing can follow the root, so that its end costs nothing."""
        words = sequence if sequence[0] == TOP else (*sequence, END)
        longest = self.order - 1
        return sum(self._event_cost(words[max(0, at - longest) : at], words[at]) for at in range(1, len(words)))

    def _find_event_cost(self, context: tuple[str, ...], word: str) -> float:
        """-log p(word | context), without what lmplz leaves for what cannot follow."""
        starts = context[0].endswith((LEFT, RIGHT, TOP))
        before = self._sequences.score(context, bos=starts, eos=False)
        cost, top, end = (
            self._sequences.score([*context, w], bos=starts, eos=False) - before for w in (word, TOP, END)
        )
        impossible = self._marks_by_top * math.exp(-top)
        if context == (TOP,):
            impossible += math.exp(-end)  # there is always a root
        return cost + math.log1p(-impossible)


def load_dependency_model(path: str | os.PathLike[str]) -> DependencyModel:
    """Open a model that `gyro dependency-lm` made."""
    folder = Path(path)
    if not (folder / FACTS).is_file():
        found = "a file" if folder.is_file() else "a folder of another kind" if folder.is_dir() else "nothing"
        raise InputError(f"found {found}; a model that gyro dependency-lm made is allowed", path=path)
    facts = _read_facts(folder / FACTS)
    sequences = load_model(folder / SEQUENCES)
    if (sequences.signature, sequences.order) != (facts["signature"], facts["order"]):
        raise InputError(f"does not belong to {SEQUENCES} beside it; estimate the model again", path=folder / FACTS)
    return DependencyModel(folder, sequences, facts["mark mass"], facts.get("parser"))


def _read_facts(path: Path) -> dict[str, Any]:
    facts = read_json(path)
    for key, allowed in (("format", FORMAT), ("version", VERSION)):
        if facts.get(key) != allowed:
            raise InputError(f"found {key} {facts.get(key)!r:.40}; {allowed!r} is allowed", path=path)
    kinds = {"signature": str, "order": int, "parser": str | None}
    for key, kind in kinds.items():
        if not isinstance(facts.get(key), kind):
            raise InputError(f"found the {key} {facts.get(key)!r:.40}; estimate the model again", path=path)
    mass = facts.get("mark mass")
    if not isinstance(mass, float) or not 0 < mass < 1:
        raise InputError(f"found the mark mass {mass!r:.40}; a number between 0 and 1 is allowed", path=path)
    return facts
