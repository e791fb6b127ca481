"""The page, as text and as people use it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gyro.judge.judgement import read_judgements
from gyro.judge.page import make_page, page_record, write_page
from gyro.judge.pair import Pair, Trial
from tests.browser import DESKTOP, PHONE, browsing, visit

HOSTILE = "</script><!-- <b>&\"'\\ $style ${title} 日本"
TEXT = ("the dog saw the cat .", "the cat saw the dog .", "dog the saw the cat .", f"{HOSTILE}\u2028", "so it is .")


def trial(pairs: int = 4, *, has_reference: bool = True) -> Trial:
    shown = tuple(
        Pair(
            bag=f"s{n}",
            reference=TEXT[n % 5] if has_reference else None,
            systems=("exact", HOSTILE),
            orders=(TEXT[(n + 1) % 5], TEXT[(n + 2) % 5]),
            first=n % 2,
        )
        for n in range(pairs)
    )
    return Trial(("exact", HOSTILE), shown, seed=7, equal=0, missing=0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_page(trial(), tmp_path / "judge.html", title="Fluency")
    return tmp_path / "judge.html"


def begin(page: Any, name: str = "Ann") -> None:
    page.fill("#judge", name)
    page.click("#enter button")


def press(page: Any, key: str) -> None:
    """A verdict by key, and the next pair."""
    place = page.text_content("#place")
    page.keyboard.press(key)
    page.wait_for_function(
        "was => document.getElementById('work').hidden || place.textContent.split(' ·')[0] !== was",
        arg=place.split(" ·")[0],
    )


def save(page: Any, to: Path, button: str = "#end .save") -> Path:
    with page.expect_download() as started:
        page.click(button)
    assert re.fullmatch(r"judgements-[\w-]+\.jsonl", started.value.suggested_filename)
    started.value.save_as(to)
    return to


def test_nothing_in_an_order_is_markup() -> None:
    text = make_page(trial(), title="</title><b>")
    assert text.count("</script>") == 2
    assert "<!--" not in text
    assert "<title>&lt;/title&gt;&lt;b&gt;</title>" in text
    match = re.search(r'id="record">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    assert json.loads(match[1]) == json.loads(json.dumps(page_record(trial())))


def test_equal_trials_give_equal_pages_and_others_another_key() -> None:
    assert make_page(trial(), title="t") == make_page(trial(), title="t")
    key = page_record(trial())["page"]
    assert key == page_record(trial())["page"]
    for other in (trial(3), trial(has_reference=False), replace(trial(), seed=8)):
        assert page_record(other)["page"] != key


def test_the_page_needs_no_network(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"@import|url\(|https?:", text)
    assert "default-src 'none'" in text


def test_keys_then_a_file(browser: Any, path: Path, tmp_path: Path) -> None:
    """1 and the arrow to the left say that the first is better, and so on; the file says what was said."""
    with visit(browser, path, **DESKTOP) as page:
        assert page.is_visible("#start")
        begin(page)
        assert page.text_content("#reference p") == TEXT[0]
        assert page.text_content(".order[data-verdict=first] .words") == TEXT[1]
        for key in ("1", "ArrowDown", "ArrowRight", "0"):
            press(page, key)
        assert page.text_content("#end-h") == "Thank you, all is judged"
        judged = read_judgements([save(page, tmp_path / "ann.jsonl")])
    assert [each.verdict for each in judged] == ["first", "equal", "second", "equal"]
    assert [each.winner for each in judged] == ["exact", None, HOSTILE, None]
    assert [each.sides[0] for each in judged] == ["exact", HOSTILE, "exact", HOSTILE]
    assert [each.orders for each in judged] == [pair.orders for pair in trial().pairs]
    assert {(each.judge, each.seed, each.page) for each in judged} == {("Ann", 7, page_record(trial())["page"])}


def test_what_is_said_is_kept(browser: Any, path: Path, tmp_path: Path) -> None:
    """Over a reload and the closing of the page; another judge begins anew, and the first finds all again."""
    with visit(browser, path, **DESKTOP) as page:
        begin(page, "  Ann \t B. ")
        press(page, "2")
        press(page, "1")
        page.reload()
        assert page.text_content("#place") == "pair 3 of 4 · 2 judged"
        other = page.context.new_page()
        page.close()
        other.goto(path.as_uri())
        assert other.text_content("#place") == "pair 3 of 4 · 2 judged"
        other.click("#change")
        begin(other, "__proto__")
        assert other.text_content("#place") == "pair 1 of 4 · 0 judged"
        other.click("#change")
        begin(other, "Ann B.")
        judged = read_judgements([save(other, tmp_path / "a.jsonl", "nav .save")])
        assert [(each.judge, each.bag, each.verdict) for each in judged] == [
            ("Ann B.", "s0", "second"),
            ("Ann B.", "s1", "first"),
        ]


def test_pages_do_not_mix(browser: Any, path: Path, tmp_path: Path) -> None:
    """The browser keeps the verdicts of each page by themselves, also where two have one address."""
    with visit(browser, path, **DESKTOP) as page:
        begin(page)
        press(page, "1")
        write_page(replace(trial(), seed=8), path, title="Fluency")
        page.reload()
        assert page.is_visible("#start")


def test_back_and_another_verdict(browser: Any, path: Path, tmp_path: Path) -> None:
    with visit(browser, path, **DESKTOP) as page:
        begin(page)
        assert page.is_disabled("#back")
        assert page.is_disabled("#next")
        assert page.is_disabled("nav .save")
        press(page, "1")
        press(page, "1")
        press(page, "Backspace")
        press(page, "ArrowUp")
        assert page.text_content("#place") == "pair 1 of 4 · 2 judged"
        assert page.get_attribute(".order[data-verdict=first]", "aria-pressed") == "true"
        press(page, "2")
        page.click("#next")
        assert page.text_content("#place") == "pair 3 of 4 · 2 judged"
        judged = read_judgements([save(page, tmp_path / "a.jsonl", "nav .save")])
        assert [each.verdict for each in judged] == ["second", "first"]


def test_clicks_on_a_phone(browser: Any, path: Path, tmp_path: Path) -> None:
    """Orders and buttons are touched; nothing is wider than the screen, and no button is too small for a thumb."""
    with visit(browser, path, **PHONE) as page:
        begin(page)
        for n, target in enumerate((".order[data-verdict=second]", ".verdicts [data-verdict=equal]", ".order")):
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            for box in (each.bounding_box() for each in page.query_selector_all(".verdicts button")):
                assert box["height"] >= 44
                assert box["y"] + box["height"] <= 844
            page.tap(target)
            page.wait_for_function("n => place.textContent.startsWith(`pair ${n} `)", arg=n + 2)
        page.tap(".verdicts [data-verdict=second]")
        page.wait_for_selector("#end:not([hidden])")
        assert [each.verdict for each in read_judgements([save(page, tmp_path / "a.jsonl")])] == [
            "second",
            "equal",
            "first",
            "second",
        ]


def test_without_references(browser: Any, tmp_path: Path) -> None:
    write_page(trial(1, has_reference=False), tmp_path / "judge.html", title="Fluency")
    with visit(browser, tmp_path / "judge.html", **DESKTOP) as page:
        assert "one pair" in page.inner_text("#start")
        assert "reference" not in page.inner_text("#start")
        begin(page)
        assert page.is_hidden("#reference")
        assert "exact" not in page.inner_text("body")


def test_a_browser_that_keeps_nothing(browser: Any, path: Path, tmp_path: Path) -> None:
    """It says so, and the file is still saved."""
    with visit(browser, path, **DESKTOP) as page:
        page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })")
        page.reload()
        assert page.is_visible("#forgetful")
        begin(page)
        press(page, "1")
        assert len(read_judgements([save(page, tmp_path / "a.jsonl", "nav .save")])) == 1
