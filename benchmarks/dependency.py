"""Rescoring n-best lists with a dependency model: batched and cached parses against strings parsed one by one.

python -m benchmarks.dependency [--lists 20] [--nbest 50]

main  print the table; a model of 10,000 news sentences is estimated first unless it is there

The lists are references of ../shared/data/mt and the orders that a few swaps of neighbours make of them. Every way
rescores them with the six weights of a small search for λ.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from itertools import islice

from benchmarks.material import CACHE, NORMALISATION, REFERENCES, TEXT, is_missing, references
from gyro.lattice.lattice import Hypothesis
from gyro.text.corpus import read_sentences
from gyro.text.parsing import parse_sentences
from lm.dependency.model import DependencyModel, load_dependency_model, train_dependency_model
from rescoring.dependency import DependencyRescorer, ParserShare

MODEL = CACHE / "news.dependency"
SENTENCES, LONGEST = 10_000, 20
WEIGHTS = (0.0, 0.1, 0.2, 0.33, 0.4, 0.6)

Lists = list[list[Hypothesis]]


def main(argv: list[str] | None = None) -> None:
    """Time the parser, the estimation and three ways of rescoring, and print them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dependency", description="Time rescoring with a dependency model."
    )
    parser.add_argument("--lists", type=int, default=20, help="how many n-best lists (default 20)")
    parser.add_argument("--nbest", type=int, default=50, help="strings of each (default 50)")
    arguments = parser.parse_args(argv)
    if is_missing(TEXT[0], REFERENCES):
        return
    model = trained_model()
    lists = nbest_lists(arguments.lists, arguments.nbest)
    strings = [hypothesis.tokens for hypotheses in lists for hypothesis in hypotheses]
    list(parse_sentences(strings[:1]))  # loads spaCy
    print_parser_speed(strings)
    print(f"\n{len(lists)} lists of {arguments.nbest} strings, {len(WEIGHTS)} weights")
    print(f"{'':34}{'time':>10}{'strings/s':>12}{'in the parser':>16}{'times as fast':>16}")
    named = 0.0
    ways: tuple[tuple[str, Callable[[DependencyModel, Lists], tuple[float, float]]], ...] = (
        ("parsed one by one", one_by_one),
        ("batched", batched),
        ("batched and cached", cached),
    )
    for name, way in ways:
        begin = time.perf_counter()
        parser_seconds, seconds = way(model, lists)
        elapsed = time.perf_counter() - begin
        named = named or elapsed
        speed = len(WEIGHTS) * len(strings) / elapsed
        share = 100 * parser_seconds / seconds
        print(f"{name:34}{elapsed:>8.2f} s{speed:>12.0f}{share:>14.0f} %{named / elapsed:>14.1f} ×")


def trained_model() -> DependencyModel:
    """A model of the first news sentences, trained unless it is there."""
    if not MODEL.exists():
        MODEL.parent.mkdir(parents=True, exist_ok=True)
        sentences = islice(read_sentences(TEXT[:1], NORMALISATION), SENTENCES)
        begin = time.perf_counter()
        train_dependency_model(sentences, MODEL, memory="1G", normalisation=NORMALISATION, jobs=2)
        speed = SENTENCES / (time.perf_counter() - begin)
        print(f"training on {SENTENCES} sentences in 2 processes: {speed:.0f} sentences/s, estimation included")
    return load_dependency_model(MODEL)


def nbest_lists(count: int, length: int) -> Lists:
    """References of 10 to 20 tokens, each with other orders of its words."""
    chance = random.Random(1)
    lists = []
    for reference in islice((words for words in references() if 10 <= len(words) <= LONGEST), count):
        orders = {tuple(reference): 0.0}
        while len(orders) < length:
            order = list(chance.choice(list(orders)))
            at = chance.randrange(len(order) - 1)
            order[at : at + 2] = order[at + 1], order[at]
            orders.setdefault(tuple(order), float(len(orders)))
        lists.append([Hypothesis(order, cost) for order, cost in orders.items()])
    return lists


def print_parser_speed(strings: Sequence[tuple[str, ...]]) -> None:
    """What spaCy itself can do, in one process."""
    begin = time.perf_counter()
    list(parse_sentences(strings))
    elapsed = time.perf_counter() - begin
    tokens = sum(map(len, strings))
    print(f"spaCy's parser, one process: {len(strings) / elapsed:.0f} sentences/s, {tokens / elapsed:.0f} tokens/s")


def one_by_one(model: DependencyModel, lists: Lists) -> tuple[float, float]:
    """A call of the parser for each string, anew for each weight. Gives the parser's seconds and all seconds."""
    shares = []
    for weight in WEIGHTS:
        rescorer = DependencyRescorer(model, weight)
        for hypotheses in lists:
            for hypothesis in hypotheses:
                rescorer.costs([hypothesis.tokens])
        shares.append(rescorer.share)
    return total(shares)


def batched(model: DependencyModel, lists: Lists) -> tuple[float, float]:
    """All strings in one call, anew for each weight."""
    rescorers = [DependencyRescorer(model, weight) for weight in WEIGHTS]
    for rescorer in rescorers:
        rescorer.rescore_lists(lists)
    return total([rescorer.share for rescorer in rescorers])


def cached(model: DependencyModel, lists: Lists) -> tuple[float, float]:
    """All strings in one call, once for all weights."""
    cache: dict[tuple[str, ...], float] = {}
    rescorers = [DependencyRescorer(model, weight, cache=cache) for weight in WEIGHTS]
    for rescorer in rescorers:
        rescorer.rescore_lists(lists)
    return total([rescorer.share for rescorer in rescorers])


def total(shares: Sequence[ParserShare]) -> tuple[float, float]:
    """The seconds in the parser, and those in parser and model."""
    parser = sum(share.parser_seconds for share in shares)
    return parser, parser + sum(share.model_seconds for share in shares)


if __name__ == "__main__":
    main()
