"""The addresses of the server.

make_app  the application: the page, its files, and the JSON of the same

    GET  /              the page                      GET  /api           what programs may ask, for people
    GET  /about         what is open, and the limits  GET  /openapi.json  the same for programs
    POST /order         one bag                       POST /orders        many bags, JSON Lines both ways
    POST /tokenize      a text into tokens            POST /lattice      orders, laid out as a lattice
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from gyro.errors import printable
from gyro.files import parse_json
from gyro.serve.answer import About, Answer, Fault, StreamedAnswer, StreamedFault, Tokens
from gyro.serve.crew import Crew, Done, Ended, TooBusy
from gyro.serve.drawing import Drawing
from gyro.serve.foreman import Task
from gyro.serve.guard import LINE_TYPES, Refusal
from gyro.serve.limit import Limits
from gyro.serve.line_stream import LINE_TYPE, Answered, LineStream
from gyro.serve.request import DrawRequest, Options, OrderRequest, TextRequest, one_line
from gyro.version import __version__

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
DESCRIPTION = """\
Bags of words in, their best orders out. Every error is one line of JSON, `{"error": "…"}`."""
FAULTS: dict[int | str, dict[str, Any]] = {
    413: {"model": Fault, "description": "The request is too long."},
    415: {"model": Fault, "description": "The request is of another type."},
    422: {"model": Fault, "description": "Something given cannot be used."},
    503: {"model": Fault, "description": "Too many requests at once, or a limit of time or memory was reached."},
}


def page_files() -> dict[str, bytes]:
    """The files of the page by their names."""
    folder = files("gyro.serve") / "page-files"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(TYPES))}


def make_app(crew: Crew, about: About, limits: Limits, when_gone: Callable[[], None] = lambda: None) -> FastAPI:
    """The application; `when_gone` is called when the workers are gone for good."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        crew.attach(when_gone)
        yield

    app = FastAPI(
        title="GYRO",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    _add_pages(app)
    _add_faults(app)

    @app.get("/about", response_model=About, summary="What the server has open, and its limits")
    async def tell_about() -> Response:
        return Response(about.model_dump_json(), media_type="application/json")

    @app.post("/order", response_model=Answer, responses=FAULTS, summary="The best orders of one bag")
    async def order(body: OrderRequest, request: Request) -> Response:
        return _response(*await _unless_gone(request, _work(crew, _order_task(body, 1))))

    @app.post("/tokenize", response_model=Tokens, responses=FAULTS, summary="A text split as the index was")
    async def tokenize(body: TextRequest, request: Request) -> Response:
        return _response(*await _unless_gone(request, _work(crew, {"kind": "tokenize", "text": body.text})))

    @app.post("/lattice", response_model=Drawing, responses=FAULTS, summary="Orders, laid out as a lattice")
    async def lattice(body: DrawRequest, request: Request) -> Response:
        task = {"kind": "lattice", "request": body.model_dump()}
        return _response(*await _unless_gone(request, _work(crew, task)))

    _add_stream(app, crew, limits)
    return app


_RETRY = {"Retry-After": "1"}


def _add_stream(app: FastAPI, crew: Crew, limits: Limits) -> None:
    """POST /orders."""
    streams = 0

    @app.post(
        "/orders",
        summary="Many bags: JSON Lines come, each is answered by a line as soon as it is done",
        description="Each line is a request as POST /order takes it, or as a file of bags has it; what it does not "
        "say is as in the query. Answers come in the order in which they are done, with the number of their `line`.",
        responses={
            **FAULTS,
            200: {
                "description": "A line for each bag: an answer, or why there is none.",
                "model": StreamedAnswer | StreamedFault,
                "content": {LINE_TYPE: {}},
            },
        },
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {kind: {"schema": {"$ref": "#/components/schemas/OrderRequest"}} for kind in LINE_TYPES},
            }
        },
    )
    async def orders(options: Annotated[Options, Query()]) -> Response:
        nonlocal streams
        if streams >= limits.streams:
            return Refusal(503, f"{streams} requests with many bags are being read; try again later", _RETRY)
        given = options.model_dump(exclude_unset=True)

        async def answer(line: bytes, number: int) -> Answered:
            if len(line) > limits.request:
                return 413, {"error": f"found a line of {len(line)} bytes; at most {limits.request} are allowed"}
            try:
                value = parse_json(line.decode())
                asked = OrderRequest.model_validate({**given, **value} if isinstance(value, dict) else value)
            except ValidationError as error:
                return 422, {"error": one_line(error.errors(include_url=False))}
            except ValueError as error:
                return 422, {"error": f"found a line that is not JSON: {printable(str(error))}"}
            return await _work(crew, _order_task(asked, number), patient=True)

        stream = LineStream(answer, limits.jobs)

        class Counted(Response):
            async def __call__(self, *arguments: Any) -> None:
                nonlocal streams
                streams += 1
                try:
                    await stream(*arguments)
                finally:
                    streams -= 1

        return Counted()


def _order_task(body: OrderRequest, number: int) -> Task:
    return {"kind": "order", "request": body.model_dump(exclude_unset=True), "number": number}


async def _work(crew: Crew, task: Task, *, patient: bool = False) -> Answered:
    """Have a worker do it: the status and the body."""
    try:
        done: Done = await crew.do(task, patient=patient)
    except (TooBusy, Ended) as error:
        is_mistake = isinstance(error, Ended) and error.is_mistake
        return 500 if is_mistake else 503, {"error": printable(str(error))}
    status, body = int(done.result["status"]), dict(done.result["body"])
    if status == 200 and "seconds" in body:
        body["seconds"] = round(done.seconds, 4)
    return status, body


def _response(status: int, body: dict[str, Any]) -> Response:
    return JSONResponse(body, status, _RETRY if status == 503 else None)


async def _unless_gone(request: Request, work: Any) -> Answered:
    """The end of the work; it is ended when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, going = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, going}, return_when="FIRST_COMPLETED")
        if not working.done():
            return 499, {"error": "the client went away"}
        answered: Answered = working.result()
        return answered
    finally:
        for task in (working, going):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def _add_pages(app: FastAPI) -> None:
    pages = page_files()

    def add(path: str, name: str) -> None:
        content, kind = pages[name], TYPES[name[name.rindex(".") :]]

        async def give() -> Response:
            return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

        app.add_api_route(path, give, methods=["GET"], include_in_schema=False)

    for name in pages:
        add(f"/page/{name}", name)
    add("/", "index.html")
    add("/api", "api.html")
    add("/favicon.ico", "icon.svg")


def _add_faults(app: FastAPI) -> None:
    """Every fault is one line of JSON."""

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return Refusal(422, printable(one_line(error.errors())))

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told = {404: "found no such address; /openapi.json tells them", 405: "found a method that is not allowed here"}
        return Refusal(error.status_code, told.get(error.status_code, error.detail), dict(error.headers or {}))

    async def mistaken(_: Request, error: Exception) -> Response:
        return Refusal(500, printable(f"{type(error).__name__}: {error}"))

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, mistaken)
