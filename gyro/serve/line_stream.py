"""Many bags in one request: JSON Lines come, and each is answered by a line as soon as it is done.

LineStream  the response; it reads the request while it answers

So that nobody who sends all before reading waits for ever, the request is always read on; what is read is kept, and the
limit on its bytes is the limit on that. Nothing more is worked on while the client does not read its answers.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

LINE_TYPE = "application/x-ndjson"

Answered = tuple[int, dict[str, Any]]  # a status of HTTP, and the body


class LineStream(Response):
    """Answers lines by `answer(line, number)`, `jobs` at once; lines are counted from 1, empty ones have no answer."""

    media_type = LINE_TYPE

    def __init__(self, answer: Callable[[bytes, int], Awaitable[Answered]], jobs: int) -> None:
        super().__init__()
        self.answer = answer
        self.jobs = jobs
        self.lines: deque[tuple[int, bytes]] = deque()
        self.fault: Answered | None = None
        self.read = 0  # lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", LINE_TYPE.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        come = asyncio.Event()
        reader = asyncio.create_task(self._read(receive, come))
        working: set[asyncio.Task[bytes]] = set()
        try:
            while True:
                while self.lines and len(working) < self.jobs:
                    number, line = self.lines.popleft()
                    working.add(asyncio.create_task(self._work(line, number)))
                is_read = reader.done()
                if is_read and not working and not self.lines:
                    break
                come.clear()
                waits: set[asyncio.Future[Any]] = {*working}
                news = asyncio.create_task(come.wait())
                await asyncio.wait(waits | {news} | (set() if is_read else {reader}), return_when="FIRST_COMPLETED")
                news.cancel()
                done = {task for task in working if task.done()}
                working -= done
                for task in done:
                    await send({"type": "http.response.body", "body": task.result(), "more_body": True})
                if reader.done() and reader.result():
                    return  # the client is gone
            if self.fault:
                status, body = self.fault
                end = _line({"line": self.read + 1, "status": status, **body})
                await send({"type": "http.response.body", "body": end, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            reader.cancel()
            for task in working:
                task.cancel()
            await asyncio.gather(reader, *working, return_exceptions=True)

    async def _work(self, line: bytes, number: int) -> bytes:
        status, body = await self.answer(line, number)
        return _line({"line": number, **body} if status == 200 else {"line": number, "status": status, **body})

    async def _read(self, receive: Receive, come: asyncio.Event) -> bool:
        """Read the request; whether the client went away before its end."""
        rest = b""
        while True:
            try:
                message = await receive()
            except HTTPException as error:
                self.fault = (error.status_code, {"error": error.detail})
                return False
            if message["type"] == "http.disconnect":
                return True
            *whole, rest = (rest + message.get("body", b"")).split(b"\n")
            is_last = not message.get("more_body", False)
            for line in [*whole, rest] if is_last else whole:
                self.read += 1
                if line.strip():
                    self.lines.append((self.read, line))
            come.set()
            if is_last:
                return False


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
