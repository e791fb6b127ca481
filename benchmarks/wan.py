"""The four methods of Wan et al. (2009), against the same methods in plain Python.

python -m benchmarks.wan [--treebank TRAIN.conllu] [--test TEST.conllu] [--bags 500] [--plain-bags 20]

main  count a treebank, order bags of another, and print sentences a second of CPU time, with ratios
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.material import DATA, SPLIT, is_missing
from comparison.wan.assignment import best_assignment, data_positions
from comparison.wan.model import WanModel, WanSettings, train_model
from comparison.wan.system import AB, CLE, METHODS, VITERBI, GenerationSettings, WanSystem
from comparison.wan.vertex import bag_vertices
from comparison.wan.viterbi import BEAM
from grammars.annotation import Annotation, read_treebank, sentence_to_bag
from grammars.conllu import is_usable, read_conllu
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import is_token
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import load_model
from lm.model import LanguageModel
from tests.comparison.wan.twin import plain_assign_tree, plain_beam, plain_linearise, plain_tree

TRAIN = DATA / "treebank" / "en_ewt-ud-train.conllu.xz"
TEST = DATA / "treebank" / "en_ewt-ud-test.conllu.xz"
ORDER = 4


def main(argv: list[str] | None = None) -> None:
    """Measure all methods."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wan", description="Time the methods of Wan et al.")
    parser.add_argument("--treebank", type=Path, default=TRAIN, help="CoNLL-U to count (default: EWT train)")
    parser.add_argument("--test", type=Path, default=TEST, help="CoNLL-U to order (default: EWT test)")
    parser.add_argument("--bags", type=int, default=500, help="bags to order (default 500)")
    parser.add_argument("--plain-bags", type=int, default=20, help="bags for viterbi in plain Python (default 20)")
    arguments = parser.parse_args(argv)
    if is_missing(arguments.treebank, arguments.test):
        return
    begin = time.process_time()
    model, facts = train_model([arguments.treebank], WanSettings())
    seconds = time.process_time() - begin
    print(f"{facts['trees']} trees, {facts['vertices']} vertices counted in {seconds:.1f} s of CPU time")
    bags = chosen_bags(arguments.test, arguments.bags)
    mean = sum(map(len, bags)) / len(bags)
    print(f"{len(bags)} bags of {mean:.1f} tokens, {max(map(len, bags))} the longest; base noun phrases are units\n")
    print_speed(model, made_model(arguments.treebank), bags, arguments.plain_bags)


def print_speed(model: WanModel, language_model: LanguageModel, bags: Sequence[AnnotatedBag], plain_bags: int) -> None:
    """Sentences a second: all of the work, the search alone, and the same search in plain Python."""
    print(f"{'sentences/s':12}{'with lattice':>14}{'search':>10}{'plain Python':>14}{'ratio':>8}")
    for method in METHODS:
        system = WanSystem(language_model, GenerationSettings(method), model)
        system.warm_up()
        whole = sentences_a_second(bags, system.order)
        search = sentences_a_second(bags, system.search)
        some = bags[: plain_bags if method == VITERBI else len(bags)]  # of 100 hypotheses a row
        ratio = sentences_a_second(some, system.search) / (
            plain := sentences_a_second(some, plain_method(method, model, language_model))
        )
        print(f"{method:12}{whole:14.0f}{search:10.0f}{plain:14.0f}{ratio:8.1f}", flush=True)


def made_model(treebank: Path) -> LanguageModel:
    """A model of the treebank's text."""
    with tempfile.TemporaryDirectory() as folder:
        sentences = (list(tree.forms) for tree in read_conllu(treebank) if is_usable(tree))
        path = Path(folder) / "lm"
        estimate_model(sentences, path, order=ORDER, memory=256 << 20, normalisation=SPLIT)
        return load_model(path)  # it is mapped, and stays so


def chosen_bags(treebank: Path, count: int) -> list[AnnotatedBag]:
    """Some bags at random."""
    given = Annotation(units=True)
    usable = [sentence for sentence in read_treebank(treebank) if all(map(is_token, sentence.words))]
    return [sentence_to_bag(sentence, given) for sentence in random.Random(1).sample(usable, min(count, len(usable)))]


def sentences_a_second(bags: Sequence[AnnotatedBag], order: Callable[[AnnotatedBag], object]) -> float:
    """How many bags are ordered in a second of CPU time."""
    begin = time.process_time()
    for bag in bags:
        order(bag)
    return len(bags) / (time.process_time() - begin)


def plain_method(method: str, model: WanModel, language_model: LanguageModel) -> Callable[[AnnotatedBag], object]:
    """The method without compiled code but for SciPy's assignment; the costs of arcs are made as ever."""

    @cache
    def cost(context: tuple[str, ...], word: str) -> float:
        starts = context[:1] == ("<s>",)
        known = context[1:] if starts else context
        before = language_model.score(known, bos=starts, eos=False)
        return language_model.score([*known, word], bos=starts, eos=False) - before

    def assignment(costs: list[list[float]]) -> dict[int, int]:
        return dict(zip(*(places.tolist() for places in best_assignment(np.array(costs))), strict=True))

    positions = data_positions(model)

    def order(bag: AnnotatedBag) -> object:
        cost.cache_clear()
        vertices = bag_vertices(bag, model.tagger)
        words = [tuple(bag.tokens[place] for place in vertex.places) for vertex in vertices]
        if method == VITERBI:
            return plain_beam(words, cost, ORDER, BEAM)
        numbers = range(1, len(words) + 1)
        heads, sides = dict.fromkeys(numbers, 0), dict.fromkeys(numbers, 0)
        if method == CLE:
            arcs = model.costs(vertices).arcs
            cheaper = arcs.min(axis=2)
            heads = plain_tree(cheaper.tolist(), len(cheaper))
            sides = {v: int(arcs[heads[v], v].argmin()) if heads[v] else 0 for v in heads}
        elif method == AB:
            costs = model.costs(vertices)
            room = [positions(vertex.tag) for vertex in vertices]
            heads, sides, _ = plain_assign_tree(costs.arcs.tolist(), costs.arguments.tolist(), room, assignment)
        return plain_linearise(heads, sides, words, cost, ORDER)

    return order


if __name__ == "__main__":
    main()
