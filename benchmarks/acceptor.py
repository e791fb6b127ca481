"""G_Ω of 20-token bags: bulk look-ups against the walk over KenLM's states, in the same run.

python -m benchmarks.acceptor [--model NEWS.lm] [--bags 200]

main  print the table; a 4-gram model of the development text is estimated first unless one is given
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.material import REFERENCES, is_missing, made_model, references
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from lm.kenlm.bag_acceptor import automaton_from_log10
from lm.kenlm.model import KenlmModel, load_model

TOKENS = 20

Words = tuple[str, ...]
Times = NDArray[np.float64]


def main(argv: list[str] | None = None) -> None:
    """Time both ways on the same bags and print medians, 95th percentiles and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.acceptor", description="Time G_Ω of 20-token bags.")
    parser.add_argument("--model", type=Path, help="a probing KenLM binary (default: of the development text)")
    parser.add_argument("--bags", type=int, default=200, help="how many bags (default 200)")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    model = load_model(arguments.model or made_model(4))
    if not model.reads_in_bulk:
        raise InputError("this type of model has no bulk look-ups; a probing binary is allowed", path=model.path)
    bags = reference_bags()[: arguments.bags]
    first, automata = timed(model.acceptor, bags)
    again, _ = timed(model.acceptor, bags)
    walk, walked = timed(lambda words: walk_acceptor(model, words), bags)
    states = np.array([automaton.num_states for automaton in automata])
    equal = sum(
        np.array_equal(a.next_state, b.next_state) and np.array_equal(a.cost, b.cost)
        for a, b in zip(automata, walked, strict=True)
    )
    print(f"G_Ω of {len(bags)} bags of {TOKENS} tokens, {model.order}-gram model {model.path.name}")
    print(f"states: median {np.median(states):.0f}, 95 % {np.percentile(states, 95):.0f}, most {states.max()}")
    print(f"equal to the walk in every number: {equal} of {len(bags)}\n")
    print(f"{'':34}{'median':>10}{'95 %':>10}{'times as fast':>16}")
    print_row("walk over KenLM's states", walk, walk)
    print_row("bulk look-ups, a bag's first time", first, walk)
    print_row("bulk look-ups, once more", again, walk)


def reference_bags() -> list[Words]:
    """The distinct words of the first 20 tokens of each reference that is so long."""
    return [tuple(sorted(set(tokens[:TOKENS]))) for tokens in references() if len(tokens) >= TOKENS]


def walk_acceptor(model: KenlmModel, words: Words) -> WordAutomaton:
    """What `acceptor` does for the file types without bulk look-ups."""
    return automaton_from_log10(words, model.walk_bag_states(words, start=True, end=True))


def timed(make: Callable[[Words], WordAutomaton], bags: Sequence[Words]) -> tuple[Times, list[WordAutomaton]]:
    """The milliseconds of each call, and what it gave."""
    times, automata = [], []
    for words in bags:
        begin = time.perf_counter()
        automata.append(make(words))
        times.append(1000 * (time.perf_counter() - begin))
    return np.array(times), automata


def print_row(name: str, times: Times, named: Times) -> None:
    """One line of the table; the ratio is that of the medians."""
    median = float(np.median(times))
    print(f"{name:34}{median:>7.2f} ms{np.percentile(times, 95):>7.2f} ms{np.median(named) / median:>14.1f} ×")


if __name__ == "__main__":
    main()
