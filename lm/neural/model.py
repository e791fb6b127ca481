"""A pretrained model that scores whole strings of words.

load_neural_model  open a GGUF file, a Hugging Face folder, or `default`, the embedded model
NeuralModel        costs of strings, each shared beginning computed once
BagScorer          the strings of one bag, with what the model says of the words that may follow their beginnings
Scored             what a scorer says of some strings
Prefixes           beginnings whose states are kept, to be extended by words

A string of tokens becomes natural text first (gyro.text.detokenise) and is scored whole, with the end of the text, for
the pieces of a word depend on its neighbours. What else is in a batch changes no bit of a cost, in either precision, as
long as strings have at most LONGEST_ALIKE pieces; costs are rounded to DIGITS, which hides what is left beyond that in
float32.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.text.detokenise import Glue, glue, spaced, written
from lm.neural.checkpoint import open_checkpoint
from lm.neural.compiled import Engine, Precision, States, compiled_folder
from lm.neural.trie import Trie, make_trie
from lm.neural.weights import Checkpoint

DIGITS = 3  # behind the point of a cost
LONGEST_ALIKE = 224  # pieces: the runtime still sums up a block's 256 keys in one go
MOST_NODES = 1024  # of a batch, about

Tokens = Sequence[str]
Numbers = tuple[int, ...]


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
        for some in _batches(pieces):
            trie = make_trie([pieces[i] for i in some])
            costs[some] = _string_costs(engine, trie, engine.compute(trie), self.checkpoint.end)
            computed += len(trie)
        return np.round(costs, DIGITS), computed

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Pieces of texts and where they end; a text that is too long for the model is refused."""
        encoded = self.checkpoint.tokenizer.encode(texts)
        longest = self.checkpoint.shape.longest - 2  # with start and end
        for text, (pieces, _) in zip(texts, encoded, strict=True):
            if len(pieces) > longest:
                found = f"found a string of {len(pieces)} pieces, {text!r:.60}"
                raise InputError(f"{found}; the model takes at most {longest}", path=self.checkpoint.path)
        return encoded

    def scorer(self, words: Sequence[str]) -> BagScorer:
        """A scorer of strings over these distinct words."""
        return BagScorer(self, words)

    def prefixes(self, *, exact: bool = True) -> Prefixes:
        """Kept beginnings, none but the empty one yet."""
        return Prefixes(self, exact)


def load_neural_model(name: str | PathLike[str]) -> NeuralModel:
    """Open a model by its path, or the embedded one as `default`; the first time, its graphs are written."""
    return NeuralModel(open_checkpoint(name))


def _batches(pieces: Sequence[list[int]]) -> Iterator[list[int]]:
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


def _string_costs(engine: Engine, trie: Trie, states: States, end: int) -> NDArray[np.float64]:
    """The cost of each string of a trie with its end; what strings share is looked up once."""
    below = np.zeros(len(trie.parent))
    new = trie.parent[trie.kept :]
    below[trie.kept :] = engine.costs(states, new, trie.piece)
    for node in range(trie.kept, len(below)):  # parents come before their children
        below[node] += below[trie.parent[node]]
    last = trie.node[trie.first[1:] - 1]
    return np.asarray(below[last] + engine.costs(states, last, np.full(len(last), end)))


@dataclass(frozen=True)
class Scored:
    """`costs` of the strings; and for each of `prefixes`, beginnings that no string had before, a row of `next_cost`.

    A row has the cost of the first piece of each word, and of the end in its last column; NaN where a word is used up,
    or the end would come too early.
    """

    costs: NDArray[np.float64]
    prefixes: list[Numbers]
    next_cost: NDArray[np.float32]


