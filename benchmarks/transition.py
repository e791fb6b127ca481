"""The transition system and its learner, against a beam over the same features in plain Python (that of the tests).

python -m benchmarks.transition [--treebank TRAIN.conllu] [--dev DEV.conllu] [--sentences 500] [--bags 200]

main  train on random sentences, decode bags of at most 20 tokens, and print passes, rates and ratios, in CPU time
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.material import DATA, is_missing
from comparison.transition.decoder import Decoded, Decoder
from comparison.transition.learner import Learner
from comparison.transition.model import TransitionSettings
from comparison.transition.problem import bag_given
from comparison.transition.treebank import TrainingSet, development_bags, read_training
from gyro.text.annotated_bag import AnnotatedBag
from tests.comparison.transition.bank import twin_actions, twin_begin
from tests.comparison.transition.twin import beam, model_score

TRAIN = DATA / "treebank" / "en_ewt-ud-train.conllu.xz"
DEV = DATA / "treebank" / "en_ewt-ud-dev.conllu.xz"
WHOLE = 12_256  # projective sentences of the English Web Treebank
LONGEST = 20
BEAMS = (16, 64)
PASSES = 5
GIVEN: dict[str, tuple[str, ...]] = {"words alone": (), "POS": ("pos",), "POS, base NPs": ("pos", "units")}


def main(argv: list[str] | None = None) -> None:
    """Measure words alone, with tags, and with tags and base noun phrases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transition", description="Time the transition system.")
    parser.add_argument("--treebank", type=Path, default=TRAIN, help="CoNLL-U to learn from (default: EWT train)")
    parser.add_argument("--dev", type=Path, default=DEV, help="CoNLL-U to decode (default: EWT dev)")
    parser.add_argument("--sentences", type=int, default=500, help="sentences to learn from (default 500)")
    parser.add_argument("--bags", type=int, default=200, help="bags of at most 20 tokens to decode (default 200)")
    parser.add_argument("--plain-bags", type=int, default=5, help="bags for plain Python (default 5)")
    arguments = parser.parse_args(argv)
    if is_missing(arguments.treebank, arguments.dev):
        return
    for name, known in GIVEN.items():
        settings = TransitionSettings(given=known)
        material = read_training([arguments.treebank], settings, limit=arguments.sentences)
        found = [b for b in development_bags([arguments.dev], settings, sample=WHOLE) if 2 <= len(b) <= LONGEST]
        bags = random.Random(1).sample(found, min(arguments.bags, len(found)))
        print(f"{name}: {material.treebank.size} sentences, {len(bags)} bags of at most {LONGEST} tokens\n")
        learner = print_learning(material, settings)
        whole = read_training([arguments.treebank], settings).grammar  # the tags of words of a whole treebank
        print_decoding(Decoder(whole, learner.averaged(), BEAMS[-1]), bags, arguments.plain_bags)


def print_learning(material: TrainingSet, settings: TransitionSettings) -> Learner:
    """Some passes in random order; the search goes further with each."""
    for size in BEAMS:
        learner = Learner(material.grammar, size, settings.bits)
        order = [found for i in range(material.treebank.size) if (found := material.treebank.example(i)) is not None]
        Learner(material.grammar, size, 10).learn(order[0])  # loads the compiled code
        for number in range(1, PASSES + 1):
            random.Random(number).shuffle(order)
            began = time.process_time()
            learned = [learner.learn(example) for example in order]
            seconds = time.process_time() - began
            whole, right = WHOLE * seconds / len(order), sum(each.found for each in learned) / len(order)
            if number in (1, PASSES):
                print(f"  beam {size:>2}, pass {number}: {whole:7.1f} s for {WHOLE:,} sentences; {right:.1%} right")
    print()
    return learner


def print_decoding(decoder: Decoder, bags: Sequence[AnnotatedBag], plain: int) -> None:
    """Bags a second, and states a second against those of plain Python."""
    given = [bag_given(bag) for bag in bags]
    decoder.decode(given[0])
    print(f"  {'':18}{'bags/s':>10}{'states/s':>12}{'actions/s':>12}{'':4}against plain Python")
    for size in BEAMS:
        decoder.beam = size
        began = time.process_time()
        found = [decoder.decode(each) for each in given]
        seconds = time.process_time() - began
        made, scored = (sum(getattr(each, name) for each in found) / seconds for name in ("made", "scored"))
        same, ratio = compare_plain(decoder, found[:plain], size)
        rates = f"{len(bags) / seconds:>10,.0f}{made:>12,.0f}{scored:>12,.0f}"
        print(f"  beam {size:>3}          {rates}    {ratio:,.0f} × as fast; the same for {same} of {plain} bags")
    print(flush=True)


def compare_plain(decoder: Decoder, found: Sequence[Decoded], size: int) -> tuple[int, float]:
    """For how many bags plain Python finds the same best actions, and how much longer it takes."""
    score = model_score(decoder.weights)
    same = 0
    began = time.process_time()
    for decoded in found:
        total, done = beam(twin_begin(decoded.prepared), score, size)[0]
        same += twin_actions(decoded.prepared, decoded.actions[0]) == done and np.isclose(total, decoded.scores[0])
    middle = time.process_time()
    for decoded in found:
        decoder.search(decoded.prepared)
    return same, (middle - began) / (time.process_time() - middle)


if __name__ == "__main__":
    main()
