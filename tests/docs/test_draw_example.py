"""The drawings of the documentation are made by code that works, and can be read on light pages and dark ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from docs import draw_example
from gyro.text.bag import Bag

if TYPE_CHECKING:
    from tests.conftest import World

SENTENCE = "we will not turn back from the work that we have begun ."
IMAGES = sorted((Path(__file__).parents[2] / "docs" / "images").glob("*.svg"))


@pytest.mark.parametrize("path", IMAGES, ids=[path.name for path in IMAGES])
def test_every_figure_has_colours_for_dark_pages(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "prefers-color-scheme:dark" in text.replace(" ", "")
    assert ElementTree.fromstring(text).tag == f"{{{draw_example.SVG}}}svg"


def test_the_published_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_example, "IMAGES", tmp_path / "images")
    draw_example.main([])
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == ["expansion.svg", "rtn.svg"]
    for path in (tmp_path / "images").iterdir():
        page = ElementTree.parse(path).getroot()
        inner = page.findall(f"{{{draw_example.SVG}}}svg")
        assert len(inner) == (3 if path.name == "rtn.svg" else 1)
        bottoms = [float(each.get("y", 0)) + float(each.get("height", 0)) for each in inner]
        assert bottoms == sorted(bottoms)
        assert bottoms[-1] < float(page.get("height", "0pt").removesuffix("pt"))


def test_the_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It rises to the optimum, and fewer nodes are left the higher it is; the lattice is among them."""
    monkeypatch.setattr(draw_example, "ROUNDS", 12)
    bag = Bag(tuple(SENTENCE.split()))
    found = draw_example.measure_bound(world.model.acceptor(bag.words), bag)
    assert found.without_prices <= found.by_round[0]
    assert (np.diff(found.by_round) >= -1e-9).all()
    assert found.by_round[-1] <= found.with_tracking + 1e-6
    assert found.with_tracking <= found.optimum + 1e-6
    counts = [found.rows[name].sum() for name in ("no prices", "prices", "in the lattice")]
    assert counts == sorted(counts, reverse=True)
    ElementTree.fromstring(draw_example.draw_bound(found))
