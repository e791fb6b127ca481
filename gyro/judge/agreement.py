"""How far judges agree, beyond what chance would give.

measure_agreement   the coefficient that fits: Cohen's κ, Fleiss' κ or Krippendorff's α
Agreement           its name and value, and the share of pairs of judges who say the same
cohen_kappa         two judges of the same items (Cohen 1960)
fleiss_kappa        any number of judges, as many on each item (Fleiss 1971)
krippendorff_alpha  any number of judges, some items not judged by some; nominal (Krippendorff 2011)

Verdicts are categories without an order. A coefficient is 1 where all say the same and 0 where they agree as chance
does; it is None where only one category was ever given: chance alone would agree as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

Item = Hashable
Verdicts = Mapping[str, Mapping[Item, str]]  # by judge, then by item

COHEN, FLEISS, KRIPPENDORFF = "Cohen's κ", "Fleiss' κ", "Krippendorff's α"


class Agreement(NamedTuple):
    """`items` were judged by two judges or more; `observed` is how often two judges of an item say the same."""

    coefficient: str
    value: float | None
    observed: float
    items: int
    judges: int


def measure_agreement(verdicts: Verdicts) -> Agreement | None:
    """Cohen's κ of two judges; of more, Fleiss' κ where as many judged each item, else Krippendorff's α.

    Items that one judge alone has seen say nothing here; None where there are no others.
    """
    ratings: dict[Item, list[str]] = {}
    for of_judge in verdicts.values():
        for item, verdict in of_judge.items():
            ratings.setdefault(item, []).append(verdict)
    shared = {item: given for item, given in ratings.items() if len(given) > 1}
    if not shared:
        return None
    judges = [name for name, of_judge in verdicts.items() if any(item in shared for item in of_judge)]
    if len(judges) == 2:
        one, other = (verdicts[name] for name in judges)
        name, value = COHEN, cohen_kappa([one[item] for item in shared], [other[item] for item in shared])
    elif len({len(given) for given in shared.values()}) == 1:
        name, value = FLEISS, fleiss_kappa(list(shared.values()))
    else:
        name, value = KRIPPENDORFF, krippendorff_alpha(list(shared.values()))
    alike = sum(count * (count - 1) for given in shared.values() for count in Counter(given).values())
    pairs = sum(len(given) * (len(given) - 1) for given in shared.values())
    return Agreement(name, value, alike / pairs, len(shared), len(judges))


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float | None:
    """κ of two judges, who say these things of the same items.

    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    0.5
    """
    items = len(one)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / items
    first, second = Counter(one), Counter(other)
    chance = sum(count * second[name] for name, count in first.items()) / items**2
    return _beyond_chance(observed, chance)


def fleiss_kappa(ratings: Sequence[Sequence[str]]) -> float | None:
    """κ of what was said of each item, by as many judges each.

    >>> fleiss_kappa([["a", "a", "a"], ["b", "b", "b"]])
    1.0
    """
    judges = len(ratings[0])
    totals = Counter(verdict for given in ratings for verdict in given)
    alike = sum(count * (count - 1) for given in ratings for count in Counter(given).values())
    observed = alike / (len(ratings) * judges * (judges - 1))
    chance = sum(count**2 for count in totals.values()) / totals.total() ** 2
    return _beyond_chance(observed, chance)


def krippendorff_alpha(ratings: Sequence[Sequence[str]]) -> float | None:
    """α of what was said of each item, by two judges or more.

    >>> krippendorff_alpha([["a", "a", "a"], ["b", "b"]])
    1.0
    """
    coincidences = defaultdict[tuple[str, str], float](float)
    for given in ratings:
        for pair in permutations(given, 2):
            coincidences[pair] += 1 / (len(given) - 1)
    totals = Counter(verdict for given in ratings for verdict in given)
    values = totals.total()
    observed = sum(share for (a, b), share in coincidences.items() if a == b) / values
    chance = sum(count * (count - 1) for count in totals.values()) / (values * (values - 1))
    return _beyond_chance(observed, chance)


def _beyond_chance(observed: float, chance: float) -> float | None:
    return None if chance > 1 - 1e-12 else (observed - chance) / (1 - chance)
