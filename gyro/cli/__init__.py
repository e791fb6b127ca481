"""The command line: `gyro COMMAND …`.

main          reads the arguments and runs the command
read_words    reads them alone; `command_line` is as it was
whole_parser  all commands with all their arguments

Each command is a module of its own name (a dash is an underscore there), which is imported only when it is asked for:
`add_arguments(parser)`, and `run(arguments)`, which gives the exit code.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from gyro.cli.parser import CommandParser, add_volume, volume_of
from gyro.errors import ResourceError, exit_code
from gyro.notice import Volume, at_volume
from gyro.run.system import SYSTEMS, system_kind
from gyro.version import __version__

COMMANDS = {
    "tokenize": "split text into tokens once, for index, lm and dependency-lm",
    "index": "build an n-gram index over text, merge indexes, or tell what is in one",
    "lm": "estimate a KenLM n-gram model on text",
    "bags": "make bags of words out of reference sentences",
    "annotate": "make bags with annotation out of a treebank: tags, heads, noun phrases, lemmas",
    "phrases": "print the phrases of the index that each bag can make, with their counts",
    "train": "train a system that GYRO is compared with, on a treebank",
    "generate": "order a file of bags: lattices, n-best lists and best strings",
    "order": "order bags given at the prompt or by a pipe",
    "serve": "a page to try word ordering on, in the browser, and the same as JSON over HTTP",
    "run": "everything from text to scores, from one TOML file",
    "rescore": "give lattices the costs of other models: n-grams of any order, dependencies, a neural model",
    "neural": "tell what a pretrained neural language model is, or install the embedded one",
    "dependency-lm": "estimate a dependency language model on text",
    "parse": "parse text with spaCy: its dependency trees as CoNLL-U",
    "ccg": "make CCG derivations out of dependency trees",
    "mbr": "decode lattices by minimum Bayes risk, with the posteriors of MT systems if given",
    "posteriors": "write the n-gram posteriors of lattices to a file, for minimum Bayes risk here or elsewhere",
    "oracle": "BLEU of the best strings that lattices and n-best lists hold",
    "tune": "tune weights and MBR parameters on a development set",
    "nbest": "print the n best orders of every bag of a run",
    "best": "print the best order of every bag of a run",
    "convert": "write lattices for other tools: labels of a word map, sentence marks, numbered names",
    "show": "draw a lattice, or a cell of the network of a bag, as SVG or PNG",
    "score": "compare orders with the references: BLEU, chrF, TER, exact matches and more; test systems",
    "compile": "compile what the program uses, all at once, so that its first use need not",
    "verify": "find damage: compare models, indexes and runs with the checksums of their making",
    "completion": "what a shell needs to complete commands, options, choices and files",
    "report": "write one HTML page on runs: scores, figures, examples, configuration",
    "judge": "make an HTML page on which people compare the orders of runs, or count what they said",
}

# Below this OpenBLAS and LLVM, which NumPy and numba bring, end the process or never end when they are loaded.
LEAST_ADDRESS_SPACE = 700 << 20
LIGHT_COMMANDS = ("best",)

_EPILOG = """\
from text to orders:
  gyro index news.txt.xz -o news.index
  gyro lm news.txt.xz -o news.lm
  gyro bags references.txt -o bags.jsonl
  gyro generate bags.jsonl -o run --index news.index --lm news.lm
  gyro score run
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0, 1 when some bags failed, 2 for a mistake or a fault of the machine, 3 for lack of memory."""
    words = list(sys.argv[1:] if argv is None else argv)
    # One thread a process: more of them take memory when NumPy is loaded, and time from each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    began = time.perf_counter()

    def work() -> int:
        arguments = read_words(words)
        with at_volume(volume_of(arguments)):
            code = int(arguments.command(arguments))
            if volume_of(arguments) is Volume.VERBOSE:
                print(f"gyro: {_used(began)}", file=sys.stderr)
        return code

    return exit_code("gyro", work)


def read_words(words: Sequence[str]) -> argparse.Namespace:
    """The arguments that the words of a command line make."""
    arguments = _parser(words).parse_args(words)
    arguments.command_line = list(words)
    return arguments


def _check_address_space(command: str) -> None:
    """Refuse to begin under a limit (`ulimit -v`) that the libraries do not survive."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if command not in LIGHT_COMMANDS and limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        found = f"found a limit of {limit >> 20} MB on the memory (ulimit -v)"
        raise ResourceError(f"{found}; {LEAST_ADDRESS_SPACE >> 20} MB or more are needed")


def _used(began: float) -> str:
    """The time since then, and the most memory that this process or one of its workers has held."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return f"{time.perf_counter() - began:.1f} s, {most * unit / 2**20:.0f} MB a process at most"


def _parser(words: Sequence[str]) -> CommandParser:
    """All commands with their help lines; only the chosen one brings its module and arguments."""
    parser, commands = _without_arguments()
    chosen = next((word for word in words if not word.startswith("-")), "")
    if chosen in commands:
        _check_address_space(chosen)
        commands[chosen].words = words[words.index(chosen) + 1 :]
        _fill(chosen, commands[chosen])
    return parser


def whole_parser() -> CommandParser:
    """All commands with all their arguments, those of `gyro generate` for every system."""
    parser, commands = _without_arguments(conflict_handler="resolve")
    for name, command in commands.items():
        _fill(name, command)
    for system in SYSTEMS:
        system_kind(system).add_arguments(commands["generate"])
    return parser


def _without_arguments(**options: Any) -> tuple[CommandParser, dict[str, CommandParser]]:
    parser = CommandParser(
        prog="gyro",
        description="Word ordering: a bag of words goes in, the fluent sentences made of all of them come out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gyro {__version__}")
    add_volume(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    made = {
        name: commands.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".", **options)
        for name, line in COMMANDS.items()
    }
    return parser, made


def _fill(name: str, command: CommandParser) -> None:
    """Give a command the arguments that its module knows."""
    module = import_module(f"gyro.cli.{name.replace('-', '_')}")
    module.add_arguments(command)
    add_volume(command)
    command.set_defaults(command=module.run)
