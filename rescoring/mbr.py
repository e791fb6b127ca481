"""Lattice minimum Bayes risk decoding (Tromble et al. 2008; Blackwood et al. 2010).

MbrParameters  scale, precision, ratio, tokens, word penalty, pruning and share of the evidence
MbrDecoder     a lattice made ready once for decoding under many parameters

The gain of a string y, to be maximised over all strings of the lattice, is

    θ₀·|y| + Σₙ θₙ · Σᵤ #ᵤ(y) · p(u|L)    θ₀ = -1/T,  θₙ = 1 / (4·T·p·rⁿ⁻¹)

for the n-grams u of orders n = 1 to 4 or others, unigram precision p, ratio r of the precisions of successive orders, T
tokens. θₙ does not depend on which other orders count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from rescoring.lattice_posterior import LatticeNgrams
from rescoring.ngram_paths import Floats, best_path
from rescoring.posterior import ORDER, Posteriors, check_orders

KEPT_SCALES = 8  # posteriors that a decoder remembers


@dataclass(frozen=True)
class MbrParameters:
    """The parameters that tools for lattice MBR commonly have.

    scale         of the evidence: a path of the lattice has probability ∝ exp(-scale · cost)
    precision     unigram precision p
    ratio         r: precision of order n + 1 by that of order n
    tokens        T, the tokens of the corpus; with a word penalty of 0 it changes no decision
    word_penalty  a cost of each word, besides θ₀
    prune         only paths within so many nats of the cheapest are evidence (before the scaling); infinity: all
    alpha         share of the lattice's own posteriors where there are others
    min_order     the shortest n-grams that count
    max_order     the longest
    first_pass    T times the weight of the lattice's own costs: tiny, so that of equal gains the cheaper string wins
    """

    scale: float = 0.4
    precision: float = 0.74
    ratio: float = 0.62
    tokens: float = 10.0
    word_penalty: float = 0.0
    prune: float = 5.0
    alpha: float = 0.25
    min_order: int = 1
    max_order: int = ORDER
    first_pass: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("precision", "ratio", "tokens"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"found the MBR parameter {name} = {getattr(self, name)}; a number above 0 is allowed")
        for name in ("scale", "first_pass"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise InputError(f"found the MBR parameter {name} = {getattr(self, name)}; a number from 0 is allowed")
        if not 0.0 <= self.alpha <= 1.0:
            raise InputError(f"found the MBR parameter alpha = {self.alpha}; 0 to 1 is allowed")
        if not self.prune >= 0.0:
            raise InputError(f"found the MBR parameter prune = {self.prune}; a number from 0 is allowed")
        check_orders(self.min_order, self.max_order)
        if not np.isfinite(self.word_penalty):
            raise InputError(f"found the MBR parameter word_penalty = {self.word_penalty}; a finite number is allowed")

    @property
    def thetas(self) -> tuple[float, ...]:
        """θ₀ to that of the longest n-grams; 0 for the orders below `min_order`."""
        grams = (1 / (4 * self.tokens * self.precision * self.ratio ** (n - 1)) for n in range(1, self.max_order + 1))
        return (-1 / self.tokens, *(theta if n >= self.min_order else 0.0 for n, theta in enumerate(grams, 1)))


class MbrDecoder:
    """Decodes one lattice under many parameters: all that does not depend on them is made once.

    Strings that come on several paths are made one, and of a lattice that is too large the best part is taken.

    >>> lattice = Lattice.from_strings(("a", "b"), [Hypothesis(("a", "b"), 0.1), Hypothesis(("b", "a"), 0.9)])
    >>> MbrDecoder(lattice).decode(MbrParameters(scale=1.0)).tokens
    ('a', 'b')
    """

    def __init__(self, lattice: Lattice, order: int = ORDER) -> None:
        """`order` is the largest `max_order` of the parameters."""
        check_orders(1, order)
        if lattice.empty():
            raise InputError("the lattice is empty: it has no string to choose")
        self._ngrams = LatticeNgrams.of_lattice(lattice, order)
        self._graph = self._ngrams.graphs[-1]
        self._own: dict[tuple[float, float], tuple[Floats, ...]] = {}
        self._aligned: tuple[Posteriors, tuple[Floats, ...]] | None = None
        arrays, states = self._ngrams.arrays, np.diff(self._graph.first)
        self._arc_cost = arrays.cost[self._graph.arc]
        self._is_end = np.repeat(arrays.final != np.inf, states)
        self._end_cost = np.repeat(np.where(arrays.final == np.inf, 0.0, arrays.final), states)
        self._rank = np.argsort(np.argsort(np.array(arrays.words)))[arrays.word].astype(np.int32)[self._graph.arc]

    @property
    def width(self) -> float:
        """How far from the best the strings go that are chosen from; infinity: to the end."""
        return self._ngrams.width

    @property
    def evidence_width(self) -> float:
        """The same for the strings that were evidence, where limits and not the parameters cut them off."""
        return self._ngrams.evidence_width

    def posteriors(self, scale: float, prune: float = np.inf) -> Posteriors:
        """The posteriors of the lattice itself."""
        return self._ngrams.to_posteriors(self._own_values(scale, prune))

    def decode(
        self, parameters: MbrParameters, posteriors: Posteriors | None = None, *, mt: Posteriors | None = None
    ) -> Hypothesis:
        """The string with the highest gain, of equal ones the first in the order of tokens; its cost is minus the gain.

        `posteriors` take the place of the lattice's own; `mt` are mixed with them: α·own + (1 - α)·mt.
        """
        gain, final_gain = self._gains(parameters, posteriors, mt)
        path, total = best_path(self._graph, gain, final_gain, self._rank)
        arrays = self._ngrams.arrays
        words = (arrays.words[w] for w in arrays.word[self._graph.arc[path]].tolist()) if path else ()
        return Hypothesis(tuple(words), 0.0 - total)

    def to_lattice(
        self, parameters: MbrParameters, posteriors: Posteriors | None = None, *, mt: Posteriors | None = None
    ) -> Lattice:
        """The same strings with minus the gains as costs; `decode` gives the best of them."""
        gain, final_gain = self._gains(parameters, posteriors, mt)
        arrays, graph = self._ngrams.arrays, self._graph
        ends = np.flatnonzero(final_gain != -np.inf)
        arcs = (graph.source, arrays.word[graph.arc], graph.target, 0.0 - gain)
        return Lattice.from_arrays(arrays.words, 0, *arcs, ends, 0.0 - final_gain[ends])

    def _gains(
        self, parameters: MbrParameters, posteriors: Posteriors | None, mt: Posteriors | None
    ) -> tuple[Floats, Floats]:
        """The gain of each arc of the graph and of an end at each node.

        They are rounded as lattices round their costs, so that a string has one gain here and there.
        """
        if posteriors is not None:
            values = self._look_up(posteriors)
        else:
            values = self._own_values(parameters.scale, parameters.prune)
        if mt is not None:
            alpha = parameters.alpha
            values = tuple(alpha * a + (1 - alpha) * b for a, b in zip(values, self._look_up(mt), strict=True))
        per_word, *thetas = parameters.thetas
        if len(thetas) > len(values):
            raise InputError(f"found max_order = {len(thetas)} for a lattice made ready for {len(values)}")
        gain = np.full(len(self._graph.keys), per_word - parameters.word_penalty)
        for theta, value, place in zip(thetas, values, self._places, strict=False):
            if theta:
                gain += theta * value[place]
        weight = parameters.first_pass / parameters.tokens
        ends = np.where(self._is_end, -weight * self._end_cost, -np.inf)
        return _rounded(gain[self._graph.kind] - weight * self._arc_cost), _rounded(ends)

    def _own_values(self, scale: float, prune: float) -> tuple[Floats, ...]:
        values = self._own.get((scale, prune))
        if values is None:
            if len(self._own) == KEPT_SCALES:
                del self._own[next(iter(self._own))]
            values = self._own[scale, prune] = self._ngrams.values(scale, prune)
        return values

    def _look_up(self, posteriors: Posteriors) -> tuple[Floats, ...]:
        """Posteriors of the n-grams of each graph; the last ones looked up are kept, for decoding many times."""
        if self._aligned is None or self._aligned[0] is not posteriors:
            words = self._ngrams.arrays.words
            values = []
            for graph in self._ngrams.graphs:
                found = np.zeros(len(graph.keys))
                found[graph.short :] = posteriors.look_up(words, graph.order, graph.keys[graph.short :])
                values.append(found)
            self._aligned = (posteriors, tuple(values))
        return self._aligned[1]

    @cached_property
    def _places(self) -> Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """For each n-gram of the highest order, where its last 1, 2, … words are among the keys of that order.

        At the start of a path, where there are fewer words, it is the place of those, whose posterior there is 0.
        """
        base = len(self._ngrams.arrays.words) + 1
        return [np.searchsorted(graph.keys, self._graph.keys % base**graph.order) for graph in self._ngrams.graphs]


def _rounded(gain: Floats) -> Floats:
    return gain.astype(np.float32).astype(np.float64)
