"""The best-first decoder and its learner, against a decoder of the same features in plain Python.

python -m benchmarks.best_first [--treebank TRAIN.conllu] [--dev DEV.conllu] [--sentences 500] [--bags 100]

main  train on some sentences, decode bags of at most 20 tokens, and print edges a second, ratios and times a bag
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.material import DATA
from benchmarks.plain_best_first import PlainDecoder
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.input import bag_input
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.problem import prepare
from comparison.best_first.treebank import TrainingSet, ccg_training, dependency_training, development_bags
from gyro.text.annotated_bag import AnnotatedBag

TRAIN = DATA / "treebank" / "en_ewt-ud-train.conllu.xz"
DEV = DATA / "treebank" / "en_ewt-ud-dev.conllu.xz"
WHOLE = 12_544  # sentences of the English Web Treebank
LONGEST = 20
SETTINGS = {"dependency": ModelSettings(templates="ours"), "CCG, β = 0.075": ModelSettings(grammar="ccg", beta=0.075)}


class Work(NamedTuple):
    """CPU seconds, and edges scored and expanded in them."""

    seconds: float
    scored: int
    expanded: int


def main(argv: list[str] | None = None) -> None:
    """Measure both grammars, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.best_first", description="Time the best-first decoder.")
    parser.add_argument("--treebank", type=Path, default=TRAIN, help="CoNLL-U to learn from (default: EWT train)")
    parser.add_argument("--dev", type=Path, default=DEV, help="CoNLL-U to decode (default: EWT dev)")
    parser.add_argument("--sentences", type=int, default=500, help="sentences to learn from (default 500)")
    parser.add_argument("--bags", type=int, default=100, help="bags of at most 20 tokens to decode (default 100)")
    parser.add_argument("--plain-bags", type=int, default=10, help="bags for plain Python (default 10)")
    parser.add_argument("--edge-limit", type=int, default=20_000, help="edges scored a bag (default 20000)")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds a bag in the last table (default 5)")
    arguments = parser.parse_args(argv)
    if not arguments.treebank.exists() or not arguments.dev.exists():
        print(f"best_first: skipped, {arguments.treebank} or {arguments.dev} is not there")
        return
    for name, settings in SETTINGS.items():
        make = ccg_training if settings.grammar == "ccg" else dependency_training
        material = make([arguments.treebank], settings, limit=arguments.sentences)
        print(f"{name}: {'; '.join(material.notes)}\n", flush=True)
        learner = print_learning(material, settings)
        bags = [
            bag
            for bag in development_bags([arguments.dev], settings, sample=WHOLE, tagger=material.tagger)
            if 2 <= len(bag) <= LONGEST
        ]
        chosen = random.Random(1).sample(bags, min(arguments.bags, len(bags)))
        print_decoding(learner, settings, chosen[: arguments.plain_bags], arguments.edge_limit)
        print_times(learner, settings, chosen, arguments.time_limit)


def print_learning(material: TrainingSet, settings: ModelSettings) -> Learner:
    """One iteration over the sentences in random order, as training does it; the first few are not counted."""
    options = kernel_options(settings)
    warm = Learner(material.grammar, options, METHODS[settings.method], bits=settings.bits, budget=settings.budget)
    for _ in _learned(warm, material, range(min(3, material.treebank.size))):
        pass  # loads the compiled code
    learner = Learner(material.grammar, options, METHODS[settings.method], bits=settings.bits, budget=settings.budget)
    order = list(range(material.treebank.size))
    random.Random(0).shuffle(order)
    began = time.process_time()
    counts = np.array([*_learned(learner, material, order)])
    seconds = time.process_time() - began
    scored, expanded = counts.sum(axis=0)
    print(f"learning, first iteration, {len(counts)} sentences, one core")
    print(f"  scored      {scored / seconds:>12,.0f} edges a second")
    print(f"  expanded    {expanded / seconds:>12,.0f} edges a second")
    whole = WHOLE * seconds / len(counts)
    print(f"  iteration   {seconds:>12.1f} s; by rule of three {whole:,.0f} s for {WHOLE:,} sentences\n")
    return learner


def _learned(learner: Learner, material: TrainingSet, order: Sequence[int]) -> Iterator[tuple[int, int]]:
    for number in order:
        example = material.treebank.example(number)
        if example is not None:
            learned = learner.learn(example)
            yield learned.scored, learned.expanded


def print_decoding(learner: Learner, settings: ModelSettings, bags: Sequence[AnnotatedBag], limit: int) -> None:
    """Both decoders on the same bags with the same weights and the same limit of edges."""
    weights, grammar = learner.averaged(), learner.grammar
    ours = Decoder(grammar, weights, kernel_options(settings), limits=Limits(3600.0, limit))
    scaled = METHODS[settings.method].scaled
    plain = PlainDecoder(grammar, weights, scaled=scaled, beam=settings.beam)  # type: ignore[arg-type]
    inputs = [bag_input(bag) for bag in bags]
    prepared = [prepare(each, grammar) for each in inputs]
    for run in range(2):  # the first time loads compiled code, and fills the dictionary of weights
        began = time.process_time()
        decoded = [ours.decode(each) for each in inputs]
        middle = time.process_time()
        found = [plain.decode(each, limit) for each in prepared]
        ended = time.process_time()
        if run == 0:
            continue
        mine = Work(middle - began, sum(d.scored for d in decoded), sum(d.expanded for d in decoded))
        other = Work(ended - middle, sum(p.scored for p in found), sum(p.expanded for p in found))
    same = sum(p.words == (d.words if d.how == "goal" else None) for p, d in zip(found, decoded, strict=True))
    print(f"decoding, {len(bags)} bags, at most {limit:,} scored edges each, beam {settings.beam}")
    print(f"{'':16}{'scored':>10}{'scored/s':>12}{'expanded/s':>12}{'seconds':>10}")
    for name, work in (("compiled", mine), ("plain Python", other)):
        rates = f"{work.scored / work.seconds:>12,.0f}{work.expanded / work.seconds:>12,.0f}"
        print(f"  {name:<14}{work.scored:>10,}{rates}{work.seconds:>10.2f}")
    ratio = (mine.scored / mine.seconds) / (other.scored / other.seconds)
    print(f"  {ratio:.0f} × as many edges a second; the same result for {same} of {len(bags)} bags\n", flush=True)


def print_times(learner: Learner, settings: ModelSettings, bags: Sequence[AnnotatedBag], limit: float) -> None:
    """Seconds a bag with the usual limit of time; these weights are those of a short training."""
    decoder = Decoder(learner.grammar, learner.averaged(), kernel_options(settings), limits=Limits(limit))
    results = [decoder.decode(bag_input(bag)) for bag in bags]
    seconds = np.array([result.seconds for result in results])
    timeouts = np.mean([result.timed_out for result in results])
    print(f"decoding, {len(bags)} bags of at most {LONGEST} tokens, time limit {limit:g} s")
    print(
        f"  mean {seconds.mean():.3f} s, 95th percentile {np.percentile(seconds, 95):.3f} s, time-outs {timeouts:.1%}\n"
    )


if __name__ == "__main__":
    main()
