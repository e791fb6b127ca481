"""The probabilities of Wan et al. (2009), equations 1, 2, 5 and 6, from counts; a model is a folder of plain files.

WanSettings       what a model was trained on
WanModel          counts with what they are of; the costs of the arcs and arguments of a bag
BagCosts          these costs
train_model       count treebanks
write_wan_model   write a model; read_wan_model reads it, and refuses files that are damaged

The folder: model.json (settings, signature, facts), vocabulary.json (tags, words, which tags words have), counts.npz.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.learning.model_folder import MODEL, ModelFormat, read_head
from comparison.learning.sampling import draw
from comparison.learning.tag_dictionary import TagDictionary
from comparison.wan.count import MOST_ARGUMENTS, ROOT_SYMBOL, SIDES, Counts, Keys, Symbols, count_events
from comparison.wan.vertex import Vertex, tree_vertices
from grammars.conllu import is_usable, read_conllu
from gyro.array_file import read_arrays
from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json
from gyro.version import __version__

VOCABULARY, COUNTS = "vocabulary.json", "counts.npz"
FLOOR = 1e-10  # of every probability, so that each order has a finite cost
FLOOR_COST = -math.log(FLOOR)
LEAST_SEEN = 1  # a word that was seen less often has the argument counts of its tag

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class WanSettings:
    """What was counted: which tags, and whether base noun phrases are one vertex each."""

    tags: Literal["xpos", "upos"] = "xpos"
    units: bool = True


FORMAT: ModelFormat[WanSettings] = ModelFormat("gyro wan model", 1, WanSettings)


class BagCosts(NamedTuple):
    """Costs −log p over vertices, 0 being the root: arcs[u, v, d] of the arc from head u to modifier v that stands on
    side d, arguments[u, d, j] of one more modifier there when u has j (the last column for all beyond)."""

    arcs: Costs
    arguments: Costs


@dataclass(frozen=True)
class WanModel:
    """Counts of dependency events."""

    settings: WanSettings
    symbols: Symbols
    counts: Counts
    tagger: TagDictionary
    signature: str = ""

    def costs(self, vertices: Sequence[Vertex]) -> BagCosts:
        """The costs of all arcs and arguments of a bag."""
        words, tags = (np.concatenate([[ROOT_SYMBOL], found]) for found in self.symbols.numbers(vertices))
        counts = self.counts
        pairs, arcs = (counts.pair_keys, counts.pair_counts), (counts.arc_keys, counts.arc_counts)
        return BagCosts(_arc_costs(words, tags, self.symbols.size, pairs, arcs), self._argument_costs(words, tags))

    def _argument_costs(self, words: Keys, tags: Keys) -> Costs:
        table = self._argument_table
        known_word = (words >= 0) & (self._heads_seen[words] >= LEAST_SEEN)
        symbols = np.where(known_word, words, tags)
        costs: Costs = np.where((symbols >= 0)[:, None, None], table[symbols], FLOOR_COST)
        return costs

    @cached_property
    def _heads_seen(self) -> Keys:
        seen: Keys = self.counts.arguments[:, 0, :].sum(axis=1, dtype=np.int64)
        return seen

    @cached_property
    def _argument_table(self) -> Costs:
        """Equation 6 for all symbols: the share of heads that have more than j modifiers, but no more than 7."""
        counts = self.counts.arguments
        more = counts[:, :, MOST_ARGUMENTS:0:-1].cumsum(axis=2)[:, :, ::-1]
        shares = more / np.maximum(self._heads_seen, 1)[:, None, None]
        floor = np.full((*shares.shape[:2], 1), FLOOR)
        table: Costs = -np.log(np.maximum(np.concatenate([shares, floor], axis=2), FLOOR))
        return table


@compiled
def _arc_costs(words: Any, tags: Any, size: Any, pairs: Any, arcs: Any) -> Any:
    """Equations 1 and 2 for numbers of words and tags, with the back-off of Collins (1996)."""
    count = words.shape[0]
    cost = np.zeros((count, count, 2))
    for u in range(count):
        for v in range(count):
            whole = _pairs_seen(words[u], words[v], size, pairs)
            half = _pairs_seen(words[u], tags[v], size, pairs) + _pairs_seen(tags[u], words[v], size, pairs)
            part = _pairs_seen(tags[u], tags[v], size, pairs) if whole == 0 else 0
            for side in SIDES:
                if whole > 0:
                    estimate = _arcs_seen(words[u], words[v], side, size, arcs) / whole
                    weight = whole / (whole + 1)
                else:
                    estimate = _arcs_seen(tags[u], tags[v], side, size, arcs) / max(part, 1)
                    weight = 1 / (half + 1)
                if half > 0:
                    mixed = _arcs_seen(words[u], tags[v], side, size, arcs)
                    mixed += _arcs_seen(tags[u], words[v], side, size, arcs)
                    estimate = weight * estimate + (1 - weight) * mixed / half
                cost[u, v, side] = -np.log(max(estimate, FLOOR))
    return cost


@compiled
def _pairs_seen(above: Any, below: Any, size: Any, pairs: Any) -> Any:
    low, high = min(above, below), max(above, below)
    return np.int64(0) if low < 0 else _look_up(pairs, low * size + high)


@compiled
def _arcs_seen(above: Any, below: Any, side: Any, size: Any, arcs: Any) -> Any:
    return np.int64(0) if above < 0 or below < 0 else _look_up(arcs, (above * size + below) * 2 + side)


@compiled
def _look_up(table: Any, wanted: Any) -> Any:
    """The count of a key in sorted keys, 0 where it is not there."""
    keys, counts = table
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return np.int64(counts[low]) if low < keys.shape[0] and keys[low] == wanted else np.int64(0)


def train_model(
    paths: Sequence[str | os.PathLike[str]], settings: WanSettings, *, limit: int | None = None, seed: int = 0
) -> tuple[WanModel, dict[str, Any]]:
    """Count the trees of treebanks, crossing arcs or not; also what there is to tell of them.

    With a limit so many of the trees are drawn by the seed.
    """
    found = [tree for path in paths for tree in read_conllu(path)]
    kept = [tree for tree in found if is_usable(tree) and tree.tokens and None not in tree.heads]
    if not kept:
        raise InputError("found no tree to learn from; sentences with a head for each token are needed", path=paths[0])
    kept = draw(kept, limit, seed)
    trees = [tree_vertices(tree, tags=settings.tags, units=settings.units) for tree in kept]
    symbols, counts = count_events(trees)
    tagger = TagDictionary.from_words((t.form, getattr(t, settings.tags)) for tree in kept for t in tree.tokens)
    facts = {"trees": len(kept), "vertices": sum(len(tree.vertices) for tree in trees)}
    facts |= {"sentences": len(found), "tags": len(symbols.tags), "words": len(symbols.words)}
    return WanModel(settings, symbols, counts, tagger), facts


def write_wan_model(folder: str | os.PathLike[str], model: WanModel, facts: Mapping[str, Any]) -> str:
    """Write a model and return its signature."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    symbols = model.symbols
    words = {
        "forms": [form for form, _ in symbols.words],
        "form_tags": [symbols.tag_numbers[t] for _, t in symbols.words],
    }
    write_json(path / VOCABULARY, {"tags": symbols.tags, **words, "tagger": model.tagger.to_json()})
    arrays = {**model.counts._asdict(), "arguments": model.counts.arguments.ravel()}
    with write_atomically(path / COUNTS) as file:
        np.savez_compressed(file, **arrays)
    signature = _signature(list(arrays.values()), path / VOCABULARY, model.settings)
    made = {"format": FORMAT.name, "version": FORMAT.version, "gyro": __version__, "signature": signature}
    write_json(path / MODEL, {**made, "facts": dict(facts), "settings": asdict(model.settings)})
    return signature


