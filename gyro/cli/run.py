"""The command run: the whole chain from text to scores, from one TOML file."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_line = "default: the built-in demonstration; later files change values; - for stdin"
    parser.add_argument("configs", nargs="*", metavar="CONFIG.toml", help=help_line)
    parser.add_argument("--show-config", action="store_true", help="print the built-in configuration")


def run(arguments: argparse.Namespace) -> int:
    """What is up to date is skipped, so a run that was stopped goes on where it was."""
    from gyro.pipeline import chain
    from gyro.pipeline.config import BUILT_IN, load_config
    from gyro.pipeline.pipeline import Pipeline

    if arguments.show_config:
        print(BUILT_IN, end="")
        return 0
    return chain.run(Pipeline(load_config(*arguments.configs)))
