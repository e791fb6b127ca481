"""The drawings of docs/search.md, made anew by the code that they explain.

draw_rtn        the cells of the published example's RTN, and the lattice that they expand to
measure_bound   what the bound of the exact search is worth on one bag: by price round, and in nodes a row
draw_bound      the figure of these numbers
main            python -m docs.draw_example [--lm MODEL]: write them into docs/images; those of the RTN need no model
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from grammars.phrase.grammar import PhraseGrammar
from gyro.files import write_atomically
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton
from gyro.report.svg import adapt_to_dark
from gyro.search.exact import search
from gyro.search.exact_bound import Space, choose_tracked, feasible_part, find_prices, make_machine
from gyro.search.exact_forward import PassLimits, walk_rows
from gyro.search.exact_kernel import Machine, pack_bag
from gyro.search.right_linear import ALGORITHMS
from gyro.search.work import Work
from gyro.text.bag import Bag
from lm.kenlm.model import load_model

IMAGES = Path(__file__).parent / "images"
EXAMPLE = Bag(tuple("abcde"))
EXAMPLE_PHRASES = {("a", "b"): 1, ("b", "a"): 1, ("d", "e", "c"): 1}
SENTENCE = "Restoring the dignity of work means making education an affordable ticket to the middle class ."
BETA = 5.0
ROUNDS = 120
TABLE_STEPS = 3e6  # the first rung of the search
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
PLAIN, PRICED, TRACKED, FOUND = "#b45309", "#0b62a8", "#0f766e", "#616e7c"
GAP = 18.0  # points between drawings of a page
SVG = "http://www.w3.org/2000/svg"


# ---- the published example


def draw_rtn() -> dict[str, bytes]:
    """The cells as calls and words, and the lattice of the whole bag; without costs, for the example has no model."""
    words = len(EXAMPLE.words)
    free = WordAutomaton(EXAMPLE.words, 0, np.zeros((1, words), np.int32), np.zeros((1, words)), np.zeros(1))
    grammar = PhraseGrammar(EXAMPLE, PhraseSet.from_phrases(EXAMPLE.words, EXAMPLE_PHRASES))
    result = ALGORITHMS["full"](grammar, free)
    if result.lattice is None:
        raise AssertionError("the published example has a parse")
    cells = [(f"cell {bits}", result.rtn.cell(bits).draw("svg")) for bits in result.rtn.cells()]
    return {"rtn.svg": stack(cells), "expansion.svg": stack([("", result.lattice.draw("svg"))])}


def stack(drawings: Sequence[tuple[str, bytes]]) -> bytes:
    """Several SVG drawings on one page, white or dark, one below the other, each under its title."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    page = ElementTree.Element(f"{{{SVG}}}svg", {"version": "1.1"})
    ElementTree.SubElement(page, f"{{{SVG}}}rect", {"width": "100%", "height": "100%", "style": "fill: #ffffff"})
    width, y = 0.0, GAP / 2
    for title, drawing in drawings:
        inner = ElementTree.fromstring(drawing)
        if title:
            look = {"font-family": "DejaVu Sans, Verdana, sans-serif", "font-size": "11", "font-weight": "bold"}
            place = {"x": f"{GAP}", "y": f"{y + 11:.1f}", "style": f"fill: {INK}"}
            ElementTree.SubElement(page, f"{{{SVG}}}text", look | place).text = title
            y += GAP
        # Inside of the page lengths have no unit: one of its points is one of the drawing's.
        across, down = (float(inner.get(side, "0pt").removesuffix("pt")) for side in ("width", "height"))
        for key, value in (("x", GAP), ("y", y), ("width", across), ("height", down)):
            inner.set(key, f"{value:.1f}")
        page.append(inner)
        width = max(width, across)
        y += down + GAP / 2
    size = (f"{width + 2 * GAP:.1f}", f"{y:.1f}")
    page.set("viewBox", f"0 0 {size[0]} {size[1]}")
    page.set("width", size[0] + "pt")
    page.set("height", size[1] + "pt")
    text = ElementTree.tostring(page, encoding="unicode")
    return adapt_to_dark(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())


# ---- the bound at work


class Bound(NamedTuple):
    """The numbers of the figure; all bounds and costs are natural-log costs of the bag."""

    tokens: int
    optimum: float
    without_prices: float
    by_round: NDArray[np.float64]
    with_tracking: float
    tracked: int
    rows: dict[str, NDArray[np.int64]]


def measure_bound(automaton: WordAutomaton, bag: Bag) -> Bound:
    """Climb the prices round by round; walk all rows within β of the optimum under four bounds."""
    found = search(automaton, bag.counts, beta=BETA)
    if not found.proved or found.paths is None:
        raise AssertionError("the search proves this bag")
    space = feasible_part(automaton, np.asarray(bag.counts, np.int64))
    prices = find_prices(space, ROUNDS)
    tracked = choose_tracked(space, prices, TABLE_STEPS)
    none, zero = tracked[:0], np.zeros(len(space.counts))
    machines = {
        "no prices": (make_machine(space, zero, none), zero),
        "prices": (make_machine(space, prices.price, none), prices.price),
        "prices and tracked words": (make_machine(space, prices.price, tracked), prices.price),
    }
    bounds, rows = {}, {}
    for name, (machine, price) in machines.items():
        offset = float((price * space.counts).sum())
        bounds[name] = float(machine.table[0, space.start]) + offset
        rows[name] = nodes_by_row(space, machine, found.cost - offset + BETA)
    rows["in the lattice"] = _count_rows(found.paths.source, found.paths.target, found.paths.states)
    by_round = np.array([find_prices(space, rounds).value for rounds in range(1, ROUNDS + 1)])
    return Bound(
        len(bag), found.cost, bounds["no prices"], by_round, bounds["prices and tracked words"],
        len(tracked), rows,
    )  # fmt: skip


