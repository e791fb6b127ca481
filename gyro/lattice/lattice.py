"""Word lattices, and the one place that touches OpenFst.

Hypothesis  a string of tokens and its cost (gyro.lattice.strings)
Lattice     an acyclic acceptor of words with natural-log costs: best and n-best strings, pruning, joining,
            application of automata, files, drawings; no operation changes the lattice that it is called on
Transducer  OpenFst's transducers for those who build lattices: replace, compose, prune, output words

Both go to OpenFst and back in bulk, as arrays (gyro.lattice.openfst_format, gyro.lattice.openfst_reader).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pywrapfst
from numpy.typing import ArrayLike, NDArray

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.file_format import OWN_FORMAT, LatticeFormat
from gyro.lattice.lattice_file import encode_lattice, read_lattice_file, write_lattice_file
from gyro.lattice.minimal import minimise
from gyro.lattice.openfst_format import STANDARD, FstArrays, IntArray, check_arrays, encode_const
from gyro.lattice.openfst_reader import decode_const
from gyro.lattice.strings import Hypothesis, StringOrder

__all__ = ["Hypothesis", "Lattice", "Transducer"]

ROOT_LABEL = 2**31 - 2  # of the machine in which calls are replaced; no word or cell has it
# OpenFst adds in single precision, from both ends of a path: without this, pruning at 0 may lose the best path itself.
ROUNDING = 1e-3
DETERMINISE_DELTA = 1e-5  # differences of costs that are closer than this are taken for equal
LARGEST_DRAWING = 60  # states; of larger lattices the best paths are drawn
PATHS_DRAWN = 10


class Transducer:
    """A transducer of OpenFst over the tropical semiring; label 0 is epsilon. Operations give new transducers."""

    def __init__(self, fst: Any) -> None:
        self._fst = fst

    @classmethod
    def from_arrays(
        cls,
        num_states: int,
        start: int,
        source: ArrayLike,
        input: ArrayLike,
        output: ArrayLike,
        target: ArrayLike,
        cost: ArrayLike,
        final_states: ArrayLike,
        final_costs: ArrayLike,
    ) -> Transducer:
        """Build in bulk; arcs and final states at infinite cost are left out."""
        from_state, in_label, out_label, to_state = (np.asarray(x, np.int32) for x in (source, input, output, target))
        price = np.asarray(cost, np.float32)
        finite = price != np.inf
        order = np.flatnonzero(finite)[np.argsort(from_state[finite], kind="stable")]
        final = np.full(num_states, np.inf, np.float32)
        np.minimum.at(final, np.asarray(final_states, np.int64), np.asarray(final_costs, np.float32))
        arrays = FstArrays(start, from_state, in_label, out_label, to_state, price, final)
        return cls._from_fst_arrays(arrays.with_arcs(order))

    @classmethod
    def _from_fst_arrays(cls, arrays: FstArrays) -> Transducer:
        check_arrays(arrays)  # OpenFst believes what it is given
        return cls(pywrapfst.convert(pywrapfst.Fst.read_from_string(encode_const(arrays)), "vector"))

    def to_arrays(self) -> FstArrays:
        return decode_const(pywrapfst.convert(self._fst, "const").write_to_string())

    @property
    def num_states(self) -> int:
        return int(self._fst.num_states())

    @property
    def num_arcs(self) -> int:
        return sum(map(self._fst.num_arcs, range(self.num_states)))

    def replace(self, cells: Mapping[int, Transducer]) -> Transducer:
        """Put cells[n] in the place of each arc with output label n; n itself stays on the input side of the call."""
        pairs = [(ROOT_LABEL, self._fst), *((label, cell._fst) for label, cell in cells.items())]
        return Transducer(pywrapfst.replace(pairs, call_arc_labeling="input", return_arc_labeling="neither"))

    def compose(self, other: Transducer) -> Transducer:
        """The composition; the arcs of `other` must be sorted by input label within each state."""
        return Transducer(pywrapfst.compose(self._fst, other._fst))

    def prune(self, beta: float) -> Transducer:
        """Drop what is on no path within beta of the cheapest one, give or take a rounding error."""
        if beta == np.inf:
            return self
        # delta 0: with the default, distances may be off by a thousandth.
        return Transducer(pywrapfst.prune(self._fst, delta=0.0, weight=repr(float(beta) + ROUNDING)))

    def without_inputs(self) -> Transducer:
        """The same with epsilon as every input label."""
        arrays = self.to_arrays()
        return Transducer._from_fst_arrays(dataclasses.replace(arrays, input=np.zeros_like(arrays.input)))

    def outputs(self) -> Transducer:
        """The deterministic acceptor of an acyclic transducer's output strings, each at its lowest cost."""
        acceptor = self._fst.copy().project("output").rmepsilon()
        return Transducer(_determinised(acceptor))


