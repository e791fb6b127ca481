"""Pages as Chromium shows them, with clicks and keys, by Playwright.

browsing  one browser; without it, or without Playwright, the test skips
DESKTOP, PHONE  viewports
visit     a page in a context of its own, which remembers nothing of others; a fault of its script fails the test
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.outside import CHROMIUM

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

_QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_QUIET += ["--disable-component-update", "--disable-sync"]


@contextmanager
def browsing() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visit(browser: Any, path: Path, **context: Any) -> Iterator[Any]:
    own = browser.new_context(**(context or DESKTOP))
    faults: list[str] = []
    try:
        page = own.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        page.on("request", lambda asked: faults.append(asked.url) if asked.url.startswith("http") else None)
        page.goto(path.as_uri())
        yield page
    finally:
        own.close()
    assert not faults
