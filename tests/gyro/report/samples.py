"""Runs, charts and a check of pages, which several tests share.

make_run  a run folder of the orders of REFERENCES
make_neural_run  the same of a stage with a neural model, whose costs are those of NEURAL
charts    a chart of each kind with hostile names
check     see that a page is well formed, and read it
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

from gyro.lattice.lattice import Hypothesis
from gyro.report.figures import Axes, Figure, Point, Series, bar_chart, line_chart, share_bars
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from tests.orders import failed, ordered

NAME = "<b>&\"']]>"
VOID = {"meta", "link", "br", "input", "img"}
REFERENCES = [
    "the dog saw the cat .",
    "<script>alert(1)</script> & \"quotes\" 'n' </article>",
    "a b c d e f g h i j k l",
    "one two three",
    "it is so .",
]


def make_run(
    folder: Path, shift: int, references: list[str] = REFERENCES, *, fail: int = -1, **settings: object
) -> Path:
    """A run whose best order is the reference turned by `shift` words, second best the reference."""

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        assert bag.reference is not None
        if number == fail:
            return failed(bag, "no <order>", proved=False)
        turned = bag.reference[shift:] + bag.reference[:shift]
        strings = [Hypothesis(turned, 1.5)] + [Hypothesis(bag.reference, 2.0)] * (turned != bag.reference)
        facts = {
            "rung": "rules" if number % 2 else "2-gram rules",
            "proved": number > 1,
            "nodes": 7,
            "phrases": 10 * len(bag),
        }
        return ordered(bag, strings, **facts)

    bags = [Bag(tuple(r.split()), id=f"s{n}", reference=tuple(r.split())) for n, r in enumerate(references, 1)]
    run_batch(bags, folder, work, settings={"algorithm": "exact", **settings}, log=io.StringIO())
    return folder


WEIGHT = 2.0
# For each of REFERENCES: whether the output is turned, its cost and its neural part, and those of the reference.
# Found; the model errs; the search errs; failed; a reference that no lattice has.
NEURAL: list[tuple[bool, float, float, float | None, float | None] | None] = [
    (False, 10.0, 3.0, 10.0004, 3.0),
    (True, 10.0, 4.0, 12.0, 4.5),
    (True, 20.0, 8.0, 18.0, 6.0),
    None,
    (True, 7.0, 2.0, None, 2.5),
]


def make_neural_run(folder: Path, *, has_parts: bool = True, **settings: object) -> Path:
    """A run whose results tell the neural parts of the costs or, as older ones, leave them to the n-best lists."""

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        assert bag.reference is not None
        told = NEURAL[number]
        if told is None:
            return failed(bag)
        turned, cost, neural, reference_cost, reference_neural = told
        facts = {} if reference_cost is None else {"reference_cost": reference_cost}
        parts = {"neural": neural, "reference_neural": reference_neural} if has_parts else {}
        string = (*bag.reference[1:], bag.reference[0]) if turned else bag.reference
        return ordered(bag, [Hypothesis(string, cost)], proved=False, **facts, **parts)

    def columns(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        told = NEURAL[number]
        return [{} if told is None else {"NEURAL": -told[2]} for _ in hypotheses]

    bags = [Bag(tuple(r.split()), id=f"s{n}", reference=tuple(r.split())) for n, r in enumerate(REFERENCES, 1)]
    known = {"command": "rescore", "neural_model": "of tests", "weight": WEIGHT, **settings}
    run_batch(bags, folder, work, settings=known, features=columns, log=io.StringIO())
    return folder


def charts() -> dict[str, Figure]:
    sizes = ["4", "5", "7"]
    numbers = [Series(NAME, [Point("4", 0.002), Point("7", 12.5, NAME)], 0), Series("two", [Point("5", 3.0)], 9)]
    named = [Series(NAME, [Point("1-5", 10.0), Point("26+", 0.0)], 1)]
    return {
        "log": line_chart(NAME, numbers, Axes(sizes, NAME, NAME, log=True), note=NAME),
        "linear": line_chart("t", numbers, Axes(sizes, "x", "y")),
        "classes": line_chart("t", named, Axes(["1-5", "26+"], "x", "y")),
        "bars": bar_chart(NAME, named, Axes(["1-5", "26+"], "x", "y")),
        "shares": share_bars(NAME, {NAME: {"yes": 3, "no": 1}, "none": {"yes": 0}}, ["yes", "no", "never"]),
    }


class Checker(HTMLParser):
    """Sees to it that every tag is closed in its turn, and gathers the page's text and tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def check(path: Path) -> Checker:
    checker = Checker()
    checker.feed(path.read_text(encoding="utf-8"))
    checker.close()
    assert not checker.open
    ids = [attributes["id"] for _, attributes in checker.tags if "id" in attributes]
    assert len(ids) == len({*ids})
    return checker
