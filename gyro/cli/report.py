"""The command report: one HTML page on runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.cli.score import add_metric_arguments
from gyro.errors import InputError
from gyro.score.evaluation import parse_sizes
from lm.loading import MODEL_HELP

if TYPE_CHECKING:
    from gyro.report.opinion import AskedModel


BACKOFF = " stupid backoff"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="the folder of a run, or a file of orders with a line for each of the runs' bags; RUN:NAME names it",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page, like report.html")
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME=RUN", help="another run with its name; may be given again"
    )
    parser.add_argument("--title", default="Word ordering", metavar="TEXT", help="default: %(default)s")
    parser.add_argument("--examples", type=int, default=100, metavar="N", help="bags shown (default 100)")
    parser.add_argument(
        "--lm",
        action="append",
        default=[],
        metavar="MODEL",
        help=f"ask this model what each word of outputs and references costs; may be given again: {MODEL_HELP}",
    )
    parser.add_argument(
        "--neural",
        metavar="MODEL",
        help="ask a neural model too: a GGUF file, a Hugging Face folder, or the word default",
    )
    parser.add_argument("--figures", metavar="DIR", help="write each chart as an SVG file into this folder too")
    add_metric_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.report.page import write_report
    from gyro.score.outputs import parse_system
    from rescoring.source import open_lattices

    if arguments.examples < 0:
        raise InputError(f"found --examples {arguments.examples}; 0 or more are allowed")
    for text in arguments.name:
        if "=" not in text:
            raise InputError(f"found --name {text!r}; NAME=RUN is allowed")
    write_report(
        [parse_system(text) for text in (*arguments.runs, *arguments.name)],
        arguments.output,
        title=arguments.title,
        baseline=arguments.baseline,
        most_examples=arguments.examples,
        sizes=parse_sizes(arguments.sizes),
        tokenize=arguments.tokenize,
        signature=lambda folder: open_lattices(folder).signature,
        figures=arguments.figures,
        models=_models(arguments),
    )
    print(arguments.output)
    return 0


def _models(arguments: argparse.Namespace) -> list[AskedModel]:
    """The models to ask; two of one kind and order have the names of their files too."""
    from gyro.report.opinion import AskedModel, ngram_to_ask
    from lm.loading import load_language_model, split_name

    opened = [(name, load_language_model(name)) for name in arguments.lm]
    titles = [f"{model.order}-gram{BACKOFF * model.column.startswith('SB')}" for _, model in opened]
    models = []
    for title, (name, model) in zip(titles, opened, strict=True):
        place = Path(split_name(name)[1].split(":")[0]).name
        models.append(ngram_to_ask(model, title if titles.count(title) == 1 else f"{title} ({place})"))
    if arguments.neural:
        from rescoring.neural import open_neural_model

        neural = open_neural_model(arguments.neural)
        models.append(AskedModel("neural model", neural.signature, neural.word_costs))
    return models
