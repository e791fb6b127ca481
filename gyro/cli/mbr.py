"""Commands that choose strings of lattices: mbr by minimum Bayes risk, oracle by the reference."""

from __future__ import annotations

import argparse
from dataclasses import fields
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError

if TYPE_CHECKING:
    from rescoring.evidence import Evidence
    from rescoring.source import LatticeSource

_LATTICES = "the folder of a run, a folder of .fst files, one such file, or an n-best list (.txt, .nbest, .jsonl)"


def mbr_arguments(parser: argparse.ArgumentParser) -> None:
    from rescoring.mbr import MbrParameters

    default = MbrParameters()
    parser.add_argument("lattices", metavar="LATTICES", help=_LATTICES)
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the new run (default: strings on stdout)")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "-n", "--nbest", type=int, default=100, metavar="N", help="with -o: length of n-best lists (default 100)"
    )
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")
    group = parser.add_argument_group("minimum Bayes risk")
    for name, help_line in (
        ("scale", "of the costs of the evidence"),
        ("precision", "unigram precision"),
        ("ratio", "of the precisions of successive orders"),
        ("tokens", "T"),
        ("word-penalty", "cost of a word"),
        ("prune", "only paths within so many nats of the cheapest are evidence; inf: all"),
    ):
        value = getattr(default, name.replace("-", "_"))
        group.add_argument(f"--{name}", type=float, default=value, metavar="X", help=f"{help_line} (default {value:g})")
    group.add_argument(
        "--alpha",
        type=float,
        default=default.alpha,
        metavar="α",
        help="share of our own posteriors beside --mt (default 0.25)",
    )
    add_evidence_arguments(parser)


def add_evidence_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say what MT systems say and how it is read."""
    from rescoring.evidence import ALIGNMENTS, FORMATS

    group = parser.add_argument_group("evidence of machine translation")
    group.add_argument("--mt", nargs="+", metavar="FILE", help="what other systems say; several files for text")
    group.add_argument("--mt-format", choices=FORMATS, default="outputs", help="default: outputs, JSON Lines")
    group.add_argument("--mt-field", default="outputs", metavar="NAME", help="of JSON Lines (default outputs)")
    group.add_argument("--mt-by", choices=ALIGNMENTS, default="order", help="what brings them together (default order)")
    group.add_argument("--mt-scale", type=float, metavar="X", help="of n-best lists and lattices (default: --scale)")
    group.add_argument("--mt-tokenized", action="store_true", help="the text is split into tokens by blanks already")
    group.add_argument("--mt-lowercase", action="store_true", help="turn all its text into lower case")
    group.add_argument("--weights", default="", metavar="NAME=X,…", help="of systems (default: 1 each)")


def mbr_command(arguments: argparse.Namespace) -> int:
    from rescoring.mbr import MbrParameters
    from rescoring.mbr_run import MbrTask, mbr_best, mbr_run

    names = [field.name for field in fields(MbrParameters) if hasattr(arguments, field.name)]
    parameters = MbrParameters(**{name: getattr(arguments, name) for name in names})
    source = _open(arguments.lattices)
    evidence = evidence_of(arguments, parameters.scale, parameters.prune) if arguments.mt else None
    settings = _evidence_settings(arguments) if arguments.mt and arguments.output else {}
    task = MbrTask(source, parameters, evidence, arguments.mt_by, settings)
    if arguments.output is None:
        for hypothesis in mbr_best(task, arguments.jobs):
            print(" ".join(hypothesis.tokens if hypothesis else ()))
        return 0
    summary = mbr_run(task, arguments.output, jobs=arguments.jobs, nbest=arguments.nbest, overwrite=arguments.overwrite)
    print(summary.text())
    return int(summary.exit_code)


def oracle_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", metavar="LATTICES", help=_LATTICES)
    parser.add_argument(
        "references", nargs="?", metavar="REF", help="references, one a line (default: those of the run's bags)"
    )
    parser.add_argument("-n", "--nbest", type=int, default=100, metavar="N", help="length of the lists (default 100)")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the strings of the lattice oracle, one a line")


def oracle_command(arguments: argparse.Namespace) -> int:
    from gyro.corpus import read_lines
    from gyro.files import write_text
    from rescoring.oracle import oracle_report

    source = _open(arguments.lattices)
    if arguments.references is not None:
        references = [tuple(line.split()) for line in read_lines(arguments.references)]
    else:
        references = [item.reference for item in source if item.reference is not None]
        if len(references) < len(source):
            raise InputError("no references: give a file, or a run whose bags have them", path=arguments.lattices)
    report = oracle_report(source, references, nbest=arguments.nbest, jobs=arguments.jobs)
    if arguments.output:
        write_text(arguments.output, "".join(" ".join(string) + "\n" for string in report.lattice.strings))
    print(report.text())
    return 0


def _open(path: str) -> LatticeSource:
    from rescoring.source import open_lattices

    source = open_lattices(path)
    if not len(source):
        raise InputError("no lattices", path=path)
    return source


def evidence_of(arguments: argparse.Namespace, scale: float, prune: float) -> Evidence:
    """The evidence that the options name; scale and prune are for lattices and n-best lists."""
    from gyro.corpus import Normalisation
    from rescoring.evidence import parse_weights, read_evidence

    return read_evidence(
        arguments.mt,
        arguments.mt_format,
        Normalisation("none" if arguments.mt_tokenized else "spacy-en", arguments.mt_lowercase),
        field=arguments.mt_field,
        weights=parse_weights(arguments.weights),
        scale=scale if arguments.mt_scale is None else arguments.mt_scale,
        prune=prune,
    )


def _evidence_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """What tells one evidence from another: how it is read, and the contents of its files."""
    names = ("mt_format", "mt_field", "mt_scale", "mt_tokenized", "mt_lowercase", "weights")
    return {name: getattr(arguments, name) for name in names} | {
        "files": [_digest(Path(path)) for path in arguments.mt]
    }


def _digest(path: Path) -> str:
    from rescoring.source import open_lattices

    if path.is_dir():
        return open_lattices(path).signature
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
