"""The best-first decoder as a system of gyro.run.system: its options at `gyro generate` and `gyro train`.

add_arguments, open_system             for bags
add_training_arguments, train_system   for treebanks
model_settings                         the settings of a model that the options of training ask for
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.errors import InputError
from gyro.notation import Renamed

if TYPE_CHECKING:
    from comparison.best_first.model import ModelSettings
    from comparison.best_first.system import BestFirstSystem
    from lm.model import LanguageModel

METHODS = ("scaled-negatives", "scaled", "large-margin", "perceptron")
TEMPLATE_SETS = ("table2", "ours", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("best-first search")
    group.add_argument("--model", metavar="MODEL", help="a model of gyro train")
    group.add_argument(
        "--lm",
        default=os.environ.get("GYRO_LM"),
        metavar="MODEL",
        help="the language model it was trained with, if any",
    )
    group.add_argument("--goals", type=int, default=1, metavar="N", help="whole sentences to look for (default 1)")
    group.add_argument("--beam", type=int, default=0, metavar="N", help="edges in the chart (default: the model's)")
    group.add_argument(
        "--edge-limit",
        type=int,
        default=1_000_000,
        metavar="N",
        help="edges scored a bag; 0: any number (default 1000000, about 1 s)",
    )
    group.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds a bag, for safety: edges end a search earlier, and on every machine alike (default 60)",
    )
    group.add_argument("--complete", action="store_true", help="add the words that an output lacks, in LM order")
    group.add_argument(
        "--tree-beam",
        type=int,
        default=32,
        metavar="N",
        help="where all heads are given: partial trees kept at each step (default 32); 0: search by agenda",
    )
    group.add_argument(
        "--tree-best", type=int, default=8, metavar="N", help="there: subtrees tried of each dependent (default 8)"
    )
    group.add_argument(
        "--default-output",
        choices=("joined", "pair", "greedy"),
        default="joined",
        help="without a whole sentence in time: the largest edge and others that fit (greedy: 2015), or two edges that"
        " have all words, if there are (pair: 2011), or those in one tree (joined, the default)",
    )


def open_system(arguments: argparse.Namespace) -> BestFirstSystem:
    """The system that the options ask for."""
    from comparison.best_first.model import load_model
    from comparison.best_first.system import BestFirstSystem, GenerationSettings

    if not arguments.model:
        raise InputError("--model MODEL is needed: a folder that gyro train wrote")
    model = load_model(arguments.model)
    names = ("time_limit", "edge_limit", "goals", "beam", "complete", "tree_beam", "tree_best", "default_output")
    settings = GenerationSettings(**{name: getattr(arguments, name) for name in names})
    return BestFirstSystem(model, settings, _language_model(arguments.lm))


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "treebank", nargs="+", metavar="TREEBANK", help="CoNLL-U, for CCG also derivations (.auto); .xz and so on too"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the folder of the model")
    parser.add_argument("--grammar", choices=("dependency", "ccg"), default="dependency", help="default: %(default)s")
    parser.add_argument("--limit", type=int, metavar="N", help="learn from N sentences only, at random by --seed")
    for add in (_add_learning, _add_chart, _add_given, _add_language_model_and_dev):
        add(parser)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="Zhang and Clark 2015 (default), the same without expanding wrong edges, 2012, 2011",
    )
    group.add_argument("--iterations", type=int, default=5, metavar="N", help="default 5")
    group.add_argument(
        "--patience", type=int, default=0, metavar="N", help="stop when --dev has not risen for N iterations (0: never)"
    )
    group.add_argument(
        "--budget",
        type=int,
        default=20_000,
        metavar="N",
        help="edges scored a sentence; times (words / 20)² where it has more than 20 (default 20000)",
    )
    group.add_argument(
        "--step", type=float, default=1.0, metavar="C", help="the largest step of a large-margin update (default 1.0)"
    )
    group.add_argument("--no-cap", action="store_true", help="a large-margin update takes any step that it needs")
    group.add_argument("--no-average", action="store_true", help="the last weights, not their averages, as in 2011")
    group.add_argument("--bits", type=int, default=22, metavar="N", help="2^N weights (default 22)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")


def _add_chart(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("chart")
    group.add_argument("--beam", type=int, default=64, metavar="N", help="edges in the chart (default 64)")
    group.add_argument("--by-size", action="store_true", help="one beam for each size of edges, as in 2011")
    group.add_argument(
        "--tree-beam",
        type=int,
        default=16,
        metavar="N",
        help="where all heads are given: partial trees kept in learning (default 16); 0: learning by agenda",
    )
    group.add_argument("--drop-leaves", action="store_true", help="let leaves fall off the chart too")
    group.add_argument(
        "--variants",
        type=int,
        default=0,
        metavar="N",
        help="edges in it with the same words and head (0: any number)",
    )
    group.add_argument(
        "--no-dp",
        action="store_true",
        help="edges are equivalent only if their strings (CCG) or trees (dependency) are equal, not if no feature can"
        " tell them apart",
    )
    group.add_argument(
        "--templates",
        choices=TEMPLATE_SETS,
        default=TEMPLATE_SETS[0],
        help="dependency: features of the 2015 paper's Table 2 (default), an older set of ours, or both",
    )


def _add_given(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what bags are given")
    group.add_argument("--pos", choices=("given", "none"), default="given", help="tags of the words (default: given)")
    group.add_argument("--tags", choices=("xpos", "upos"), help="which tags (default xpos, with --lemmas upos)")
    group.add_argument("--heads", action="store_true", help="heads and labels: unordered trees")
    group.add_argument("--labels", action="store_true", help="dependency: arcs have labels")
    group.add_argument("--units", choices=("base-np",), help="base noun phrases as units")
    group.add_argument("--lemmas", action="store_true", help="lemmas and attributes in an unordered labelled tree")
    group.add_argument("--cutoff", type=int, default=20, metavar="N", help="CCG: frequent words of the lexicon (20)")
    help_line = (
        "CCG: categories by a multi-tagger, those at least so many times as probable as the best (default: none)"
    )
    group.add_argument("--tagger-cutoff", type=float, default=0.0, metavar="B", help=help_line)
    parser.add_argument("--beta", action=Renamed, new="--tagger-cutoff")


def _add_language_model_and_dev(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("language model")
    group.add_argument("--lm", metavar="MODEL", help="an n-gram model whose score is a feature")
    group.add_argument("--lm-weight", type=float, default=0.2, metavar="W", help="its weight (default 0.2)")
    group = parser.add_argument_group("development data")
    group.add_argument("--dev", nargs="+", metavar="TREEBANK", help="score after each iteration, and keep the best")
    group.add_argument("--dev-sample", type=int, default=200, metavar="N", help="sentences of it (default 200)")
    group.add_argument(
        "--dev-edge-limit",
        type=int,
        default=200_000,
        metavar="N",
        help="edges scored a bag (default 200000, about 0.2 s)",
    )
    group.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes for it (default 1)")


def train_system(arguments: argparse.Namespace) -> str:
    """Train a model on treebanks."""
    from comparison.best_first.model import TAGGER
    from comparison.best_first.system import GenerationSettings, dev_scorer
    from comparison.best_first.training import train
    from comparison.best_first.treebank import ccg_training, dependency_training, development_bags

    for name in ("limit", "dev_sample", "jobs"):
        if (value := getattr(arguments, name)) is not None and value < 1:
            raise InputError(f"found --{name.replace('_', '-')} {value}; at least 1 is allowed")
    if arguments.patience < 0:
        raise InputError(f"found --patience {arguments.patience}; at least 0 is allowed")
    if arguments.patience and not arguments.dev:
        raise InputError("--patience goes with --dev: it looks at the scores on development data")
    model = _language_model(arguments.lm)
    settings = model_settings(arguments, model)
    make = ccg_training if settings.grammar == "ccg" else dependency_training
    material = make(arguments.treebank, settings, limit=arguments.limit, model=model)
    for note in material.notes:
        print(note, file=sys.stderr)
    evaluate = None
    if arguments.dev:
        bags = development_bags(arguments.dev, settings, sample=arguments.dev_sample, tagger=material.tagger)
        decoding = GenerationSettings(edge_limit=arguments.dev_edge_limit)
        evaluate = dev_scorer(bags, decoding, model, arguments.jobs)
    history = train(
        material.treebank,
        material.grammar,
        settings,
        arguments.output,
        evaluate=evaluate,
        patience=arguments.patience,
    )
    if material.tagger is not None:
        material.tagger.save(Path(arguments.output) / TAGGER)
    return f"{arguments.output}: model of {len(history)} iterations; training.svg shows them"


def _language_model(name: str | None) -> LanguageModel | None:
    from lm.loading import load_language_model

    return None if name is None else load_language_model(name)


def model_settings(arguments: argparse.Namespace, model: LanguageModel | None) -> ModelSettings:
    """The model's settings that the options ask for."""
    from comparison.best_first.model import ModelSettings

    lemmas = arguments.lemmas
    if arguments.grammar == "ccg" and (arguments.heads or arguments.labels or lemmas):
        raise InputError("--heads, --labels and --lemmas go with --grammar dependency")
    if arguments.grammar == "ccg" and arguments.templates != TEMPLATE_SETS[0]:
        raise InputError("--templates goes with --grammar dependency")
    if arguments.grammar == "dependency" and arguments.tagger_cutoff:
        raise InputError("--tagger-cutoff goes with --grammar ccg")
    if lemmas and arguments.units:
        raise InputError("--units and --lemmas do not go together: a unit is a string")
    known = {"pos": arguments.pos == "given", "heads": arguments.heads or lemmas}
    known |= {"units": arguments.units == "base-np", "lemmas": lemmas}
    return ModelSettings(
        grammar=arguments.grammar,
        method=arguments.method,
        beam=arguments.beam,
        by_size=arguments.by_size,
        keep_leaves=not arguments.drop_leaves,
        variants=arguments.variants,
        given=tuple(name for name, is_given in known.items() if is_given),
        tags=arguments.tags or ("upos" if lemmas else "xpos"),
        labels=arguments.labels or lemmas,
        templates=arguments.templates,
        dp=not arguments.no_dp,
        cutoff=arguments.cutoff,
        beta=arguments.tagger_cutoff,
        lm="" if model is None else model.signature,
        lm_weight=0.0 if model is None else arguments.lm_weight,
        bits=arguments.bits,
        step=0.0 if arguments.no_cap else arguments.step,
        average=not arguments.no_average,
        tree_beam=arguments.tree_beam,
        budget=arguments.budget,
        iterations=arguments.iterations,
        seed=arguments.seed,
    )
