"""The limits of the server.

Limits  how much one request may ask, and how much all of them together
"""

from __future__ import annotations

from dataclasses import dataclass

from gyro.errors import InputError


@dataclass(frozen=True)
class Limits:
    """What a request may ask and take: tokens of a bag, seconds and bytes of the work on it, bytes of the request.

    `jobs` bags are worked on at once, `waiting` more may wait, and `streams` requests with many bags are read at once.
    """

    tokens: int = 60
    seconds: float = 30.0
    grace: float = 5.0
    memory: int = 2 << 30
    jobs: int = 2
    waiting: int = 16
    request: int = 256 << 10
    stream: int = 64 << 20
    streams: int = 4

    def __post_init__(self) -> None:
        for name, least in (("tokens", 1), ("jobs", 1), ("waiting", 0), ("request", 1), ("stream", 1), ("streams", 1)):
            if getattr(self, name) < least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if not 0 < self.seconds < float("inf"):
            raise InputError(f"found a time limit of {self.seconds}; a number of seconds over 0 is allowed")
        if self.memory < 64 << 20:
            raise InputError(f"found a memory limit of {self.memory} bytes; 64M or more is allowed")

    @property
    def last_second(self) -> float:
        """When a worker is ended. A search knows its own limit, and then gives the best order so far."""
        return self.seconds * 1.5 + self.grace
