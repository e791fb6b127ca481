"""Posteriors and lattice MBR: a lattice of 50,000 arcs, and the enumeration of paths where both are possible.

python -m benchmarks.mbr [--arcs 50000] [--paths 200000]

main  print the table; the lattices are orders of bags under random costs, so no data is needed
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from gyro.lattice.lattice import Lattice
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.mbr import MbrDecoder, MbrParameters

SCALE = 0.4
SETTINGS = 100
# A sentence of 20 tokens, with the repeated words of real ones.
SENTENCE = "the , the of a in that was it to for on and he they said new house road ."
TOKENS = SENTENCE.split()

T = TypeVar("T")


def main(argv: list[str] | None = None) -> None:
    """Time the parts on a large lattice, then posteriors against enumeration on a small one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mbr", description="Time posteriors and lattice MBR.")
    parser.add_argument("--arcs", type=int, default=50_000, help="arcs of the large lattice (default 50,000)")
    parser.add_argument("--paths", type=int, default=200_000, help="most paths of the small lattice (default 200,000)")
    arguments = parser.parse_args(argv)
    time_parts(permutation_lattice(4, 100, 1))  # loads the compiled code
    print_parts(lattice_of_arcs(arguments.arcs))
    print_ratio(lattice_of_paths(arguments.paths))


def permutation_lattice(tokens: int, width: int, seed: int) -> Lattice:
    """Orders of the first tokens, the cheapest `width` nodes (coverage, last word) of each row kept; random costs."""
    random = np.random.default_rng(seed)
    bag = TOKENS[:tokens]
    words = tuple(sorted(set(bag)))
    pair_cost = random.gamma(2.0, 1.5, (len(words) + 1, len(words)))
    start: tuple[tuple[int, ...], int] = (tuple(bag.count(word) for word in words), len(words))
    row, number = {start: 0.0}, {start: 0}
    arcs: list[tuple[int, int, int, float]] = []
    for _ in bag:
        following: dict[tuple[tuple[int, ...], int], float] = {}
        for (left, last), so_far in row.items():
            for word in range(len(words)):
                if left[word]:
                    node = (*left[:word], left[word] - 1, *left[word + 1 :]), word
                    following[node] = min(following.get(node, math.inf), so_far + pair_cost[last, word])
        kept = dict(sorted(following.items(), key=lambda item: item[1])[:width])
        for node in kept:
            number[node] = len(number)
        for left, last in row:
            for word in range(len(words)):
                node = (*left[:word], left[word] - 1, *left[word + 1 :]), word
                if left[word] and node in kept:
                    arcs.append((number[left, last], word, number[node], float(pair_cost[last, word])))
        row = kept
    source, word_of, target, cost = zip(*arcs, strict=True)
    ends = [number[node] for node in row]
    return Lattice.from_arrays(words, 0, source, word_of, target, cost, ends, [0.0] * len(ends))


def lattice_of_arcs(arcs: int) -> Lattice:
    """Orders of a bag of 20 tokens, as wide as it takes."""
    width = arcs // 80
    lattice = permutation_lattice(len(TOKENS), width, 1)
    while lattice.num_arcs < arcs:
        width += width // 8 + 1
        lattice = permutation_lattice(len(TOKENS), width, 1)
    return lattice


def lattice_of_paths(most: int) -> Lattice:
    """Orders of as many tokens as keep the number of paths below `most`."""
    tokens = 2
    while count_paths(permutation_lattice(tokens + 1, 1000, 1)) <= most:
        tokens += 1
    return permutation_lattice(tokens, 1000, 1)


def count_paths(lattice: Lattice) -> int:
    source, _, target, _, final_states, _ = lattice.to_arrays()
    ways = [0] * lattice.num_states
    for state in final_states.tolist():
        ways[state] = 1
    for s, t in zip(source[::-1].tolist(), target[::-1].tolist(), strict=True):
        ways[s] += ways[t]
    return ways[0]


def time_parts(lattice: Lattice) -> dict[str, float]:
    """Seconds of each step."""
    parameters = MbrParameters(scale=SCALE, prune=math.inf)
    seconds = {}
    seconds["posteriors of orders 1 to 4"], _ = timed(lambda: ngram_posteriors(lattice, scale=SCALE))
    seconds["LMBR, all of it"], _ = timed(lambda: MbrDecoder(lattice).decode(parameters))
    decoder = MbrDecoder(lattice)
    decoder.decode(parameters)
    others = [MbrParameters(scale=SCALE, ratio=0.3 + k / 200, prune=math.inf) for k in range(SETTINGS)]
    seconds[f"LMBR, {SETTINGS} more settings"], _ = timed(lambda: [decoder.decode(other) for other in others])
    seconds["LMBR as a lattice"], _ = timed(lambda: decoder.to_lattice(parameters))
    return seconds


def print_parts(lattice: Lattice) -> None:
    grown = MbrDecoder(lattice).to_lattice(MbrParameters()).num_arcs
    print(f"a bag of {len(TOKENS)} tokens: {lattice.num_arcs:,} arcs, {grown:,} when states know the last 3 words")
    for name, seconds in time_parts(lattice).items():
        print(f"{name:<34}{1000 * seconds:>9.1f} ms")


def enumerated_posteriors(lattice: Lattice) -> dict[tuple[str, ...], float]:
    """What posteriors are, path by path."""
    found: dict[tuple[str, ...], float] = {}
    total = 0.0
    for tokens, cost in paths_of(lattice):
        weight = math.exp(-SCALE * cost)
        total += weight
        for gram in {tokens[i : i + n] for n in range(1, 5) for i in range(len(tokens) - n + 1)}:
            found[gram] = found.get(gram, 0.0) + weight
    return {gram: weight / total for gram, weight in found.items()}


def paths_of(lattice: Lattice) -> Iterator[tuple[tuple[str, ...], float]]:
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    arcs: list[list[tuple[str, int, float]]] = [[] for _ in range(lattice.num_states)]
    for s, w, t, c in zip(source.tolist(), word.tolist(), target.tolist(), cost.tolist(), strict=True):
        arcs[s].append((lattice.words[w], t, c))
    ends = dict(zip(final_states.tolist(), final_costs.tolist(), strict=True))
    stack: list[tuple[int, tuple[str, ...], float]] = [(0, (), 0.0)]
    while stack:
        state, tokens, so_far = stack.pop()
        if state in ends:
            yield tokens, so_far + ends[state]
        stack.extend((t, (*tokens, w), so_far + c) for w, t, c in arcs[state])


def print_ratio(lattice: Lattice) -> None:
    slow, expected = timed(lambda: enumerated_posteriors(lattice))
    fast, found = min(
        (timed(lambda: ngram_posteriors(lattice, scale=SCALE)) for _ in range(5)), key=lambda pair: pair[0]
    )
    difference = max(abs(found.probability(gram) - p) for gram, p in expected.items())
    print(f"\n{lattice.num_arcs:,} arcs, {count_paths(lattice):,} paths; largest difference {difference:.1e}")
    print(f"{'enumeration of all paths':<34}{1000 * slow:>9.1f} ms")
    print(f"{'forward and backward':<34}{1000 * fast:>9.1f} ms{slow / fast:>9.0f} × as fast")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what came of it."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


if __name__ == "__main__":
    main()
