"""The command tune: weights by line search on n-best lists, MBR parameters by a grid."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gyro.cli.mbr import add_evidence_arguments, evidence_of
from gyro.corpus import read_lines
from gyro.errors import InputError
from gyro.files import write_text

if TYPE_CHECKING:
    from gyro.run_folder import Run

_GRID = {
    "scale": [0.1, 0.2, 0.4, 0.7, 1.0],
    "precision": [0.7, 0.85],
    "ratio": [0.5, 0.62, 0.75],
    "prune": [5.0, 10.0],
}
_ALPHAS = [0.0, 0.1, 0.25, 0.5, 0.75]


def tune_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run: its n-best lists have the features to weigh")
    parser.add_argument("references", nargs="?", metavar="REF", help="one a line (default: those of the run's bags)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="TOML to write: run_pipeline.py CONFIG.toml FILE reads it"
    )
    parser.add_argument("--start", default="", metavar="NAME=X,…", help="weights to start from (default: 1 each)")
    parser.add_argument("--restarts", type=int, default=20, metavar="N", help="random starts besides (default 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random numbers (default 1)")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes for --mbr (default 1)")
    group = parser.add_argument_group("minimum Bayes risk, a grid")
    group.add_argument(
        "--mbr", action="store_true", help="tune MBR parameters on the run's lattices instead of weights"
    )
    for name, values in _GRID.items():
        text = ",".join(f"{value:g}" for value in values)
        group.add_argument(f"--{name}", default=text, metavar="X,…", help=f"values to try (default {text})")
    text = ",".join(f"{value:g}" for value in _ALPHAS)
    group.add_argument("--alpha", default=text, metavar="X,…", help=f"with --mt: values to try (default {text})")
    add_evidence_arguments(parser)


def tune_command(arguments: argparse.Namespace) -> int:
    from gyro.run_folder import open_run

    run = open_run(arguments.run)
    references = _references(arguments, run)
    tables = _tune_mbr(arguments, references) if arguments.mbr else _tune_weights(arguments, run, references)
    text = "\n".join(f"[{name}]\n" + "".join(map(_toml_line, table.items())) for name, table in tables.items())
    print(text, end="")
    if arguments.output:
        write_text(arguments.output, text)
    return 0


def _references(arguments: argparse.Namespace, run: Run) -> list[list[str]]:
    if not arguments.references:
        if any(bag.reference is None for bag in run.bags):
            raise InputError("the run's bags have no references; give a file of them", path=arguments.run)
        return [list(bag.reference or ()) for bag in run.bags]
    lines = [line.split() for line in read_lines(arguments.references)]
    if len(lines) != len(run.bags):
        raise InputError(f"found {len(lines)} references for {len(run.bags)} bags", path=arguments.references)
    return lines


def _tune_weights(arguments: argparse.Namespace, run: Run, references: Sequence[Sequence[str]]) -> dict[str, Any]:
    from gyro.nbest import read_moses
    from rescoring.tuning import tune_weights, tuning_set

    lists: list[list[tuple[tuple[str, ...], dict[str, float]]]] = [[] for _ in references]
    for sentence, entries in groupby(read_moses(run.folder.nbest_moses), key=lambda entry: entry.sentence):
        lists[sentence] = [(e.tokens, {name: values[0] for name, values in e.features.items()}) for e in entries]
    data = tuning_set(lists, references)
    start = _numbered(arguments.start) or dict.fromkeys(data.names, 1.0)
    tuned = tune_weights(data, start, restarts=arguments.restarts, seed=arguments.seed)
    scores = (
        f"{tuned.start_bleu:.2f} at the start, {tuned.bleu:.2f} tuned, {tuned.oracle_bleu:.2f} the best of the lists"
    )
    print(f"# BLEU {scores}; weights " + " ".join(f"{name}={w:.4f}" for name, w in tuned.weights.items()))
    return _weights_to_tables(tuned.weights, run.settings)


def _weights_to_tables(weights: Mapping[str, float], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The weights as tables of a configuration: those of n-gram models sum to 1, the others are relative to them."""
    from rescoring.source import FIRST_PASS

    models = {name: weight for name, weight in weights.items() if name not in ("DEP", "PHRASES")}
    whole = sum(map(abs, models.values()))
    if not whole:
        raise InputError("all n-gram models have the weight 0; that is no configuration")
    tables: dict[str, Any] = {}
    if "PHRASES" in weights:
        from grammars.closure import parse_phrase_costs

        costs = parse_phrase_costs(settings["phrase_cost"]).times(max(0.0, weights["PHRASES"] / whole))
        tables["generate"] = {"phrase_cost": str(costs)}
    if others := [round(weight / whole, 6) for name, weight in models.items() if name not in (FIRST_PASS, "LM")]:
        tables["rescore"] = {"keep": round(models.get(FIRST_PASS, 0.0) / whole, 6), "weights": others}
    if "DEP" in weights:
        tables["dependency"] = {"weight": round(weights["DEP"] / whole, 6)}
    return tables


def _tune_mbr(arguments: argparse.Namespace, references: Sequence[Sequence[str]]) -> dict[str, Any]:
    from rescoring.mbr import MbrParameters
    from rescoring.mbr_run import MbrTask
    from rescoring.mbr_tuning import mbr_grid, try_grid
    from rescoring.source import open_lattices

    start = MbrParameters()
    values = {name: _number_list(getattr(arguments, name), name) for name in _GRID}
    if arguments.mt:
        values["alpha"] = _number_list(arguments.alpha, "alpha")
    evidence = evidence_of(arguments, start.scale, start.prune) if arguments.mt else None
    task = MbrTask(open_lattices(arguments.run), start, evidence, arguments.mt_by)
    grid = mbr_grid(start, values)
    trials = try_grid(task, references, grid, jobs=arguments.jobs)
    first = next(trial for trial in trials if trial.parameters == start)
    print(f"# BLEU {first.bleu:.2f} with the default parameters, {trials[0].bleu:.2f} with the best of {len(grid)}")
    best = trials[0].parameters
    return {"mbr": {name: getattr(best, name) for name in values}}


def _numbered(text: str) -> dict[str, float]:
    """Read NAME=X,NAME=X."""
    numbers = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        numbers[name.strip()] = _number(number, part)
    return numbers


def _number_list(text: str, name: str) -> list[float]:
    return [_number(part, f"--{name} {text}") for part in text.split(",")]


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"found {text!r} in {place!r}; a number is allowed") from error


def _toml_line(item: tuple[str, Any]) -> str:
    """A key and its number, list of numbers or string; what JSON writes for these is TOML."""
    return f"{item[0]} = {json.dumps(item[1])}\n"
