"""The rules that a bag falls back to."""

from __future__ import annotations

from gyro.index.phrase import PhraseSet
from gyro.run.outcome import ONE_GRAM_RULES, PRUNED_LESS, RULES, TWO_GRAM_PRUNED_LESS, TWO_GRAM_RULES
from gyro.search.rung import LARGEST_CHECKED, SHARE, WIDER_SHARE, find_rungs
from gyro.search.settings import Settings
from gyro.text.bag import Bag

BAG = Bag(("a", "b", "c", "d"))
EACH = {(word,): 1 for word in BAG.words}


def names(phrases: dict[tuple[str, ...], int], bag: Bag = BAG, **settings: object) -> list[str]:
    found = PhraseSet.from_phrases(bag.words, phrases)
    return [rung.name for rung in find_rungs(bag, found, Settings(**settings))]  # type: ignore[arg-type]


def test_only_rules_that_can_cover_the_bag_are_tried() -> None:
    pairs = {**EACH, ("a", "b"): 1, ("c", "d"): 1}
    assert names(EACH, rules="3-5") == [ONE_GRAM_RULES]
    assert names(pairs, rules="3-5") == [TWO_GRAM_RULES, ONE_GRAM_RULES]
    assert names({**pairs, ("a", "b", "c"): 1}, rules="3-5") == [TWO_GRAM_RULES, ONE_GRAM_RULES]
    # With an overlap, d may follow `a b c`.
    assert names({**pairs, ("a", "b", "c"): 1, ("b", "c", "d"): 1}, rules="3-5", overlap=2)[0] == RULES
    assert names(EACH) == [RULES]


def test_a_word_that_the_index_does_not_know_is_a_rule() -> None:
    unknown = dict.fromkeys([("a",), ("b",), ("c",), ("a", "b", "c")], 1)
    assert names(unknown, rules="3-5")[0] == RULES


def test_pruned_algorithms_prune_less_before_they_take_other_rules() -> None:
    found = PhraseSet.from_phrases(BAG.words, {**EACH, ("a", "b"): 1, ("c", "d"): 1, ("a", "b", "c", "d"): 1})
    rungs = list(find_rungs(BAG, found, Settings(algorithm="pruned-parsing", beta=3.0)))
    assert [(rung.name, rung.beta, rung.share) for rung in rungs] == [
        (RULES, 3.0, SHARE),
        (PRUNED_LESS, 6.0, WIDER_SHARE),
        (PRUNED_LESS, 12.0, WIDER_SHARE),
        (TWO_GRAM_RULES, 3.0, SHARE),
        (TWO_GRAM_PRUNED_LESS, 6.0, WIDER_SHARE),
        (TWO_GRAM_PRUNED_LESS, 12.0, WIDER_SHARE),
        (ONE_GRAM_RULES, 3.0, SHARE),
    ]


def test_of_large_bags_nothing_is_told_beforehand() -> None:
    bag = Bag(tuple(f"w{n:02}" for n in range(LARGEST_CHECKED + 1)))
    assert names({(word,): 1 for word in bag.words}, bag, rules="3-5") == [RULES, TWO_GRAM_RULES, ONE_GRAM_RULES]
