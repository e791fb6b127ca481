"""Run experiments: `python -m experiments`, or some by name: `python -m experiments embedded news`.

What is done is skipped, so an experiment that was stopped goes on where it was. Results are in runs/experiments/NAME.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from experiments.comparison import ComparisonLaboratory
from experiments.comparison_description import KIND as COMPARISON
from experiments.comparison_description import load_comparison
from experiments.comparison_estimate import make_comparison_estimate
from experiments.comparison_results import write_comparison_results
from experiments.description import find_experiments, load_experiment
from experiments.estimate import Estimate, make_estimate, time_text
from experiments.laboratory import Laboratory
from experiments.place import Place, SparkPlace
from experiments.results import write_results
from experiments.syntax import SyntaxLaboratory
from experiments.syntax_description import KIND as SYNTAX
from experiments.syntax_description import load_syntax
from experiments.syntax_estimate import make_syntax_estimate
from experiments.syntax_results import write_syntax_results
from experiments.text_size import TextSizeLaboratory
from experiments.text_size_description import KIND as TEXT_SIZE
from experiments.text_size_description import load_text_size
from experiments.text_size_estimate import make_text_size_estimate
from experiments.text_size_results import write_text_size_results
from gyro.errors import InputError, exit_code
from gyro.spark.connection import spark_master
from gyro.spark.pool import Cluster

DESCRIPTIONS = Path(__file__).parent
RUNS = Path("runs") / "experiments"


@dataclass(frozen=True)
class Work:
    """An experiment, ready to run."""

    title: str
    absent: str  # the folder that it needs, when that is not there
    place: Place
    check: Callable[[], None]
    estimate: Callable[[], Estimate]
    write: Callable[[], list[Path]]


class Kind(NamedTuple):
    """How experiments of one kind are read, made, estimated and told."""

    load: Callable[[Path], Any]
    laboratory: Callable[..., Any]
    estimate: Callable[[Any], Estimate]
    write: Callable[[Any], list[Path]]
    on_spark: bool = True

    def work(self, path: Path, folder: Path, sample: int | None, jobs: int, place: Place) -> Work:
        experiment = self.load(path)
        where = {"place": place} if self.on_spark else {}
        laboratory = self.laboratory(experiment, folder, sample=sample, jobs=jobs, **where)
        return Work(
            experiment.title,
            experiment.data if experiment.is_absent() else "",
            place,
            laboratory.check,
            lambda: self.estimate(laboratory),
            lambda: self.write(laboratory),
        )


# What the key `kind` of a TOML file says → how such an experiment is run: GYRO and the stages after it, the best-first
# decoder, the same bags with more and more text, all systems on the same bags.
KINDS = {
    "": Kind(load_experiment, Laboratory, make_estimate, write_results),
    SYNTAX: Kind(load_syntax, SyntaxLaboratory, make_syntax_estimate, write_syntax_results),
    TEXT_SIZE: Kind(load_text_size, TextSizeLaboratory, make_text_size_estimate, write_text_size_results),
    COMPARISON: Kind(load_comparison, ComparisonLaboratory, make_comparison_estimate, write_comparison_results, False),
}


def run(work: Work) -> None:
    """Do all steps in order, tell how it goes, and write the results."""
    estimate = work.estimate()
    print(estimate.text(), flush=True)
    work.check()
    left, began = estimate.seconds, time.monotonic()
    for number, (step, seconds) in enumerate(estimate.steps, 1):
        if seconds and not step.is_done():  # an earlier step may have done it too
            place = f"[{number}/{len(estimate.steps)}]"
            print(f"\n{place} {step.name}; about {time_text(left)} to go", flush=True)
        work.place.begin(step.name)
        step.do()
        left -= seconds
    print(f"\nall steps done in {time_text(time.monotonic() - began)}; writing the results", flush=True)
    print("\n".join(map(str, work.write())))


def main(argv: Sequence[str] | None = None, *, folder: Path = DESCRIPTIONS, runs: Path = RUNS) -> int:
    """The command: 0, 2 for a mistake of the user's. `folder` has the TOML files, `runs` gets the results."""
    known = {name: (kind, path) for kind in KINDS for name, path in find_experiments(folder, kind).items()}
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(known)}")
    parser.add_argument("--estimate", action="store_true", help="tell what is to do and how long it takes, and stop")
    parser.add_argument("--results", action="store_true", help="write the results of what is finished, and stop")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="bags a set, in a folder of their own (default: TOML's)"
    )
    parser.add_argument("--jobs", "-j", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="have the batches of runs done by executors of Spark (default: SPARK_MASTER or that of spark-submit)",
    )
    arguments = parser.parse_args(argv)
    return exit_code("experiments", lambda: _work(arguments, known, runs))


def _work(arguments: argparse.Namespace, known: dict[str, tuple[str, Path]], runs: Path) -> int:
    for option in ("sample", "jobs"):
        if (value := getattr(arguments, option)) is not None and value < 1:
            raise InputError(f"found --{option} {value}; at least 1 is allowed")
    for name in arguments.names:
        if name not in known:
            raise InputError(f"found the experiment {name!r}; allowed are {', '.join(known)}")
    master = spark_master(arguments.spark)
    with nullcontext() if master is None else Cluster(master) as cluster:
        for name in arguments.names or known:
            kind, path = known[name]
            place = Place()
            if cluster is not None and KINDS[kind].on_spark:
                place = SparkPlace(cluster, kind, str(path), str(runs / name), arguments.sample)
            elif arguments.spark:
                print(f"{name} runs commands of this machine, each in a process of its own: it does not use Spark")
            work = KINDS[kind].work(path, runs / name, arguments.sample, arguments.jobs, place)
            print(f"\n== {name}: {work.title}\n", flush=True)
            if work.absent:
                print(f"skipped: it needs the folder {work.absent}, which is not there")
            elif arguments.estimate:
                print(work.estimate().text())
            elif arguments.results:
                print("\n".join(map(str, work.write())))
            else:
                run(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
