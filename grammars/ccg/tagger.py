"""A multi-tagger for CCG: the likely categories of each word of a sentence, after Clark and Curran (2007).

MultiTagger   gives each word its categories, as many as a probability cut-off β lets through
train_tagger  derivations → tagger
load_tagger   the tagger of a folder that `MultiTagger.save` wrote
features_of   the features of the words of a sentence, as hashes

The model is log-linear: the probability of a category is proportional to the exponential of the sum of the weights of
(feature, category) pairs, among the categories that the lexicon has for the word or its part of speech. All weights are
in one table; a pair's place is the feature's hash plus the number of the category, modulo the size. There are no
features of the neighbours' categories, so that each word stands for itself.

A folder has weights.npz, and tagger.json with format, version, settings, lexicon and the SHA-256 of the weights.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammars.ccg.derivation import Derivation, leaves
from grammars.ccg.lexicon import Lexicon
from gyro.array_file import read_arrays
from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json

FORMAT, VERSION = "gyro CCG multi-tagger", 1
BITS = 22  # of the places in the table: 16 MiB of weights
RATE, PENALTY = 0.05, 1e-5  # AdaGrad's step, and the L2 penalty on the weights that an example touches
MINIMUM_COUNT = 3  # a feature seen less often in training gets no weight
AFFIX = 4
OUTSIDE = "<>"  # stands for words and tags beyond the ends of a sentence

Weights = NDArray[np.float32]
Features = NDArray[np.uint32]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class MultiTagger:
    """The lexicon that names candidates, and the weights that judge them."""

    lexicon: Lexicon
    weights: Weights

    def tag(self, words: Sequence[str], pos: Sequence[str], beta: float) -> list[list[tuple[str, float]]]:
        """For each word the categories at least β times as probable as its best one, with probabilities, best first.

        >>> from grammars.ccg.derivation import parse_auto
        >>> tree = parse_auto("(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L N NN NN cat N>) )")
        >>> train_tagger([tree], epochs=1, seed=0).tag(["the"], ["DT"], 0.075)
        [[('NP[nb]/N', 1.0)]]
        """
        if not 0 <= beta <= 1:
            raise InputError(f"found β = {beta}; 0 to 1 is allowed")
        if len(words) != len(pos):
            raise InputError(f"found {len(pos)} parts of speech for {len(words)} words; one each is allowed")
        if not words:
            return []
        starts, candidates = self._candidates(words, pos)
        probabilities = _probabilities(self.weights, features_of(words, pos), starts, candidates)
        tagged = []
        for start, end in pairwise(starts.tolist()):
            pairs = zip(candidates[start:end].tolist(), probabilities[start:end].tolist(), strict=True)
            ranked = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
            tagged.append([(self.lexicon.categories[c], p) for c, p in ranked if p >= beta * ranked[0][1]])
        return tagged

    def _candidates(self, words: Sequence[str], pos: Sequence[str]) -> tuple[Places, Places]:
        """The numbers of the candidate categories of all words, one after the other, and where each word's start."""
        lists = [self._numbers_of(word, tag) for word, tag in zip(words, pos, strict=True)]
        return np.cumsum([0, *map(len, lists)]), np.concatenate(lists)

    def _numbers_of(self, word: str, tag: str) -> Places:
        key = (word, "") if word in self.lexicon.words else ("", tag)  # so that rare words share what is kept
        if key not in self._kept:
            numbers = sorted(self._number[category] for category in self.lexicon.categories_of(word, tag))
            self._kept[key] = np.array(numbers, np.int64)
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[tuple[str, str], Places]:
        return {}

    @cached_property
    def _number(self) -> dict[str, int]:
        return {category: number for number, category in enumerate(self.lexicon.categories)}

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the tagger into a folder; tagger.json comes last, so that half a tagger is not taken for one."""
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=path) from error
        with write_atomically(path / "weights.npz") as file:
            np.savez_compressed(file, weights=self.weights)
        settings = {"format": FORMAT, "version": VERSION, "sha256": _checksum(self.weights)}
        write_json(path / "tagger.json", {**settings, "lexicon": self.lexicon.to_json()})


def load_tagger(folder: str | PathLike[str]) -> MultiTagger:
    """Read what `MultiTagger.save` wrote."""
    path = Path(folder)
    settings = read_json(path / "tagger.json")
    if (settings.get("format"), settings.get("version")) != (FORMAT, VERSION):
        found = f"{settings.get('format')!r:.40} version {settings.get('version')!r:.10}"
        raise InputError(f"found {found}; {FORMAT!r} version {VERSION} is allowed", path=path / "tagger.json")
    (weights,) = read_arrays(path / "weights.npz", "the weights of a tagger", weights=np.float32)
    if _checksum(weights) != settings.get("sha256"):
        raise InputError("these are not the weights that tagger.json was written with", path=path / "weights.npz")
    try:
        return MultiTagger(Lexicon.from_json(settings.get("lexicon")), weights)
    except InputError as error:
        raise InputError(str(error), path=path / "tagger.json") from error


def _checksum(weights: Weights) -> str:
    return hashlib.sha256(weights.tobytes()).hexdigest()


def train_tagger(
    derivations: Iterable[Derivation], *, epochs: int = 6, seed: int = 0, cutoff: int = 20, bits: int = BITS
) -> MultiTagger:
    """Fit the weights to the leaves of derivations by AdaGrad; the same seed gives the same tagger."""
    sentences = [leaves(derivation) for derivation in derivations]
    if not sentences:
        raise InputError("found no derivations to train a tagger on; one at least is wanted")
    lexicon = Lexicon.from_leaves((leaf for sentence in sentences for leaf in sentence), cutoff)
    tagger = MultiTagger(lexicon, np.zeros(1 << bits, np.float32))
    words = [[leaf.word for leaf in sentence] for sentence in sentences]
    tags = [[leaf.pos for leaf in sentence] for sentence in sentences]
    features = np.concatenate([features_of(*pair) for pair in zip(words, tags, strict=True)])
    starts, candidates = tagger._candidates(list(chain(*words)), list(chain(*tags)))
    gold = np.array([tagger._number[leaf.category] for sentence in sentences for leaf in sentence])
    squares = np.zeros_like(tagger.weights)
    used = _is_frequent(features)
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(len(gold))
        _learn(tagger.weights, squares, features, used, starts, candidates, gold, order, RATE, PENALTY)
    return tagger


def _is_frequent(features: Features) -> NDArray[np.bool_]:
    _, places, counts = np.unique(features, return_inverse=True, return_counts=True)
    frequent: NDArray[np.bool_] = (counts >= MINIMUM_COUNT)[places.reshape(features.shape)]
    return frequent


def features_of(words: Sequence[str], pos: Sequence[str]) -> Features:
    """A row of hashes for each word: words and tags up to two places away, some pairs of them, affixes and shape.

    >>> a, b = features_of(["the", "cat"], ["DT", "NN"]), features_of(["the", "dog"], ["DT", "NN"])
    >>> a.shape == b.shape, int((a[0] != b[0]).sum())  # the next word, and the pair with it
    (True, 2)
    """
    w, p = ([OUTSIDE] * 2 + list(row) + [OUTSIDE] * 2 for row in (words, pos))
    rows = []
    for i in range(2, len(words) + 2):
        context = [
            *(f"{name}{row[i + distance]}" for name, row in (("w", w), ("p", p)) for distance in (-2, -1, 0, 1, 2)),
            f"{w[i - 1]} {w[i]}",
            f"{w[i]} {w[i + 1]}",
            *(f"{p[i + a]} {p[i + b]}" for a, b in ((-2, -1), (-1, 0), (0, 1), (1, 2), (-1, 1))),
            f"{p[i - 1]} {p[i]} {p[i + 1]}",
            f"{p[i - 2]} {p[i - 1]} {p[i]}",
            f"{p[i]} {p[i + 1]} {p[i + 2]}",
        ]
        # The template's number goes into the hash, so that equal texts of two templates are two features.
        rows.append([_hash(text, number) for number, text in enumerate(context)] + _inner_features(w[i]))
    return np.array(rows, np.uint32)


@lru_cache(maxsize=1 << 16)
def _inner_features(word: str) -> list[int]:
    """The features of the word itself: affixes, shape, and one that every word has."""
    lower = word.lower()
    affixes = [piece for n in range(1, AFFIX + 1) for piece in (lower[:n], lower[-n:])]
    shape = "".join("A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word)
    squeezed = "".join(c for c, before in zip(shape, " " + shape, strict=False) if c != before)
    return [_hash(text, 100 + number) for number, text in enumerate([*affixes, lower, squeezed, ""])]


def _hash(text: str, template: int) -> int:
    # A plain CRC of alike texts differs in few bits, and the low ones choose the place: multiply to mix them.
    return (zlib.crc32(text.encode(errors="surrogatepass"), template) * 0x9E3779B1 >> 7) & 0xFFFFFFFF


@compiled
def _place(feature: Any, category: Any, mask: Any) -> Any:
    return (np.int64(feature) + category) & mask


@compiled
def _softmax(weights: Any, row: Any, used: Any, candidates: Any, out: Any) -> None:
    """Fill `out` with the probabilities of the candidates."""
    mask = len(weights) - 1
    best = -np.inf
    for c in range(len(candidates)):
        score = 0.0
        for f in range(len(row)):
            if used[f]:
                score += weights[_place(row[f], candidates[c], mask)]
        out[c] = score
        best = max(best, score)
    total = 0.0
    for c in range(len(candidates)):
        out[c] = np.exp(out[c] - best)
        total += out[c]
    for c in range(len(candidates)):
        out[c] /= total


@compiled
def _probabilities(weights: Any, features: Any, starts: Any, candidates: Any) -> Any:
    out = np.empty(len(candidates))
    used = np.ones(features.shape[1], np.bool_)
    for i in range(len(features)):
        start, end = starts[i], starts[i + 1]
        _softmax(weights, features[i], used, candidates[start:end], out[start:end])
    return out


@compiled
def _learn(
    weights: Any,
    squares: Any,
    features: Any,
    used: Any,
    starts: Any,
    candidates: Any,
    gold: Any,
    order: Any,
    rate: Any,
    penalty: Any,
) -> None:
    """One pass of AdaGrad (Duchi et al. 2011) over the words in the given order."""
    mask = len(weights) - 1
    for i in order:
        those = candidates[starts[i] : starts[i + 1]]
        if len(those) == 1:
            continue
        out = np.empty(len(those))
        _softmax(weights, features[i], used[i], those, out)
        for c in range(len(those)):
            error = out[c] - (1.0 if those[c] == gold[i] else 0.0)
            if abs(error) < 1e-5:
                continue
            for f in range(features.shape[1]):
                if used[i, f]:
                    place = _place(features[i, f], those[c], mask)
                    slope = error + penalty * weights[place]
                    squares[place] += slope * slope
                    weights[place] -= rate * slope / np.sqrt(squares[place])
