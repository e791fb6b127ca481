"""The exact search: every order of a bag within β of the optimum, and proof of it.

search        one automaton and the counts of its words in; a SearchResult out
search_nbest  the n cheapest orders, proved to be those

A node is a coverage (how many of each word are used) and a state of the automaton; strings that meet in a node have
the same completions, so no string comes twice. The steps: prices on the words make the optimum of a relaxed bag a
tight lower bound (exact_bound); a beam guided by it gives an upper bound; a forward pass keeps every node that may
lie within β of it (exact_forward); exact completions, from the end backward, leave the arcs that do. So the
lattice holds every string within β, and another one only if each of its arcs lies on such a string. When too many
nodes pass, the bound is sharpened by tracking more words, and the beam widened; then β is lowered; and when even β = 0
is too much for the memory or the steps (gyro.search.work), the beam's answer stands, marked as not proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact_bound import choose_tracked, feasible_part, find_prices, make_machine
from gyro.search.exact_forward import PassLimits, walk_rows
from gyro.search.exact_kernel import NO_CUT, Graph, Machine, complete, pack_bag, pack_rules, run_beam, through_arcs
from gyro.search.exact_result import NBest, SearchResult, take_paths
from gyro.search.plan import Plan
from gyro.search.settings import MAX_TOKENS
from gyro.search.work import EXTENSION, Work

__all__ = ["NBest", "SearchResult", "search", "search_nbest"]

DEFAULT_MEMORY = 1 << 30
# Two costs that differ by less are the same: the same numbers summed in another order differ by less.
TOLERANCE = 1e-9
# Rounds of the search for prices, for the proof and for a beam alone, and the steps they may take in all.
PROOF_ROUNDS, BEAM_ROUNDS = 120, 8
PRICE_STEPS = 1.5e9
WIDEST_BEAM = 1 << 14


class Effort(NamedTuple):
    """What one try at the proof may take: steps to fill the table, bytes of nodes and arcs, beam width times this."""

    table_steps: float
    node_bytes: float
    widen: int


# Each costs about ten times the one before; most bags are done with the first two.
EFFORTS = (Effort(3e6, 2e7, 1), Effort(6e7, 2e8, 8), Effort(8e8, float("inf"), 32))


def search(
    automaton: WordAutomaton,
    counts: Sequence[int],
    *,
    beta: float = 10.0,
    max_arcs: int | None = None,
    beam: int = 64,
    work: Work | None = None,
    memory_limit: int = DEFAULT_MEMORY,
    exact: bool = True,
    plan: Plan | None = None,
) -> SearchResult:
    """Order `counts[w]` of each distinct word w of the automaton as cheaply as it allows; `exact=False`: by beam alone.

    With a plan, what is asked for are the orders of its bag that keep to the constraints, whatever `counts` says. With
    `max_arcs` the lattice has the largest β that fits, whatever `beta` says; one string always fits.
    """
    if not beta >= 0:
        raise InputError(f"found β = {beta}; a number of at least 0 is allowed")
    if max_arcs is not None and max_arcs < 1:
        raise InputError(f"found a limit of {max_arcs} arcs; at least 1 is allowed")
    make_job = partial(_Job, automaton, counts, beam, work or Work(), memory_limit, plan)
    if not exact:
        return _beam_search(make_job(exact=False), beta, max_arcs)
    job = make_job(exact=True)
    result = job.result(job.within(beta), beta) if max_arcs is None else _fit_search(job, max_arcs)
    if result.proved or job.work.is_late():
        return result
    # The beam alone has other prices and may have been luckier: the proof's failure must not make the answer worse.
    alone = _beam_search(make_job(exact=False), beta, max_arcs)
    if result.cost <= alone.cost:
        return result
    lower_bound = max(result.lower_bound, alone.lower_bound)
    return replace(alone, lower_bound=lower_bound, expanded=result.expanded + alone.expanded)


def _beam_search(job: _Job, beta: float, max_arcs: int | None) -> SearchResult:
    return job.result(job.beam_alone(), beta if max_arcs is None else np.inf, max_arcs)


def _fit_search(job: _Job, max_arcs: int) -> SearchResult:
    """Widen β until the lattice has more arcs than allowed, or all there are; then keep those that fit."""
    beta = 1.0
    while True:
        found = job.within(beta)
        if not found.may_widen(beta) or int((found.through <= found.best + beta).sum()) > max_arcs:
            return job.result(found, beta, max_arcs)
        beta *= 2


def search_nbest(
    automaton: WordAutomaton,
    counts: Sequence[int],
    n: int,
    *,
    beam: int = 64,
    work: Work | None = None,
    memory_limit: int = DEFAULT_MEMORY,
    plan: Plan | None = None,
) -> NBest:
    """The n cheapest orders; fewer when the language has no more."""
    if n < 1:
        raise InputError(f"found n = {n}; at least 1 is allowed")
    job = _Job(automaton, counts, beam, work or Work(), memory_limit, plan, exact=True)
    beta = 1.0
    while True:
        found = job.within(beta)
        result = job.result(found, beta)
        strings = result.cheapest(n)
        inside = len(strings) == n and strings[-1].cost <= result.cost + result.beta + TOLERANCE
        if inside or not found.may_widen(beta):
            return NBest(strings, result.proved and (inside or result.exhausted))
        # The n-th string of too small a lattice is still a string: the true n-th is not dearer.
        beta = strings[-1].cost - result.cost if len(strings) == n else 2 * beta


class _Found(NamedTuple):
    """A graph, the cost of the best path through each arc and of the best of all, and what is known of the rest.

    Every string within `reach` of the best is in the graph (-1: nothing is known); the cheapest node that was left
    out for its cost has the estimate `dropped`.
    """

    graph: Graph
    through: NDArray[np.float64]
    best: float
    reach: float
    dropped: float

    def may_widen(self, beta: float) -> bool:
        """Whether a larger β may bring more strings, and the limits left room for this one."""
        return beta <= self.reach and not self.is_whole(beta)

    def is_whole(self, beta: float) -> bool:
        """Whether all strings of the language are within β and in the graph."""
        finite = self.through[self.through < np.inf]
        return self.reach >= 0 and self.dropped == np.inf and not (finite > self.best + beta).any()


class _Job:
    """One search: the bag, its bounds so far, and the effort that it has come to."""

    def __init__(
        self,
        automaton: WordAutomaton,
        counts: Sequence[int],
        beam: int,
        work: Work,
        memory_limit: int,
        plan: Plan | None,
        *,
        exact: bool,
    ) -> None:
        self.work = work
        self.memory = memory_limit
        self.words = automaton.distinct_words
        self.is_deterministic = automaton.is_deterministic and (plan is None or plan.is_deterministic)
        checked = _checked(automaton, counts, beam, plan)
        self.space = feasible_part(automaton, checked) if plan is None else plan.space(automaton)
        self.bag = pack_bag(self.space.counts, self.space.word_of)
        rules = self.space.rules
        self.rules = None if rules is None else pack_rules(self.bag, self.space.word_of, *rules)
        rounds = int(min(PRICE_STEPS, 0.2 * work.steps) / max(1, self.space.tokens * self.space.arcs))
        self.prices = find_prices(self.space, max(5, min(rounds, PROOF_ROUNDS if exact else BEAM_ROUNDS)), work)
        self.width, self.beam = beam, beam
        self.effort = 0
        self.upper: _Found | None = None
        self.lower = -np.inf
        self.expanded = 0
        self.machine = self._make_machine(EFFORTS[0].table_steps if exact else 0)

    # ---- bounds

    def _make_machine(self, steps: float) -> Machine:
        """A table within the steps, a third of those that are left, and a quarter of the memory."""
        by_memory = self.memory / 16 * len(self.space.word_of)
        tracked = choose_tracked(self.space, self.prices, min(steps, by_memory, self.work.left / 3))
        machine = make_machine(self.space, self.prices.price, tracked, self.work)
        self.lower = max(self.lower, float(machine.table[0, self.space.start]))
        return machine

    def _run_beam(self, width: int) -> bool:
        """Lower the upper bound if a beam of this width can; says whether it looked at all there is.

        The first is run to its end, however late it is, so that there is an order.
        """
        deadline = np.inf if self.upper is None else self.work.deadline
        graph, left_out = run_beam(
            self.bag, self.bag.lanes, self.machine, self.space.tokens, width, deadline, self.rules
        )
        left_out = left_out or self.work.is_late()
        self.expanded += len(graph.state)
        self.work.take(len(graph.state) * len(self.space.word_of) * EXTENSION)
        found = self._evaluate(graph, reach=-1.0 if left_out else np.inf, dropped=np.inf)
        if self.upper is None or found.best < self.upper.best:
            self.upper = found
        return not left_out

    def _find_upper(self) -> _Found:
        """Run the beam; while it only finds dead ends, a wider one."""
        width = self.width
        while not self._run_beam(width) and self.upper is not None and self.upper.best == np.inf:
            width *= 8
            if width > WIDEST_BEAM or not self.work.left or self.work.is_late():
                break
        assert self.upper is not None
        return self.upper

    def _evaluate(self, graph: Graph, reach: float, dropped: float) -> _Found:
        completion = complete(graph, self.machine)
        through = through_arcs(graph, self.machine, completion)
        return _Found(graph, through, float(completion[0]), reach, dropped)

    # ---- searches

    def beam_alone(self) -> _Found:
        """What the beam finds; proves nothing, even if it saw everything, for the sake of the same answer each time."""
        return self._find_upper()._replace(reach=-1.0)

    def within(self, beta: float) -> _Found:
        """All strings within β of the optimum; what the limits allow otherwise."""
        while True:
            effort, last = EFFORTS[self.effort], self.effort == len(EFFORTS) - 1
            upper = self._find_upper()
            cut = upper.best + beta + TOLERANCE if upper.best < np.inf else NO_CUT
            floor = upper.best + TOLERANCE if last and upper.best < np.inf else np.inf
            memory = min(effort.node_bytes, (self.memory - self.machine.table.nbytes) / 3)
            limits = PassLimits(memory, self.work, self.work.steps / 2, floor)
            walked = walk_rows(self.bag, self.machine, self.space.tokens, cut, limits, self.rules)
            self.expanded += walked.nodes
            if walked.graph is not None:
                found = self._evaluate(walked.graph, reach=beta, dropped=walked.dropped)
                reach = max(0.0, walked.cut - TOLERANCE - found.best)
                return found if walked.cut == cut else found._replace(reach=reach)
            if last or not self.work.left or self.work.is_late():
                return self._best_effort()._replace(reach=-1.0)
            self.effort += 1
            self.width = self.beam * EFFORTS[self.effort].widen
            self.machine = self._make_machine(EFFORTS[self.effort].table_steps)

    def _best_effort(self) -> _Found:
        """When there is no proof: one more beam, as wide as a third of the steps left and the memory allow."""
        columns = max(1, len(self.space.word_of))
        by_memory = self.memory / (4 * columns * (32 + 16 * self.bag.lanes))
        by_steps = self.work.left / 3 / (EXTENSION * columns * max(1, self.space.tokens))
        width = int(min(WIDEST_BEAM, by_memory, by_steps))
        if width > self.width and not self.work.is_late():
            self._run_beam(width)
        assert self.upper is not None
        return self.upper

    # ---- results

    def result(self, found: _Found, beta: float, max_arcs: int | None = None) -> SearchResult:
        """The lattice of what lies within β, and at most `max_arcs` arcs of it."""
        proved = found.reach >= 0
        beta = min(beta, found.reach) if proved else beta
        keep = found.through <= found.best + beta + TOLERANCE
        if max_arcs is not None and int(keep.sum()) > max_arcs:
            keep, beta = _fit(found, max_arcs)
        offset = float((self.prices.price * self.space.counts).sum())
        cost = found.best + offset
        return SearchResult(
            words=self.words,
            paths=take_paths(found.graph, keep, self.space) if found.best < np.inf else None,
            proved=proved,
            exhausted=found.is_whole(beta),
            cost=cost,
            lower_bound=cost if proved else self.lower + offset,
            beta=beta,
            expanded=self.expanded,
            timed_out=self.work.was_late,
            is_deterministic=self.is_deterministic,
        )


def _fit(found: _Found, max_arcs: int) -> tuple[NDArray[np.bool_], float]:
    """The arcs of the largest β that has at most so many; those of one best string when β = 0 has more."""
    first_out = np.partition(found.through, max_arcs)[max_arcs]
    keep = found.through < first_out - TOLERANCE
    if keep.any():
        return keep, max(0.0, float(found.through[keep].max()) - found.best)
    node = 0
    for arc in np.flatnonzero(found.through <= found.best + TOLERANCE).tolist():
        if found.graph.arcs.source[arc] == node:
            keep[arc] = True
            node = int(found.graph.arcs.target[arc])
    return keep, 0.0


def _checked(automaton: WordAutomaton, counts: Sequence[int], beam: int, plan: Plan | None) -> NDArray[np.int64]:
    """The counts as an array, when they and those of the plan fit the automaton and our limits."""
    words = len(automaton.distinct_words)
    if len(counts) != words:
        raise InputError(f"found {len(counts)} counts for an automaton over {words} words")
    tokens = sum(counts) if plan is None else plan.tokens
    if min(counts, default=0) < 0:
        raise InputError(f"found the count {min(counts)}; counts from 0 are allowed")
    if tokens > MAX_TOKENS:
        found = f"found a bag of {tokens} tokens; {MAX_TOKENS} can be ordered whole"
        raise InputError(f"{found}: give it as several bags, or with a reference by which it is cut (--max-tokens 20)")
    if beam < 1:
        raise InputError(f"found a beam of {beam}; at least 1 is allowed")
    return np.asarray(counts, dtype=np.int64)
