"""The command serve."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gyro.cli.parser import CommandParser
from gyro.errors import InputError
from gyro.notation import parse_size
from gyro.run.system import SYSTEMS, system_kind
from gyro.serve.limit import Limits
from lm.loading import MODEL_HELP, load_language_model
from rescoring.neural_options import PIECES_A_WORD, WEIGHT, add_model_arguments

if TYPE_CHECKING:
    from gyro.run.system import System
    from gyro.serve.desk import Neural
    from lm.model import LanguageModel

PACKAGES = ("fastapi", "uvicorn")
_LIMITS = Limits()
_STEPS = 5000  # millions, about ten seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default 8000; 0: any that is free")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="default 127.0.0.1, which no other machine reaches"
    )
    parser.add_argument(
        "--allow-host", nargs="+", default=[], metavar="NAME", help="further names that the server goes by"
    )
    group = parser.add_argument_group("index and models (or the variables GYRO_INDEX and GYRO_LM)")
    group.add_argument("--index", default=os.environ.get("GYRO_INDEX"), metavar="DIR", help="an index of gyro index")
    group.add_argument("--lm", default=os.environ.get("GYRO_LM"), metavar="[NAME=]MODEL", help=MODEL_HELP)
    group.add_argument(
        "--other-lm",
        nargs="+",
        default=[],
        metavar="[NAME=]MODEL",
        help="more n-gram models: to search with, and to see what orders cost under them",
    )
    add_model_arguments(group)
    group.add_argument(
        "--neural-weight", type=float, default=WEIGHT, metavar="λ", help=f"of its cost (default {WEIGHT:g})"
    )
    group.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="'NAME OPTIONS'",
        help="another system to see side by side, with its options at gyro generate: 'transition --model syntax.model'",
    )
    group = parser.add_argument_group("limits")
    group.add_argument("--longest", type=int, default=_LIMITS.tokens, metavar="N", help="tokens a bag (default 60)")
    group.add_argument(
        "--steps", type=int, default=_STEPS, metavar="N", help="work a bag, in millions of steps (default 5000)"
    )
    group.add_argument(
        "--time-limit", type=float, default=_LIMITS.seconds, metavar="S", help="seconds a bag (default 30)"
    )
    group.add_argument("--memory-limit", default="2G", metavar="SIZE", help="memory a process (default 2G)")
    group.add_argument(
        "--jobs", "-j", type=int, default=_LIMITS.jobs, metavar="N", help="bags worked on at once (default 2)"
    )
    group.add_argument(
        "--waiting", type=int, default=_LIMITS.waiting, metavar="N", help="bags that may wait (default 16)"
    )
    group.add_argument("--largest", default="256K", metavar="SIZE", help="bytes of a request (default 256K)")
    group.add_argument("--largest-stream", default="64M", metavar="SIZE", help="of one with many bags (default 64M)")


def run(arguments: argparse.Namespace) -> int:
    for package in PACKAGES:
        if find_spec(package) is None:
            raise InputError(f"gyro serve needs the package {package}: pip install 'gyro-order[serve]'")
    limits = Limits(
        tokens=arguments.longest,
        seconds=arguments.time_limit,
        memory=parse_size(arguments.memory_limit),
        jobs=arguments.jobs,
        waiting=arguments.waiting,
        request=parse_size(arguments.largest),
        stream=parse_size(arguments.largest_stream),
    )
    if not arguments.index or not arguments.lm:
        raise InputError("--index DIR and --lm MODEL are needed")
    from gyro.index.reader import open_index
    from gyro.serve.desk import Desk
    from gyro.serve.server import Place, bind, serve

    place = Place(arguments.host, arguments.port, arguments.allow_host)
    settings = Desk.settings_for(limits, arguments.steps)
    with bind(place) as bound:
        models = _models([arguments.lm, *arguments.other_lm])
        desk = Desk(
            index=open_index(arguments.index),
            models=models,
            limits=limits,
            settings=settings,
            neural=_neural(arguments),
            systems=_systems(arguments.system, _named(arguments.lm)[1]),
        )
        print("loading models …", file=sys.stderr)
        desk.warm()
        serve(desk, bound, place)
    return 0


def _models(names: Sequence[str]) -> dict[str, LanguageModel]:
    """The n-gram models by the names that they have on the page."""
    models: dict[str, LanguageModel] = {}
    for text in names:
        name, place = _named(text)
        model = load_language_model(place)
        name = name or ("stupid backoff" if model.column.startswith("SB") else f"{model.order}-gram")
        if name in models:
            raise InputError(f"found two models that are called {name!r}; NAME=MODEL gives one another name")
        models[name] = model
    return models


def _named(text: str) -> tuple[str, str]:
    """The name in NAME=MODEL, empty where there is none, and the model."""
    name, equals, place = text.partition("=")
    return (name, place) if equals and not os.path.exists(text) else ("", text)


def _neural(arguments: argparse.Namespace) -> Neural | None:
    if not arguments.neural:
        if arguments.search is not None:
            raise InputError("found --search, which goes with --neural MODEL")
        return None
    from gyro.serve.desk import Neural
    from rescoring.neural import open_neural_model
    from rescoring.neural_stage import NeuralStage

    NeuralStage(arguments.neural, arguments.neural_weight, budget=arguments.search or 0).check()
    use = "search" if arguments.search else "lists"
    budget = arguments.search or PIECES_A_WORD
    return Neural(open_neural_model(arguments.neural), "neural", use, arguments.neural_weight, budget)


def _systems(texts: Sequence[str], lm: str) -> dict[str, tuple[str, System]]:
    """The systems to compare with, by their names; two of one kind are told apart by their options."""
    systems: dict[str, tuple[str, System]] = {}
    for text in texts:
        kind, *words = _split(text)
        name = kind if kind not in systems else text
        if name in systems:
            raise InputError(f"found --system {text!r} twice")
        systems[name] = (kind, system_kind(kind).open_system(_options(kind, words, lm)))
    return systems


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"found --system {text!r:.80}: {error}") from error
    others = [name for name in SYSTEMS if name != "gyro"]
    if not words or words[0] not in others:
        raise InputError(f"found --system {text!r:.80}; allowed are {', '.join(others)}, with their options")
    return words


def _options(kind: str, words: Sequence[str], lm: str) -> Any:
    """The options of a system as `gyro generate` has them; its language model is that of the server."""
    parser = CommandParser(prog=f"gyro serve --system {kind}", add_help=False)
    system_kind(kind).add_arguments(parser)
    parser.set_defaults(lm=lm)
    return parser.parse_args(list(words))
