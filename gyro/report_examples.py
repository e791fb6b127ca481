"""The examples of a report: a bag's orders side by side with the reference, differences marked.

examples     the articles of a group of systems, with controls to sort and filter them
mark_output  one output as HTML: moved phrases, words that are not in the reference, and missing ones marked
choose       which bags are shown
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from gyro.evaluation import size_classes
from gyro.lattice import Hypothesis
from gyro.report_data import Group
from gyro.report_lattice import draw_orders
from gyro.report_tables import system_name
from gyro.word_order import common_sequence

LARGEST_DRAWN, MOST_DRAWN, ORDERS_DRAWN = 8, 40, 8
MOST_BESIDE = 5  # systems whose names stand beside what they say; those of more stand above it


class Piece(NamedTuple):
    """A run of words: kept in order, moved, or other than the reference's; `place` is where it begins there."""

    kind: str
    words: tuple[str, ...]
    place: int


def examples(group: Group, number: int, most: int, sizes: Sequence[int], colours: Mapping[str, int]) -> str:
    """The section's controls and articles; `number` tells the groups of a page apart."""
    chosen = choose(len(group.bags), most)
    lengths = np.array([len(bag) for bag in group.bags])
    classes = size_classes(lengths, sizes)
    drawn = 0
    articles = []
    for bag in chosen:
        size = next(name for name, rows in classes.items() if rows[bag])
        drawing = _drawing(group, bag) if drawn < MOST_DRAWN else ""
        drawn += bool(drawing)
        articles.append(_article(group, bag, size, drawing, colours))
    shown = [name for name, rows in classes.items() if rows[chosen].any()]
    head = _controls(group, number, shown, len(chosen))
    kind = "examples crowded" if len(group.members) > MOST_BESIDE else "examples"
    return f'<div class="{kind}" id="examples-{number}">{head}<div class="articles">{"".join(articles)}</div></div>'


def choose(bags: int, most: int) -> list[int]:
    """At most so many bags, evenly spread.

    >>> choose(10, 4)
    [0, 3, 6, 9]
    """
    if bags <= most:
        return list(range(bags))
    return sorted({round(place) for place in np.linspace(0, bags - 1, most).tolist()})


def pieces(output: Sequence[str], reference: Sequence[str]) -> list[Piece]:
    """The output in runs.

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


def mark_output(output: Sequence[str], reference: Sequence[str]) -> str:
    """One output as HTML."""
    if not output:
        return '<em class="none">no order</em>'
    parts = []
    for piece in pieces(output, reference):
        text = escape(" ".join(piece.words))
        if piece.kind == "moved":
            span = f"{piece.place},{piece.place + len(piece.words)}"
            text = f'<mark class="moved" data-span="{span}" tabindex="0">{text}</mark>'
        elif piece.kind == "other":
            text = f'<mark class="other" title="not in the reference">{text}</mark>'
        parts.append(text)
    missing = (Counter(reference) - Counter(output)).elements()
    parts += [f'<del title="missing">{escape(word)}</del>' for word in missing]
    return " ".join(parts)


def _controls(group: Group, number: int, sizes: Sequence[str], count: int) -> str:
    sorts = [("", "as in the run"), ("size", "by size")]
    if group.references is not None:
        for place, member in enumerate(group.members):
            sorts += [(f"bleu{place}", f"worst first: {member.name}"), (f"-bleu{place}", f"best first: {member.name}")]
    if group.references is not None and len(group.members) > 1:
        sorts.append(("spread", "systems farthest apart"))
    options = "".join(f'<option value="{escape(v, quote=True)}">{escape(t)}</option>' for v, t in sorts)
    spans = "".join(f'<option value="{name}">{name} tokens</option>' for name in sizes)
    differ = (
        '<label class="check"><input type="checkbox" name="differ"> only where systems differ</label>'
        if len(group.members) > 1
        else ""
    )
    return (
        f'<form class="controls" aria-label="Sort and filter the examples" data-for="examples-{number}">'
        f'<label>Order <select name="sort">{options}</select></label>'
        f'<label>Size <select name="size"><option value="">all sizes</option>{spans}</select></label>'
        f'<label>Find <input type="search" name="find" placeholder="words" autocomplete="off"></label>{differ}'
        f'<output aria-live="polite">{count} shown</output></form>'
    )


def _article(group: Group, bag: int, size: str, drawing: str, colours: Mapping[str, int]) -> str:
    tokens, name = group.bags[bag].tokens, escape(group.bags[bag].id)
    reference = group.references[bag] if group.references is not None else None
    scores = [round(float(member.sentence_bleu[bag]), 2) for member in group.members]
    outputs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, member in enumerate(group.members):
        outputs[member.outputs[bag]].append(place)
    rows = []
    for output, places in outputs.items():
        names = [group.members[place].name for place in places]
        keys = " ".join(system_name(name, colours) for name in names)
        rows.append(_output_row(keys, output, reference, scores[places[0]]))
    if reference is not None:
        words = " ".join(f"<span>{escape(word)}</span>" for word in reference)
        first = f'<div class="row ref"><div class="who">reference</div><p>{words}</p></div>'
    else:
        first = f'<div class="row ref"><div class="who">bag</div><p>{escape(" ".join(tokens))}</p></div>'
    facts = _facts(group, bag)
    return (
        f'<article data-n="{bag}" data-size="{size}" data-tokens="{len(tokens)}" data-kinds="{len(outputs)}" '
        f"data-bleu='{json.dumps(scores)}'>"
        f"<header><b>bag {name}</b> <span>{len(tokens)} tokens{facts}</span></header>"
        f"{first}{''.join(rows)}{drawing}</article>"
    )


def _output_row(keys: str, output: Sequence[str], reference: Sequence[str] | None, score: float) -> str:
    if reference is None:
        return f'<div class="row"><div class="who">{keys}</div><p>{escape(" ".join(output)) or "no order"}</p></div>'
    same = tuple(output) == tuple(reference)
    told = '<span class="score same">✓ exact</span>' if same else f'<span class="score">{score:.1f}</span>'
    return f'<div class="row"><div class="who">{keys}{told}</div><p>{mark_output(output, reference)}</p></div>'


def _facts(group: Group, bag: int) -> str:
    """What the first run tells of the bag, when it is out of the ordinary."""
    reasons = [
        f"{member.name}: {member.entries[bag].result.get('reason')}"
        for member in group.members
        if member.entries and not member.entries[bag].ok
    ]
    return "".join(f" · {escape(reason)}" for reason in reasons)


def _drawing(group: Group, bag: int) -> str:
    """The lattice of the first run that has one, kept out of the page until it is asked for."""
    if len(group.bags[bag]) > LARGEST_DRAWN:
        return ""
    for member in group.members:
        if member.run is None or not member.entries[bag].ok or not member.run.folder.lattice(bag).exists():
            continue
        lattice = member.run.lattice(bag)
        if lattice is not None and not lattice.empty():
            svg = draw_orders(lattice, ORDERS_DRAWN)
            listed = _orders(lattice.nbest(ORDERS_DRAWN))
            inside = f'<template><div class="wide">{svg or ""}</div>{listed}</template>'
            return f'<details class="drawn"><summary>Lattice of {escape(member.name)}</summary>{inside}</details>'
    return ""


def _orders(hypotheses: Sequence[Hypothesis]) -> str:
    rows = "".join(f"<li>{escape(' '.join(h.tokens))} <small>{h.cost:.2f}</small></li>" for h in hypotheses)
    return f"<ol>{rows}</ol>"