def nodes_by_row(space: Space, machine: Machine, cut: float) -> NDArray[np.int64]:
    """How many nodes of each row the forward pass keeps under a cut."""
    limits = PassLimits(2e9, Work(np.inf), 0.0, np.inf)
    walked = walk_rows(pack_bag(space.counts, space.word_of), machine, space.tokens, cut, limits)
    if walked.graph is None:
        raise AssertionError("the nodes of this bag fit into the memory")
    arcs = walked.graph.arcs
    return _count_rows(arcs.source, arcs.target, len(walked.graph.state))


def _count_rows(source: NDArray[np.int32], target: NDArray[np.int32], nodes: int) -> NDArray[np.int64]:
    """Nodes by their distance from node 0; arcs lead to higher nodes, and those of a row stand together."""
    row = np.zeros(nodes, np.int64)
    for start, end in zip(source.tolist(), target.tolist(), strict=True):
        row[end] = row[start] + 1
    return np.bincount(row)


def draw_bound(bound: Bound) -> bytes:
    """Two panels: the bound climbing to the optimum, and the nodes that it leaves in each row."""
    figure = Figure(figsize=(9.6, 4.0), facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_rounds(left, bound)
    _draw_rows(right, bound)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        axes.tick_params(colors=FAINT, labelsize=8)
        axes.grid(axis="y", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "gyro"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return adapt_to_dark(buffer.getvalue())


def _draw_rounds(axes: Axes, bound: Bound) -> None:
    rounds = np.arange(1, len(bound.by_round) + 1)
    axes.plot(rounds, bound.optimum - bound.by_round, color=PRICED, linewidth=2)
    levels = (
        (bound.without_prices, PLAIN, "no prices"),
        (float(bound.by_round[-1]), PRICED, "prices"),
        (bound.with_tracking, TRACKED, f"prices and {bound.tracked} tracked words"),
    )
    for value, colour, name in levels:
        gap = bound.optimum - value
        if colour != PRICED:
            axes.axhline(gap, color=colour, linewidth=2, linestyle="--")
        axes.text(len(rounds), 1.06 * gap, f"{name}: {gap:.2f}", fontsize=8.5, color=colour, ha="right", va="bottom")
    axes.set_yscale("log")
    axes.set_ylim(top=2 * (bound.optimum - bound.without_prices))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlim(1, len(rounds))
    axes.set_xlabel("rounds of the search for prices", fontsize=9, color=INK)
    axes.set_ylabel("optimum − lower bound (nats)", fontsize=9, color=INK)
    title = f"The bound comes near the optimum, {bound.optimum:.2f}"
    axes.set_title(title, fontsize=10, color=INK, loc="left")


def _draw_rows(axes: Axes, bound: Bound) -> None:
    colours = {"no prices": PLAIN, "prices": PRICED, "prices and tracked words": TRACKED, "in the lattice": FOUND}
    for name, counts in bound.rows.items():
        style = ":" if name == "in the lattice" else "-"
        label = f"{name}: {counts.sum():,}"
        axes.plot(np.arange(len(counts)), counts, color=colours[name], linewidth=2, linestyle=style, label=label)
    axes.set_yscale("log")
    axes.set_xlim(0, bound.tokens)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("row: words used", fontsize=9, color=INK)
    axes.set_ylabel("nodes", fontsize=9, color=INK)
    axes.set_title(f"Nodes that may lie within β = {BETA:g}", fontsize=10, color=INK, loc="left")
    axes.legend(fontsize=8, frameon=True, framealpha=0.9, edgecolor=GRID, labelcolor=INK, loc="lower center")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the drawings; with a model, that of the bound too, with its numbers printed."""
    parser = argparse.ArgumentParser(prog="docs.draw_example", description="Make the drawings of docs/search.md anew.")
    parser.add_argument(
        "--lm",
        metavar="MODEL",
        help="KenLM model for the figure of the bound, as that of make demo, runs/demo/model.lm",
    )
    arguments = parser.parse_args(argv)
    _write(draw_rtn())
    if arguments.lm is None:
        return
    bag = Bag(tuple(SENTENCE.split()))
    automaton = load_model(arguments.lm).acceptor(bag.words)
    bound = measure_bound(automaton, bag)
    _write({"bound.svg": draw_bound(bound)})
    print(f"{len(bag)} tokens, G_Ω has {automaton.num_states} states; optimum {bound.optimum:.2f}")
    print(f"bounds: no prices {bound.without_prices:.2f}, prices {bound.by_round[-1]:.2f}", end="")
    print(f", {bound.tracked} words tracked {bound.with_tracking:.2f}")
    for name, counts in bound.rows.items():
        print(f"nodes, {name}: {counts.sum():,} in all, {counts.max():,} in the largest row")


def _write(drawings: Mapping[str, bytes]) -> None:
    IMAGES.mkdir(exist_ok=True)
    for name, drawing in drawings.items():
        with write_atomically(IMAGES / name) as file:
            file.write(drawing)
        print(IMAGES / name)


if __name__ == "__main__":
    main()
