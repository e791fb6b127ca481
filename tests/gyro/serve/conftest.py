"""A server with the models of the world, for tests that ask it over HTTP."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.conftest import World

httpx = pytest.importorskip("httpx", reason="needs the package httpx")
pytest.importorskip("fastapi", reason="needs the extra serve: pip install 'gyro-order[serve]'")

LONGEST = 24
LARGEST = 20 << 10
LARGEST_STREAM = 30 << 10


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[str]:
    """Its address."""
    limits = ["--longest", LONGEST, "--largest", LARGEST, "--largest-stream", LARGEST_STREAM, "--jobs", 2]
    models = ["--index", world.index_path, "--lm", f"3-gram={world.model_path}"]
    models += ["--other-lm", f"counts=stupid-backoff:{world.index_path}", "--system", "ngram-beam --beam 8"]
    command = [sys.executable, "-m", "gyro", "serve", "--port", "0", *models, *limits]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told.startswith("GYRO is at http://127.0.0.1:"), "what it says is on standard error"
        yield told.split()[3].rstrip("/")
        process.send_signal(signal.SIGINT)  # Ctrl-C is how it is ended, and no mistake
        assert process.wait(60) == 0


@pytest.fixture(scope="session")
def client(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=120, trust_env=False) as client:
        yield client
