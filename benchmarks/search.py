"""The exact search and its beam, against pruned parsing over the RTN and a plain Python beam over KenLM's states.

python -m benchmarks.search [--lm NEWS.lm] [--index NEWS.index] [--bags 10] [--beams 64 512] [--phrase-cost phrase=1]

main  print the tables; model and index of the development text are made once, in runs/benchmarks, unless given
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import kenlm
import numpy as np
import psutil

from benchmarks.material import REFERENCES, is_missing, made_index, made_model, references
from grammars.phrase.closure import PhraseCosts, parse_phrase_costs, phrase_closure
from grammars.phrase.grammar import PhraseGrammar
from gyro.index.phrase import find_phrases
from gyro.index.reader import TextIndex, open_index
from gyro.lattice.automaton import intersect
from gyro.search.exact import search
from gyro.search.right_linear import ALGORITHMS
from gyro.text.bag import Bag
from lm.kenlm.model import KenlmModel, load_model

SIZES = ((1, 8), (9, 12), (13, 16), (17, 18), (19, 20))
LN10 = float(np.log(10.0))


class Measured(NamedTuple):
    """One bag by one method: CPU seconds, peak of the process in bytes, cost, whether it is the proved optimum."""

    seconds: float
    memory: float
    cost: float
    proved: bool


Method = Callable[[Bag], tuple[float, bool]]


def main(argv: list[str] | None = None) -> None:
    """Run every method on the same bags; print a table for the proof and one for each beam."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description="Time the exact search.")
    parser.add_argument("--lm", type=Path, help="a KenLM model (default: one of the development text)")
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--bags", type=int, default=0, help="how many bags of each number of tokens (default: all)")
    parser.add_argument("--beams", type=int, nargs="*", default=[64, 512], help="beam widths (default 64 512)")
    parser.add_argument("--plain-bags", type=int, default=5, help="bags of each size for the plain beam (default 5)")
    parser.add_argument("--rtn-seconds", type=float, default=10.0, help="sizes up to this median for the RTN (10)")
    parser.add_argument("--phrase-cost", default="phrase=1", help="soft costs for the second table (phrase=1)")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    model = load_model(arguments.lm or made_model(4))
    index = open_index(arguments.index or made_index())
    bags = reference_bags(arguments.bags)
    methods = Methods(model, index, parse_phrase_costs(arguments.phrase_cost))
    print(f"{sum(map(len, bags.values()))} bags, {model.order}-gram model, rules of 1 to 5 words, β = 10\n")
    exact = run(methods.exact, bags)
    print_table("exact, free phrases", exact)
    print_table(f"exact, {arguments.phrase_cost}", run(methods.exact_with_costs, bags))
    few = {size: some[: min(3, arguments.plain_bags)] for size, some in bags.items()}
    rtn = run(methods.rtn, few, arguments.rtn_seconds)
    print_table("(a) pruned parsing over the RTN", rtn)
    print_table("exact on the bags of (a)", {size: exact[size][: len(rtn[size])] for size in rtn})
    fair = {size: some[: arguments.plain_bags] for size, some in bags.items()}
    ours, plain = {}, {}
    for width in sorted(arguments.beams):
        ours[width] = run(partial(methods.beam, width=width), fair)
        plain[width] = run(partial(methods.plain, width=width), fair)
        print_beams(f"beam {width}", ours[width], plain[width])
    if len(ours) > 1:
        print_beams(f"beam {min(ours)} against a plain beam of {max(plain)}", ours[min(ours)], plain[max(plain)])


def reference_bags(most: int) -> dict[int, list[Bag]]:
    """The references of at most 20 tokens, by their number of tokens; at most `most` of each (0: all)."""
    by_size: dict[int, list[Bag]] = defaultdict(list)
    for tokens in references():
        if len(tokens) <= SIZES[-1][1]:
            by_size[len(tokens)].append(Bag(tuple(tokens), id=str(len(tokens))))
    return {size: some[: most or None] for size, some in sorted(by_size.items())}


