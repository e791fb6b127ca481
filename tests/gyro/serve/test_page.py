"""The page in a headless browser: by mouse, by keys alone, on a phone; and hostile words stay words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import World
from tests.outside import CHROMIUM, needs_chromium

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

pytestmark = needs_chromium

SWITCHES = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SWITCHES += ["--disable-component-update", "--disable-sync"]
BAG = "we must do it now ."
DONE = ".card:not(.waiting)"
BEST = f"{DONE} .best"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


def open_page(browser: Any, server: str, **options: Any) -> Any:
    """The page, ready; anything that it complains of, but for answers that refuse, fails the test at its end."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(60_000)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("dialog", lambda dialog: page.faults.append(f"dialog {dialog.message}"))
    page.on("console", lambda told: page.faults.append(told.text) if "Content Security Policy" in told.text else None)
    page.on("request", lambda asked: page.faults.append(asked.url) if not asked.url.startswith(server) else None)
    page.goto(server)
    page.wait_for_selector("#fields select")
    return page


@pytest.fixture
def page(browser: Any, server: str) -> Iterator[Any]:
    page = open_page(browser, server, viewport={"width": 1280, "height": 900})
    yield page
    assert page.faults == []
    page.context.close()


def order(page: Any, system: str = "gyro") -> dict[str, Any]:
    """Press the button; what the page asks of a system."""
    with page.expect_request(lambda asked: asked.url.endswith("/order") and f'"{system}"' in asked.post_data) as asked:
        page.click("#go")
    page.wait_for_selector("#stop", state="hidden")
    return dict(json.loads(asked.value.post_data))


def alone(page: Any) -> None:
    """GYRO alone, not the other system."""
    page.uncheck('input[value="ngram-beam"]')


def chip(page: Any, word: str) -> Any:
    return page.locator("#bag .chip").filter(has_text=word).first


def has_sideways_scroll(page: Any) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def test_words_are_ordered_and_all_is_told(page: Any, world: World) -> None:
    page.fill("#text", BAG)
    assert page.locator("#bag .chip").all_inner_texts() == BAG.split()
    alone(page)
    request = order(page)
    assert request["tokens"] == BAG.split()
    best = page.locator(BEST).inner_text()
    rows = page.locator(".card tbody tr")
    assert rows.count() == 10
    assert rows.first.locator(".pick").inner_text() == best
    tokens = page.locator(".along").first.locator("li span").all_inner_texts()[:-1]
    assert sorted(tokens) == sorted(BAG.split())
    assert f"{world.model.score(tokens):.2f}" in rows.first.inner_text()
    proof = page.locator(".proof").inner_text()
    for told in ("optimum", "no order below", "720", "possible orders", "time"):
        assert told in proof
    assert "proved best" in page.locator(".badge").inner_text()


