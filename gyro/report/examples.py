"""The examples of a report: a bag's orders side by side with the reference, differences marked.

examples     the articles of a group of systems, with controls to sort and filter them
mark_output  one output as HTML: moved phrases, words that are not in the reference, and missing ones marked
cost_text    what a string costs, and what that is made of
choose       which bags are shown

examples.html has their HTML.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gyro.lattice.lattice import Hypothesis
from gyro.report.data import Group, Member
from gyro.report.figures import Key
from gyro.report.lattice import draw_orders
from gyro.report.markup import Markup, part
from gyro.report.model_costs import UNKNOWN, Costs
from gyro.report.opinion import NO_OPINIONS, Opinions
from gyro.report.opinion_card import along
from gyro.report.tables import system_key
from gyro.score.evaluation import size_classes
from gyro.score.word_order import common_sequence

LARGEST_DRAWN, MOST_DRAWN, ORDERS_DRAWN = 8, 40, 8
MOST_ALONG = 50  # examples with what each word costs
MOST_BESIDE = 5  # systems whose names stand beside what they say; those of more stand above it
_TEMPLATE = "examples.html"


class Piece(NamedTuple):
    """Neighbouring words of an output that are all kept in order, moved together, or not in the reference.

    `place` is where they begin in the reference, -1 for words that are not in it.
    """

    kind: str
    words: tuple[str, ...]
    place: int


class _Told(NamedTuple):
    """What a system's models say: the cost of its output, of the reference, and which is cheaper ("" where unknown)."""

    system: str
    output: str
    reference: str
    verdict: str


class _Output(NamedTuple):
    """An output and the systems that gave it; without a reference it has neither marks nor a score."""

    systems: list[tuple[str, Key]]
    words: tuple[str, ...]
    marked: Markup | None
    score: str
    is_exact: bool
    costs: list[_Told]


class _Drawing(NamedTuple):
    """The best orders of a lattice, as a graph and as a list."""

    system: str
    svg: Markup
    orders: Sequence[Hypothesis]


class _Example(NamedTuple):
    """One bag; `scores` are the systems' sentence BLEU as JSON, `reasons` why some gave no order.

    `along` is what each word costs.
    """

    number: int
    id: str
    size_class: str
    tokens: tuple[str, ...]
    reference: tuple[str, ...] | None
    outputs: list[_Output]
    scores: str
    reasons: list[str]
    drawing: _Drawing | None
    along: Markup


def examples(
    group: Group,
    number: int,
    most: int,
    sizes: Sequence[int],
    colours: Mapping[str, int],
    opinions: Opinions = NO_OPINIONS,
) -> Markup:
    """The section's controls and articles; `number` tells the groups of a page apart."""
    chosen = choose(len(group.bags), most)
    lengths = np.array([len(bag) for bag in group.bags])
    classes = size_classes(lengths, sizes)
    drawn = 0
    shown: list[_Example] = []
    for bag in chosen:
        size = next(name for name, rows in classes.items() if rows[bag])
        drawing = _drawing(group, bag) if drawn < MOST_DRAWN else None
        drawn += drawing is not None
        costs = along(group, opinions, bag, colours) if len(shown) < MOST_ALONG else Markup()
        shown.append(_example(group, bag, size, drawing, costs, colours))
    return part(
        _TEMPLATE,
        "examples",
        key=f"examples-{number}",
        is_crowded=len(group.members) > MOST_BESIDE,
        is_compared=len(group.members) > 1,
        has_costs=any(any(member.costs) for member in group.members),
        sorts=_sorts(group),
        size_classes=[name for name, rows in classes.items() if rows[chosen].any()],
        examples=shown,
    )


def choose(bags: int, most: int) -> list[int]:
    """At most so many bags, evenly spread.

    >>> choose(10, 4)
    [0, 3, 6, 9]
    """
    if bags <= most:
        return list(range(bags))
    return sorted({round(place) for place in np.linspace(0, bags - 1, most).tolist()})


