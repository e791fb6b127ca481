"""The table of templates against the paper's list, spelt out by the twin."""

from __future__ import annotations

from itertools import pairwise

import pytest

from comparison.transition import template
from comparison.transition.template import ALWAYS, NUM_VALUES, STANDARD, TEMPLATES, ZGEN, pack
from tests.comparison.transition.twin import NAMES

NODE = {"W": "w", "P": "p", "LW": "lw", "LP": "lp", "RW": "rw", "RP": "rp"}
NODE |= {"L2W": "l2w", "L2P": "l2p", "R2W": "r2w", "R2P": "r2p"}


def name_of() -> dict[int, str]:
    found = {base + getattr(template, key): f"{s}{name}" for s, base in (("S0", template.S0), ("S1", template.S1))
             for key, name in NODE.items()}  # fmt: skip
    order = {"W0": "w0", "W1": "w-1", "W2": "w-2", "P0": "p0", "P1": "p-1", "P2": "p-2"}
    return found | {getattr(template, key): name for key, name in order.items()}


def test_the_standard_table_is_the_papers() -> None:
    names = name_of()
    found = {number: {names[value] for value in values} for group in STANDARD for number, *values in group.templates}
    assert len(found) == 70
    assert found == {number: set(text.split()) for number, text in NAMES.items()}
    # the order of values matters to the hash
    order = {number: [names[value] for value in values] for group in STANDARD for number, *values in group.templates}
    assert order == {number: text.split() for number, text in NAMES.items()}


@pytest.mark.parametrize("name", TEMPLATES)
def test_numbers_and_combinations_are_distinct(name: str) -> None:
    templates = [t for group in TEMPLATES[name] for t in group.templates]
    assert len({number for number, *_ in templates}) == len(templates)
    assert len({frozenset(values) for _, *values in templates}) == len(templates)
    assert all(0 <= value < NUM_VALUES for _, *values in templates for value in values)


def test_zgen_adds_to_the_standard_table() -> None:
    assert ZGEN[: len(STANDARD)] == STANDARD
    assert sum(len(group.templates) for group in ZGEN) == 70 + 4 + 4 + 16 + 16


PRESENT_WITH = {"LW": "LP L_FAR", "L2W": "L2P", "RW": "RP R_FAR", "R2W": "R2P"}


def test_a_group_is_skipped_only_where_none_of_its_templates_fires() -> None:
    """Word, tag and distance of a node are there together; the tables ask for one of them."""
    together = {frozenset({template.FAR})}
    for node in (template.S0, template.S1):
        for first, others in PRESENT_WITH.items():
            together.add(frozenset(node + getattr(template, name) for name in (first, *others.split())))
    for group in (group for group in ZGEN if group.needs != ALWAYS):
        present = next(values for values in together if group.needs in values)
        assert all(present & set(values) for _, *values in group.templates)


def test_a_packed_table_says_the_same() -> None:
    packed = pack(ZGEN)
    ends = [0, *packed.ends]
    values = [tuple(packed.values[a:b]) for a, b in pairwise(ends)]
    assert values == [tuple(t[1:]) for group in ZGEN for t in group.templates]
    bounds = [0, *packed.key_ends]
    keys = [set(packed.key_values[a:b]) for a, b in pairwise(bounds)]
    assert keys == [{value for t in group.templates for value in t[1:]} for group in ZGEN]