def read_wan_model(folder: str | os.PathLike[str]) -> WanModel:
    """Read a model; files that are not those of its making are refused."""
    settings, signature = read_head(folder, FORMAT)
    path = Path(folder)
    types: dict[str, type[np.generic]] = dict.fromkeys(Counts._fields, np.int32)
    types |= {"pair_keys": np.int64, "arc_keys": np.int64}
    arrays = read_arrays(path / COUNTS, "the counts of a model", **types)
    value = read_json(path / VOCABULARY)
    if _signature(arrays, path / VOCABULARY, settings) != signature:
        raise InputError("counts, vocabulary and settings are not those that model.json was written with", path=folder)
    tags = tuple(value["tags"])
    symbols = Symbols(tags, [(f, tags[n - 1]) for f, n in zip(value["forms"], value["form_tags"], strict=True)])
    *keyed, arguments = arrays
    counts = Counts._make([*keyed, arguments.reshape(symbols.size, len(SIDES), MOST_ARGUMENTS + 2)])
    return WanModel(settings, symbols, counts, TagDictionary.from_json(value["tagger"]), signature)


def _signature(arrays: Sequence[NDArray[Any]], vocabulary: Path, settings: WanSettings) -> str:
    digest = hashlib.sha256(repr(sorted(asdict(settings).items())).encode())
    for array in arrays:
        digest.update(f"{array.size} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(vocabulary.read_bytes())
    return digest.hexdigest()[:12]
