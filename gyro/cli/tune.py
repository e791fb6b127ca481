"""The command tune: weights by line search on n-best lists, or the parameters of one stage as it tunes them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError
from gyro.files import write_text
from gyro.text.corpus import read_lines
from rescoring.stage import Development, Place, Stage, Tuning, stage_kinds

if TYPE_CHECKING:
    from gyro.run.folder import Run

Tables = dict[str, dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run: its n-best lists have the features to weigh")
    parser.add_argument("references", nargs="?", metavar="REF", help="one a line (default: those of the run's bags)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="TOML to write: gyro run CONFIG.toml FILE reads it, and rescore and mbr do with --tuned",
    )
    parser.add_argument("--start", default="", metavar="NAME=X,…", help="weights to start from (default: 1 each)")
    parser.add_argument("--restarts", type=int, default=20, metavar="N", help="random starts besides (default 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random numbers (default 1)")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes for --mbr (default 1)")
    for kind in stage_kinds().values():
        kind.tuning.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.run.folder import open_run

    run = open_run(arguments.run)
    references = _references(arguments, run)
    if failed := sum(not outcome.ok for outcome in run.outcomes):
        print(f"# {failed} of {len(run)} bags have no order: they are scored as empty")
    for kind in stage_kinds().values():
        if (found := kind.tuning.from_arguments(arguments)) is not None:
            tables = _tune_stage(arguments, kind, *found, references)
            break
    else:
        tables = _tune_weights(arguments, run, references)
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


def _tune_stage(
    arguments: argparse.Namespace,
    kind: type[Stage],
    tuning: Tuning,
    place: Place,
    references: Sequence[Sequence[str]],
) -> Tables:
    with TemporaryDirectory(prefix="gyro-tune-") as scratch:
        options = {"jobs": arguments.jobs}
        tuned = tuning.tune(Development(Path(arguments.run), references, place, Path(scratch), options))
    print(f"# {tuned.words or f'BLEU {tuned.bleu:.2f}'}")
    return {kind.table: tuned.values}


def _tune_weights(arguments: argparse.Namespace, run: Run, references: Sequence[Sequence[str]]) -> Tables:
    from rescoring.nbest_lists import NbestLists
    from rescoring.tuning import tune_weights

    lists = NbestLists(len(references))
    lists.add(run)
    data = lists.tuning_set(references)
    start = _numbered(arguments.start) or dict.fromkeys(data.names, 1.0)
    tuned = tune_weights(data, start, restarts=arguments.restarts, seed=arguments.seed)
    scores = (
        f"{tuned.start_bleu:.2f} at the start, {tuned.bleu:.2f} tuned, {tuned.oracle_bleu:.2f} the best of the lists"
    )
    print(f"# BLEU {scores}; weights " + " ".join(f"{name}={w:.4f}" for name, w in tuned.weights.items()))
    return _weights_to_tables(tuned.weights, run.settings)


def _weights_to_tables(weights: Mapping[str, float], settings: Mapping[str, Any]) -> Tables:
    """The weights as tables of a configuration: those of n-gram models sum to 1, the others are relative to them."""
    kinds = stage_kinds()
    whole = sum(abs(weight) for name, weight in weights.items() if kinds["ngram"].owns(name))
    if not whole:
        raise InputError("all n-gram models have the weight 0; that is no configuration")
    tables: Tables = {}
    if "PHRASES" in weights:
        factor = max(0.0, weights["PHRASES"] / whole)
        if "phrase_cost" in settings:
            from grammars.phrase.closure import parse_phrase_costs

            tables["generate"] = {"phrase_cost": str(parse_phrase_costs(settings["phrase_cost"]).times(factor))}
        else:  # a later stage kept the column, but does not know what it was made with
            print(f"# [generate] phrase_cost: that of the first pass times {factor:.4f}")
    for kind in kinds.values():
        owned = {name: round(weight / whole, 6) for name, weight in weights.items() if kind.owns(name)}
        if table := kind.weights_to_table(owned):
            tables[kind.table] = table
    return tables


def _numbered(text: str) -> dict[str, float]:
    """Read NAME=X,NAME=X."""
    numbers = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        try:
            numbers[name.strip()] = float(number)
        except ValueError as error:
            raise InputError(f"found {number!r} in {part!r}; a number is allowed") from error
    return numbers


def _toml_line(item: tuple[str, Any]) -> str:
    """A key and its number, list of numbers or string; what JSON writes for these is TOML."""
    return f"{item[0]} = {json.dumps(item[1])}\n"
