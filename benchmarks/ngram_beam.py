"""The n-gram beam against the same search in plain Python, and the time of its parts.

python -m benchmarks.ngram_beam [--bags TREEBANK.conllu] [--sample 300] [--plain-sample 20]

main  order bags at beam 64 and 512, and print bags a second, ratios and where the time goes
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.material import DATA, made_model
from comparison.ngram_beam.prefix_tree import strings_to_lattice
from comparison.ngram_beam.system import MOST_TOKENS, GenerationSettings, NgramBeamSystem
from comparison.ngram_beam.unigram_model import UnigramModel, count_words
from grammars.annotation import Annotation, read_treebank, sentence_to_bag
from gyro.lattice.automaton import WordAutomaton
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import is_token
from lm.loading import load_language_model
from lm.model import LanguageModel
from tests.comparison.ngram_beam.twin import automaton_step, plain_beam

TEST = DATA / "treebank" / "en_ewt-ud-test.conllu.xz"
ORDER = 4
BEAMS = (64, 512)
SHORT = 20
GIVEN = Annotation(units=True)


def main(argv: list[str] | None = None) -> None:
    """Measure bags of all lengths and short ones, with units and future cost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ngram_beam", description="Time the n-gram beam.")
    parser.add_argument("--bags", type=Path, default=TEST, help="CoNLL-U whose sentences to order (default: EWT test)")
    parser.add_argument("--lm", help="the language model (default: a 4-gram model of the development text)")
    parser.add_argument("--sample", type=int, default=300, help="bags (default 300)")
    parser.add_argument("--plain-sample", type=int, default=20, help="bags for plain Python (default 20)")
    arguments = parser.parse_args(argv)
    if not arguments.bags.exists():
        print(f"ngram_beam: skipped, {arguments.bags} is not there")
        return
    model = load_language_model(arguments.lm or str(made_model(ORDER)))
    trees = [tree for tree in read_treebank(arguments.bags) if all(map(is_token, tree.words))]
    bags = [sentence_to_bag(tree, GIVEN) for tree in trees if len(tree.words) <= MOST_TOKENS]
    unigrams = count_words(tree.words for tree in trees)
    chosen = random.Random(1).sample(bags, min(arguments.sample, len(bags)))
    for name, some in (("all lengths", chosen), (f"at most {SHORT}", [b for b in chosen if len(b) <= SHORT])):
        mean = sum(map(len, some)) / max(len(some), 1)
        print(f"{len(some)} bags, {name}, {mean:.1f} tokens on average, units and future cost; one core\n")
        for beam in BEAMS:
            print_speed(model, unigrams, some, some[: arguments.plain_sample], beam)


def print_speed(
    model: LanguageModel,
    unigrams: UnigramModel,
    bags: Sequence[AnnotatedBag],
    some: Sequence[AnnotatedBag],
    beam: int,
) -> None:
    """Bags a second of each way to order them; plain Python has `some` of the bags, and its own rate on these."""
    system = NgramBeamSystem(model, GenerationSettings(beam), unigrams)
    system.order(bags[0])  # loads the compiled code
    problems = [system.problem(bag) for bag in bags]
    automata = [model.acceptor(problem.words, end=False) for problem in problems]
    found = [system.search(*both)[0] for both in zip(problems, automata, strict=True)]
    parts: dict[str, Callable[[], object]] = {
        "automaton of the model": lambda: [model.acceptor(problem.words, end=False) for problem in problems],
        "search": lambda: [system.search(*both) for both in zip(problems, automata, strict=True)],
        "lattice": lambda: [strings_to_lattice(*both) for both in zip(found, automata, strict=True)],
        "a bag, all of it": lambda: [system.order(bag) for bag in bags],
        "a run with its folder": lambda: run_all(system, bags),
    }
    few = list(zip(problems, automata, strict=True))[: len(some)]
    plain_few = list(zip(some, automata, strict=False))
    ours = cpu_seconds(lambda: [system.search(*both) for both in few]) / len(some)
    plain = cpu_seconds(lambda: [order_plainly(system, *both) for both in plain_few]) / len(some)
    print(f"  beam {beam:<21}{'bags/s':>10}{'ms a bag':>10}")
    for name, work in parts.items():
        spent = cpu_seconds(work) / len(bags)
        print(f"    {name:<24}{1 / spent:>10,.0f}{1000 * spent:>10.2f}")
    print(
        f"    {'plain Python, search':<24}{1 / plain:>10,.1f}{1000 * plain:>10.2f}{plain / ours:>8.0f} × our search\n"
    )


def order_plainly(system: NgramBeamSystem, bag: AnnotatedBag, automaton: WordAutomaton) -> object:
    """The same search over the same automaton."""
    assert system.unigrams is not None
    inside = {place for unit in bag.units for place in unit}
    units = [tuple(bag.tokens[place] for place in unit) for unit in bag.units]
    units += [(token,) for place, token in enumerate(bag.tokens) if place not in inside]
    step = automaton_step(automaton)
    return plain_beam(units, automaton.start, step, system.settings.beam, future=system.unigrams.cost)


def run_all(system: NgramBeamSystem, bags: Sequence[AnnotatedBag]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        system.run(bags, Path(folder) / "run", log=io.StringIO())


def cpu_seconds(work: Callable[[], object]) -> float:
    """Seconds of this process and its children."""
    begin = _cpu_clock()
    work()
    return _cpu_clock() - begin


def _cpu_clock() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
