"""The parser of a command.

CommandParser  argparse's, which also knows the words that it is going to parse: options may depend on another's value
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


class CommandParser(argparse.ArgumentParser):
    """A parser with the words of the command line."""

    words: Sequence[str] = ()

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
