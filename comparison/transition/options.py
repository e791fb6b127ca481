"""The transition system as a system of gyro.run.system: its options at `gyro generate` and `gyro train`.

add_arguments, open_system             for bags
add_training_arguments, train_system   for treebanks
model_settings                         the settings of a model that the options of training ask for
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from gyro.errors import InputError

if TYPE_CHECKING:
    from comparison.transition.model import TransitionSettings
    from comparison.transition.system import TransitionSystem
    from lm.model import LanguageModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("transition system")
    group.add_argument("--model", metavar="MODEL", help="a model of gyro train transition")
    group.add_argument(
        "--lm",
        default=os.environ.get("GYRO_LM"),
        metavar="MODEL",
        help="the language model it was trained with, if any",
    )
    group.add_argument("--beam", type=int, default=0, metavar="N", help="states a step (default: the model's)")
    group.add_argument("--trees", type=int, default=1, metavar="N", help="trees a bag in nbest.conllu (default 1)")


def open_system(arguments: argparse.Namespace) -> TransitionSystem:
    """The system that the options ask for."""
    from comparison.transition.model import load_model
    from comparison.transition.system import GenerationSettings, TransitionSystem

    if not arguments.model:
        raise InputError("--model MODEL is needed: a folder that gyro train transition wrote")
    settings = GenerationSettings(arguments.beam, arguments.trees)
    model = load_model(arguments.model)
    return TransitionSystem(model, settings, _language_model(arguments.lm if model.settings.lm else None))


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("treebank", nargs="+", metavar="TREEBANK", help="CoNLL-U; .xz and so on too")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the folder of the model")
    parser.add_argument("--limit", type=int, metavar="N", help="learn from N sentences only, drawn by the seed")
    group = parser.add_argument_group("learning")
    group.add_argument("--iterations", type=int, default=10, metavar="N", help="default 10")
    group.add_argument(
        "--patience",
        type=int,
        default=0,
        metavar="N",
        help="stop when the development score has not risen for N iterations (default 0: never)",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
    group.add_argument("--beam", type=int, default=64, metavar="N", help="states a step (default 64)")
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=int, default=24, metavar="N", help="2^N weights (default 24)")
    group.add_argument(
        "--templates",
        choices=("standard", "zgen"),
        default="standard",
        help="the 70 of the paper (default), or also those that the program ZGen has besides",
    )
    group.add_argument("--shift-tags", action="store_true", help="(SHIFT, tag) besides (SHIFT, form, tag)")
    group = parser.add_argument_group("what bags are given")
    group.add_argument("--pos", choices=("given", "none"), default="given", help="tags of the words (default: given)")
    group.add_argument("--tags", choices=("xpos", "upos"), default="xpos", help="which tags (default xpos)")
    group.add_argument("--heads", action="store_true", help="heads: unordered trees")
    group.add_argument("--units", choices=("base-np",), help="base noun phrases as units")
    group = parser.add_argument_group("language model: the combined system")
    group.add_argument("--lm", metavar="MODEL", help="an n-gram model whose binned probabilities are features of SHIFT")
    group.add_argument(
        "--bins",
        choices=("lexical", "bare", "both"),
        default="lexical",
        help="what the bins go with: (SHIFT, form, tag) (default), SHIFT alone, or both",
    )
    group.add_argument(
        "--lm-weight",
        type=float,
        default=0.0,
        metavar="W",
        help="log-probabilities too, times W, less those of the words alone (default 0: bins only)",
    )
    group.add_argument("--bare-bins", dest="bins", action="store_const", const="bare", help="the same as --bins bare")
    group = parser.add_argument_group("development data")
    group.add_argument("--dev", nargs="+", metavar="TREEBANK", help="score after each iteration, and keep the best")
    group.add_argument("--dev-sample", type=int, default=200, metavar="N", help="sentences of it (default 200)")
    group.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes for it (default 1)")


def train_system(arguments: argparse.Namespace) -> str:
    """Train a model on treebanks."""
    from comparison.transition.system import dev_scorer
    from comparison.transition.training import train
    from comparison.transition.treebank import development_bags, read_training

    for name in ("limit", "dev_sample", "jobs"):
        if (value := getattr(arguments, name)) is not None and value < 1:
            raise InputError(f"found --{name.replace('_', '-')} {value}; at least 1 is allowed")
    if arguments.patience and not arguments.dev:
        raise InputError("--patience goes with --dev")
    model = _language_model(arguments.lm)
    settings = model_settings(arguments, model)
    material = read_training(arguments.treebank, settings, limit=arguments.limit, model=model)
    print(material.note, file=sys.stderr)
    evaluate = None
    if arguments.dev:
        bags = development_bags(arguments.dev, settings, sample=arguments.dev_sample)
        evaluate = dev_scorer(bags, model, arguments.jobs)
    history = train(material.treebank, material.grammar, settings, arguments.output, evaluate=evaluate)
    return f"{arguments.output}: model of {len(history)} iterations; training.svg shows them"


def _language_model(name: str | None) -> LanguageModel | None:
    from lm.loading import load_language_model

    return None if name is None else load_language_model(name)


def model_settings(arguments: argparse.Namespace, model: LanguageModel | None) -> TransitionSettings:
    """The model's settings that the options ask for."""
    from comparison.transition.model import TransitionSettings

    if model is None and arguments.bins != "lexical":
        raise InputError(f"found --bins {arguments.bins} without --lm MODEL, whose bins these are")
    if model is None and arguments.lm_weight:
        raise InputError(f"found --lm-weight {arguments.lm_weight} without --lm MODEL, whose weight this is")
    known = {"pos": arguments.pos == "given", "heads": arguments.heads, "units": arguments.units == "base-np"}
    names = ("beam", "tags", "templates", "shift_tags", "bins", "lm_weight", "bits", "iterations", "patience", "seed")
    return TransitionSettings(
        given=tuple(name for name, is_given in known.items() if is_given),
        lm="" if model is None else model.signature,
        **{name: getattr(arguments, name) for name in names},
    )
