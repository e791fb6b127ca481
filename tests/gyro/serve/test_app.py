"""The server over HTTP: what it answers, and that what is wrong, hostile, too large or too much is told in a line."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import World
from tests.gyro.serve.conftest import LARGEST, LARGEST_STREAM, LONGEST, httpx

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/jsonl"}
BAG = "we must do it now ."


def error_of(response: httpx.Response, status: int) -> str:
    """The one line of an error."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    (line,) = response.text.splitlines()
    value = json.loads(line)
    assert list(value) == ["error"]
    assert value["error"]
    return str(value["error"])


# ---- what it answers


def test_a_bag_is_ordered(client: httpx.Client, world: World) -> None:
    answer = client.post("/order", json={"tokens": BAG, "nbest": 2, "lattice": 2}).json()
    best, second = answer["orders"]
    assert best["cost"] <= second["cost"]
    assert best["cost"] == pytest.approx(world.model.score(best["tokens"]), abs=1e-3)
    assert set(best["costs"]) == {"3-gram", "counts"}
    assert answer["outcome"]["proved"]
    assert answer["seconds"] > 0
    assert [order["tokens"] for order in answer["lattice"]["orders"]] == [best["tokens"], second["tokens"]]


def test_another_system_orders_it(client: httpx.Client) -> None:
    answer = client.post("/order", json={"tokens": BAG, "system": "ngram-beam"}).json()
    assert sorted(answer["orders"][0]["tokens"]) == sorted(BAG.split())
    assert [system["name"] for system in client.get("/about").json()["systems"]] == ["gyro", "ngram-beam"]


def test_orders_are_laid_out(client: httpx.Client) -> None:
    orders = [{"tokens": ["a", "b"], "cost": 1.0}, {"tokens": ["b", "a"], "cost": 2.0}]
    drawing = client.post("/lattice", json={"orders": orders}).json()
    assert sorted(arc["word"] for arc in drawing["arcs"]) == ["a", "a", "b", "b"]


def test_the_description_fits_the_server(client: httpx.Client) -> None:
    spec = client.get("/openapi.json").json()
    assert set(spec["paths"]) == {"/about", "/order", "/orders", "/tokenize", "/lattice"}
    for name in ("tokens", "positions", "algorithm", "nbest"):
        assert name in spec["components"]["schemas"]["OrderRequest"]["properties"]
    assert {"Answer", "Fault", "StreamedAnswer", "StreamedFault", "Drawing"} <= set(spec["components"]["schemas"])


# ---- many bags


def test_many_bags_are_answered_by_lines(client: httpx.Client) -> None:
    lines = [
        '{"tokens": "we must do it"}',
        "",
        "no JSON",
        '{"id": "x", "tokens": "the world ."}',
        '{"tokens": 5}',
        "[]",
    ]
    with client.stream("POST", "/orders?nbest=1", content="\n".join(lines), headers=LINES) as response:
        assert response.headers["content-type"].startswith("application/x-ndjson")
        answers = {answer["line"]: answer for answer in map(json.loads, response.iter_lines())}
    assert set(answers) == {1, 3, 4, 5, 6}
    alone = client.post("/order", json={"tokens": "we must do it", "nbest": 1}).json()
    assert answers[1]["orders"] == alone["orders"]
    assert answers[4]["id"] == "x"
    for number, error in ((3, "not JSON"), (5, "tokens: "), (6, "valid dictionary")):
        assert answers[number]["status"] == 422
        assert error in answers[number]["error"]


def test_a_line_says_more_than_the_query(client: httpx.Client) -> None:
    lines = ['{"tokens": "we must do it", "nbest": 3}', '{"tokens": "we must do it"}']
    response = client.post("/orders?nbest=2&algorithm=beam", content="\n".join(lines), headers=LINES)
    answers = {answer["line"]: answer for answer in map(json.loads, response.text.splitlines())}
    assert [len(answers[number]["orders"]) for number in (1, 2)] == [3, 2]
    assert answers[1]["settings"]["algorithm"] == "beam"


