"""The early look at an option against what the parser makes of the words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.cli.parser import CommandParser

# Other words of a command line: values, numbers, options with and without a value.
OTHERS = st.sampled_from(
    [["bags.txt"], ["-"], ["-n", "5"], ["-n5"], ["--overwrite"], ["--nbest=7"], ["-o", "run"], ["-o", "--output=x"][1:]]
)
SYSTEM = st.sampled_from([["--system", "one"], ["--system=two"], ["--system", "a b"], ["--system=--x"], ["--system="]])


def command(words: Sequence[str]) -> CommandParser:
    parser = CommandParser(prog="gyro")
    parser.words = words
    parser.add_argument("files", nargs="*")
    parser.add_argument("-o", "--output")
    parser.add_argument("-n", "--nbest", type=int)
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--system", default="none")
    parser.add_argument("--system-file")
    return parser


@given(st.lists(OTHERS | SYSTEM, max_size=6), st.booleans())
def test_the_early_value_is_the_one_that_is_parsed(groups: list[list[str]], marked: bool) -> None:
    # Nothing is an option after the mark.
    words = [word for group in groups for word in group] + ["--", "--system", "three"] * marked
    parser = command(words)
    early = parser.value_of("--system", "none")
    assert early == parser.parse_known_args(words)[0].system


@pytest.mark.parametrize(
    "words",
    [[], ["--system"], ["--system", "-n", "5"], ["--system-file", "two"], ["--system-file=two"], ["system", "two"]],
    ids=" ".join,
)
def test_what_gives_no_value_gives_the_default(words: list[str]) -> None:
    assert command(words).value_of("--system", "none") == "none"


def test_words_that_the_parser_will_refuse_are_its_own_business(capsys: pytest.CaptureFixture[str]) -> None:
    parser = command(["--help", "--unknown", "-n", "many", "--system", "two"])
    assert parser.value_of("--system", "none") == "two"
    assert capsys.readouterr() == ("", "")
    with pytest.raises(SystemExit):
        parser.parse_args(list(parser.words))
    assert "usage: gyro" in capsys.readouterr().out


def test_every_command_has_its_own_words() -> None:
    """Subcommands are made of the same class, so that they can look, too."""
    parser = CommandParser(prog="gyro")
    commands = parser.add_subparsers()
    first, second = commands.add_parser("first"), commands.add_parser("second")
    assert isinstance(first, CommandParser)
    assert isinstance(first, argparse.ArgumentParser)
    first.words = ["--system", "one"]
    assert (first.value_of("--system", "none"), second.value_of("--system", "none")) == ("one", "none")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", "9" * 400], "too large"),
        (["-n", "9" * 5000], "a whole number is allowed"),
        (["-n", "x"], "a whole number is allowed"),
        (["--beta", "1" * 400], "too large"),
        (["--beta", "x"], "a number is allowed"),
    ],
)
def test_numbers_that_are_too_large_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = CommandParser()
    parser.add_argument("-n", type=int)
    parser.add_argument("--beta", type=float)
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(words)
    error = capsys.readouterr().err
    assert message in error
    assert len(error) < 300


def test_numbers_are_read() -> None:
    parser = CommandParser()
    parser.add_argument("-n", type=int)
    parser.add_argument("--beta", type=float)
    assert vars(parser.parse_args(["-n", "-3", "--beta", "inf"])) == {"n": -3, "beta": float("inf")}
