from __future__ import annotations

from pathlib import Path

import pytest

from gyro.report.data import read_groups
from gyro.report.examples import choose, examples, mark_output, pieces
from tests.gyro.report.samples import NAME, make_run


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


def test_equal_outputs_are_shown_once(runs: dict[str, Path]) -> None:
    """Two of three systems order the first bag alike, and one fails on the fourth; names and words are escaped."""
    [group] = read_groups([(runs["perfect"], NAME), (runs["turned"], "two"), (runs["plain"], "three")])
    colours = {NAME: 0, "two": 1, "three": 2}
    html = examples(group, 7, 100, (5, 10), colours)
    assert html.count("<article ") == 5
    assert 'id="examples-7"' in html
    assert "no &lt;order&gt;" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>" not in html
    assert NAME not in html
    first = html.split("</article>")[0]
    assert 'data-kinds="2"' in first
    assert first.count("✓ exact") == 1
    assert first.count('class="system"') == 3
    assert "crowded" not in html


def test_only_small_bags_are_drawn(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 1, ["a b c d e f g h", "a b c d e f g h i"])
    [group] = read_groups([(run, NAME)])
    html = examples(group, 1, 10, (5,), {NAME: 0})
    assert html.count('<details class="drawn">') == html.count('<svg class="lattice"') == 1
    assert "<li>b c d e f g h a <small>cost 1.50</small></li>" in html
    assert "systems farthest apart" not in html
    assert "only where systems differ" not in html
