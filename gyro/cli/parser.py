"""The parser of a command.

CommandParser  argparse's, which also knows the words that it is going to parse: options may depend on another's value.
               Numbers that are too large for the machine are refused. All have --quiet and --verbose
add_volume     these two, for the parser of a command within a command
volume_of      what they ask for
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from gyro.notice import Volume


class CommandParser(argparse.ArgumentParser):
    """A parser with the words of the command line."""

    words: Sequence[str] = ()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    def value_of(self, option: str, default: str) -> str:
        """The value that the words give an option, before they are parsed.

        >>> parser = CommandParser()
        >>> parser.words = ["bags.txt", "--system=best-first"]
        >>> parser.value_of("--system", "gyro")
        'best-first'
        """
        early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        early.add_argument(option, dest="value", nargs="?", default=default)
        value = early.parse_known_args(list(self.words))[0].value
        return default if value is None else str(value)


def add_volume(parser: argparse.ArgumentParser) -> None:
    """How much is said besides the results: these mean the same in every command."""
    group = parser.add_argument_group("on standard error").add_mutually_exclusive_group()
    for short, volume, help_line in (
        ("-q", Volume.QUIET, "say nothing but errors: no progress, no notes, no warnings"),
        (
            "-v",
            Volume.VERBOSE,
            "tell how far the work is line by line, and at its end the time and memory that it took",
        ),
    ):
        name, kept = f"--{volume.value}", argparse.SUPPRESS
        group.add_argument(short, name, action="store_const", const=volume, dest="volume", default=kept, help=help_line)


def volume_of(arguments: argparse.Namespace) -> Volume:
    """What --quiet and --verbose ask for; before and after the name of the command they are the same."""
    return getattr(arguments, "volume", Volume.USUAL)


def _whole_number(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r:.40}; a whole number is allowed") from None
    if abs(value) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"found {text!r:.40}, which is too large")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r:.40}; a number is allowed") from None
    if math.isinf(value) and "inf" not in text.lower():
        raise argparse.ArgumentTypeError(f"found {text!r:.40}, which is too large")
    return value
