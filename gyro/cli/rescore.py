"""Commands that give lattices new costs: rescore."""

from __future__ import annotations

import argparse
from typing import Any

from gyro.errors import InputError


def rescore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lattices",
        metavar="LATTICES",
        help="the folder of a run, a folder of .fst files, one such file, or an n-best list (.txt, .nbest, .jsonl)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the new run")
    parser.add_argument(
        "--lm",
        action="append",
        default=[],
        metavar="MODEL",
        help="a KenLM binary or ARPA file, or stupid-backoff:INDEX[:ORDER]; may be given again",
    )
    parser.add_argument(
        "--dependency-lm", metavar="MODEL", help="a model of gyro dependency-lm, for n-best strings, instead of --lm"
    )
    parser.add_argument(
        "--weight", type=float, action="append", default=[], metavar="λ", help="of each model in turn (default 1)"
    )
    parser.add_argument("--add", action="store_true", help="add to the costs of the lattices instead of replacing them")
    parser.add_argument(
        "--beta", type=float, metavar="β", help="drop what is not within β nats of the new best (default: keep all)"
    )
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "-n",
        "--nbest",
        type=int,
        default=100,
        metavar="N",
        help="length of n-best lists; with --dependency-lm the strings that are parsed (default 100)",
    )
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")


def rescore_command(arguments: argparse.Namespace) -> int:
    if bool(arguments.lm) == bool(arguments.dependency_lm):
        raise InputError("gyro rescore takes --lm MODEL, or --dependency-lm MODEL --weight λ")
    options = {"jobs": arguments.jobs, "nbest": arguments.nbest, "overwrite": arguments.overwrite}
    summary = (_rescore_dependencies if arguments.dependency_lm else _rescore_ngrams)(arguments, options)
    print(summary.text())
    return int(summary.exit_code)


def _rescore_ngrams(arguments: argparse.Namespace, options: dict[str, Any]) -> Any:
    from lm.loading import load_language_model
    from rescoring.batch import name_scales, rescore_run

    source = _open(arguments)
    scales = name_scales([load_language_model(name) for name in arguments.lm], arguments.weight)
    keep = 1.0 if arguments.add else 0.0
    return rescore_run(source, arguments.output, scales, keep=keep, beta=arguments.beta, **options)


def _rescore_dependencies(arguments: argparse.Namespace, options: dict[str, Any]) -> Any:
    from lm.dependency_lm import load_dependency_model
    from rescoring.dependency_run import dependency_run, known_features

    if len(arguments.weight) != 1:
        raise InputError(f"found {len(arguments.weight)} weights; --dependency-lm takes one --weight λ")
    if arguments.add or arguments.beta is not None:
        raise InputError("--add and --beta go with --lm; the dependency model always adds, to n-best strings")
    source = _open(arguments)
    model = load_dependency_model(arguments.dependency_lm)
    known = known_features(arguments.lattices)
    return dependency_run(source, arguments.output, model, weight=arguments.weight[0], known=known, **options)


def _open(arguments: argparse.Namespace) -> Any:
    from rescoring.source import open_lattices

    source = open_lattices(arguments.lattices)
    if not len(source):
        raise InputError("no lattices", path=arguments.lattices)
    return source
