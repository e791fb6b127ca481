"""The command serve: mistakes are one line, before anything is served."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests.conftest import World
from tests.refusal import error_line

pytest.importorskip("fastapi", reason="needs the extra serve: pip install 'gyro-order[serve]'")

REFUSED = [
    (["--port", "70000"], "found --port 70000; a port from 0 to 65535 is allowed"),
    (["--host", "no.such.host.invalid"], "no address of this machine"),
    (["--jobs", "0"], "found jobs 0; at least 1 is allowed"),
    (["--longest", "0"], "found tokens 0; at least 1 is allowed"),
    (["--time-limit", "0"], "found a time limit of 0.0"),
    (["--time-limit", "inf"], "found a time limit of inf"),
    (["--memory-limit", "1K"], "64M or more is allowed"),
    (["--largest", "x"], "found"),
    (["--search"], "found --search, which goes with --neural MODEL"),
    (["--other-lm", "{model}"], "found two models that are called '3-gram'; NAME=MODEL gives one another name"),
    (["--system", "x"], "found --system 'x'; allowed are best-first, transition, ngram-beam, wan, with their options"),
    (["--system", "gyro"], "found --system 'gyro'; allowed are best-first"),
    (["--system", "wan '"], "No closing quotation"),
    (["--system", "transition"], "--model MODEL is needed"),
    (["--system", "ngram-beam", "--system", "ngram-beam"], "found --system 'ngram-beam' twice"),
    (["--system", "ngram-beam --x"], "unrecognized arguments: --x"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_mistakes_are_one_line(
    options: list[str], message: str, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["serve", "--port", "0", "--index", str(world.index_path), "--lm", str(world.model_path)]
    options = [option.format(model=world.model_path) for option in options]
    assert message in error_line(capsys, [*given, *options])


def test_index_and_model_are_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: World
) -> None:
    monkeypatch.delenv("GYRO_LM", raising=False)
    line = error_line(capsys, ["serve", "--port", "0", "--index", str(world.index_path)])
    assert line == "gyro: --index DIR and --lm MODEL are needed"


def test_a_port_in_use_is_told(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        options = ["--port", port, "--index", str(world.index_path), "--lm", str(world.model_path)]
        assert f"cannot listen at 127.0.0.1 port {port}" in error_line(capsys, ["serve", *options])


def test_without_its_packages_it_says_what_to_install(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Callable[[str], object] = lambda name: None if name == "uvicorn" else object()  # noqa: E731
    monkeypatch.setattr("gyro.cli.serve.find_spec", found)
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert "pip install 'gyro-order[serve]'" in error_line(capsys, ["serve", *options])
