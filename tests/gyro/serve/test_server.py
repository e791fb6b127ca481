"""Where the server listens, and what is told of it."""

from __future__ import annotations

import pytest

from gyro.serve.server import Place, bind, is_loopback, warning


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_loopback_address_needs_no_warning(host: str) -> None:
    with bind(Place(host, 0)) as bound:
        assert is_loopback(bound)
        assert bound.getsockname()[1] > 0
        assert warning(bound, Place(host)) == ""


def test_an_address_that_others_reach_does() -> None:
    place = Place("0.0.0.0", 0)
    with bind(place) as bound:
        assert not is_loopback(bound)
        assert "without a password" in warning(bound, place)


def test_a_server_is_on_this_machine_alone_unless_told_otherwise() -> None:
    assert Place().host == "127.0.0.1"
