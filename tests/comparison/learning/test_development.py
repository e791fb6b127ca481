"""Bags of development data, and the score of their orders against sacreBLEU's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sacrebleu

from comparison.learning.development import DevScore, Ordered, choose_bags, score_orders
from grammars.annotation import Annotation, TreebankSentence, tree_to_sentence
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from tests.comparison.best_first.treebank import trees

BARE = Annotation()


def sentences() -> Iterator[tuple[TreebankSentence, None]]:
    for number, each in enumerate(trees(), 1):
        yield tree_to_sentence(each, str(number)), None


def test_a_sample_is_fixed_by_its_seed_and_in_the_order_of_the_treebank() -> None:
    every = choose_bags(sentences(), BARE, sample=100, seed=0)
    assert [bag.reference for bag in every] == [each.forms for each in trees()]
    samples = [choose_bags(sentences(), BARE, sample=4, seed=seed) for seed in (0, 0, 1, 2, 3)]
    assert samples[0] == samples[1]
    assert len({tuple(bag.id for bag in sample) for sample in samples}) > 1
    for sample in samples:
        assert [bag for bag in every if bag in sample] == sample
        assert len(sample) == 4


def test_bags_have_what_is_given() -> None:
    (bag, *_) = choose_bags(sentences(), Annotation(pos=1.0, heads=1.0), sample=100, seed=0)
    assert sorted(zip(bag.tokens, bag.pos or (), strict=True)) == [
        (".", "."), ("barks", "VBZ"), ("dog", "NN"), ("the", "DT"),
    ]  # fmt: skip
    assert bag.heads is not None


def test_without_any_sentence_there_is_an_error() -> None:
    with pytest.raises(InputError, match=r"dev\.conllu: found no sentence that can be used"):
        choose_bags(iter(()), BARE, sample=3, seed=0, path="dev.conllu")


BAGS = [
    AnnotatedBag(("a", "b", "c", "d", "e"), reference=("a", "b", "c", "d", "e")),
    AnnotatedBag(("v", "w", "x", "y", "z"), reference=("v", "w", "x", "y", "z")),
    AnnotatedBag(("one", "two", "three"), reference=("one", "two", "three")),
]


@pytest.mark.parametrize("jobs", [1, 2])
def test_orders_are_scored_as_sacrebleu_scores_them(jobs: int) -> None:
    outputs = {"a": Ordered(("a", "b", "c", "d", "e"), False, 1.0), "v": Ordered(("w", "v", "x", "y"), True, 0.5)}
    outputs["one"] = Ordered(("one", "three", "two"), False, 0.25)

    def order(bag: Bag) -> Ordered:
        return outputs[next(word for word in ("a", "v", "one") if word in bag.tokens)]

    found = score_orders(BAGS, order, jobs)
    strings = ["a b c d e", "w v x y", "one three two"]
    wanted = sacrebleu.corpus_bleu(strings, [[" ".join(bag.reference or ()) for bag in BAGS]], tokenize="none")
    assert found == DevScore(pytest.approx(wanted.score), 12 / 13, 1 / 3, 1.75)


def test_a_bag_that_fails_has_an_empty_output() -> None:
    def order(bag: Bag) -> Ordered:
        if "v" in bag.tokens:
            raise InputError("no order")
        return Ordered((*bag.reference,) if isinstance(bag, AnnotatedBag) and bag.reference else (), False, 0.0)

    found = score_orders(BAGS, order)
    assert (found.length_ratio, found.timeout_ratio) == (8 / 13, 1 / 3)
    assert found.bleu < 100
