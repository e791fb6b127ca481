"""The options that say what MT systems say and how it is read.

add_evidence_arguments  the options
evidence_of_arguments   the evidence that they name
"""

from __future__ import annotations

import argparse

from gyro.lattice.file_format import LatticeFormat
from gyro.text.corpus import Normalisation
from rescoring.evidence import ALIGNMENTS, FORMATS, EvidenceFiles
from rescoring.string_evidence import parse_weights


def add_evidence_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say what MT systems say and how it is read."""
    group = parser.add_argument_group("evidence of machine translation")
    group.add_argument("--mt", nargs="+", metavar="FILE", help="what other systems say; several files for text")
    group.add_argument("--mt-format", choices=FORMATS, default="outputs", help="default: outputs, JSON Lines")
    group.add_argument("--mt-field", default="outputs", metavar="NAME", help="of JSON Lines (default outputs)")
    help_line = (
        "what brings sentences and lattices together: their ids, or numbers of lines, or their order (default id)"
    )
    group.add_argument("--mt-by", choices=ALIGNMENTS, default="id", help=help_line)
    group.add_argument("--mt-scale", type=float, metavar="X", help="of n-best lists and lattices (default: --scale)")
    group.add_argument("--mt-tokenized", action="store_true", help="the text is split into tokens by blanks already")
    group.add_argument("--mt-lowercase", action="store_true", help="turn all its text into lower case")
    group.add_argument("--weights", default="", metavar="NAME=X,…", help="of systems (default: 1 each)")


def evidence_of_arguments(arguments: argparse.Namespace) -> EvidenceFiles | None:
    """The evidence that the options name."""
    if not arguments.mt:
        return None
    return EvidenceFiles(
        tuple(arguments.mt),
        Normalisation("none" if arguments.mt_tokenized else "spacy-en", arguments.mt_lowercase),
        format=arguments.mt_format,
        field=arguments.mt_field,
        by=arguments.mt_by,
        scale=arguments.mt_scale,
        weights=parse_weights(arguments.weights),
        lattices=LatticeFormat.of_evidence(arguments),
    )
