"""The rules that a bag is ordered by, and those that it falls back to.

Rung        one try at a bag: the name under which it is counted, the rules in force, and β
find_rungs  the tries at a bag, one after the other
grammar_of  the grammar of its rules
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from grammars.phrase.closure import PhraseCosts
from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet
from gyro.run.outcome import ONE_GRAM_RULES, PRUNED_LESS, RULES, TWO_GRAM_PRUNED_LESS, TWO_GRAM_RULES
from gyro.search.settings import Settings
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag

# A bag that finds no parse is tried again with these multiples of β before the grammar is widened.
PRUNE_LESS = (2.0, 4.0)
# The share of the steps that are left which a rung over the RTN gets when others can follow: as asked, or pruned less.
SHARE, WIDER_SHARE = 0.3, 0.1
LARGEST_CHECKED = 24  # tokens of a bag of which it is told beforehand whether rules can cover it


class Rung(NamedTuple):
    """One try at a bag; `share` is what it may take of the steps that are left, as long as others can follow."""

    name: str
    phrases: PhraseSet
    beta: float
    share: float = SHARE


def find_rungs(bag: Bag, phrases: PhraseSet, settings: Settings) -> Iterator[Rung]:
    """The rules in force, then 2-gram rules too, both pruned less and less; then each word as a rule of its own.

    Rules that cannot cover the bag are left out, where that is quickly told.
    """
    low, high = settings.rule_lengths
    known = {int(word) for word in phrases.grams[0][:, 0]}
    unknown = [word for word in range(len(bag.words)) if word not in known]
    wider = [settings.beta * factor for factor in PRUNE_LESS if settings.algorithm.startswith("pruned")]
    rules = phrases.of_lengths(low, high).with_unigrams(unknown)
    if _may_parse(bag, rules, settings):
        yield Rung(RULES, rules, settings.beta)
        yield from (Rung(PRUNED_LESS, rules, beta, WIDER_SHARE) for beta in wider)
    if low > 2:
        rules = phrases.of_lengths(2, high).with_unigrams(unknown)
        if _may_parse(bag, rules, settings):
            yield Rung(TWO_GRAM_RULES, rules, settings.beta)
            yield from (Rung(TWO_GRAM_PRUNED_LESS, rules, beta, WIDER_SHARE) for beta in wider)
    if low > 1:
        yield Rung(ONE_GRAM_RULES, rules.with_unigrams(range(len(bag.words))), settings.beta)


def grammar_of(bag: Bag, phrases: PhraseSet, settings: Settings, costs: PhraseCosts | None = None) -> PhraseGrammar:
    """The grammar of the rules of a try."""
    return PhraseGrammar(bag, phrases, costs=costs, overlap=settings.overlap)


def _may_parse(bag: Bag, phrases: PhraseSet, settings: Settings) -> bool:
    if len(phrases.grams[0]) == len(bag.words) or len(bag) > LARGEST_CHECKED:
        return True
    if isinstance(bag, AnnotatedBag) and bag.is_selection:  # not all of it need be covered
        return True
    return grammar_of(bag, phrases, settings).has_parse()
