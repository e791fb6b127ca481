"""Pairs of orders of the same bag, drawn for judges who do not know whose they are.

read_trial  runs and files of orders → Trial
Trial       the pairs of a page in the order in which they are shown, and how many were left out
Pair        the orders of two systems for one bag

The order of the pairs, and which of two orders is shown first, are drawn by a seed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from gyro.errors import InputError
from gyro.judge.judgement import NAME_RULE, is_name
from gyro.run.folder import Run, open_run
from gyro.run.title import system_names
from gyro.score.evaluation import read_outputs
from gyro.score.outputs import Sentence
from gyro.text.bag import Bag
from gyro.text.detokenise import detokenise

SEED = 1
_MOST_SEED = 10**15  # a script knows whole numbers up to 2^53


@dataclass(frozen=True)
class Pair:
    """Two systems, as text the order of each, and which of them is shown first."""

    bag: str
    reference: str | None
    systems: tuple[str, str]
    orders: tuple[str, str]
    first: int

    @property
    def sides(self) -> tuple[str, str]:
        """The systems as they are shown."""
        return self.systems[self.first], self.systems[1 - self.first]


@dataclass(frozen=True)
class Trial:
    """The pairs to judge as they are shown; left out were those of equal orders, and those without an order."""

    systems: tuple[str, ...]
    pairs: tuple[Pair, ...]
    seed: int
    equal: int
    missing: int

    @property
    def bags(self) -> int:
        """How many bags the pairs are of."""
        return len({pair.bag for pair in self.pairs})


def read_trial(
    named: Sequence[tuple[Path, str | None]],
    *,
    seed: int = SEED,
    bags: int | None = None,
    longest: int | None = None,
    with_reference: bool = True,
    natural: bool = False,
) -> Trial:
    """Pairs of the orders of two or more systems, each a run or a file with a line for each bag of the first run.

    `bags` is the size of a sample of those bags that have a pair, `longest` the most tokens of a bag. With `natural`
    the orders are written as text is, and not as tokens with blanks between them.
    """
    if len(named) < 2:
        raise InputError(f"found {len(named)} system{'s'[len(named) :]}; two or more are needed for pairs")
    if abs(seed) >= _MOST_SEED:
        raise InputError(f"found the seed {seed}; whole numbers of less than 16 digits are allowed")
    names = system_names(named)
    for name in names:
        if not is_name(name):
            raise InputError(f"found the system name {name!r:.60}; {NAME_RULE}")
    of_system = _read_orders(names, [path for path, _ in named])
    known = _known_bags(of_system)
    write = detokenise if natural else " ".join
    by_bag: dict[str, list[Pair]] = {}
    equal = missing = 0
    dice = random.Random(seed)
    for bag in known.values():
        if longest is not None and len(bag) > longest:
            continue
        reference = write(bag.reference) if with_reference and bag.reference is not None else None
        for one, other in combinations(names, 2):
            found = (of_system[one].get(bag.id, (bag, ()))[1], of_system[other].get(bag.id, (bag, ()))[1])
            orders = (write(found[0]), write(found[1]))
            if not all(found):
                missing += 1
            elif orders[0] == orders[1]:
                equal += 1
            else:
                pair = Pair(bag.id, reference, (one, other), orders, dice.randrange(2))
                by_bag.setdefault(bag.id, []).append(pair)
    if not by_bag:
        raise InputError(f"found no two different orders of a bag by {', '.join(names)}")
    pairs = [pair for bag in _sample(list(by_bag), bags, dice) for pair in by_bag[bag]]
    dice.shuffle(pairs)
    return Trial(tuple(names), tuple(pairs), seed, equal, missing)


def _sample(bags: list[str], size: int | None, dice: random.Random) -> list[str]:
    if size is None:
        return bags
    if not 1 <= size <= len(bags):
        raise InputError(f"found --bags {size}; the orders differ on {len(bags)} bags: 1 to {len(bags)} are allowed")
    return dice.sample(bags, size)


Orders = Mapping[str, tuple[Bag, Sentence]]


def _read_orders(names: Sequence[str], paths: Sequence[Path]) -> dict[str, Orders]:
    """The bags and orders of each system by the id of the bag."""
    runs = {name: open_run(path) for name, path in zip(names, paths, strict=True) if path.is_dir()}
    if not runs:
        raise InputError("found no folder of a run; one at least is needed, which tells the bags", path=paths[0])
    first = next(iter(runs.values()))
    return {
        name: _orders_of(runs.get(name, first), path / "best.txt" if name in runs else path)
        for name, path in zip(names, paths, strict=True)
    }


def _orders_of(run: Run, path: Path) -> Orders:
    orders = read_outputs(path, [bag.reference or bag.tokens for bag in run.bags], run.folder.bags)
    found: dict[str, tuple[Bag, Sentence]] = {}
    for line, (bag, order) in enumerate(zip(run.bags, orders, strict=True), 1):
        if bag.id in found:
            message = f"found the bag {bag.id!r} twice; judgements are told apart by it"
            raise InputError(message, path=run.folder.bags, line=line)
        found[bag.id] = bag, order
    return found


def _known_bags(of_system: Mapping[str, Orders]) -> dict[str, Bag]:
    """The bags of all systems; those with the same id have the same words."""
    known: dict[str, tuple[str, Bag]] = {}
    for name, orders in of_system.items():
        for bag, _ in orders.values():
            other, same = known.setdefault(bag.id, (name, bag))
            if same.tokens != bag.tokens:
                raise InputError(f"found other words in bag {bag.id!r} of {name} than of {other}")
    return {id: bag for id, (_, bag) in known.items()}