class BagScorer:
    """Strings of word numbers over one bag, in eight bits; `decide` gives the costs of float32.

    `computed` counts the pieces that went through the model, whichever way: the measure of work.
    """

    def __init__(self, model: NeuralModel, words: Sequence[str]) -> None:
        self.model = model
        self.words = tuple(words)
        self.computed = 0
        self._seen: set[Numbers] = set()
        self._firsts = _FirstPieces(model, self.words)

    def decide(self, strings: Sequence[Numbers]) -> NDArray[np.float64]:
        """The costs in float32."""
        tokens = [[self.words[word] for word in string] for string in strings]
        costs, computed = self.model.count_costs(tokens)
        self.computed += computed
        return costs

    def score(self, strings: Sequence[Numbers]) -> Scored:
        """The costs in eight bits, and what the model says behind beginnings that were not seen before."""
        engine, end = self.model.engine(exact=False), self.model.checkpoint.end
        texts = [spaced([self.words[word] for word in string]) for string in strings]
        encoded = self.model.encode(["".join(text) for text in texts])
        pieces = [ids for ids, _ in encoded]
        costs = np.zeros(len(strings))
        prefixes: list[Numbers] = []
        rows = [np.empty((0, len(self.words) + 1), np.float32)]
        for some in _batches(pieces):
            trie = make_trie([pieces[i] for i in some])
            states = engine.compute(trie)
            self.computed += len(trie)
            costs[some] = _string_costs(engine, trie, states, end)
            new: dict[Numbers, int] = {}
            for place, i in enumerate(some):
                path, bounds = trie.path(place), _word_bounds(texts[i], encoded[i][1])
                for length, bound in enumerate(bounds):
                    prefix = strings[i][:length]
                    if prefix not in self._seen:
                        self._seen.add(prefix)
                        new[prefix] = int(path[bound])
            whole = len(strings[some[0]])
            prefixes += new
            rows.append(self._next_costs(engine, states, new, strings[some[0]], whole))
        return Scored(np.round(costs, DIGITS), prefixes, np.concatenate(rows))

    def _next_costs(
        self, engine: Engine, states: States, new: dict[Numbers, int], string: Numbers, whole: int
    ) -> NDArray[np.float32]:
        """A row for each new beginning; all strings have the words of the first."""
        nodes = np.fromiter(new.values(), np.int64, len(new))
        firsts = self._firsts
        count = len(self.words)
        table = engine.table(states, nodes, firsts.pieces)
        first, glued, behind, ends = np.split(table, [count, 2 * count, 3 * count], axis=1)
        left = np.bincount(string, minlength=count)
        rows = np.full((len(new), count + 1), np.nan, np.float32)
        for row, prefix in enumerate(new):
            if prefix:
                after = firsts.after(prefix[-1])
                either = np.minimum(glued[row], behind[row])
                cost = np.where(after == Glue.BLANK, behind[row], np.where(after == Glue.NONE, glued[row], either))
            else:
                cost = first[row]
            cost = np.where(firsts.silent, 0, cost)
            free = left > np.bincount(prefix, minlength=count) if prefix else left > 0
            rows[row, :count][free] = cost[free]
            if len(prefix) == whole:
                rows[row, count] = ends[row, 0]
        return rows


class _FirstPieces:
    """The first piece of each word of a bag: at the beginning, glued to another word, behind a blank; and the end.

    A word of control characters may have no piece: the end stands in its place, and `silent` says so.
    """

    def __init__(self, model: NeuralModel, words: Sequence[str]) -> None:
        texts = [written(word) for word in words]
        first = [ids for ids, _ in model.encode(texts)]
        before = ["0"] * len(texts)  # few pieces go on behind a digit
        glued, behind = (_pieces_behind(model, before, [blank + text for text in texts]) for blank in ("", " "))
        end = model.checkpoint.end
        self.pieces = np.array([*(ids[0] if ids else end for ids in (*first, *glued, *behind)), end], np.int64)
        self.silent = np.array([not ids for ids in first], bool)
        self._words = words
        self._glue: dict[int, NDArray[np.int8]] = {}

    def after(self, before: int) -> NDArray[np.int8]:
        """For each word whether a blank stands before it behind this one."""
        if before not in self._glue:
            self._glue[before] = np.array([glue(self._words[before], each) for each in self._words], np.int8)
        return self._glue[before]


