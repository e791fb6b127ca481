"""Start the server: its socket, its worker processes, uvicorn.

serve          until it is ended by hand
bind           the socket, or in one line why there is none
is_loopback    whether an address is this machine's own, which no other reaches
warning        what is told of a server that other machines reach
Place          where the server is, and by what further names it goes
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import uvicorn

from gyro.errors import InputError, MachineError
from gyro.serve.app import make_app
from gyro.serve.crew import Crew
from gyro.serve.desk import Desk
from gyro.serve.guard import Guard

_HEAD_BYTES = 16 << 10  # of the request line and headers
_KEEP_ALIVE_SECONDS = 5
_LAST_SECONDS = 2  # for requests that are being answered when the server is ended


@dataclass(frozen=True)
class Place:
    """Where the server is: an address, a port (0: any that is free), and further names that it goes by."""

    host: str = "127.0.0.1"
    port: int = 8000
    names: Sequence[str] = ()


def bind(place: Place) -> socket.socket:
    """The socket of the server."""
    if not 0 <= place.port < 1 << 16:
        raise InputError(f"found --port {place.port}; a port from 0 to 65535 is allowed")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"found --host {place.host!r:.80}, which is no address of this machine") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        message = f"cannot listen at {place.host} port {place.port}: {error.strerror}; --port N names another"
        raise InputError(message) from error
    return bound


def is_loopback(bound: socket.socket) -> bool:
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def warning(bound: socket.socket, place: Place) -> str:
    """What is told of a server that other machines reach; empty of one that they do not."""
    if is_loopback(bound):
        return ""
    return f"warning: --host {place.host} is open to other machines: who reaches it may use it, without a password"


def serve(desk: Desk, bound: socket.socket, place: Place) -> None:
    """Serve until Ctrl-C."""
    crew = Crew(desk.do, desk.limits)
    crew.start([bound])
    if told := warning(bound, place):
        print(told, file=sys.stderr)
    is_local = is_loopback(bound)
    server: uvicorn.Server
    gone = False

    def when_gone() -> None:
        nonlocal gone
        gone, server.should_exit = not server.should_exit, True

    app = make_app(crew, desk.about(), desk.limits, when_gone)
    guarded = Guard(app, desk.limits, [*place.names, *([] if is_local else [place.host])], is_open=not is_local)
    server = uvicorn.Server(
        uvicorn.Config(
            guarded,
            log_level="warning",
            access_log=False,
            server_header=False,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="on",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_LAST_SECONDS,
            h11_max_incomplete_event_size=_HEAD_BYTES,
        )
    )
    host, port = bound.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    bound.listen()  # before it is told: who comes at once waits until uvicorn looks
    print(f"GYRO is at http://{name}:{port}/ (Ctrl-C ends it)", flush=True)
    try:
        server.run([bound])
    except KeyboardInterrupt:
        return  # that is how it is ended
    finally:
        crew.stop()
        bound.close()
    if gone:
        raise MachineError("the worker processes are gone")
