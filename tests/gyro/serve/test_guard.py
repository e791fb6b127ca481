"""Which Host headers name this server."""

from __future__ import annotations

import pytest

from gyro.serve.guard import is_allowed_host

OURS = [
    "localhost",
    "localhost:8000",
    "LOCALHOST:1",
    "127.0.0.1",
    "127.0.0.1:8000",
    "127.3.2.1:80",
    "[::1]",
    "[::1]:8000",
]
OTHERS = [
    "",
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example:8000",
    "localhost:evil",
    "localhost:",
    "192.168.0.7:8000",
    "0.0.0.0:8000",
    "[::1",
    "127.0.0.1:8000@evil.example",
    "localhost:８０",
]


@pytest.mark.parametrize("host", OURS)
def test_loopback_hosts_are_ours(host: str) -> None:
    assert is_allowed_host(host)


@pytest.mark.parametrize("host", OTHERS)
def test_other_hosts_are_not(host: str) -> None:
    assert not is_allowed_host(host)


def test_names_and_addresses_can_be_allowed() -> None:
    assert is_allowed_host("gyro.lan:8000", ["gyro.lan"])
    assert is_allowed_host("192.168.0.7:8000", is_open=True)
    assert not is_allowed_host("evil.example", ["gyro.lan"], is_open=True)
