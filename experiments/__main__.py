"""Run experiments: `python -m experiments`, or some by name: `python -m experiments embedded news`.

What is done is skipped, so an experiment that was stopped goes on where it was. Results are in runs/experiments/NAME.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.description import find_experiments, load_experiment
from experiments.estimate import make_estimate, time_text
from experiments.laboratory import Laboratory
from experiments.results import write_results
from gyro.errors import InputError, exit_code

DESCRIPTIONS = Path(__file__).parent
RUNS = Path("runs") / "experiments"


def run(laboratory: Laboratory) -> None:
    """Do all steps in order, tell how it goes, and write the results."""
    estimate = make_estimate(laboratory)
    print(estimate.text(), flush=True)
    laboratory.check()
    left, began = estimate.seconds, time.monotonic()
    for number, (step, seconds) in enumerate(estimate.steps, 1):
        if seconds:
            place = f"[{number}/{len(estimate.steps)}]"
            print(f"\n{place} {step.name}; about {time_text(left)} to go", flush=True)
        step.do()
        left -= seconds
    print(f"\nall steps done in {time_text(time.monotonic() - began)}; writing the results", flush=True)
    for path in write_results(laboratory):
        print(path)


def main(argv: Sequence[str] | None = None, *, folder: Path = DESCRIPTIONS, runs: Path = RUNS) -> int:
    """The command: 0, 2 for a mistake of the user's. `folder` has the TOML files, `runs` gets the results."""
    known = find_experiments(folder)
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(known)}")
    parser.add_argument("--estimate", action="store_true", help="tell what is to do and how long it takes, and stop")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="bags a set, in a folder of their own (default: TOML's)"
    )
    parser.add_argument("--jobs", "-j", type=int, default=2, metavar="N", help="processes (default 2)")
    arguments = parser.parse_args(argv)
    return exit_code("experiments", lambda: _work(arguments, known, runs))


def _work(arguments: argparse.Namespace, known: dict[str, Path], runs: Path) -> int:
    for option in ("sample", "jobs"):
        if (value := getattr(arguments, option)) is not None and value < 1:
            raise InputError(f"found --{option} {value}; at least 1 is allowed")
    for name in arguments.names:
        if name not in known:
            raise InputError(f"found the experiment {name!r}; allowed are {', '.join(known)}")
    for name in arguments.names or known:
        experiment = load_experiment(known[name])
        print(f"\n== {name}: {experiment.title}\n", flush=True)
        if experiment.is_absent():
            print(f"skipped: it needs the folder {experiment.data}, which is not there")
            continue
        laboratory = Laboratory(experiment, runs / name, sample=arguments.sample, jobs=arguments.jobs)
        if arguments.estimate:
            print(make_estimate(laboratory).text())
        else:
            run(laboratory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
