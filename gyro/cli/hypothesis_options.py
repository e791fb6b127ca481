"""The options of commands that choose among the strings of other systems, or take their posteriors.

add_hypotheses_arguments  what LATTICES is when it is no lattices, how its text is read, and which sentences are taken
open_chosen               the source that all of them name
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gyro.cli.lattice_options import open_source
from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.notation import parse_slice

if TYPE_CHECKING:
    from rescoring.source import LatticeSource

FORMATS = ("lattices", "nbest", "outputs")


def add_hypotheses_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("LATTICES of other systems as text")
    help_line = "LATTICES is an n-best list to be tokenised, or outputs of systems in JSON Lines (default: lattices)"
    group.add_argument("--hypotheses", choices=FORMATS, default="lattices", help=help_line)
    help_line = "of JSON Lines (default outputs)"
    group.add_argument("--hypotheses-field", default="outputs", metavar="NAME", help=help_line)
    help_line = "of systems in JSON Lines (default: 1 each)"
    group.add_argument("--hypotheses-weights", default="", metavar="NAME=X,…", help=help_line)
    help_line = "the text is split into tokens by blanks already"
    group.add_argument("--hypotheses-tokenized", action="store_true", help=help_line)
    group.add_argument("--hypotheses-lowercase", action="store_true", help="turn all its text into lower case")
    help_line = "only the sentences with the ids of these bags, and in their order"
    group.add_argument("--ids", metavar="BAGS", help=help_line)


def open_chosen(arguments: argparse.Namespace) -> LatticeSource:
    """The sentences of LATTICES that are asked for, of which there must be some."""
    paths, span = arguments.lattices, arguments.range
    if arguments.hypotheses == "lattices":
        for name in ("weights", "tokenized", "lowercase"):
            if getattr(arguments, f"hypotheses_{name}"):
                raise InputError(f"--hypotheses-{name} goes with --hypotheses nbest or outputs")
        if arguments.ids is None:
            return open_source(paths, span, LatticeFormat.from_arguments(arguments))
        source = open_source(paths, None, LatticeFormat.from_arguments(arguments))
    else:
        source = _open_text(arguments)
    if arguments.ids is not None:
        from gyro.text.bag_file import read_bags
        from rescoring.hypotheses import only_ids

        source = only_ids(source, (bag.id for bag in read_bags(arguments.ids)))
    if span:
        source = source.part(*parse_slice(span))
    if not len(source):
        raise InputError("no lattices in that range" if span else "no lattices", path=paths[0])
    return source


def _open_text(arguments: argparse.Namespace) -> LatticeSource:
    from gyro.text.corpus import Normalisation
    from rescoring.hypotheses import open_hypotheses
    from rescoring.source import join_sources
    from rescoring.string_evidence import parse_weights

    format, field = arguments.hypotheses, arguments.hypotheses_field
    how = Normalisation("none" if arguments.hypotheses_tokenized else "spacy-en", arguments.hypotheses_lowercase)
    weights = parse_weights(arguments.hypotheses_weights)
    if format == "outputs" and "-" in arguments.lattices:
        raise InputError("found - with --hypotheses outputs; their files are read twice, so names are needed")
    return join_sources(
        [open_hypotheses(path, format, how, field=field, weights=weights) for path in arguments.lattices]
    )
