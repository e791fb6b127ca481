from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gyro.bag import Bag
from gyro.batch import Outcome, run_batch
from gyro.cli import main
from gyro.errors import InputError
from gyro.lattice import Hypothesis, Lattice
from gyro.report import write_report
from gyro.report_charts import proof_counts, search_charts
from gyro.report_data import read_groups
from gyro.report_examples import choose, mark_output, pieces
from gyro.report_tables import settings_table
from gyro.version import __version__

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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

    def work(number: int, bag: Bag) -> Outcome:
        assert bag.reference is not None
        if number == fail:
            return Outcome(None, {"reason": "no <order>", "proved": False})
        turned = bag.reference[shift:] + bag.reference[:shift]
        strings = [Hypothesis(turned, 1.5)] + [Hypothesis(bag.reference, 2.0)] * (turned != bag.reference)
        facts = {
            "rung": "rules" if number % 2 else "2-gram rules",
            "proved": number > 1,
            "nodes": 7,
            "phrases": 10 * len(bag),
        }
        return Outcome(Lattice.from_strings(bag.words, strings), facts)

    bags = [Bag(tuple(r.split()), id=f"s{n}", reference=tuple(r.split())) for n, r in enumerate(references, 1)]
    run_batch(bags, folder, work, settings={"algorithm": "exact", **settings}, log=io.StringIO())
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    found = {
        "perfect": make_run(folder / "perfect", 0, lm_order=4),
        "turned": make_run(folder / "turned", 1, fail=3, algorithm="beam"),
        "few": make_run(folder / "few", 2, REFERENCES[:1] + REFERENCES[2:3]),
    }
    (found["turned"] / "oracle-lattice.txt").write_text("".join(line + "\n" for line in REFERENCES))
    (folder / "plain.txt").write_text("".join(line + "\n" for line in [*REFERENCES[:4], "it is ! ."]))
    return {**found, "plain": folder / "plain.txt"}