def _pieces_behind(model: NeuralModel, before: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
    """The pieces of each text behind another one; where a piece would cross from one into the other, of the text alone.

    A blank at the very beginning may be dropped, or one added: so a text is cut where it stands.
    """
    alone = model.encode(texts)
    whole = model.encode([first + text for first, text in zip(before, texts, strict=True)])
    found = []
    for first, (bare, _), (pieces, ends) in zip(before, alone, whole, strict=True):
        bound = bisect_right(ends, len(first))
        found.append(pieces[bound:] if bound and ends[bound - 1] == len(first) else bare)
    return found


def _word_bounds(text: Sequence[str], ends: Sequence[int]) -> list[int]:
    """How many pieces are behind one after none, one, two … words; one that crosses into the next word is not.

    >>> _word_bounds(["The", " dog", "s"], [3, 7, 8])
    [0, 1, 2, 3]
    """
    bounds, place, at = [0], 0, 0
    for word in text:
        at += len(word)
        while place < len(ends) and ends[place] <= at:
            place += 1
        bounds.append(place)
    return bounds


class Prefixes:
    """Beginnings of strings whose states are kept: extending one by a word computes that word's pieces alone.

    prefixes = model.prefixes()
    [the], [cost] = prefixes.extend([0], [["the"]])   # 0 is the empty beginning
    [the_cat], [cost] = prefixes.extend([the], [["cat"]])

    The words of an extension are spaced among themselves; a blank stands before them but at the beginning of a string
    and where detokenising glues the first of them to the last word of the beginning.
    """

    def __init__(self, model: NeuralModel, exact: bool) -> None:
        self._model = model
        self._engine = model.engine(exact)
        self._states = self._engine.start
        self._parent, self._depth = np.full(1, -1, np.int64), np.zeros(1, np.int64)
        self._node = [0]  # of each beginning
        self._cost = [0.0]
        self._last: list[str | None] = [None]

    def __len__(self) -> int:
        return len(self._node)

    def extend(self, numbers: Sequence[int], words: Sequence[Tokens]) -> tuple[list[int], NDArray[np.float64]]:
        """Extend beginnings, each by some words: the numbers of the new ones, and their whole costs, without an end."""
        before = [self._last[number] for number in numbers]
        texts = []
        for last, tokens in zip(before, words, strict=True):
            blank = last is not None and glue(last, tokens[0]) is not Glue.NONE
            texts.append(" " * blank + "".join(spaced(tokens)))
        pieces = _pieces_behind(self._model, ["" if last is None else written(last) for last in before], texts)
        roots = np.array([self._node[number] for number in numbers], np.int64)
        trie = make_trie(pieces, roots, self._parent, self._depth)
        states = self._engine.compute(trie, self._states)
        spent = np.zeros(len(trie.parent))
        spent[trie.kept :] = self._engine.costs(states, trie.parent[trie.kept :], trie.piece)
        made = []
        for place, (number, tokens) in enumerate(zip(numbers, words, strict=True)):
            path = trie.path(place)
            made.append(len(self._node))
            self._node.append(int(path[-1]))
            self._cost.append(self._cost[number] + float(spent[path[1:]].sum()))
            self._last.append(tokens[-1])
        self._states = replace(
            states,
            keys=np.concatenate([self._states.keys, states.keys], axis=1),
            values=np.concatenate([self._states.values, states.values], axis=1),
        )
        self._parent = trie.parent
        self._depth = np.concatenate([self._depth, trie.depth])
        return made, np.round([self._cost[number] for number in made], DIGITS)

    def end_costs(self, numbers: Sequence[int]) -> NDArray[np.float64]:
        """What these beginnings cost as whole strings, with the end."""
        nodes = np.array([self._node[number] for number in numbers], np.int64)
        end = self._engine.costs(self._states, nodes, np.full(len(nodes), self._model.checkpoint.end))
        return np.round(np.array([self._cost[number] for number in numbers]) + end, DIGITS)

    @cached_property
    def bytes_a_piece(self) -> int:
        """What is kept of each piece."""
        shape = self._model.checkpoint.shape
        return 4 * (2 * shape.layers * shape.key_heads * shape.head_width + shape.width + 1)
