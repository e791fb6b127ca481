"""Time and peak memory of the published algorithms by bag size, with both grammars: the paper's Figure 6, within 4 GB.

python -m benchmarks.rtn [--index DIR] [--lm FILE] [--sizes 8 10 …] [--bags 4] [--shortest 3]

main  print the table; index and model of the development text are made unless they are given

The bags are references of the test set with rules of 3 to 5 words; bags that the grammar can cover come first, for the
others end early. Each measurement has a process of its own: memory is what that process takes beside index and model.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psutil

from benchmarks.material import REFERENCES, is_missing, made_index, made_model, references
from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import PhraseSet, find_phrases
from gyro.index.reader import TextIndex, open_index
from gyro.lattice.automaton import WordAutomaton
from gyro.search.rtn import ALGORITHMS
from gyro.text.bag import Bag
from lm.kenlm.model import load_model

SIZES = (8, 10, 12, 14, 16, 18, 20)
LONGEST = 5  # words of a rule
POLL = 0.01  # seconds
EACH = [(grammar, name) for grammar, algorithms in ALGORITHMS.items() for name in algorithms]


@dataclass(frozen=True)
class Measured:
    """One run: seconds and bytes, or why it was stopped."""

    seconds: float
    memory: int
    arcs: int
    stopped: str = ""


def main(argv: list[str] | None = None) -> None:
    """Run all algorithms on the same bags and print medians, worst cases and ratios to full expansion."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rtn", description="Time the RTN algorithms by bag size."
    )
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--lm", type=Path, help="a model (default: a 4-gram model of the same text)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="bag sizes")
    parser.add_argument("--bags", type=int, default=4, help="bags of each size (default 4)")
    parser.add_argument("--shortest", type=int, default=3, help="words of the shortest rules (default 3)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for a bag (default 60)")
    parser.add_argument("--memory-limit", type=float, default=4.0, help="GB for a bag (default 4)")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    index = open_index(arguments.index or made_index())
    model = load_model(arguments.lm or made_model(4))
    limits = (arguments.time_limit, int(arguments.memory_limit * 2**30))
    print(
        f"rules of {arguments.shortest} to {LONGEST} words, r = 6, β = 10, {model.order}-gram model {model.path.name}"
    )
    print(f"limits for a bag: {arguments.time_limit:g} s and {arguments.memory_limit:g} GB")
    columns = f"{'median':>9}{'worst':>9}{'peak':>9}{'arcs':>12}{'times as fast as the first':>28}"
    print(f"{'tokens':>6} {'bags':>5} {'parse':>5}  {'algorithm':<31}{columns}")
    compile_kernels()
    for size, grammars in chosen_grammars(index, arguments.sizes, arguments.bags, arguments.shortest).items():
        automata = [model.acceptor(grammar.bag.words) for grammar in grammars]
        print_size(size, grammars, automata, limits)


def chosen_grammars(
    index: TextIndex, sizes: Sequence[int], count: int, shortest: int
) -> dict[int, list[PhraseGrammar]]:
    """The grammars of `count` references of each size, those with a parse first."""
    found: dict[int, list[PhraseGrammar]] = defaultdict(list)
    for tokens in references():
        bag = Bag(tuple(tokens))
        if len(bag) in sizes:
            unknown = (w for w, word in enumerate(bag.words) if index.word_id(word) is None)
            phrases = find_phrases(index, bag, LONGEST).of_lengths(shortest, LONGEST).with_unigrams(unknown)
            found[len(bag)].append(PhraseGrammar(bag, phrases))
    return {size: sorted(found[size], key=lambda g: not g.has_parse())[:count] for size in sizes}


def compile_kernels() -> None:
    """Run all on a tiny bag, so that no measurement has the compilation in it."""
    bag = Bag(("a", "b"))
    phrases = PhraseSet.from_phrases(bag.words, {("a", "b"): 1, ("a",): 1, ("b",): 1})
    automaton = WordAutomaton(bag.words, 0, np.zeros((1, 2), np.int32), np.ones((1, 2)), np.zeros(1))
    for grammar, name in EACH:
        ALGORITHMS[grammar][name](PhraseGrammar(bag, phrases), automaton, first_row=1)


def print_size(
    size: int, grammars: list[PhraseGrammar], automata: list[WordAutomaton], limits: tuple[float, int]
) -> None:
    """The lines of one bag size."""
    parses = sum(grammar.has_parse() for grammar in grammars)
    full_median = 0.0
    for form, name in EACH:
        runs = [measure((form, name), g, a, *limits) for g, a in zip(grammars, automata, strict=True)]
        median = float(np.median([run.seconds for run in runs]))
        full_median = median if (form, name) == EACH[0] else full_median
        worst, memory = max(run.seconds for run in runs), max(run.memory for run in runs) / 2**20
        stops = ", ".join(f"{run.stopped} reached" for run in runs if run.stopped)
        line = f"{size:>6} {len(runs):>5} {parses:>5}  {name + ', ' + form:<31}"
        line += f"{median:>7.2f} s{worst:>7.2f} s{memory:>6.0f} MB"
        arcs = max(run.arcs for run in runs)
        print(f"{line}{arcs:>12,}{full_median / median:>26.2f} ×  {stops}".rstrip(), flush=True)


def measure(
    each: tuple[str, str], grammar: PhraseGrammar, automaton: WordAutomaton, time_limit: float, memory_limit: int
) -> Measured:
    """Run one algorithm in a process of its own, and stop that at a limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=run_and_report, args=(sender, each, grammar, automaton))
    begin = time.perf_counter()
    process.start()
    sender.close()
    watched = psutil.Process(process.pid)
    before = watched.memory_info().rss
    stopped, peak = "", 0
    while not stopped and not receiver.poll(POLL):
        peak = max(peak, watched.memory_info().rss - before)
        if peak > memory_limit:
            stopped = "memory limit"
        elif time.perf_counter() - begin > time_limit:
            stopped = "time limit"
    if stopped:
        process.kill()
        process.join()
        return Measured(time.perf_counter() - begin, peak, 0, stopped)
    try:
        seconds, memory, arcs = receiver.recv()
    except EOFError:  # the process has died without a word
        process.join()
        return Measured(time.perf_counter() - begin, peak, 0, f"exit code {process.exitcode}")
    process.join()
    return Measured(seconds, max(memory, peak), arcs)


def run_and_report(sender: Connection, each: tuple[str, str], grammar: PhraseGrammar, automaton: WordAutomaton) -> None:
    """In the new process: seconds, growth of the peak memory, arcs of the largest expansion."""
    before = psutil.Process().memory_info().rss
    begin = time.perf_counter()
    result = ALGORITHMS[each[0]][each[1]](grammar, automaton)
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    sender.send((seconds, memory, max(result.arcs)))


if __name__ == "__main__":
    main()
