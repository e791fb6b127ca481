"""The bit-string grammar of a bag and its phrases (section 2.1 of the paper), on coverages packed into 64 bits.

CoverageCode   the tokens of a bag as fields of one number, so that arrays of coverages are added and checked at once
RowRules       the rules of one row of cells, as arrays
PhraseGrammar  phrase rules I(A) → u grouped by coverage A, the concatenation rules that parsing reaches, and the root

A coverage has a bit for each word that the bag holds once, and a small counter for each word that it holds more often:
equal tokens are interchangeable, so k copies make k + 1 coverages and not 2^k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN, PhraseCosts
from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from gyro.text.bag import Bag

Coverages = NDArray[np.uint64]
Context = tuple[int, ...]  # numbers of words

MOST_BITS = 63
MOST_COST = 1e6  # nats a phrase: sums of its grains stay far from the end of 64 bits


class CoverageCode:
    """Where each word of a bag has its field.

    A word that is there k > 1 times has a field for the numbers 0 to k and a guard bit above it: with `slack` added,
    the guard is set exactly when the count is over k. The bit of a single word needs no guard, two coverages that
    have it both are seen by their overlap.
    """

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        units = []
        slack = guards = singles = full = 0
        bit = 0
        for count in bag.counts:
            unit, width = 1 << bit, count.bit_length()
            units.append(unit)
            full += count * unit
            if count == 1:
                singles |= unit
                bit += 1
            else:
                slack += ((1 << width) - 1 - count) * unit
                guards |= unit << width
                bit += width + 1
        if bit > MOST_BITS:
            raise InputError(f"bag {bag.id!r} of {len(bag)} tokens needs {bit} coverage bits; {MOST_BITS} are allowed")
        self.units: Coverages = np.array(units, np.uint64)  # the coverage of one copy of each word
        self.full, self.slack, self.guards, self.singles = (np.uint64(x) for x in (full, slack, guards, singles))

    def add(self, coverages: Coverages, other: np.uint64) -> tuple[NDArray[np.bool_], Coverages]:
        """Which coverages can take the other one's tokens as well, and the sums (meaningless where they cannot)."""
        sums = coverages + other
        fits = (coverages & (other & self.singles) | (sums + self.slack) & self.guards) == 0
        return fits, sums

    def words_at(self, bits: Coverages) -> NDArray[np.int64]:
        """The numbers of the words whose fields the single bits are in."""
        return np.searchsorted(self.units, bits, side="right") - 1

    def counts(self, coverage: int) -> list[int]:
        """How often the coverage has each word of the bag."""
        fields = zip(self.units.tolist(), self.bag.counts, strict=True)
        return [coverage // unit & ((1 << count.bit_length()) - 1) for unit, count in fields]

    def bit_string(self, coverage: SupportsInt) -> str:
        """The paper's bit string: a bit for each sorted token, copies of a word filled from the left.

        >>> CoverageCode(Bag(("a", "b", "b", "c"))).bit_string(0b11)
        '1100'
        """
        counted = zip(self.counts(int(coverage)), self.bag.counts, strict=True)
        return "".join("1" * used + "0" * (count - used) for used, count in counted)


@dataclass(frozen=True)
class RowRules:
    """The rules that make the cells of one row: cell `left` extended by phrase coverage `phrase` gives `result`.

    `left` and `result` are coverages; `phrase` is a number in PhraseGrammar.coverages. A rule with an empty left is
    the start of a string: the cell's own phrase rules.
    """

    left: Coverages
    phrase: NDArray[np.int32]
    result: Coverages

    @classmethod
    def none(cls) -> RowRules:
        return cls(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.uint64))

    def __len__(self) -> int:
        return len(self.left)

    def only(self, chosen: NDArray[np.bool_]) -> RowRules:
        """The rules that are marked."""
        return RowRules(self.left[chosen], self.phrase[chosen], self.result[chosen])


