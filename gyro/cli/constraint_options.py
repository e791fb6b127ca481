"""What orders must keep to, as options of a command.

add_constraint_arguments  the options, and an example of them
constrained_bag           the bag of some words that these options ask for (gyro.text.constrained_bag)
refuse_constraints        where they have no meaning
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gyro.errors import InputError
from gyro.text.bag import Bag
from gyro.text.constrained_bag import constrain

EXAMPLE = """example:
  gyro order 'the cat sat sits there .' --first the --last . --keep 'the cat' --one-of 'sat sits' --optional there
"""

NAMES = ("first", "last", "at", "prefix", "suffix", "keep", "before", "optional", "one_of", "some", "times")


def add_constraint_arguments(parser: argparse.ArgumentParser) -> None:
    """The options, in a group of their own."""
    group = parser.add_argument_group(
        "constraints",
        "For the algorithms exact and beam. They name words of the bag. From --at on they may be given several times.",
    )

    def add(option: str, help: str, *names: str) -> None:
        nargs = len(names) if len(names) > 1 else None
        group.add_argument(option, nargs=nargs, action="append", default=[], metavar=names, help=help)

    add("--first", "the first word", "WORD")
    add("--last", "the last word", "WORD")
    add("--prefix", "what the order begins with, as one quoted string", "WORDS")
    add("--suffix", "what it ends with", "WORDS")
    add("--at", "the N-th word; -1 is the last, -2 the one before it", "N", "WORD")
    add("--keep", "a phrase that stays as it is, as one quoted string", "WORDS")
    add("--before", "the one comes before the other, with anything between them", "WORD", "WORD")
    add("--optional", "words that may be left out", "WORDS")
    add("--one-of", "alternatives: one of these words is used", "WORDS")
    add("--some", "exactly K of these words are used", "K", "WORDS")
    add("--times", "the word may be used up to K times", "K", "WORD")
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter


def constrained_bag(words: Sequence[str], arguments: argparse.Namespace) -> Bag:
    """One without constraints where no option is given."""
    return constrain(
        words,
        first=_once(arguments.first, "--first"),
        last=_once(arguments.last, "--last"),
        at=[(_number(number, "--at"), word) for number, word in arguments.at],
        prefix=_once(arguments.prefix, "--prefix") or "",
        suffix=_once(arguments.suffix, "--suffix") or "",
        keep=arguments.keep,
        before=arguments.before,
        optional=" ".join(arguments.optional),
        one_of=arguments.one_of,
        some=[(_number(count, "--some"), words) for count, words in arguments.some],
        times=[(_number(count, "--times"), word) for count, word in arguments.times],
        name="--{}",
    )


def refuse_constraints(arguments: argparse.Namespace, why: str) -> None:
    """One line that names the first option given."""
    for name in NAMES:
        if getattr(arguments, name):
            raise InputError(f"found --{name.replace('_', '-')}, which is for words of the command line: {why}")


def _once(given: Sequence[str], option: str) -> str | None:
    if len(given) > 1:
        raise InputError(f"found {option} {len(given)} times ({', '.join(map(repr, given))}); once is allowed")
    return given[0] if given else None


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"found {text!r} in {option}; a whole number is allowed") from error
