"""In an executor of Spark: a command of the driver's, as far as the start of its batch.

hand_over  go through it; its batch ends as a HandOver
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from gyro.cli import read_words
from gyro.spark.executor import relocated
from gyro.text.bag import Bag

COMMANDS = ("generate", "rescore", "mbr")


def hand_over(words: Sequence[str], bag: Bag, copies: Mapping[str, Any]) -> None:
    """Open what the words of the command line name, or copies of it; `bag` is one of the driver's."""
    arguments = read_words([relocated(word, copies) for word in words])
    (name,) = (command for command in COMMANDS if command == words[0])
    import_module(f"gyro.cli.{name}").hand_over(arguments, bag)
