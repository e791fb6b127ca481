"""The page as it is read: on a desktop and a phone, with its script, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gyro.report.page import write_report
from tests.browser import DESKTOP, PHONE, browsing, visit
from tests.gyro.report.samples import REFERENCES, make_run
from tests.gyro.report.test_opinion import ALPHABET

LONG = "a-system-with-quite-a-long-name-that-nobody-would-break"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    references = [*REFERENCES, " ".join(f"{k}-{'long' * (k % 7)}" for k in range(30))]
    runs = [(make_run(folder / name, k, references), LONG if k == 2 else None) for k, name in enumerate("abc")]
    write_report(runs, folder / "r.html", models=[ALPHABET])
    return folder / "r.html"


@pytest.mark.parametrize(("device", "width"), [(DESKTOP, 1280), (PHONE, 390)], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(
    browser: Any, report: Path, device: dict[str, Any], width: int, scheme: str
) -> None:
    """Tables and drawings that are wider scroll by themselves."""
    with visit(browser, report, color_scheme=scheme, **device) as page:
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.wait_for_selector(".words i")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(
            """() => [...document.querySelectorAll('table, svg.lattice')].filter((each) =>
                each.getBoundingClientRect().width > innerWidth && !each.closest('.wide')).length"""
        )
        assert wide == 0
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(251, 250, 247)") == (scheme == "light")


def test_costs_along_the_sentence(browser: Any, report: Path) -> None:
    """A bar over each word and the end, as high as it is dear; what it costs is said when it is pointed at."""
    with visit(browser, report) as page:
        page.evaluate("document.querySelectorAll('.along')[3].open = true")
        page.wait_for_selector(".words i")
        heights = page.evaluate(
            """() => [...document.querySelectorAll('.words')[0].querySelectorAll('i')]
                .map((bar) => Math.round(bar.getBoundingClientRect().height / bar.parentElement.clientHeight * 100))"""
        )
        # one two three: 1, 1, 3 and 0.5 for the end
        assert heights == pytest.approx([33, 33, 100, 17], abs=3)
        page.hover(".words span:nth-child(3)")
        assert page.inner_text("#tip") == "three: alphabet 3.00"
