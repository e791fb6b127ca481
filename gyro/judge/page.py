"""The page on which pairs are judged: one HTML file that needs no network and no server.

write_page   a trial → the file
make_page    the same as text
page_record  what the script gets: the pairs as they are shown, and the key under which the browser keeps verdicts

The pairs are JSON in the page, and the script puts them there as text, so that nothing in an order can be markup.
"""

from __future__ import annotations

import json
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from string import Template
from typing import Any

from gyro.files import write_text
from gyro.judge.pair import Trial
from gyro.version import __version__


def write_page(trial: Trial, output: str | PathLike[str], *, title: str) -> None:
    """Write the page; equal trials give equal bytes."""
    write_text(output, make_page(trial, title=title))


def make_page(trial: Trial, *, title: str) -> str:
    """The page as text."""
    # In a script no `<` can begin the end of it, or a comment.
    record = json.dumps(page_record(trial), ensure_ascii=False).replace("<", "\\u003c")
    return Template(_read("page.html")).substitute(
        title=escape(title), style=_read("page.css"), script=_read("page.js"), record=record
    )


def page_record(trial: Trial) -> dict[str, Any]:
    """The pairs with what each line of the saved file tells; `page` is a checksum of all this."""
    pairs = [
        {
            "bag": pair.bag,
            "reference": pair.reference,
            "systems": pair.systems,
            "sides": pair.sides,
            "orders": pair.orders,
        }
        for pair in trial.pairs
    ]
    content = {"seed": trial.seed, "gyro": __version__, "pairs": pairs}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return {"page": sha256(text.encode()).hexdigest()[:16], **content}


def _read(name: str) -> str:
    return (files("gyro.judge") / name).read_text(encoding="utf-8")
