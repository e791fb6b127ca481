"""What stands before all addresses of the server.

Guard   refuses requests of other sites, requests that are too large or too slow; tells browsers what they may do
Refusal what the server answers with a line of JSON instead of its work
is_allowed_host  whether a Host header names this server

A page of another site must not drive the server: it could reach one on the loopback address through the browser of
whoever runs it. So the Host header has to name this machine (else a name of the attacker's could be pointed at it), the
Origin header of a request that does something has to be this server, and no other origin may read an answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gyro.serve.limit import Limits

LOOPBACK_NAMES = ("localhost",)
STREAM = "/orders"
SECONDS_OF_SILENCE = 30.0  # while a request is being sent

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
JSON_TYPES = ("application/json",)
LINE_TYPES = ("application/x-ndjson", "application/jsonl", "application/json-lines")


class Refusal(Response):
    """A status and one line of JSON."""

    media_type = "application/json"

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        content = json.dumps({"error": " ".join(message.split())}, ensure_ascii=False)
        super().__init__(content, status, headers)


class Guard:
    """The middleware; `names` are further names that the server goes by."""

    def __init__(self, app: ASGIApp, limits: Limits, names: Collection[str] = (), *, is_open: bool = False) -> None:
        self.app = app
        self.limits = limits
        self.names = frozenset(name.lower() for name in names)
        self.is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if refusal := self._refusal(scope):
            await refusal(scope, receive, told)
            return
        await self.app(scope, self._measured(receive, self._most(scope)), told)

    def _most(self, scope: Scope) -> int:
        return self.limits.stream if scope["path"] == STREAM else self.limits.request

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not is_allowed_host(hosts[0], self.names, is_open=self.is_open):
            found = hosts[0] if len(hosts) == 1 else f"{len(hosts)} of them"
            return Refusal(421, f"found the Host {found!r:.80}, which is not this server (--allow-host NAME allows it)")
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != hosts[0].lower():
            return Refusal(403, f"found a request that comes from {origin!r:.80}; other sites are not allowed")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return Refusal(403, "found a request that comes from another site; that is not allowed")
        if scope["method"] != "POST":
            return None
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        allowed = LINE_TYPES if scope["path"] == STREAM else JSON_TYPES
        if kind not in allowed:
            return Refusal(415, f"found the Content-Type {kind!r:.80}; {' or '.join(allowed)} is allowed")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._most(scope):
            return Refusal(413, self._too_long(self._most(scope)), {"Connection": "close"})
        return None

    def _measured(self, receive: Receive, most: int) -> Receive:
        """The same, until the body is too long or comes too slowly."""
        taken, is_whole = 0, False

        async def measured() -> Message:
            nonlocal taken, is_whole
            if is_whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), SECONDS_OF_SILENCE)
            except TimeoutError:
                told = f"nothing came for {SECONDS_OF_SILENCE:g} s; the request has to be sent at once"
                raise HTTPException(408, told) from None
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                is_whole = not message.get("more_body", False)
            if taken > most:
                raise HTTPException(413, self._too_long(most), {"Connection": "close"})
            return message

        return measured

    @staticmethod
    def _too_long(most: int) -> str:
        return f"found a request of more than {most} bytes, which is the most that is allowed"


def is_allowed_host(host: str, names: Collection[str] = (), *, is_open: bool = False) -> bool:
    """Whether a Host header names this server: by a loopback address or name, or one of `names`.

    Where the server is open to other machines, any address goes: it is names that can be pointed anywhere.

    >>> is_allowed_host("localhost:8000"), is_allowed_host("[::1]:8000"), is_allowed_host("evil.example:8000")
    (True, True, False)
    >>> is_allowed_host("192.168.0.7:8000"), is_allowed_host("192.168.0.7:8000", is_open=True)
    (False, True)
    """
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not colon:
        name = host
    elif not (port.isascii() and port.isdigit()):
        return False
    name = name.lower()
    if name in LOOPBACK_NAMES or name in names:
        return True
    try:
        address = ipaddress.ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    return is_open or address.is_loopback