class Methods:
    """The ways to order a bag; each gives the cost of its best order and whether it is proved."""

    def __init__(self, model: KenlmModel, index: TextIndex, costs: PhraseCosts) -> None:
        self.model, self.index, self.costs = model, index, costs
        self.kenlm = kenlm.Model(str(model.path))

    def exact(self, bag: Bag) -> tuple[float, bool]:
        """Every word is a free rule of its own, so every order is allowed: G_Ω alone."""
        result = search(self.model.acceptor(bag.words), bag.counts)
        return result.cost, result.proved

    def exact_with_costs(self, bag: Bag) -> tuple[float, bool]:
        phrases = find_phrases(self.index, bag).with_unigrams(range(len(bag.words)))
        closure = phrase_closure(phrases, costs=self.costs)
        result = search(intersect(closure, self.model.acceptor(bag.words)), bag.counts)
        return result.cost, result.proved

    def beam(self, bag: Bag, width: int) -> tuple[float, bool]:
        result = search(self.model.acceptor(bag.words), bag.counts, beam=width, exact=False)
        return result.cost, result.proved

    def rtn(self, bag: Bag) -> tuple[float, bool]:
        phrases = find_phrases(self.index, bag).with_unigrams(range(len(bag.words)))
        lattice = ALGORITHMS["pruned-parsing"](PhraseGrammar(bag, phrases), self.model.acceptor(bag.words)).lattice
        return (lattice.best().cost if lattice else float("inf")), False

    def plain(self, bag: Bag, width: int) -> tuple[float, bool]:
        """As people write it today: objects in a list, unigrams as future cost, nothing recombined."""
        model = self.kenlm
        null, start, out = kenlm.State(), kenlm.State(), kenlm.State()
        model.NullContextWrite(null)
        model.BeginSentenceWrite(start)
        unigram = {word: model.BaseScore(null, word, out) for word in bag.words}
        beam = [Hypothesis([], list(bag.tokens), start, 0.0, 0.0)]
        for _ in bag.tokens:
            longer = [extension for hypothesis in beam for extension in hypothesis.extensions(model, unigram)]
            longer.sort(key=lambda hypothesis: hypothesis.total, reverse=True)
            beam = longer[:width]
        best = max(h.score + model.BaseScore(h.state, "</s>", out) for h in beam)
        return -best * LN10, False


@dataclass
class Hypothesis:
    """A hypothesis of the plain beam: its words, the words left, KenLM's state, its score and that with the future."""

    words: list[str]
    left: list[str]
    state: Any
    score: float
    total: float

    def extensions(self, model: Any, unigram: dict[str, float]) -> Iterator[Hypothesis]:
        """The hypothesis with each different word that it has left."""
        for word in set(self.left):
            left = list(self.left)
            left.remove(word)
            state = kenlm.State()
            score = self.score + model.BaseScore(self.state, word, state)
            yield Hypothesis([*self.words, word], left, state, score, score + sum(unigram[other] for other in left))


def run(method: Method, bags: dict[int, list[Bag]], give_up: float = float("inf")) -> dict[int, list[Measured]]:
    """Measure a method size by size, until a size takes longer than `give_up` seconds in the median."""
    found: dict[int, list[Measured]] = {}
    method(next(iter(bags.values()))[0])  # compiles, and reads the model's pages
    for size, some in bags.items():
        found[size] = [measure(method, bag) for bag in some]
        if np.median([m.seconds for m in found[size]]) > give_up:
            break
    return found


def measure(method: Method, bag: Bag) -> Measured:
    """Time one bag on its core; the peak is the kernel's high-water mark, set back before."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    begin = time.process_time()
    cost, proved = method(bag)
    return Measured(time.process_time() - begin, high_water(), cost, proved)


def high_water() -> float:
    """The largest resident memory of this process since it was set back, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return float(psutil.Process().memory_info().rss)


def by_group(found: dict[int, list[Measured]]) -> Iterator[tuple[str, list[Measured]]]:
    for low, high in (*SIZES, (SIZES[0][0], SIZES[-1][1])):
        group = [m for size in range(low, high + 1) for m in found.get(size, [])]
        if group:
            yield f"{low}-{high}", group


def print_table(title: str, found: dict[int, list[Measured]]) -> None:
    """Time, memory, cost and share proved by bag size; a size that a method did not reach has no line.

    The peak is that of the process, with the pages of the mapped model and index that it has touched.
    """
    print(
        f"{title}\n{'tokens':>8}{'bags':>6}{'median':>12}{'95 %':>12}{'most':>12}{'peak':>10}{'cost':>9}{'proved':>9}"
    )
    for name, group in by_group(found):
        seconds = np.array([m.seconds for m in group])
        proved = np.mean([m.proved for m in group])
        print(
            f"{name:>8}{len(group):>6}{np.median(seconds):>10.4f} s{np.percentile(seconds, 95):>10.4f} s"
            f"{seconds.max():>10.4f} s{max(m.memory for m in group) / 2**20:>7.0f} MB"
            f"{np.mean([m.cost for m in group]):>9.2f}{proved:>9.1%}"
        )
    print(flush=True)


def print_beams(title: str, ours: dict[int, list[Measured]], plain: dict[int, list[Measured]]) -> None:
    """Both beams side by side, with the ratio of their total times."""
    print(f"{title}: ours, building G_Ω included, and (b) the plain Python beam")
    print(f"{'tokens':>8}{'bags':>6}{'ours':>12}{'cost':>9}{'plain':>12}{'cost':>9}{'times as fast':>16}")
    for (name, group), (_, other) in zip(by_group(ours), by_group(plain), strict=True):
        times = [sum(m.seconds for m in some) / len(some) for some in (group, other)]
        costs = [float(np.mean([m.cost for m in some])) for some in (group, other)]
        print(
            f"{name:>8}{len(group):>6}{times[0]:>10.4f} s{costs[0]:>9.2f}{times[1]:>10.4f} s{costs[1]:>9.2f}"
            f"{times[1] / times[0]:>14.1f} ×"
        )
    print(flush=True)


if __name__ == "__main__":
    main()
