"""GYRO as a system of gyro.run.system: the options of its search, and the generator that they ask for.

add_arguments  index, model and all of Settings
settings_of    the settings that the options ask for
open_system    the generator that they ask for
"""

from __future__ import annotations

import argparse
import os
from dataclasses import fields
from typing import TYPE_CHECKING

from gyro.errors import InputError
from gyro.search.settings import ALGORITHMS, CELL_STARTS, GRAMMARS, JOINTS, MAX_TOKENS, Settings
from lm.loading import MODEL_HELP, VOUCH_HELP, load_language_model

if TYPE_CHECKING:
    from gyro.search.generator import Generator

_DEFAULT = Settings()
BETA_HELP = "keep orders within β nats of the best (default 10); pruned-…: and in its row, parts of them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Index, model, and all of Settings."""
    group = parser.add_argument_group("index and model (or the variables GYRO_INDEX and GYRO_LM)")
    help_line = "an index of gyro index; not needed with --rules 1"
    group.add_argument("--index", default=os.environ.get("GYRO_INDEX"), metavar="DIR", help=help_line)
    group.add_argument("--lm", default=os.environ.get("GYRO_LM"), metavar="MODEL", help=MODEL_HELP)
    group.add_argument("--vouch", action="store_true", help=VOUCH_HELP)
    group = parser.add_argument_group("search")
    _add_grammar(group)
    _add_extent(group)


def _add_grammar(group: argparse._ArgumentGroup) -> None:
    """The algorithm, and what rules it has."""
    group.add_argument("--algorithm", choices=ALGORITHMS, default=_DEFAULT.algorithm, help="default: %(default)s")
    group.add_argument(
        "--rules", default="", metavar="SPAN", help="lengths of phrase rules (default 1-5 for exact and beam, else 3-5)"
    )
    group.add_argument(
        "--overlap",
        type=int,
        default=0,
        metavar="N",
        help="a phrase may share up to N of its first words with what stands before it (default 0)",
    )
    group.add_argument(
        "--phrase-cost",
        default="",
        metavar="COSTS",
        help="soft costs of rules, like phrase=1.5,length1=0.5,count=0.1 (default none)",
    )
    group.add_argument(
        "--grammar",
        choices=GRAMMARS,
        default=_DEFAULT.grammar,
        help="full and pruned: a cell is made of a cell and a phrase after it, or, as published, of any two cells "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--cell-start",
        choices=CELL_STARTS,
        default=_DEFAULT.cell_start,
        help="binary: inner cells are pruned as if they began the sentence, or stood anywhere (default: %(default)s)",
    )


def _add_extent(group: argparse._ArgumentGroup) -> None:
    """How far the search goes."""
    group.add_argument("--beta", type=float, default=_DEFAULT.beta, metavar="β", help=BETA_HELP)
    group.add_argument(
        "--first-row", type=int, default=_DEFAULT.first_row, metavar="r", help="first row that is pruned (default 6)"
    )
    group.add_argument("--beam", type=int, default=_DEFAULT.beam, metavar="N", help="nodes a row (default 64)")
    group.add_argument("--max-arcs", type=int, default=0, metavar="N", help="exact: the largest β with this many arcs")
    group.add_argument(
        "--max-tokens",
        type=int,
        default=20,
        metavar="N",
        help=f"longer bags are cut by their references (default 20; 0: never, then {MAX_TOKENS} are the most)",
    )
    group.add_argument(
        "--joints",
        choices=JOINTS,
        default=_DEFAULT.joints,
        help="where pieces of a cut bag meet: apply the model anew, or join them as they are (default: %(default)s)",
    )
    group.add_argument(
        "--steps",
        type=int,
        default=_DEFAULT.steps,
        metavar="N",
        help="work a bag, in millions of steps, 500 about a second (default 30000)",
    )
    group.add_argument(
        "--time-limit",
        type=float,
        default=_DEFAULT.time_limit,
        metavar="S",
        help="seconds a bag, for safety: steps end a search earlier, and on every machine alike (default 600)",
    )
    group.add_argument("--memory-limit", default="4G", metavar="SIZE", help="memory a process (default 4G)")


def settings_of(arguments: argparse.Namespace) -> Settings:
    return Settings(**{f.name: getattr(arguments, f.name) for f in fields(Settings)})


def open_system(arguments: argparse.Namespace) -> Generator:
    """The generator that the options ask for; the heavy modules are loaded here, after all checks on the options."""
    from gyro.index.reader import open_index
    from gyro.search.generator import Generator

    settings = settings_of(arguments)
    if not arguments.lm or (not arguments.index and settings.rule_lengths != (1, 1)):
        raise InputError("--index DIR and --lm MODEL are needed; with --rules 1, the model alone")
    index = open_index(arguments.index) if arguments.index else None
    return Generator(index, load_language_model(arguments.lm), settings, vouched=arguments.vouch)