def pieces(output: Sequence[str], reference: Sequence[str]) -> list[Piece]:
    """The output cut into pieces.

    >>> [tuple(piece) for piece in pieces("c d a b".split(), "a b c d".split())]
    [('moved', ('c', 'd'), 2), ('kept', ('a', 'b'), 0)]

    What is on a longest common subsequence is kept; of the other words those that the reference has left are moved.
    """
    kept = dict(common_sequence(output, reference))
    free: dict[str, list[int]] = defaultdict(list)
    for place in range(len(reference) - 1, -1, -1):
        if place not in set(kept.values()):
            free[reference[place]].append(place)
    runs: list[Piece] = []
    for here, word in enumerate(output):
        place = kept[here] if here in kept else free[word].pop() if free[word] else -1
        kind = "kept" if here in kept else "moved" if place >= 0 else "other"
        last = runs[-1] if runs else None
        joins = last is not None and last.kind == kind and (kind != "moved" or place == last.place + len(last.words))
        if last is not None and joins:
            runs[-1] = Piece(kind, (*last.words, word), last.place)
        else:
            runs.append(Piece(kind, (word,), place))
    return runs


def mark_output(output: Sequence[str], reference: Sequence[str]) -> Markup:
    """One output as HTML."""
    missing = (Counter(reference) - Counter(output)).elements()
    return part(_TEMPLATE, "marked", pieces=pieces(output, reference), missing=list(missing))


def _sorts(group: Group) -> list[tuple[str, str]]:
    """The ways to sort the examples: their names for the script, and for people."""
    sorts = [("", "as in the run"), ("size", "by size")]
    if group.references is None:
        return sorts
    for place, member in enumerate(group.members):
        sorts += [(f"bleu{place}", f"worst first: {member.name}"), (f"-bleu{place}", f"best first: {member.name}")]
    return [*sorts, ("spread", "systems farthest apart")] if len(group.members) > 1 else sorts


def _example(
    group: Group, bag: int, size: str, drawing: _Drawing | None, along: Markup, colours: Mapping[str, int]
) -> _Example:
    reference = group.references[bag] if group.references is not None else None
    scores = [round(float(member.sentence_bleu[bag]), 2) for member in group.members]
    by_output: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, member in enumerate(group.members):
        by_output[member.outputs[bag]].append(place)
    outputs = []
    for words, places in by_output.items():
        names = [group.members[place].name for place in places]
        marked = mark_output(words, reference) if reference is not None else None
        systems = [(name, system_key(name, colours)) for name in names]
        costs = [told for place in places if (told := _told(group.members[place], bag)) is not None]
        outputs.append(_Output(systems, words, marked, f"{scores[places[0]]:.1f}", words == reference, costs))
    return _Example(
        number=bag,
        id=group.bags[bag].id,
        size_class=size,
        tokens=group.bags[bag].tokens,
        reference=reference,
        outputs=outputs,
        scores=json.dumps(scores),
        reasons=_reasons(group, bag),
        drawing=drawing,
        along=along,
    )


def _told(member: Member, bag: int) -> _Told | None:
    """None for a system without a neural model."""
    costs = member.costs[bag] if member.costs else None
    if costs is None:
        return None
    verdict = costs.verdict()
    return _Told(
        member.name,
        cost_text(costs.output),
        "" if costs.is_same else cost_text(costs.reference),
        "" if verdict == UNKNOWN or costs.is_same else verdict,
    )


def cost_text(costs: Costs) -> str:
    """A cost and what it is made of, as far as that is known.

    >>> cost_text(Costs(60.0, 20.0, 2.5)), cost_text(Costs(60.0, None, 2.5)), cost_text(Costs(None, 20.0, 2.5))
    ('60.0 = 10.0 + 2.5 · 20.0', '60.0', 'neural 20.0')
    """
    if costs.whole is None:
        return "" if costs.neural is None else f"neural {costs.neural:.1f}"
    if costs.before is None or costs.neural is None:
        return f"{costs.whole:.1f}"
    return f"{costs.whole:.1f} = {costs.before:.1f} + {costs.weight:.4g} · {costs.neural:.1f}"


def _reasons(group: Group, bag: int) -> list[str]:
    """Why runs failed on the bag."""
    return [
        f"{member.name}: {member.entries[bag].outcome.reason}"
        for member in group.members
        if member.entries and not member.entries[bag].ok
    ]


def _drawing(group: Group, bag: int) -> _Drawing | None:
    """The lattice of the first run that has one; None for a bag that is too large to be drawn."""
    if len(group.bags[bag]) > LARGEST_DRAWN:
        return None
    for member in group.members:
        if member.run is None or not member.entries[bag].ok or not member.run.folder.lattice(bag).exists():
            continue
        lattice = member.run.lattice(bag)
        if lattice is not None and not lattice.empty():
            return _Drawing(member.name, draw_orders(lattice, ORDERS_DRAWN), lattice.nbest(ORDERS_DRAWN))
    return None
