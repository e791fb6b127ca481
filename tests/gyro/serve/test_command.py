"""The command that opens the page is one that `gyro` takes."""

from __future__ import annotations

import shlex

from gyro import cli
from gyro.serve.command import serve_command


def test_the_command_parses() -> None:
    words = shlex.split(serve_command("a folder/index", "a folder/model.lm", "default"))
    assert words[0].endswith("gyro")
    arguments = cli._parser(words[1:]).parse_args(words[1:])
    told = (arguments.index, arguments.lm, arguments.neural)
    assert told == ("a folder/index", "a folder/model.lm", "default")


def test_without_a_neural_model_none_is_asked_for() -> None:
    assert "--neural" not in serve_command("index", "model.lm")