class PhraseRules(NamedTuple):
    """Phrase rules of one length: the words that they add (rows), the context that each needs, and its cost."""

    words: NDArray[np.int32]
    context: NDArray[np.int32]  # numbers of PhraseGrammar.contexts; 0 needs nothing
    grains: NDArray[np.int64]

    def only(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> PhraseRules:
        """The rules that are chosen, in that order."""
        return PhraseRules(self.words[chosen], self.context[chosen], self.grains[chosen])


class PhraseGrammar:
    """The grammar of one bag: I(A) → u for each phrase u over A, I(A) → I(B) I(C) for disjoint B and C, S → I(Ω).

    `coverages` are the distinct coverages of phrases, by length and then by value, `lengths` their lengths, and
    `phrases[i]` the rules over the ith. Phrases that the bag cannot make are left out.

    With an overlap, the first words of a phrase may be words that stand there already, up to that many of them: it then
    covers, and adds, only the others, and needs those words before it, its context. `contexts` are all contexts, as
    word numbers; the first is the empty one. Each phrase costs what `costs` say, in grains.
    """

    def __init__(self, bag: Bag, phrases: PhraseSet, *, costs: PhraseCosts | None = None, overlap: int = 0) -> None:
        if phrases.words != bag.words:
            raise InputError(f"the phrases are over other words than those of bag {bag.id!r}")
        self.bag = bag
        self.code = CoverageCode(bag)
        self.contexts: tuple[Context, ...] = ((),)
        coverages: list[Coverages] = []
        lengths: list[int] = []
        self.phrases: list[PhraseRules] = []
        for rules in self._rules_by_length(phrases, costs or PhraseCosts(), overlap):
            covered = self.code.units[rules.words].sum(axis=1, dtype=np.uint64)
            order = np.argsort(covered, kind="stable")
            distinct, first = np.unique(covered[order], return_index=True)
            coverages.append(distinct)
            lengths += [rules.words.shape[1]] * len(distinct)
            self.phrases += map(rules.only, np.split(order, first[1:]))
        self.coverages: Coverages = np.concatenate(coverages) if coverages else np.empty(0, np.uint64)
        self.lengths = np.array(lengths, np.int32)

    @cached_property
    def has_costs(self) -> bool:
        """Whether some phrase costs something."""
        return any(rules.grains.any() for rules in self.phrases)

    def _rules_by_length(self, phrases: PhraseSet, costs: PhraseCosts, overlap: int) -> Iterator[PhraseRules]:
        """The rules that add 1, 2, … words, as far as there are any."""
        largest = max((int(counts.max()) for counts in phrases.counts if len(counts)), default=0)
        whole = []
        for grams, counts in zip(phrases.grams, phrases.counts, strict=True):
            fits = self._fits_bag(grams)
            grains = np.zeros(int(fits.sum()), np.int64)
            if not costs.is_zero:
                each = [costs.cost(grams.shape[1], count, largest) for count in counts[fits].tolist()]
                if max(each, default=0.0) > MOST_COST:
                    raise InputError(f"found a phrase cost of {max(each):g}; at most {MOST_COST:g} is allowed here")
                grains = np.round(np.array(each, np.float64) / GRAIN).astype(np.int64)
            whole.append(PhraseRules(grams[fits], np.zeros(len(grains), np.int32), grains))
        yield from (rules for rules in (self._with_contexts(whole, overlap) if overlap else whole) if len(rules.grains))

    def _with_contexts(self, whole: list[PhraseRules], overlap: int) -> list[PhraseRules]:
        """The same rules and those that share their first words with what stands before them.

        Left out is what another rule can do that adds the same words, needs less before it and costs no more.
        """
        cheapest: list[dict[Context, dict[Context, int]]] = [{} for _ in whole]
        for rules in whole:
            for gram, grains in zip(map(tuple, rules.words.tolist()), rules.grains.tolist(), strict=True):
                for shared in range(min(overlap, len(gram) - 1) + 1):
                    known = cheapest[len(gram) - shared - 1].setdefault(gram[shared:], {})
                    known[gram[:shared]] = min(grains, known.get(gram[:shared], grains))
        number: dict[Context, int] = {(): 0}
        made = []
        for length, by_words in enumerate(cheapest, 1):
            words, context, grains_of = [], [], []
            for added, known in by_words.items():
                for needed, grains in known.items():
                    weaker = (known.get(needed[cut:], grains + 1) for cut in range(1, len(needed) + 1))
                    if all(cost > grains for cost in weaker):
                        words.append(added)
                        # Its beginnings are contexts too: what is left to be met when a cell meets its end.
                        for length_of_it in range(1, len(needed) + 1):
                            number.setdefault(needed[:length_of_it], len(number))
                        context.append(number[needed])
                        grains_of.append(grains)
            columns = (np.array(context, np.int32), np.array(grains_of, np.int64))
            made.append(PhraseRules(np.array(words, np.int32).reshape(-1, length), *columns))
        self.contexts = tuple(number)
        return made

    def _fits_bag(self, grams: NDArray[np.int32]) -> NDArray[np.bool_]:
        uses = (grams[:, :, None] == grams[:, None, :]).sum(axis=2)
        fits: NDArray[np.bool_] = (uses <= np.array(self.bag.counts, np.int64)[grams]).all(axis=1)
        return fits

    def bit_string(self, coverage: SupportsInt) -> str:
        """The paper's bit string of a coverage."""
        return self.code.bit_string(coverage)

    def row_rules(self, cells: list[Coverages], row: int, allowed: Coverages | None = None) -> RowRules:
        """The rules that make cells of a row, or the allowed (sorted) ones of them, of given cells of lower rows."""
        left, phrase, result = [], [], []
        for number, (coverage, length) in enumerate(zip(self.coverages, self.lengths.tolist(), strict=True)):
            if length > row or not len(cells[row - length]):
                continue
            fits, sums = self.code.add(cells[row - length], coverage)
            if allowed is not None:
                fits[fits] = _contains(allowed, sums[fits])
            left.append(cells[row - length][fits])
            result.append(sums[fits])
            phrase.append(np.full(len(left[-1]), number, np.int32))
        if not left:
            return RowRules.none()
        return RowRules(np.concatenate(left), np.concatenate(phrase), np.concatenate(result))

    def parse(self) -> list[Coverages]:
        """The sorted cells of each row, from the empty coverage of row 0 to that of the bag, if there is a parse.

        A cell is a set of phrases in any order, so it is enough to add them in one: by their first words, from the last
        word of the bag to the first. Only the cells are looked for; their rules are those of `row_rules`.
        """
        cells = [np.zeros(1, np.uint64)]
        lower = self.code.units[self._first_words] - np.uint64(1)
        for row in range(1, len(self.bag) + 1):
            found = [np.empty(0, np.uint64)]
            for coverage, length, below in zip(self.coverages, self.lengths.tolist(), lower, strict=True):
                if length <= row:
                    candidates = cells[row - length]
                    fits, sums = self.code.add(candidates, coverage)
                    found.append(sums[fits & ((candidates & below) == 0)])
            cells.append(np.unique(np.concatenate(found)))
        return cells

    def cells(self) -> list[Coverages]:
        """The cells of `parse` that are part of a parse of the whole bag: what is missing is a cell, too."""
        parsed = self.parse()
        size = len(self.bag)
        return [row[_contains(parsed[size - x], self.code.full - row)] for x, row in enumerate(parsed)]

    @cached_property
    def _first_words(self) -> NDArray[np.int64]:
        """The number of the first word of each phrase coverage."""
        lowest_bit = self.coverages & (~self.coverages + np.uint64(1))
        return self.code.words_at(lowest_bit)

    def has_parse(self) -> bool:
        """Whether the phrases can cover the bag at all; quick, for only one order of the phrases is tried."""
        code = self.code
        order = np.argsort(self._first_words, kind="stable")
        bounds = np.searchsorted(self._first_words[order], np.arange(len(self.bag.words) + 1))
        word_of_bit = code.words_at(np.uint64(1) << np.arange(64, dtype=np.uint64))
        checks = (code.singles, code.slack, code.guards)
        return bool(_can_cover(code.full, word_of_bit, bounds, self.coverages[order], *checks))

    def spell(self, rules: PhraseRules) -> list[tuple[str, ...]]:
        """The words of phrase rules, after those that must stand before them, in brackets."""
        words = self.bag.words
        spelled = []
        for added, context in zip(rules.words.tolist(), rules.context.tolist(), strict=True):
            needed = " ".join(words[w] for w in self.contexts[context])
            spelled.append((*([f"[{needed}]"] if needed else []), *(words[w] for w in added)))
        return spelled

    def rules(self) -> list[str]:
        """The grammar in the published form: phrase rules, the concatenation rules that parsing reaches, the root."""
        name = self.bit_string
        named_phrases = []
        for coverage, length, phrases in zip(self.coverages, self.lengths.tolist(), self.phrases, strict=True):
            spelled = [" ".join(words) for words in self.spell(phrases)]
            named_phrases.append((length, name(coverage), spelled))
        # By row, and within a row as the bit strings descend: the order of the published example.
        named_phrases.sort(key=lambda entry: entry[1], reverse=True)
        named_phrases.sort(key=lambda entry: entry[0])
        lines = [f"{bits}→{text}" for _, bits, spelled in named_phrases for text in spelled]
        cells = self.parse()
        for row in range(1, len(self.bag) + 1):
            found = self.row_rules(cells, row)
            triples = zip(found.result, found.left, self.coverages[found.phrase], strict=True)
            named = [(name(result), name(left), name(right)) for result, left, right in triples if left]
            lines += [f"{result}→{left} {right}" for result, left, right in sorted(named, reverse=True)]
        return [*lines, f"S→{name(self.code.full)}"]


def _contains(ordered: Coverages, coverages: Coverages) -> NDArray[np.bool_]:
    """Which coverages are in a sorted array."""
    if not len(ordered):
        return np.zeros(len(coverages), np.bool_)
    place = np.minimum(np.searchsorted(ordered, coverages), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[place] == coverages
    return found


@compiled
def _can_cover(
    full: np.uint64,
    word_of_bit: NDArray[np.int64],
    bounds: NDArray[np.int64],
    coverages: Coverages,
    singles: np.uint64,
    slack: np.uint64,
    guards: np.uint64,
) -> bool:
    """Depth-first search for a cover of `full` that always takes a phrase over the first word that is still missing.

    The phrase coverages are sorted by their first word; those of word w are bounds[w] to bounds[w + 1].
    """
    seen = {np.uint64(0)}
    stack = [np.uint64(0)]
    while len(stack) > 0:
        covered = stack.pop()
        missing = full - covered
        if missing == 0:
            return True
        bit = 0
        while (missing >> np.uint64(bit)) & np.uint64(1) == 0:
            bit += 1
        word = word_of_bit[bit]
        for number in range(bounds[word], bounds[word + 1]):
            phrase = coverages[number]
            total = covered + phrase
            fits = (covered & phrase & singles) == 0 and ((total + slack) & guards) == 0
            if fits and total not in seen:
                seen.add(total)
                stack.append(total)
    return False
