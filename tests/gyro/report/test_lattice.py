from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations, permutations

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.report.lattice import draw_orders


def test_orders_are_drawn_once() -> None:
    orders = [("a", "b", "<c>"), ("b", "a", "<c>"), ("<c>", "a", "b")]
    strings = [Hypothesis(tokens, float(cost)) for cost, tokens in enumerate(orders)]
    drawing = draw_orders(Lattice.from_strings(["<c>", "a", "b"], strings))
    tree = ElementTree.fromstring(drawing)
    arcs = list(tree.iter("path"))
    assert sum("best" in str(path.get("class")) for path in arcs) == 3
    # Prefixes and suffixes are shared: a-b-<c>, b-a-<c> meet before <c>; <c>-a-b goes its own way.
    assert len(arcs) == 8
    assert sorted(str(text.text) for text in tree.iter("text")).count("<c>") == 2


def test_words_of_crossing_arcs_do_not_cover_each_other() -> None:
    """All six orders of three words after a first one: arcs cross, and their middles are in one place."""
    orders = [("about", *rest) for rest in permutations(("much", "that", "bigger"))]
    strings = [Hypothesis(tokens, float(cost)) for cost, tokens in enumerate(orders)]
    drawing = draw_orders(Lattice.from_strings(["about", "much", "that", "bigger"], strings))
    places = [(float(t.get("x", 0)), float(t.get("y", 0))) for t in ElementTree.fromstring(drawing).iter("text")]
    assert len(places) == 13
    assert all(abs(a[0] - b[0]) >= 14 or abs(a[1] - b[1]) >= 12 for a, b in combinations(places, 2))


def test_uneven_lattices_have_bends() -> None:
    """One order has a word less: its line goes round the state between."""
    strings = [Hypothesis(("a", "b"), 1.0), Hypothesis(("b",), 2.0)]
    tree = ElementTree.fromstring(draw_orders(Lattice.from_strings(["a", "b"], strings)))
    assert sorted(str(path.get("d")).count("C") for path in tree.iter("path")) == [3, 3, 6]
    assert sorted(str(text.text) for text in tree.iter("text")) == ["a", "b", "b"]


def test_words_between_the_same_states_stand_in_rows() -> None:
    strings = [Hypothesis(("a", "c"), 1.0), Hypothesis(("<b>", "c"), 2.0)]
    tree = ElementTree.fromstring(draw_orders(Lattice.from_strings(["a", "<b>", "c"], strings)))
    places = {str(text.text): (float(text.get("x", 0)), float(text.get("y", 0))) for text in tree.iter("text")}
    assert places["a"][0] == places["<b>"][0]
    assert abs(places["a"][1] - places["<b>"][1]) == 14
    assert [text.text for text in tree.iter("text") if text.get("class") == "word best"] == ["a", "c"]