def _determinised(fst: Any) -> Any:
    if not fst.properties(pywrapfst.I_DETERMINISTIC, True):
        fst = pywrapfst.determinize(fst, delta=DETERMINISE_DELTA)
    # With the costs taken as part of the labels, minimisation leaves each cost on its word and changes none; without,
    # it would move them all towards the start and round them.
    costs = pywrapfst.EncodeMapper(encode_weights=True)
    return fst.copy().encode(costs).minimize().decode(costs)


class Lattice:
    """An acyclic acceptor of strings over `words`, with costs; each state lies on a path from start to end.

    >>> lattice = Lattice.from_arrays(("a", "b"), 0, [0, 0], [0, 1], [1, 1], [0.5, 0.25], [1], [0.0])
    >>> lattice.best()
    Hypothesis(tokens=('b',), cost=0.25)
    """

    def __init__(self, words: Sequence[str], transducer: Transducer) -> None:
        """Make the lattice of the output labels: label i + 1 is `words[i]`."""
        self.words = tuple(words)
        fst = transducer._fst.copy().project("output")
        fst.connect()
        if not fst.properties(pywrapfst.ACYCLIC, True):  # before epsilons go: over a cycle that may never end
            raise InputError("found a cycle; a lattice has a finite number of strings")
        if not fst.properties(pywrapfst.NO_EPSILONS, True):
            fst.rmepsilon()
        self._arrays = Transducer(fst.arcsort("ilabel").topsort()).to_arrays()

    @classmethod
    def from_arrays(
        cls,
        words: Sequence[str],
        start: int,
        source: ArrayLike,
        word: ArrayLike,
        target: ArrayLike,
        cost: ArrayLike,
        final_states: ArrayLike,
        final_costs: ArrayLike,
    ) -> Lattice:
        """Build in bulk: arc k carries `words[word[k]]` from `source[k]` to `target[k]`."""
        columns = (source, target, final_states, [start])
        num_states = max(
            (int(np.max(np.asarray(column))) + 1 for column in columns if len(np.asarray(column))), default=0
        )
        label = np.asarray(word, np.int32) + 1
        arcs = (source, label, label, target, cost)
        return cls(words, Transducer.from_arrays(num_states, start, *arcs, final_states, final_costs))

    @classmethod
    def from_strings(cls, words: Sequence[str], strings: Sequence[Hypothesis]) -> Lattice:
        """The lattice of a list of strings over `words`."""
        number = {word: i for i, word in enumerate(words)}
        children: dict[tuple[int, int], int] = {}
        finals = []
        for hypothesis in strings:
            state = 0
            for token in hypothesis.tokens:
                state = children.setdefault((state, number[token]), len(children) + 1)
            finals.append(state)
        source, word = np.array(list(children), np.int32).reshape(-1, 2).T
        start = 0 if finals else -1
        zeros = np.zeros(len(children))
        costs = [hypothesis.cost for hypothesis in strings]
        return cls.from_arrays(words, start, source, word, list(children.values()), zeros, finals, costs).determinised()

    def to_arrays(self) -> tuple[IntArray, IntArray, IntArray, NDArray[np.float32], IntArray, NDArray[np.float32]]:
        """Source, word (index into `words`), target and cost of the arcs; final states and their costs.

        The start is state 0, and every arc leads to a higher state.
        """
        a = self._arrays
        final_states = np.flatnonzero(a.final != np.inf).astype(np.int32)
        return a.source, a.output - 1, a.target, a.cost, final_states, a.final[final_states]

    @property
    def num_states(self) -> int:
        return self._arrays.num_states

    @property
    def num_arcs(self) -> int:
        return len(self._arrays.source)

    def empty(self) -> bool:
        """Whether there is no string at all (the empty string is a string)."""
        return self.num_states == 0

    # ---- strings

    def best(self) -> Hypothesis:
        """The cheapest string; of equally cheap ones the first in the order of their tokens."""
        for hypothesis in self.nbest(1):
            return hypothesis
        raise InputError("the lattice is empty: it has no best string")

    def nbest(self, n: int) -> list[Hypothesis]:
        """The n cheapest distinct strings, by cost and then by tokens."""
        return self._string_order.cheapest(n)

    def strings(self) -> list[Hypothesis]:
        """All strings, in the same order; for small lattices."""
        return self._string_order.cheapest()

    @cached_property
    def _string_order(self) -> StringOrder:
        a = self._arrays
        return StringOrder(self.words, a.source, a.output - 1, a.target, a.cost, a.final)

    # ---- operations

    def _transducer(self) -> Transducer:
        return Transducer._from_fst_arrays(self._arrays)

    def prune(self, beta: float) -> Lattice:
        """Only the arcs that are on a path within beta of the cheapest one."""
        return Lattice(self.words, self._transducer().prune(beta))

    def determinised(self) -> Lattice:
        """The deterministic lattice of the same strings, each at its lowest cost; costs stay on their words."""
        return Lattice(self.words, self._transducer().outputs())

    def minimal(self) -> Lattice:
        """The smallest lattice of the same strings and costs, if this is a deterministic one (gyro.lattice.minimal)."""
        a = self._arrays
        source, label, target, cost, final = minimise(a.source, a.output, a.target, a.cost, a.final)
        ends = np.flatnonzero(final != np.inf)
        arcs = (source, label, label, target, cost)
        return Lattice(self.words, Transducer.from_arrays(len(final), a.start, *arcs, ends, final[ends]))

    def unweighted(self) -> Lattice:
        """The same strings at cost 0."""
        source, word, target, cost, final_states, final_costs = self.to_arrays()
        zeros = (np.zeros_like(cost), final_states, np.zeros_like(final_costs))
        return Lattice.from_arrays(self.words, 0 if self.num_states else -1, source, word, target, *zeros)

    def apply(self, automaton: WordAutomaton) -> Lattice:
        """The strings that the automaton accepts too, with its costs added."""
        return Lattice(self.words, self._transducer().compose(_automaton_to_transducer(automaton, self.words)))

    @staticmethod
    def join(lattices: Sequence[Lattice]) -> Lattice:
        """The strings made of one string of each lattice, one after the other; the vocabularies may differ."""
        words = tuple(sorted({word for lattice in lattices for word in lattice.words}))
        number = {word: i for i, word in enumerate(words)}
        whole = Transducer.from_arrays(1, 0, [], [], [], [], [], [0], [0.0])._fst
        for lattice in lattices:
            whole.concat(lattice.over_words(words, number)._transducer()._fst)
        return Lattice(words, Transducer(whole))

    def over_words(self, words: tuple[str, ...], number: Mapping[str, int]) -> Lattice:
        """The lattice over other words: in the place of each of its own stands `words[number[word]]`."""
        source, word, target, *rest = self.to_arrays()
        new = np.array([number[w] for w in self.words], np.int32)[word] if len(word) else word
        return Lattice.from_arrays(words, 0 if self.num_states else -1, source, new, target, *rest)

    def best_paths(self, n: int) -> Lattice:
        """The part of the lattice that the n cheapest strings are in, and nothing else."""
        chosen = Lattice.from_strings(self.words, [Hypothesis(h.tokens, 0.0) for h in self.nbest(n)])
        return Lattice(self.words, self._transducer().compose(chosen._transducer()))

    # ---- files and drawings

    def write(
        self,
        path: str | PathLike[str],
        labels: Mapping[str, int] | None = None,
        *,
        symbols: bool = True,
        arc_type: str = STANDARD,
    ) -> None:
        """Write an OpenFst vector file with symbols or without, gzipped when the name ends in .gz.

        `labels` gives each word its label; without it, label i + 1 is the ith of `words`. `arc_type` is `standard` or
        `tropical_LT_tropical`, whose arcs have a second cost of 0.
        """
        write_lattice_file(path, self.words, self._arrays, labels, symbols=symbols, arc_type=arc_type)

    def encode(self, labels: Mapping[str, int], *, gzipped: bool) -> bytes:
        """The bytes that `write` puts into a file with symbols."""
        return encode_lattice(self.words, self._arrays, labels, gzipped=gzipped)

    @staticmethod
    def read(path: str | PathLike[str], format: LatticeFormat = OWN_FORMAT) -> Lattice:
        """Read an OpenFst file of ours or, as `format` says, of another tool; gzipped or not.

        A label without symbol and word map becomes its number.
        """
        words, arrays = read_lattice_file(path, format)
        finals = np.flatnonzero(arrays.final != np.inf)
        arcs = (arrays.source, arrays.input, arrays.output, arrays.target, arrays.cost)
        try:
            fst = Transducer.from_arrays(arrays.num_states, arrays.start, *arcs, finals, arrays.final[finals])
            return Lattice(words, fst)
        except InputError as error:
            raise InputError(str(error), path=path) from error

    def to_bytes(self) -> bytes:
        """An OpenFst const file in memory, without symbols: label i + 1 is the ith of `words`."""
        return encode_const(self._arrays)

    @classmethod
    def from_bytes(cls, words: Sequence[str], data: bytes) -> Lattice:
        """The lattice that `to_bytes` was called on, with its states as they were numbered."""
        lattice = cls.__new__(cls)
        lattice.words, lattice._arrays = tuple(words), decode_const(data)
        return lattice

    def draw(self, format: str = "svg") -> bytes:
        """A drawing as SVG or PNG; of a large lattice, its best paths."""
        from gyro.lattice.drawing import draw

        shown = self if self.num_states <= LARGEST_DRAWING else self.best_paths(PATHS_DRAWN)
        source, word, target, cost, final_states, final_costs = shown.to_arrays()
        names = [shown.words[w] for w in word.tolist()]
        return draw(source, names, target, cost, final_states, final_costs, format=format)

    def __repr__(self) -> str:
        return f"Lattice({self.num_states:,} states, {self.num_arcs:,} arcs, {len(self.words)} words)"

    def _repr_svg_(self) -> str:
        return self.draw("svg").decode()


def _automaton_to_transducer(automaton: WordAutomaton, words: Sequence[str]) -> Transducer:
    """The automaton over the labels of `words`; its words that are not among them are left out."""
    number = {word: i + 1 for i, word in enumerate(words)}
    label_of = np.array([number.get(word, 0) for word in automaton.words], np.int32)
    state, word = np.nonzero((automaton.next_state >= 0) & (label_of > 0))
    order = np.lexsort((label_of[word], state))
    state, word = state[order], word[order]
    label = label_of[word]
    arcs = (state, label, label, automaton.next_state[state, word], automaton.cost[state, word])
    ends = np.flatnonzero(automaton.end_cost != np.inf)
    return Transducer.from_arrays(automaton.num_states, automaton.start, *arcs, ends, automaton.end_cost[ends])
