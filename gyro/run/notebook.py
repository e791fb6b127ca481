"""What a notebook shows of results.

ordering_to_html  the best orders of a bag with their costs, how they were found, and their lattice as a drawing
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyro.run.outcome import Ordering

BEST_SHOWN = 5


def ordering_to_html(ordering: Ordering) -> str:
    """A table and a drawing; a few kilobytes."""
    outcome, lattice = ordering.outcome, ordering.lattice
    if lattice.empty():
        return f"<p>no order: {escape(outcome.reason or 'the lattice is empty')}</p>"
    from gyro.lattice.lattice import LARGEST_DRAWING, PATHS_DRAWN  # by now it is loaded

    best = ordering.nbest(BEST_SHOWN)
    rows = "".join(f"<tr><td>{h.cost:.2f}</td><td style='text-align:left'>{escape(h.text)}</td></tr>" for h in best)
    proof = "the optimum, proved" if ordering.proved else "the best that was found"
    size = f"{len(best[0].tokens)} tokens; {lattice.num_states:,} states and {lattice.num_arcs:,} arcs"
    beta = "" if outcome.beta is None else f" within β = {outcome.beta:g}"
    drawn = f" Drawn: the {PATHS_DRAWN} best orders." if lattice.num_states > LARGEST_DRAWING else ""
    head = "<tr><th>cost</th><th style='text-align:left'>order</th></tr>"
    return (
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        f"<p>The first is {proof}. {size}{beta}.{drawn}</p>"
        f"<div style='overflow-x:auto'>{lattice._repr_svg_()}</div>"
    )
