from __future__ import annotations

from pathlib import Path

import pytest

from gyro.report.data import Group, read_groups
from gyro.report.examples import examples
from gyro.report.model_card import model_card, model_figures
from gyro.report.page import write_report
from tests.gyro.report.samples import NAME, check, make_neural_run, make_run

COLOURS = {"first": 0, NAME: 1}


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Group:
    folder = tmp_path_factory.mktemp("neural")
    named = [(make_run(folder / "first", 2), "first"), (make_neural_run(folder / "neural"), NAME)]
    [found] = read_groups(named)
    return found


def test_the_table_has_the_whole_score_and_its_parts(group: Group) -> None:
    html = model_card(group, COLOURS)
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    whole, before, neural = body.split("</tr>")[:3]
    assert '<small class="base">λ\N{NO-BREAK SPACE}2</small>' in whole
    cells = "<td>1.739</td><td>1.739</td><td>1 (25 %)</td><td>1 (25 %)</td><td>1 (25 %)</td><td>1</td>"
    assert cells in whole
    assert "other models" in before
    assert "<td>2 (50 %)</td><td>1 (25 %)</td><td>0 (0 %)</td><td>1</td>" in before
    assert "neural model" in neural
    assert "<td>2 (50 %)</td><td>1 (25 %)</td><td>1 (25 %)</td><td>–</td>" in neural
    assert NAME not in html


def test_what_is_not_known_is_left_open(tmp_path: Path) -> None:
    [group] = read_groups([(make_neural_run(tmp_path / "old", has_parts=False), "old")])
    body = model_card(group, {"old": 0}).split("<tbody>")[1]
    assert "<td>0.630</td><td>–</td><td>–</td><td>–</td><td>–</td><td>4</td>" in body


def test_figures(group: Group) -> None:
    spots, errors = model_figures(group, COLOURS, (5, 10))
    assert [(each.name, each.colour) for each in spots.series] == [(NAME, 1)]
    # Of 5 tokens, −0.4 a word; of 6, none; of 12, 2/12.
    assert [(point.x, round(point.y, 3)) for point in spots.series[0].points] == [
        ("1-5", -0.4),
        ("6-10", 0),
        ("11+", 0.167),
    ]
    assert spots.drawing.count('class="mark s1"') == 3
    assert errors.title == f"Who errs, by bag size: {NAME}"
    counts = {each.name: [point.y for point in each.points] for each in errors.series}
    assert errors.classes == ["all bags", "1-5 tokens", "6-10 tokens", "11+ tokens"]
    assert counts == {
        "output costs less": [1, 1, 0, 0],
        "the same": [1, 0, 1, 0],
        "reference costs less": [1, 0, 0, 1],
        "reference not known": [1, 1, 0, 0],
    }


def test_without_a_neural_model_there_is_no_card(runs: dict[str, Path]) -> None:
    [group] = read_groups([(runs["perfect"], "first")])
    assert model_card(group, COLOURS) == ""
    assert model_figures(group, COLOURS) == []


def test_examples_tell_the_costs(group: Group) -> None:
    """Of an output that is the reference once, of a reference that only the neural model knows, and of both."""
    html = examples(group, 1, 10, (5,), COLOURS)
    same, model, search, failed, unknown = (part.split("<article ")[1] for part in html.split("</article>")[:5])
    assert '<p class="costs">cost <span>10.0 = 4.0 + 2 · 3.0</span></p>' in same
    told = "<span>10.0 = 2.0 + 2 · 4.0</span>; reference <span>12.0 = 3.0 + 2 · 4.5</span>; output costs less</p>"
    assert told in model
    assert "reference <span>18.0 = 6.0 + 2 · 6.0</span>; reference costs less" in search
    assert 'class="costs"' not in failed
    assert "<span>7.0 = 3.0 + 2 · 2.0</span>; reference <span>neural 2.5</span></p>" in unknown
    assert "Small lines: what an order and the reference cost" in html


def test_the_page_has_the_card_and_the_figures_are_files(group: Group, tmp_path: Path) -> None:
    named = [(member.path, member.name) for member in group.members]
    write_report(named, tmp_path / "r.html", figures=tmp_path / "figures")
    words = " ".join("".join(check(tmp_path / "r.html").text).split())
    assert "What the models say of output and reference" in words
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count('<figure class="chart">') == len(
        list((tmp_path / "figures").glob("*.svg"))
    )
    assert (tmp_path / "figures" / "cost-of-the-output-minus-that-of-the-reference.svg").exists()
    write_report(named[:1], tmp_path / "first.html")
    words = "".join(check(tmp_path / "first.html").text)
    assert "What the models say" not in words
    assert "Small lines" not in words