@pytest.fixture(scope="module")
def page(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("page") / "report.html"
    options = ["--title", "A & <B>", "--baseline", "turned", "--name", f"file <i>={runs['plain']}"]
    assert main(["report", str(runs["perfect"]), f"{runs['turned']}:turned", *options, "-o", str(output)]) == 0
    return output


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
        "Worst memory by bag size",
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


def test_smaller_runs_get_guests(runs: dict[str, Path]) -> None:
    groups = read_groups([(runs[name], name) for name in ("perfect", "few")])
    assert [[member.name for member in group.members] for group in groups] == [["perfect"], ["perfect", "few"]]
    assert groups[1].label == "2 bags of 6–12 tokens"
    assert groups[1].members[0].outputs == tuple(tuple(REFERENCES[n].split()) for n in (0, 2))
    assert groups[1].members[0].is_guest


def test_groups_on_one_page(runs: dict[str, Path], tmp_path: Path) -> None:
    write_report([(runs[name], None) for name in ("perfect", "few")], tmp_path / "r.html", most_examples=1)
    words = "".join(check(tmp_path / "r.html").text)
    assert "Systems: 5 bags of 3–12 tokens" in words
    assert "Examples: 2 bags of 6–12 tokens" in words


def test_rescoring_stages(runs: dict[str, Path], tmp_path: Path) -> None:
    second = make_run(tmp_path / "second", 1, command="rescore", lattices="of perfect")
    third = make_run(tmp_path / "third", 2, command="mbr", lattices="of second")
    named = [(path, None) for path in (runs["perfect"], second, third, runs["turned"])]
    [group] = read_groups(named, signature=lambda path: f"of {path.name}")
    assert [(depth, member.name) for depth, member in group.chains()] == [(0, "perfect"), (1, "second"), (2, "third")]
    step = group.step(group.member("second"))
    assert step is not None
    assert step.difference < 0
    write_report(named, tmp_path / "r.html", signature=lambda path: f"of {path.name}")
    assert "Over its input" in "".join(check(tmp_path / "r.html").text)


def test_runs_without_references(tmp_path: Path) -> None:
    def work(_: int, bag: Bag) -> Outcome:
        return Outcome(Lattice.from_strings(bag.words, [Hypothesis(bag.tokens, 1.0)]))

    run_batch([Bag(("b", "a"), id="1")], tmp_path / "run", work, settings={}, log=io.StringIO())
    write_report([(tmp_path / "run", None)], tmp_path / "r.html")
    words = "".join(check(tmp_path / "r.html").text)
    assert "a b" in words
    assert "BLEU by bag size" not in words


def test_bags_by_what_is_proved_of_them(tmp_path: Path) -> None:
    """Five bags: proved, cut with each run proved, cut with one run proved, not proved, failed."""
    facts: list[dict[str, object]] = [
        {"proved": True},
        {"proved": False, "runs": [{"proved": True}, {"proved": True}]},
        {"proved": False, "runs": [{"proved": True}, {"proved": False}]},
        {"proved": False},
    ]

    def work(number: int, bag: Bag) -> Outcome:
        if number == len(facts):
            return Outcome(None, {"reason": "no order", "proved": False})
        return Outcome(Lattice.from_strings(bag.words, [Hypothesis(bag.tokens, 1.0)]), facts[number])

    bags = [Bag(("a", "b"), id=str(n)) for n in range(5)]
    run_batch(bags, tmp_path / "run", work, settings={}, log=io.StringIO())
    [group] = read_groups([(tmp_path / "run", None)])
    counts = proof_counts(group.members)["run"]
    assert counts == {"proved": 1, "cut, each run proved": 1, "not proved": 2, "failed": 1}


def test_settings_are_told_once(runs: dict[str, Path]) -> None:
    """A value that all runs share stands by itself; the others stand at each run, also what only one has."""
    [group] = read_groups([(runs[name], name) for name in ("perfect", "turned")])
    made = settings_table(group.members)
    own, common = made.split("The same in all runs that have it</caption>")
    assert own.count("<i>algorithm</i>") == 2
    assert "<i>algorithm</i> beam" in own
    assert "<i>lm_order</i> 4" in own
    assert "<i>gyro</i>" not in own
    assert f"<code>{__version__}</code>" in common
    assert "algorithm" not in common


def test_long_bags_are_joined_in_fives(tmp_path: Path) -> None:
    lengths = [1, 7, 7, 20, 21, 25, 26, 58, 60]
    run = make_run(tmp_path / "run", 1, [" ".join(f"w{k}" for k in range(n)) for n in lengths])
    [group] = read_groups([(run, None)])
    points = group.members[0].by_size()
    spans = [(point.sizes, point.size, point.bags) for point in points]
    assert spans == [("1", 1, 1), ("7", 7, 2), ("20", 20, 1), ("21–25", 23, 2), ("26–30", 28, 1), ("56–60", 58, 2)]
    assert [point.phrases for point in points] == [10, 70, 200, 230, 260, 590]


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


def test_times_are_those_of_searches(runs: dict[str, Path], tmp_path: Path) -> None:
    """Stages after the search are not among them, unless the report is on stages alone."""
    stage = shutil.copytree(runs["perfect"], tmp_path / "stage")
    record = json.loads((stage / "run.json").read_text())
    record["settings"] = {"command": "rescore"}
    (stage / "run.json").write_text(json.dumps(record))
    for names, expected in ((["perfect", "stage"], ["perfect"]), (["stage"], ["stage"])):
        [group] = read_groups([({**runs, "stage": stage}[name], name) for name in names])
        charts = search_charts(group.members, {name: number for number, name in enumerate(names)})
        assert [each.name for each in charts[0].series] == expected


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


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("a b", "a b", [("kept", "a b")]),
        ("c d a b", "a b c d", [("moved", "c d"), ("kept", "a b")]),
        ("b a", "a b", [("moved", "b"), ("kept", "a")]),
        ("a x b", "a b", [("kept", "a"), ("other", "x"), ("kept", "b")]),
        ("c b a d", "a b c d", [("moved", "c"), ("moved", "b"), ("kept", "a d")]),
        ("a a", "a", [("kept", "a"), ("other", "a")]),
    ],
)
def test_differences(output: str, reference: str, expected: list[tuple[str, str]]) -> None:
    found = pieces(output.split(), reference.split())
    assert [(piece.kind, " ".join(piece.words)) for piece in found] == expected


def test_marks() -> None:
    marked = mark_output(["c", "<d>", "a"], ["a", "b", "c", "<d>"])
    assert '<mark class="moved" data-span="0,1" tabindex="0">a</mark>' in marked
    assert "c &lt;d&gt;" in marked
    assert '<del title="missing">b</del>' in marked
    assert "no order" in mark_output((), ("a",))


def test_choice_of_examples() -> None:
    assert choose(3, 10) == [0, 1, 2]
    assert len(choose(1000, 100)) == 100
    assert choose(5, 0) == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
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
    assert ">1 shown</output>" in dom
    opened = re.search(r'<details class="drawn" open="">.*?</details>', dom, re.DOTALL)
    assert opened is not None
    assert "<template>" not in opened[0]
