"""A pretrained model that scores whole strings of words.

load_neural_model  open a GGUF file, a Hugging Face folder, or `default`, the embedded model
NeuralModel        costs of strings, each shared beginning computed once
batches            strings of pieces that are scored together
string_costs       of the strings of a trie
word_bounds        which pieces of a text are of which word

A string of tokens becomes natural text first (gyro.text.detokenise) and is scored whole, with the end of the text, for
the pieces of a word depend on its neighbours. What else is in a batch changes no bit of a cost, in either precision, as
long as strings have at most LONGEST_ALIKE pieces; costs are rounded to DIGITS, which hides what is left beyond that in
float32.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.text.detokenise import spaced
from lm.neural.checkpoint import open_checkpoint
from lm.neural.compiled import Engine, Precision, States, compiled_folder
from lm.neural.trie import Trie, make_trie
from lm.neural.weights import Checkpoint

DIGITS = 3  # behind the point of a cost
LONGEST_ALIKE = 224  # pieces: the runtime still sums up a block's 256 keys in one go
MOST_NODES = 1024  # of a batch, about

Tokens = Sequence[str]


class NeuralModel:
    """A model. `exact` costs are of float32; the others of eight bits, three times as fast and off by a nat or so.

    model = load_neural_model("default")
    model.costs([["the", "cat", "sat", "."], ["cat", "the", "sat", "."]])
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.signature = checkpoint.signature
        self._folder = compiled_folder(checkpoint)
        self._engines: dict[Precision, Engine] = {}

    def __repr__(self) -> str:
        shape = self.checkpoint.shape
        return f"NeuralModel({str(self.checkpoint.path)!r}, {shape.family}, {shape.layers} layers of {shape.width})"

    def load(self) -> None:
        """Load what is loaded at its first use: once, before worker processes are forked."""
        for exact in (True, False):
            self.costs([["a"]], exact=exact)

    def engine(self, exact: bool) -> Engine:
        precision: Precision = "f32" if exact else "int8"
        if precision not in self._engines:
            self._engines[precision] = Engine(self._folder, precision, self.checkpoint.shape)
        return self._engines[precision]

    def costs(self, strings: Sequence[Tokens], *, exact: bool = True) -> NDArray[np.float64]:
        """The cost of each string with its end."""
        return self.count_costs(strings, exact=exact)[0]

    def count_costs(self, strings: Sequence[Tokens], *, exact: bool = True) -> tuple[NDArray[np.float64], int]:
        """The same, and how many pieces were computed."""
        pieces = [ids for ids, _ in self.encode(["".join(spaced(tokens)) for tokens in strings])]
        engine = self.engine(exact)
        costs, computed = np.zeros(len(strings)), 0
        for some in batches(pieces):
            trie = make_trie([pieces[i] for i in some])
            costs[some] = string_costs(engine, trie, engine.compute(trie), self.checkpoint.end)
            computed += len(trie)
        return np.round(costs, DIGITS), computed

    def word_costs(self, strings: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """What each word of a string costs behind those before it, and last its end: the cost of the string in parts.

        A piece that goes on into the next word is counted there.
        """
        texts = [spaced(tokens) for tokens in strings]
        encoded = self.encode(["".join(text) for text in texts])
        engine, end = self.engine(exact=True), self.checkpoint.end
        found = [np.zeros(0)] * len(strings)
        for some in batches([ids for ids, _ in encoded]):
            trie = make_trie([encoded[i][0] for i in some])
            states = engine.compute(trie)
            new = engine.costs(states, trie.parent[trie.kept :], trie.piece)
            own = np.concatenate([np.zeros(trie.kept), new])
            last = trie.node[trie.first[1:] - 1]
            ends = engine.costs(states, last, np.full(len(last), end))
            for place, i in enumerate(some):
                sums = np.cumsum(own[trie.path(place)])
                bounds = [*word_bounds(texts[i], encoded[i][1])[:-1], len(sums) - 1]
                found[i] = np.append(np.diff(sums[bounds]), ends[place])
        return found

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Pieces of texts and where they end; a text that is too long for the model is refused."""
        encoded = self.checkpoint.tokenizer.encode(texts)
        longest = self.checkpoint.shape.longest - 2  # with start and end
        for text, (pieces, _) in zip(texts, encoded, strict=True):
            if len(pieces) > longest:
                found = f"found a string of {len(pieces)} pieces, {text!r:.60}"
                raise InputError(f"{found}; the model takes at most {longest}", path=self.checkpoint.path)
        return encoded

    def encode_behind(self, before: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text behind another; where a piece would cross from one into the other, of the text alone.

        A blank at the very beginning may be dropped, or one added: so a text is cut where it stands.
        """
        alone = self.encode(texts)
        whole = self.encode([first + text for first, text in zip(before, texts, strict=True)])
        found = []
        for first, (bare, _), (pieces, ends) in zip(before, alone, whole, strict=True):
            bound = bisect_right(ends, len(first))
            found.append(pieces[bound:] if bound and ends[bound - 1] == len(first) else bare)
        return found


def load_neural_model(name: str | PathLike[str]) -> NeuralModel:
    """Open a model by its path, or the embedded one as `default`; the first time, its graphs are written."""
    return NeuralModel(open_checkpoint(name))


def batches(pieces: Sequence[list[int]]) -> Iterator[list[int]]:
    """The numbers of strings that are scored together: neighbours in sorted order, which share most."""
    some: list[int] = []
    nodes, before = 0, list[int]()
    for number in sorted(range(len(pieces)), key=lambda i: pieces[i]):
        new = len(pieces[number]) - _shared(pieces[number], before)
        if some and nodes + new > MOST_NODES:
            yield some
            some, nodes, new = [], 0, len(pieces[number])
        some.append(number)
        nodes, before = nodes + new, pieces[number]
    if some:
        yield some


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    for place, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return place
    return min(len(a), len(b))


def string_costs(engine: Engine, trie: Trie, states: States, end: int) -> NDArray[np.float64]:
    """The cost of each string of a trie with its end; what strings share is looked up once."""
    below = np.zeros(len(trie.parent))
    new = trie.parent[trie.kept :]
    below[trie.kept :] = engine.costs(states, new, trie.piece)
    for node in range(trie.kept, len(below)):  # parents come before their children
        below[node] += below[trie.parent[node]]
    last = trie.node[trie.first[1:] - 1]
    return np.asarray(below[last] + engine.costs(states, last, np.full(len(last), end)))


def word_bounds(text: Sequence[str], ends: Sequence[int]) -> list[int]:
    """How many pieces are behind one after none, one, two … words; one that crosses into the next word is not.

    >>> word_bounds(["The", " dog", "s"], [3, 7, 8])
    [0, 1, 2, 3]
    """
    bounds, place, at = [0], 0, 0
    for word in text:
        at += len(word)
        while place < len(ends) and ends[place] <= at:
            place += 1
        bounds.append(place)
    return bounds
