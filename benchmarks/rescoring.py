"""Rescoring lattices with 5-gram models, against other exact ways to do it in the same run.

python -m benchmarks.rescoring [--lm 5GRAM.lm] [--first-lm NEWS.lm] [--index NEWS.index] [--lattices 5] [--arcs 50000]

main  print the tables; models and index of the development text are made once, in runs/benchmarks, unless given

The alternatives: pairs of lattice states and KenLM's own states, composed in plain Python; the whole acceptor of the
lattice's words, composed by OpenFst; and, on lattices that are small enough, scoring all strings one by one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import kenlm
import numpy as np

from benchmarks.material import REFERENCES, is_missing, made_index, made_model
from benchmarks.search import reference_bags
from gyro.errors import InputError
from gyro.index.reader import TextIndex, open_index
from gyro.lattice.lattice import Lattice
from gyro.search.generator import order
from lm.kenlm.model import KenlmModel, load_model
from lm.model import LanguageModel
from lm.stupid_backoff.model import StupidBackoff
from rescoring.ngram import Rescorer

LONGEST = range(17, 21)  # tokens
SMALL_ARCS = 400
MOST_STRINGS = 20_000
LN10 = float(np.log(10.0))

Method = Callable[[Lattice], Lattice | float]  # a lattice gives the rescored one, or only its best cost
Figures = tuple[float, float, list[float]]  # median CPU seconds, median arcs, best costs


def main(argv: list[str] | None = None) -> None:
    """Make the lattices, rescore them in every way, print seconds and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rescoring", description="Time n-gram rescoring.")
    parser.add_argument("--lm", type=Path, help="the 5-gram KenLM model (default: one of the development text)")
    parser.add_argument("--first-lm", type=Path, help="the model of the lattices (default: 4-gram, the same text)")
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--lattices", type=int, default=5, help="how many lattices (default 5)")
    parser.add_argument("--arcs", type=int, default=50_000, help="arcs of a lattice, at most (default 50000)")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    fivegram = load_model(arguments.lm or made_model(5))
    first, index = load_model(arguments.first_lm or made_model(4)), open_index(arguments.index or made_index())
    models: dict[str, LanguageModel] = {
        f"KenLM, {fivegram.order}-gram": fivegram,
        f"stupid backoff, {index.order}-gram": StupidBackoff(index),
    }
    large = make_lattices(first, index, arguments.lattices, arguments.arcs)
    small = [
        lattice for lattice in make_lattices(first, index, 4 * arguments.lattices, SMALL_ARCS) if countable(lattice)
    ]
    for name, model in models.items():
        print_table(f"{name}: {describe(large)}", compare(model, large, few=False))
        if small:
            print_table(f"{name}: {describe(small)}", compare(model, small, few=True))


def make_lattices(model: KenlmModel, index: TextIndex, most: int, arcs: int) -> list[Lattice]:
    """Lattices of the longest bags of references, as large as the number of arcs allows."""
    bags = [bag for size, some in reference_bags(most).items() if size in LONGEST for bag in some]
    found = (order(bag, index=index, model=model, max_arcs=arcs, beta=20.0) for bag in bags)
    fitting = [ordering.lattice for ordering in found if ordering.lattice.num_arcs > arcs // 2]
    if not fitting:
        raise InputError(f"no bag gives a lattice of {arcs // 2} to {arcs} arcs")
    return fitting[:most]


def countable(lattice: Lattice) -> bool:
    """Whether the strings are few enough to be listed: paths are counted from the end."""
    source, _, target, _, final_states, _ = lattice.to_arrays()
    paths = np.zeros(lattice.num_states)
    paths[final_states] = 1
    for arc in range(len(source) - 1, -1, -1):
        paths[source[arc]] += paths[target[arc]]
    return bool(paths[0] <= MOST_STRINGS)


def describe(lattices: Sequence[Lattice]) -> str:
    arcs, words = ([f(lattice) for lattice in lattices] for f in (lambda x: x.num_arcs, lambda x: len(x.words)))
    return f"{len(lattices)} lattices of {np.median(arcs):,.0f} arcs and {np.median(words):.0f} words (medians)"


def compare(model: LanguageModel, lattices: Sequence[Lattice], *, few: bool) -> dict[str, Figures]:
    """Every way on the same lattices; ours comes first. `few`: the strings can be listed."""
    methods: dict[str, Method] = {
        "reached pairs, in bulk (ours)": Rescorer([(model, 1.0)]),
        "whole acceptor, OpenFst composes": lambda lattice: lattice.unweighted().apply(model.acceptor(lattice.words)),
    }
    if isinstance(model, KenlmModel):
        opened = kenlm.Model(str(model.path))
        methods["KenLM's states, plain Python"] = lambda lattice: compose_in_python(opened, lattice)
    if few:
        methods["all strings, one by one"] = lambda lattice: min(model.score(h.tokens) for h in lattice.strings())
    return {name: timed(method, lattices) for name, method in methods.items()}


def compose_in_python(model: kenlm.Model, lattice: Lattice) -> Lattice:
    """The same pairs with KenLM's own states and dictionaries."""
    source, word, target, _, final_states, _ = lattice.to_arrays()
    begin, after = kenlm.State(), kenlm.State()
    model.BeginSentenceWrite(begin)
    reached: list[dict[kenlm.State, int]] = [{} for _ in range(lattice.num_states)]
    reached[0][begin] = 0
    pairs, sources, words, targets, costs = 1, [], [], [], []
    for here, label, there in zip(source.tolist(), word.tolist(), target.tolist(), strict=True):
        for state, pair in reached[here].items():
            costs.append(-LN10 * model.BaseScore(state, lattice.words[label], after))
            known = reached[there].setdefault(after, pairs)
            if known == pairs:
                pairs += 1
                after = kenlm.State()
            sources.append(pair)
            words.append(label)
            targets.append(known)
    ends = [(state, pair) for final in final_states.tolist() for state, pair in reached[final].items()]
    end_costs = [-LN10 * model.BaseScore(state, "</s>", after) for state, _ in ends]
    columns = (sources, words, targets, costs, [pair for _, pair in ends], end_costs)
    return Lattice.from_arrays(lattice.words, 0, *columns)


def timed(method: Method, lattices: Sequence[Lattice]) -> Figures:
    """The first lattice is done once before, to load compiled code; the best of the result is found after the clock."""
    method(lattices[0])
    seconds, arcs, costs = [], [], []
    for lattice in lattices:
        begin = time.process_time()
        result = method(lattice)
        seconds.append(time.process_time() - begin)
        arcs.append(result.num_arcs if isinstance(result, Lattice) else 0)
        costs.append(result.best().cost if isinstance(result, Lattice) else result)
    return float(np.median(seconds)), float(np.median(arcs)), costs


def print_table(title: str, figures: dict[str, Figures]) -> None:
    """A line for each way, with how many times faster ours is, and whether the best costs are the same."""
    ours = next(iter(figures.values()))
    print(f"{title}\n\n{'':36}{'CPU s':>10}{'arcs after':>12}{'ours is faster':>16}{'same best':>12}")
    for name, (seconds, arcs, costs) in figures.items():
        same = sum(abs(a - b) < 1e-3 for a, b in zip(costs, ours[2], strict=True))
        size = f"{arcs:,.0f}" if arcs else ""
        print(f"{name:36}{seconds:10.4f}{size:>12}{seconds / ours[0]:14.1f} ×{same:>6} of {len(costs)}")
    print()


if __name__ == "__main__":
    main()
