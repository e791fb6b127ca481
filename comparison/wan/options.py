"""The systems of Wan et al. (2009) as one of gyro.run.system: options at `gyro generate` and `gyro train`.

add_arguments, open_system             for bags
add_training_arguments, train_system   for treebanks
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from gyro.errors import InputError

if TYPE_CHECKING:
    from comparison.wan.system import WanSystem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Wan et al. (2009)")
    group.add_argument(
        "--method",
        choices=("viterbi", "lmo", "cle", "ab"),
        default="ab",
        help="n-gram beam, greedy n-gram order, minimum spanning tree, tree by assignment (default: %(default)s)",
    )
    group.add_argument("--model", metavar="MODEL", help="cle, ab: a model of gyro train wan")
    group.add_argument("--lm", default=os.environ.get("GYRO_LM"), metavar="MODEL", help="the n-gram model")
    group.add_argument("--split-units", action="store_true", help="base noun phrases as single words, as their Viterbi")
    group = parser.add_argument_group("trees")
    group.add_argument("--q", choices=("data", "wan"), default="data", help="ab: argument positions (default: data)")
    group.add_argument(
        "--least-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="--q data: of a tag's heads, more must have modifiers on a side (default 0: any)",
    )
    group.add_argument("--may-stay-empty", action="store_true", help="ab: positions need not be filled (not published)")
    group.add_argument("--single-root", action="store_true", help="cle: one child of the root")
    group = parser.add_argument_group("order of siblings (lmo, cle, ab)")
    group.add_argument(
        "--window",
        type=int,
        default=0,
        metavar="N",
        help="words on each side of a joint (default: half the LM's order)",
    )
    group.add_argument(
        "--start",
        choices=("sentence", "empty"),
        default="sentence",
        help="what stands before siblings (sentence start)",
    )
    group.add_argument("--outward", action="store_true", help="siblings before a head: the nearest first")
    group = parser.add_argument_group("viterbi")
    group.add_argument("--beam", type=int, default=100, metavar="N", help="hypotheses a row (default 100)")
    group.add_argument("--end", action="store_true", help="count the sentence end too")


def open_system(arguments: argparse.Namespace) -> WanSystem:
    """The system that the options ask for."""
    from comparison.wan.linearise import LinearSettings
    from comparison.wan.model import read_wan_model
    from comparison.wan.system import OF_TREES, GenerationSettings, WanSystem
    from lm.loading import load_language_model

    if not arguments.lm:
        raise InputError("--lm MODEL is needed: a language model of gyro lm")
    if arguments.method in OF_TREES and not arguments.model:
        raise InputError(f"--model MODEL is needed for --method {arguments.method}: a folder that gyro train wan wrote")
    settings = GenerationSettings(
        method=arguments.method,
        split=arguments.split_units,
        q=arguments.q,
        least_share=arguments.least_share,
        may_stay_empty=arguments.may_stay_empty,
        single_root=arguments.single_root,
        linear=LinearSettings(arguments.window, arguments.start, arguments.outward),
        beam=arguments.beam,
        end=arguments.end,
    )
    model = read_wan_model(arguments.model) if arguments.method in OF_TREES else None
    return WanSystem(load_language_model(arguments.lm), settings, model)


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("treebank", nargs="+", metavar="TREEBANK", help="CoNLL-U; .xz and so on too")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the folder of the model")
    parser.add_argument("--limit", type=int, metavar="N", help="learn from N trees only, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
    parser.add_argument("--tags", choices=("xpos", "upos"), default="xpos", help="which tags (default: %(default)s)")
    parser.add_argument(
        "--units", choices=("base-np", "none"), default="base-np", help="what is one vertex (default: %(default)s)"
    )


def train_system(arguments: argparse.Namespace) -> str:
    """Count the events of treebanks."""
    from comparison.wan.model import WanSettings, train_model, write_wan_model

    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"found --limit {arguments.limit}; at least 1 is allowed")
    settings = WanSettings(arguments.tags, arguments.units == "base-np")
    model, facts = train_model(arguments.treebank, settings, limit=arguments.limit, seed=arguments.seed)
    write_wan_model(arguments.output, model, facts)
    return f"{arguments.output}: events of {facts['trees']} of {facts['sentences']} trees, {facts['vertices']} vertices"
