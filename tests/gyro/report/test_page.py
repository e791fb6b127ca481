from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.report.page import write_report
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering
from gyro.score.metric import METRICS
from gyro.text.bag import Bag
from tests.gyro.report.samples import REFERENCES, check, make_run
from tests.orders import ordered
from tests.outside import CHROMIUM, needs_chromium


def test_page_is_well_formed_and_needs_no_network(page: Path) -> None:
    checker = check(page)
    assert [tag for tag, _ in checker.tags].count("script") == 1
    addresses = [v for _, a in checker.tags for k, v in a.items() if k in ("src", "href") and v is not None]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|url\(", page.read_text(encoding="utf-8"))
    targets = {attributes.get("id") for _, attributes in checker.tags}
    assert {address[1:] for address in addresses if address.startswith("#")} <= targets


def test_everything_is_escaped(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<title>A &amp; &lt;B&gt;</title>" in text
    assert "no &lt;order&gt;" in text
    assert "file &lt;i&gt;" in text
    words = "".join(check(page).text)
    assert "<script>alert(1)</script>" in words


def test_hostile_names_are_escaped(runs: dict[str, Path], tmp_path: Path) -> None:
    """Names of systems, titles, settings and oracles that try to end what they stand in."""
    hostile = "</style></script><!-- {{ 1 }} {% x %} ]]>\"'&"
    run = make_run(tmp_path / "run", 1, algorithm=hostile)
    (run / "oracle-<i>.txt").write_text("".join(line + "\n" for line in REFERENCES))
    write_report([(run, hostile), (runs["perfect"], "'<b>")], tmp_path / "r.html", title=hostile)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert hostile not in text
    assert text.count("</style>") == text.count("</script>") == 1
    checker = check(tmp_path / "r.html")
    assert "".join(checker.text).count(hostile) > 20
    tips = [attributes.get("data-tip") or "" for _, attributes in checker.tags]
    assert any(tip.startswith(f"{hostile}, ") for tip in tips)


def test_page_shows_what_the_runs_have(page: Path) -> None:
    words = " ".join("".join(check(page).text).split())
    for expected in (
        "better, ▼ worse than turned",
        "empty outputs: 1 (ids s4)",
        "outputs with other words than the reference: 1 (ids s5)",
        "BLEU of the oracle: lattice",
        "4-gram",
        "Phrases by bag size",
        "Time a bag by bag size",
        "Exact match by bag size",
        "How far words stand from their places",
        "Optimum proved",
        "Which rules gave the order",
        "nrefs:1|case:mixed|eff:no|tok:none",
        "Lattice of perfect",
        "✓ exact",
        "no order",
    ):
        assert expected in words
    assert "Rescoring" not in words


def test_tables_have_headings(page: Path) -> None:
    tags = [tag for tag, _ in check(page).tags]
    scopes = [attributes.get("scope") for tag, attributes in check(page).tags if tag == "th"]
    assert {*scopes} == {"col", "row"}
    assert tags.count("caption") >= 5


def test_groups_on_one_page(runs: dict[str, Path], tmp_path: Path) -> None:
    write_report([(runs[name], None) for name in ("perfect", "few")], tmp_path / "r.html", most_examples=1)
    words = "".join(check(tmp_path / "r.html").text)
    assert "Systems: 5 bags of 3–12 tokens" in words
    assert "Examples: 2 bags of 6–12 tokens" in words


def test_rescoring_stages(runs: dict[str, Path], tmp_path: Path) -> None:
    second = make_run(tmp_path / "second", 1, command="rescore", lattices="of perfect")
    named = [(path, None) for path in (runs["perfect"], second)]
    write_report(named, tmp_path / "r.html", signature=lambda path: f"of {path.name}")
    assert "Over its input" in "".join(check(tmp_path / "r.html").text)


def test_a_new_metric_is_on_the_page(runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry in the table of metrics is all that it takes."""
    exact = METRICS["exact_match"]
    monkeypatch.setitem(METRICS, "new", replace(exact, key="new", label="New <metric>", signature=lambda _: "of tests"))
    write_report([(runs["perfect"], None), (runs["turned"], None)], tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<th scope="col">New &lt;metric&gt;\N{NO-BREAK SPACE}↑</th>' in text
    assert '<th scope="row">New &lt;metric&gt;</th><td><code>of tests</code></td>' in text


def test_runs_without_references(tmp_path: Path) -> None:
    def work(_: int, bag: Bag) -> Ordering:
        return ordered(bag, [Hypothesis(bag.tokens, 1.0)])

    run_batch([Bag(("b", "a"), id="1")], tmp_path / "run", work, settings={}, log=io.StringIO())
    write_report([(tmp_path / "run", None)], tmp_path / "r.html")
    words = "".join(check(tmp_path / "r.html").text)
    assert "a b" in words
    assert "BLEU by bag size" not in words


def test_figures_as_files(runs: dict[str, Path], tmp_path: Path) -> None:
    """A file for each chart of the page; a second group of bags has scores of its own."""
    output, figures = tmp_path / "r.html", tmp_path / "deep" / "figures"
    named = [str(runs["perfect"]), str(runs["few"])]
    assert main(["report", *named, "-o", str(output), "--figures", str(figures)]) == 0
    assert output.read_text(encoding="utf-8").count('<figure class="chart">') == len(list(figures.glob("*.svg")))
    assert {"bleu-by-bag-size.svg", "bleu-by-bag-size-2.svg", "optimum-proved.svg"} <= {
        path.name for path in figures.iterdir()
    }
    assert main(["report", *named, "-o", str(output), "--figures", str(output / "no")]) == 2


def test_lattices_need_not_be_there(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs["perfect"], tmp_path / "copy")
    shutil.rmtree(copy / "lattices")
    write_report([(copy, None)], tmp_path / "r.html")
    assert "Lattice of" not in "".join(check(tmp_path / "r.html").text)


def test_bad_input(runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.html"
    short = tmp_path / "short"
    short.write_text("a\n")
    with pytest.raises(InputError, match="found 1 lines; the runs have 5 bags"):
        write_report([(runs["perfect"], None), (short, None)], output)
    with pytest.raises(InputError, match="found no folder of a run"):
        write_report([(short, None)], output)
    with pytest.raises(InputError, match="found the baseline 'x'; the systems are perfect"):
        write_report([(runs["perfect"], None)], output, baseline="x")
    copy = shutil.copytree(runs["perfect"], tmp_path / "copy")
    (copy / "times.jsonl").write_text("{}\n" * 5)
    with pytest.raises(InputError, match=r"times.jsonl:1: found a line without seconds"):
        write_report([(copy, None)], output)
    for words in (["--examples", "-1", str(copy)], ["--name", "x"], [], [str(tmp_path / "none")]):
        assert main(["report", *words, "-o", str(output)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert not output.exists()


@needs_chromium
def test_in_a_browser(page: Path, tmp_path: Path) -> None:
    """The script runs without an error, sorts by the address, and filters."""
    source = page.read_text(encoding="utf-8")
    catcher = "<script>addEventListener('error', (e) => document.documentElement.dataset.error = e.message)</script>"
    clicks = "document.querySelector('.drawn').open = true; document.querySelectorAll('th button')[1].click()"
    copy = tmp_path / "page.html"
    copy.write_text(
        source.replace("<style>", catcher + "<style>", 1).replace("</body>", f"<script>{clicks}</script></body>")
    )
    address = f"{copy.as_uri()}#examples-1?sort=-bleu0&size=6-10"
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--virtual-time-budget=2000", "--dump-dom", address], capture_output=True, timeout=120
    )
    dom = done.stdout.decode()
    assert "data-error" not in dom
    assert 'aria-sort="descending"' in dom
    articles = re.findall(r"<article ([^>]*)>", dom)
    scores = [json.loads(found[1])[0] for a in articles if (found := re.search(r'data-bleu="([^"]*)"', a))]
    assert scores == sorted(scores, reverse=True)
    shown = [article for article in articles if "hidden" not in article]
    assert [re.search(r'data-size="([^"]*)"', article)[1] for article in shown] == ["6-10"]  # type: ignore[index]
    assert ">1 bag shown</output>" in dom
    opened = re.search(r'<details class="drawn" open="">.*?</details>', dom, re.DOTALL)
    assert opened is not None
    assert "<template>" not in opened[0]