def test_answers_come_while_bags_are_still_sent(server: str) -> None:
    place = urlsplit(server)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        head = f"POST /orders HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/jsonl\r\n"
        connection.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        received = b""
        for number in (1, 2, 3):
            line = b'{"tokens": "we must", "nbest": 1}\n'
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            while b'"line": %d' % number not in received:
                received += (some := connection.recv(1 << 16))
                assert some
        connection.sendall(b"0\r\n\r\n")
        while not received.endswith(b"0\r\n\r\n"):
            received += connection.recv(1 << 16)


def test_too_many_bags_end_with_a_line(client: httpx.Client) -> None:
    def body() -> Iterator[bytes]:
        line = json.dumps({"tokens": "we", "nbest": 1, "id": "x" * 150}).encode() + b"\n"
        for _ in range(LARGEST_STREAM // len(line) + 2):
            yield line

    response = client.post("/orders", content=body(), headers=LINES)
    *_, last = map(json.loads, response.text.splitlines())
    assert last["status"] == 413
    assert f"more than {LARGEST_STREAM} bytes" in last["error"]
    long_line = client.post("/orders", content=b'{"tokens": "%s"}' % (b"a" * LARGEST), headers=LINES).json()
    assert long_line["status"] == 413


# ---- what it refuses


def test_limits_are_told_in_a_line(client: httpx.Client) -> None:
    assert f"at most {LONGEST} are allowed" in error_of(
        client.post("/order", json={"tokens": "a " * (LONGEST + 1)}), 422
    )
    text = json.dumps({"text": "a " * (LONGEST + 1)})
    assert f"at most {LONGEST}" in error_of(client.post("/tokenize", content=text, headers=JSON), 422)
    assert "more than" in error_of(client.post("/order", content=b" " * (LARGEST + 1), headers=JSON), 413)
    chunks = iter([b" " * 1000] * (LARGEST // 1000 + 1))
    assert "more than" in error_of(client.post("/order", content=chunks, headers=JSON), 413)


BROKEN = [b"", b"{", b"[1, 2", b"\xff\xfe", b"null", b"1", b'"a"', b"[" * 5000, b'{"tokens": NaN}', b"1" * 5000]


@pytest.mark.parametrize("body", BROKEN, ids=[repr(body[:8]) for body in BROKEN])
def test_what_is_no_request_is_refused(client: httpx.Client, body: bytes) -> None:
    response = client.post("/order", content=body, headers=JSON)
    error_of(response, response.status_code)
    assert response.status_code in (400, 422)


def test_other_sites_are_refused(client: httpx.Client) -> None:
    ask = {"json": {"tokens": "a"}}
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert "Host" in error_of(client.post("/order", **ask, headers={"Host": host}), 421)
        assert error_of(client.get("/about", headers={"Host": host}), 421)
    for origin in ("http://evil.example", "null", "http://localhost:1"):
        assert "other sites" in error_of(client.post("/order", **ask, headers={"Origin": origin}), 403)
    assert error_of(client.post("/order", **ask, headers={"Sec-Fetch-Site": "cross-site"}), 403)
    form = client.post("/order", content=b'{"tokens": "a"}', headers={"Content-Type": "text/plain"})
    assert "application/json is allowed" in error_of(form, 415)
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert not [name for name in client.options("/order", headers=preflight).headers if "access-control" in name]
    own = str(client.base_url).rstrip("/")
    assert client.post("/order", **ask, headers={"Origin": own, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_other_addresses_and_methods_are_refused(client: httpx.Client) -> None:
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd", "/docs", "/page/", "/page/x.js"):
        assert "no such address" in error_of(client.get(path), 404)
    assert "method" in error_of(client.delete("/order"), 405)
    assert "method" in error_of(client.get("/order"), 405)


def test_browsers_are_told_what_the_page_may_do(client: httpx.Client) -> None:
    for path in ("/", "/api", "/page/main.js", "/about", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_the_page_needs_no_network_and_no_scripts_within_it() -> None:
    folder = Path(__file__).parents[3] / "gyro" / "serve" / "page-files"
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for found in ("http://", "https://", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
            assert found not in text, f"{found} in {path.name}"
        if path.suffix == ".html":
            for found in ("<style", "style=", "onclick", "<script>"):
                assert found not in text, f"{found} in {path.name}"


def test_who_goes_away_frees_the_worker(server: str, client: httpx.Client) -> None:
    hard = {"tokens": "the of and to in we that our is for this have it with", "algorithm": "full", "rules": "1-5"}
    for _ in range(6):  # more than there are workers
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server}/order", json=hard, timeout=httpx.Timeout(30, read=0.3), trust_env=False)
    assert client.post("/order", json={"tokens": BAG}).status_code == 200


def test_many_at_once_are_all_answered_or_told_to_wait(server: str) -> None:
    statuses: list[int] = []

    def ask() -> None:
        answer = httpx.post(f"{server}/order", json={"tokens": BAG}, timeout=120, trust_env=False)
        statuses.append(answer.status_code)
        if answer.status_code == 503:
            assert answer.headers["retry-after"]
            error_of(answer, 503)

    threads = [threading.Thread(target=ask) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 30
    assert set(statuses) <= {200, 503}
    assert 200 in statuses


# ---- anything

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=6,
)
KEYS = ("id", "reference", "order", "units", "positions", "optional", "counts", "choices", "pos", "heads", "lemmas")
KEYS += ("system", "algorithm", "rules", "beta", "beam", "overlap", "nbest", "costs", "words", "lattice", "steps", "x")
TOKENS = st.lists(st.sampled_from(["we", "must", "the", "world", "<b>", "\u202e", "{", "a b", "</s>"]), max_size=5)
REQUESTS = st.fixed_dictionaries({"tokens": TOKENS}, optional=dict.fromkeys(KEYS, VALUES)).map(
    # Most random requests have something wrong in them; a few keys at once let more of them through.
    lambda request: dict(list(request.items())[:4])
)


@settings(max_examples=40)
@given(request=REQUESTS | VALUES)
def test_any_request_has_an_answer_or_a_line(client: httpx.Client, request: Any) -> None:
    response = client.post("/order", content=json.dumps(request), headers=JSON)
    if response.status_code == 200:
        assert response.json()["orders"]
    else:
        assert response.status_code in (400, 422, 503), (request, response.text)
        error_of(response, response.status_code)


@settings(max_examples=20)
@given(lines=st.lists(REQUESTS.map(json.dumps) | st.text(max_size=9), max_size=4))
def test_any_lines_are_answered_line_by_line(client: httpx.Client, lines: list[str]) -> None:
    body = "\n".join(lines).encode(errors="replace")
    response = client.post("/orders?nbest=1", content=body, headers=LINES)
    assert response.status_code == 200
    expected = {number for number, line in enumerate(body.split(b"\n"), 1) if line.strip()}
    answers = [json.loads(line) for line in response.text.split("\n") if line]
    assert {answer["line"] for answer in answers} == expected
    assert all(answer.get("status") in (None, 413, 422, 503) for answer in answers)


def test_constraints_come_in_the_json_of_bags(client: httpx.Client) -> None:
    rules = {"positions": [[4, 1], [5, -1]], "units": [[2, 3]], "order": [[1, 0]]}
    for order in client.post("/order", json={"tokens": BAG, **rules}).json()["orders"]:
        tokens = order["tokens"]
        assert (tokens[0], tokens[-1]) == ("now", ".")
        assert "do it" in " ".join(tokens)
        assert tokens.index("must") < tokens.index("we")