def test_systems_stand_side_by_side(page: Any) -> None:
    page.fill("#text", BAG)
    order(page, "ngram-beam")
    assert page.locator(".cards.many .card h2").all_inner_texts() == ["GYRO", "ngram-beam"]
    assert page.locator(".compare tbody tr").count() == 2
    boxes = [card.bounding_box() for card in page.locator(".cards.many .card").all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert not has_sideways_scroll(page)


def test_rules_by_keys_alone(page: Any) -> None:
    page.focus("#text")
    page.keyboard.type(BAG)
    chip(page, "we").wait_for()
    for _ in range(6):  # past the buttons that are hidden, to the words
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.dataset.place") == "0":
            break
    keys = page.keyboard
    keys.press("f")  # "we" is first
    for key in ("ArrowRight", "Space", "ArrowRight", "Space", "k"):  # "must do" stay together
        keys.press(key)
    for key in ("ArrowRight", "Space", "ArrowRight", "Space", "o"):  # "it" before "now"
        keys.press(key)
    for key in ("End", "l"):  # "." is last
        keys.press(key)
    told = page.locator(".rule").all_inner_texts()
    assert [" ".join(text.split())[:-2] for text in told] == [
        "we comes first",
        "must do stay together",
        "it now come in this order",
        ". comes last",
    ]
    page.locator(".rule").nth(2).locator(".chip").first.focus()
    keys.press("ArrowRight")  # now "now" is before "it"
    assert page.evaluate("() => document.activeElement.textContent") == "it"
    page.locator(".rule").nth(0).locator(".remove").focus()
    keys.press("Enter")
    with page.expect_request("**/order") as asked:
        page.focus("#text")
        keys.press("Control+Enter")
    request = json.loads(asked.value.post_data)
    assert request["units"] == [[1, 2]]
    assert request["order"] == [[4, 3]]
    assert request["positions"] == [[5, -1]]


def drag(page: Any, word: Any, target: Any, share: float = 0.5) -> None:
    start, end = word.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 20, start["y"] + 30, steps=3)
    page.mouse.move(end["x"] + end["width"] * share, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def test_rules_by_dragging(page: Any) -> None:
    page.fill("#text", BAG)
    alone(page)
    drag(page, chip(page, "."), page.locator('[data-kind="last"]'))
    drag(page, chip(page, "now"), page.locator('[data-kind="optional"]'))
    drag(page, chip(page, "must"), chip(page, "do"), share=0.2)
    drag(page, chip(page, "it"), chip(page, "do"), share=0.8)  # joins the unit behind "do"
    request = order(page)
    assert request["positions"] == [[5, -1]]
    assert request["optional"] == [4]
    assert request["units"] == [[1, 2, 3]]
    drag(
        page,
        page.locator(".rule .chip").filter(has_text="it"),
        page.locator(".rule .chip").filter(has_text="must"),
        0.1,
    )
    page.keyboard.press("Escape")
    assert order(page)["units"] == [[3, 1, 2]]


def test_all_rules_come_in_the_json_of_bags(page: Any) -> None:
    page.fill("#text", "we must may do it now .")
    alone(page)

    def rule(kind: str, *words: str, number: int | None = None) -> None:
        for word in words:
            chip(page, word).click()
        tool = page.locator(f'[data-kind="{kind}"]')
        if number is not None:
            field = tool.locator("xpath=following-sibling::input")
            field.fill(str(number))
            field.dispatch_event("change")
        tool.click()

    rule("choice", "must", "may", number=1)
    rule("place", "do", number=3)
    rule("count", "now", number=2)
    rule("place", "it", number=-2)
    rule("optional", "we")
    request = order(page)
    assert request["choices"] == [[[1, 2], 1]]
    assert request["positions"] == [[3, 3], [4, -2]]
    assert request["counts"] == [1, 1, 1, 1, 1, 2, 1]
    assert request["optional"] == [0]


def test_what_is_refused_is_told_in_its_place(page: Any) -> None:
    page.fill("#text", BAG)
    alone(page)
    chip(page, "we").click()
    page.click('[data-kind="first"]')
    chip(page, "now").click()
    place = page.locator('[data-kind="place"]')
    field = place.locator("xpath=following-sibling::input")
    field.fill("1")
    field.dispatch_event("change")
    place.click()
    order(page)
    assert "found constraints that no order can keep to" in page.locator("main").inner_text()


def test_rules_are_kept(page: Any) -> None:
    page.fill("#text", BAG)
    alone(page)
    chip(page, "now").click()
    page.click('[data-kind="first"]')
    order(page)
    orders = page.locator(".pick").all_inner_texts()
    assert orders
    assert all(text.startswith("now ") for text in orders)


def test_a_sentence_is_shuffled_and_put_back(page: Any) -> None:
    page.check("text=A sentence", force=True)
    page.fill("#text", "We must do it now.")
    alone(page)
    request = order(page)
    assert request["reference"] == BAG.split()
    assert sorted(request["tokens"]) == sorted(BAG.split())
    verdict = page.locator(".verdict").inner_text()
    best = page.locator(BEST).inner_text()
    assert verdict.startswith("✓ Put back" if best == "we must do it now." else "You typed: we must do it now.")


def test_the_lattice_is_walked_by_keys(page: Any) -> None:
    page.fill("#text", BAG)
    alone(page)
    order(page)
    word = page.locator("svg.lattice .word[tabindex='0']")
    word.focus()
    walked = [word.text_content()]
    for _ in range(len(BAG.split()) - 1):
        page.keyboard.press("ArrowRight")
        walked.append(page.evaluate("() => document.activeElement.textContent"))
    best = page.locator(".along").first.locator("li span").all_inner_texts()[:-1]
    assert walked == best
    others = page.locator("svg.lattice .word:not(.marked)")
    arc = others.first.get_attribute("data-arc")
    others.first.focus()
    page.keyboard.press("Enter")
    assert page.locator("tr.chosen td").first.inner_text() != "1"
    assert "marked" in page.locator(f"[data-arc='{arc}']").get_attribute("class")
    slider = page.locator(".controls input[type=range]")
    with page.expect_response("**/lattice"):
        slider.focus()
        page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelectorAll('svg.lattice .word').length === 6")


HOSTILE = '<img src=x onerror=alert(1)> "><script>alert(2)</script> javascript:alert(3) &lt;b&gt; \u202eevil {{7*7}}'


def test_hostile_words_stay_words(page: Any) -> None:
    page.fill("#text", HOSTILE)
    alone(page)
    chip(page, "onerror").click()
    page.click('[data-kind="first"]')
    page.locator(".rule .remove").click()
    order(page)
    assert page.locator("main img, main script, main b:not(.along b, .told b)").count() == 0
    assert "<script>alert(2)</script>" in page.locator(BEST).inner_text()
    assert page.locator("svg.lattice .word").first.is_visible()


def test_work_can_be_stopped(page: Any) -> None:
    page.fill("#text", "the of and to in we that our is for this have it with")
    alone(page)
    page.select_option("#set-algorithm", "full")
    page.click("text=More settings")
    page.fill("#set-rules", "1-5")
    page.click("#go")
    page.click("#stop")
    page.wait_for_selector(".fault")
    assert "Stopped." in page.locator("main").inner_text()
    assert page.is_enabled("#go")


def finger_drag(page: Any, word: Any, target: Any) -> None:
    """A finger rests on a word for a moment, and takes it along."""
    target.scroll_into_view_if_needed()
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *at: Any) -> None:
        points = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2} for box in at]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    start = word.bounding_box()
    touch("touchStart", start)
    page.wait_for_selector(".dragged")
    for share in (0.3, 0.6, 1.0):
        end = target.bounding_box()
        box = {key: start[key] + share * (end[key] - start[key]) for key in start}
        touch("touchMove", box)
    touch("touchEnd")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser: Any, server: str, scheme: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "color_scheme": scheme}
    page = open_page(browser, server, **phone)
    assert not has_sideways_scroll(page)
    page.fill("#text", "we must do it now . incomprehensibilitiesincomprehensibilitiesincomprehensibilities")
    chip(page, "we").tap()
    chip(page, "must").tap()
    page.locator('[data-kind="together"]').tap()
    assert page.locator(".rule").count() == 1
    page.locator(".rule .remove").tap()
    finger_drag(page, chip(page, "do"), page.locator('[data-kind="optional"]'))
    assert page.locator(".rule").inner_text().split() == ["do", "may", "be", "left", "out", "×"]
    page.locator(".rule .remove").tap()
    page.locator("#go").tap()
    page.wait_for_selector(f"{DONE} >> nth=2")
    assert not has_sideways_scroll(page)
    # What is tapped is large enough for a finger, or stands apart from others.
    assert all(box["height"] >= 32 for box in (each.bounding_box() for each in page.locator("#bag .chip, .tool").all()))
    page.goto(f"{server}/api")
    page.wait_for_selector("section")
    assert not has_sideways_scroll(page)
    assert page.faults == []
    page.context.close()


def contrast(page: Any, selector: str) -> float:
    """The contrast of the text of an element with the ground behind it, as WCAG counts it."""
    colours = page.eval_on_selector(
        selector,
        """(element) => {
          let ground = element;
          while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
          return [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor];
        }""",
    )

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted(map(luminance, colours))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_can_be_read(browser: Any, server: str, scheme: str) -> None:
    page = open_page(browser, server, color_scheme=scheme)
    page.fill("#text", BAG)
    alone(page)
    chip(page, "we").click()
    seen = ["#open", "#bag .chip", "#bag .chip[aria-pressed=true]", ".tool", "#keys", "#go", ".field span", "summary"]
    low = {selector: contrast(page, selector) for selector in seen}
    order(page)
    seen = [".best", ".badge", ".proof dt", "tr.chosen .least", "tbody td", ".along b", ".controls", ".told .soft"]
    low |= {selector: contrast(page, selector) for selector in seen}
    assert {selector: value for selector, value in low.items() if value < 4.5} == {}
    page.context.close()
