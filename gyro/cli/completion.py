"""The command completion: what a shell needs to complete commands, options, choices and files.

It is made of the parsers themselves, once, so that nothing of GYRO runs when somebody presses the key.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
FOLDERS = ("DIR", "INDEX", "RUN")
# What is written in the place of a file or a folder; of other metavars, numbers as a rule, nothing is known.
FILES = (
    *("BAGS", "CONFIG.toml", "CORPUS", "DERIVATIONS", "FILE", "LATTICE", "LATTICES", "LM", "MODEL", "PATH", "REF"),
    *("REFERENCES", "SYSTEM", "TEXT", "TREEBANK", "TREES"),
)

_EPILOG = """\
bash:  gyro completion bash > ~/.local/share/bash-completion/completions/gyro
zsh:   gyro completion zsh > ~/.zfunc/_gyro     (a folder of $fpath)
fish:  gyro completion fish > ~/.config/fish/completions/gyro.fish

Then a new shell knows it. After an update of GYRO, make it again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    import shtab

    from gyro.cli import whole_parser

    parser = whole_parser()
    for action in _actions(parser):
        if action.choices is None and isinstance(action.metavar, str):
            if action.metavar in FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, arguments.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of the commands in it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
