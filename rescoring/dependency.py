"""Rescoring n-best strings with a dependency language model: cost + λ · cost of the string's tree.

DependencyRescorer  parses the strings, as they are, each different one once; scores the trees; sorts the lists again
ParserShare         how many strings were scored and parsed, and where the time went

A lattice cannot be parsed whole, so the lists must be long enough to hold what the model may prefer: 100 strings each
in the paper. The score of the tree is the feature DEP of an n-best list, beside the others: λ can be tuned on the list.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import NbestEntry
from gyro.text.corpus import RESERVED, Heads
from gyro.text.parsing import parse_sentences
from lm.dependency.model import DependencyModel

FEATURE = "DEP"
LISTS_AT_ONCE = 100  # enough strings to fill the parser's batches and processes
MOST_CACHED = 500_000

Tokens = tuple[str, ...]
Parse = Callable[[Sequence[Tokens]], Iterable[Heads]]


@dataclass
class ParserShare:
    """Counts and seconds of one rescorer."""

    strings: int = 0
    parsed: int = 0
    parser_seconds: float = 0.0
    model_seconds: float = 0.0

    def text(self) -> str:
        """One line for people."""
        seconds = self.parser_seconds + self.model_seconds
        share = 100 * self.parser_seconds / seconds if seconds else 0.0
        return f"{self.strings} strings, {self.parsed} parsed, {seconds:.1f} s, {share:.0f} % of it in spaCy's parser"


class DependencyRescorer:
    """A dependency model with its weight λ, and the costs of the strings that it has seen.

    rescorer = DependencyRescorer(load_dependency_model("news.dep"), weight=0.2)
    [(best, dependency_cost), *others] = rescorer.rescore_nbest(lattice.nbest(100))

    `cache` may be shared by rescorers of one model; `parse` is for parsers other than spaCy's.
    """

    def __init__(
        self,
        model: DependencyModel,
        weight: float,
        *,
        jobs: int = 1,
        cache: dict[Tokens, float] | None = None,
        parse: Parse | None = None,
    ) -> None:
        if not math.isfinite(weight):
            raise InputError(f"found the weight {weight} of the dependency model; a finite number is allowed")
        self.model = model
        self.weight = weight
        self.share = ParserShare()
        self._cache = {} if cache is None else cache
        self._parse = parse or partial(parse_sentences, jobs=jobs)

    def costs(self, strings: Iterable[Sequence[str]]) -> list[float]:
        """The dependency cost of each string; those that are new are parsed in one go."""
        asked = [tuple(tokens) for tokens in strings]
        new = [tokens for tokens in dict.fromkeys(asked) if tokens not in self._cache]
        self.share.strings += len(asked)
        if new:
            costs = self._score_new(new)
            if len(self._cache) + len(new) > MOST_CACHED:
                known = {tokens: self._cache[tokens] for tokens in asked if tokens in self._cache}
                self._cache.clear()
                self._cache.update(known)
            self._cache.update(zip(new, costs, strict=True))
        return [self._cache[tokens] for tokens in asked]

    def rescore_nbest(self, hypotheses: Sequence[Hypothesis]) -> list[tuple[Hypothesis, float]]:
        """The hypotheses with their new costs, best first, each with its dependency cost."""
        return self.rescore_lists([hypotheses])[0]

    def rescore_lists(self, lists: Sequence[Sequence[Hypothesis]]) -> list[list[tuple[Hypothesis, float]]]:
        """The same for many n-best lists: faster, because the parser works on many strings at once."""
        costs = iter(self.costs(hypothesis.tokens for hypotheses in lists for hypothesis in hypotheses))
        rescored = []
        for hypotheses in lists:
            pairs = [(hypothesis, next(costs)) for hypothesis in hypotheses]
            new = [(Hypothesis(h.tokens, h.cost + self.weight * cost), cost) for h, cost in pairs]
            rescored.append(sorted(new, key=lambda pair: (pair[0].cost, pair[0].tokens)))
        return rescored

    def rescore_entries(self, entries: Iterable[NbestEntry]) -> Iterator[NbestEntry]:
        """The entries of n-best lists, list by list, with new costs and ranks and the feature DEP."""
        lists = (list(entries) for _, entries in groupby(entries, key=lambda entry: entry.sentence))
        while some := list(islice(lists, LISTS_AT_ONCE)):
            costs = iter(self.costs(entry.tokens for entries in some for entry in entries))
            for entries in some:
                new = sorted(
                    (self._with_cost(entry, next(costs)) for entry in entries), key=lambda e: (e.cost, e.tokens)
                )
                yield from (replace(entry, rank=rank) for rank, entry in enumerate(new, 1))

    def _with_cost(self, entry: NbestEntry, cost: float) -> NbestEntry:
        if FEATURE in entry.features:
            raise InputError(f"found the feature {FEATURE} in the list of {entry.id!r}: it was rescored already")
        # 0.0 - cost, because -cost would make -0.0
        features = {**entry.features, FEATURE: (0.0 - cost,)}
        return replace(entry, cost=entry.cost + self.weight * cost, features=features)

    def _score_new(self, strings: Sequence[Tokens]) -> list[float]:
        for tokens in strings:
            if not RESERVED.isdisjoint(tokens):
                raise InputError(f"found a mark of models in {' '.join(tokens)!r:.80}; words alone can be parsed")
        begin = time.perf_counter()
        trees = list(self._parse(strings))
        parsed = time.perf_counter()
        costs = [self.model.score(tokens, heads) for tokens, heads in zip(strings, trees, strict=True)]
        self.share.parsed += len(strings)
        self.share.parser_seconds += parsed - begin
        self.share.model_seconds += time.perf_counter() - parsed
        return costs
