"""The parser of a command.

CommandParser  argparse's, which also knows the words that it is going to parse: options may depend on another's value.
               Numbers that are too large for the machine are refused
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any


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
