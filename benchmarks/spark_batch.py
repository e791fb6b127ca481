"""What a batch costs in Spark's executors, against forked workers on the same cores.

python -m benchmarks.spark_batch [--bags 2000] [--jobs 2] [--master M] [--lm LM] [--index DIR] [--algorithms …]

main  for each algorithm: seconds of `gyro generate --jobs N`, of the same with --spark, their ratio, and whether the
      run folders have the same bytes

The start of both (Java, executors, opening index and model) is a run of two bags, and is taken off. Of either, the
first such run is not counted: compiled code and files are at hand after it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain, cycle, islice
from pathlib import Path

from benchmarks.material import REFERENCES, is_missing, made_index, made_model
from benchmarks.search import reference_bags

FEW = 2  # bags of the run whose time is taken off
_OPTIONS = {"exact": ("--max-arcs", "20000"), "beam": ("--beam", "64")}


def main(argv: list[str] | None = None) -> None:
    """Run both, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_batch", description="Time batches on Spark.")
    parser.add_argument("--bags", type=int, default=2000, help="how many bags (default 2000)")
    parser.add_argument("--jobs", type=int, default=2, help="forked workers, and executors of one core (default 2)")
    parser.add_argument("--master", help="a Spark master (default: local-cluster[JOBS,1,1024])")
    parser.add_argument("--lm", type=Path, help="a KenLM model (default: one of the development text)")
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--algorithms", nargs="+", choices=tuple(_OPTIONS), default=list(_OPTIONS), help="default: all")
    arguments = parser.parse_args(argv)
    if is_missing(REFERENCES):
        return
    if not find_spec("pyspark") or not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        print("skipped: it needs pyspark and Java 17")
        return
    models = ["--lm", str(arguments.lm or made_model(4)), "--index", str(arguments.index or made_index())]
    spark = ["--spark", arguments.master or f"local-cluster[{arguments.jobs},1,1024]"]
    print(f"{arguments.bags} bags, seconds without the start; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'':8}{f'--jobs {arguments.jobs}':>10}{'--spark':>10}{'ratio':>8}{'starts':>16}  same bytes")
    for algorithm in arguments.algorithms:
        with tempfile.TemporaryDirectory(prefix="gyro-spark-batch-") as scratch:
            folder = Path(scratch)
            write_bags(folder / "bags.jsonl", arguments.bags)
            options = [*models, "--algorithm", algorithm, *_OPTIONS[algorithm]]
            command = [sys.executable, "-m", "gyro", "generate", str(folder / "bags.jsonl"), *options]
            starts, wholes = [], []
            for name, how in (("alone", ["--jobs", str(arguments.jobs)]), ("spark", spark)):
                for number in range(2):
                    few = [*command, *how, "--range", f"1:{FEW}", "-o", str(folder / f"{name}-{number}")]
                    start = seconds_of(few)
                starts.append(start)
                wholes.append(seconds_of([*command, *how, "-o", str(folder / name)]) - start)
            ratio, both = wholes[1] / wholes[0], f"{starts[0]:.1f} and {starts[1]:.1f}"
            same = "yes" if contents(folder / "alone") == contents(folder / "spark") else "NO"
        print(f"{algorithm:8}{wholes[0]:10.1f}{wholes[1]:10.1f}{ratio:8.2f}{both:>16}  {same}", flush=True)


def write_bags(path: Path, count: int) -> None:
    """The references of up to 20 tokens, again and again."""
    bags = list(chain.from_iterable(reference_bags(0).values()))
    step = max(1, len(bags) // count)  # of few, all sizes
    with path.open("w", encoding="utf-8") as file:
        for number, bag in enumerate(islice(cycle(bags[::step]), count), 1):
            file.write(json.dumps({"id": str(number), "tokens": bag.tokens}) + "\n")


def seconds_of(command: Sequence[str]) -> float:
    """Wall seconds of a command that must end well."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def contents(folder: Path) -> dict[str, str]:
    """The checksums of all files of a run but that of the seconds that it took."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("times.jsonl", ".lock"))
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    main()
