"""What a batch costs on top of its search, and `gyro generate` against a plain Python beam.

python -m benchmarks.batch [--lm NEWS.lm] [--index NEWS.index] [--bags 500] [--plain-bags 3] [--beams 64 512]

main  print a table for each beam: CPU time a bag of `Generator.order`, of `gyro generate -n 1` and of the plain beam
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.material import REFERENCES, is_missing, made_index, made_model
from benchmarks.search import Methods, measure, reference_bags
from grammars.phrase.closure import parse_phrase_costs
from gyro.index.reader import open_index
from gyro.run.folder import open_run
from gyro.search.generator import Generator
from gyro.search.settings import Settings
from gyro.text.bag import Bag
from lm.kenlm.model import load_model

FEW = 10  # bags of the run whose time is taken off: that of the start
_MOST_DOUBLINGS = 6  # of the plain beam
_SAME_COST = 0.005


class Spent(NamedTuple):
    """CPU and wall milliseconds a bag, and the costs of the best orders."""

    cpu: float
    wall: float
    costs: list[float]


def main(argv: list[str] | None = None) -> None:
    """Order the same bags in one process, through the command, and by the plain beam."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description="Time gyro generate.")
    parser.add_argument("--lm", type=Path, help="a KenLM model (default: one of the development text)")
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--bags", type=int, default=500, help="how many bags (default 500)")
    parser.add_argument("--plain-bags", type=int, default=3, help="bags of each size for the plain beam (default 3)")
    parser.add_argument("--beams", type=int, nargs="*", default=[64, 512], help="beam widths (default 64 512)")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    model, index = arguments.lm or made_model(4), arguments.index or made_index()
    by_size = reference_bags(0)
    bags = [bag for some in by_size.values() for bag in some][: arguments.bags]
    few = [bag for some in by_size.values() for bag in some[: arguments.plain_bags]]
    methods = Methods(load_model(model), open_index(index), parse_phrase_costs(""))
    for width in arguments.beams:
        settings = Settings(algorithm="beam", beam=width)
        generator = Generator(methods.index, methods.model, settings)
        ours = measure_order(generator, bags)
        batch = measure_batch(bags, width, model, index)
        print(f"beam {width}, {len(bags)} bags, milliseconds a bag")
        print(f"  Generator.order           {ours:8.2f} CPU")
        print(f"  gyro generate -n 1        {batch.cpu:8.2f} CPU {batch.wall:8.2f} wall")
        print(f"  on top of the search      {batch.cpu - ours:8.2f} CPU\n", flush=True)
        same = measure_batch(few, width, model, index, repeat=max(1, arguments.bags // len(few)))
        print_plain(methods, few, width, same)


def print_plain(methods: Methods, bags: Sequence[Bag], width: int, ours: Spent) -> None:
    """Plain beams from the same width on, until one finds orders as cheap: the ratio at equal or lower cost is its."""
    cost = float(np.mean(ours.costs))
    print(f"beam {width} through gyro generate -n 1: {ours.cpu:.2f} ms CPU a bag, cost {cost:.2f}, {len(bags)} bags")
    for wider in (width << step for step in range(_MOST_DOUBLINGS + 1)):
        found = [measure(partial(methods.plain, width=wider), bag) for bag in bags]
        milliseconds, other = 1e3 * float(np.mean([m.seconds for m in found])), float(np.mean([m.cost for m in found]))
        times = f"{milliseconds / ours.cpu:.1f} times as fast"
        print(f"  plain beam of {wider:>5}: {milliseconds:9.2f} ms, cost {other:.2f}; {times}", flush=True)
        if other <= cost + _SAME_COST:
            break
    print()


def measure_order(generator: Generator, bags: Sequence[Bag]) -> float:
    """CPU milliseconds a bag in one process, with its compiled code loaded."""
    for bag in bags[:FEW]:
        generator.order(bag)
    begin = time.process_time()
    for bag in bags:
        generator.order(bag)
    return 1e3 * (time.process_time() - begin) / len(bags)


def measure_batch(bags: Sequence[Bag], width: int, model: Path, index: Path, repeat: int = 1) -> Spent:
    """The same through the command, with all its processes; what a run of a few bags takes is taken off."""
    with tempfile.TemporaryDirectory(prefix="gyro-batch-") as scratch:
        folder = Path(scratch)
        with (folder / "bags.jsonl").open("w", encoding="utf-8") as file:
            for number, bag in enumerate([*bags[:FEW], *(bag for _ in range(repeat) for bag in bags)]):
                file.write(json.dumps({"id": str(number), "tokens": bag.tokens}) + "\n")
        words = ["-n", "1", "--algorithm", "beam", "--beam", str(width), "--lm", str(model), "--index", str(index)]
        command = [sys.executable, "-m", "gyro", "generate", str(folder / "bags.jsonl"), *words]
        start = _spent([*command, "-o", str(folder / "few"), "--range", f"1:{FEW}"])
        whole = _spent([*command, "-o", str(folder / "all")])
        costs = [float(outcome.cost or 0.0) for outcome in open_run(folder / "all").outcomes[FEW:]]
    cpu, wall = (1e3 * (all_of_it - some) / len(costs) for all_of_it, some in zip(whole, start, strict=True))
    return Spent(cpu, wall, costs)


def _spent(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds of a command and its children, and its wall seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - begin


if __name__ == "__main__":
    main()
