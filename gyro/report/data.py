"""What a report is about: runs and files read, grouped by the bags they are of, scored and compared.

read_groups  runs and files → groups
Group        the systems that ordered the same bags, and their comparison
Member       one system of a group: its outputs and, for a run, its records, times and settings
SizePoint    the bags of one size, or of a few sizes, in a run: times, memory and phrases
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from gyro.errors import InputError
from gyro.files import parse_object, read_json
from gyro.report.model_costs import BagCosts, read_costs
from gyro.run.folder import Entry, Run, open_run
from gyro.run.outcome import Outcome
from gyro.run.title import system_names
from gyro.score.bleu import sentence_bleu
from gyro.score.evaluation import SIZES, Statistics, measure, read_outputs
from gyro.score.metric import Floats
from gyro.score.outputs import Sentence
from gyro.score.significance import Comparison, Difference, compare_statistics, paired_test
from gyro.text.bag import Bag
from gyro.text.corpus import read_lines

Signature = Callable[[Path], str]

_LAST_SINGLE = 20
_ORDER_KEYS = ("lm_order", "model_order", "order")


class SizePoint(NamedTuple):
    """The bags of one size in a run, or of a few sizes: `sizes` says which, `size` is their middle."""

    sizes: str
    size: float
    bags: int
    seconds: float
    slowest: float
    memory: int
    phrases: float | None


@dataclass(frozen=True)
class Member:
    """One system of a group; `run` is None for a file of sentences.

    `parent` names the run whose lattices this one was made from. A guest is a system that ordered more bags than the
    group has; here it has the outputs for the group's bags alone, so that it can be compared.
    """

    name: str
    path: Path
    outputs: tuple[Sentence, ...]
    run: Run | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    oracles: Mapping[str, tuple[Sentence, ...]] = field(default_factory=dict)
    statistics: Statistics | None = None
    parent: str | None = None
    is_guest: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.run.settings if self.run else {}

    @cached_property
    def sentence_bleu(self) -> Floats:
        if self.statistics is None:
            return np.zeros(len(self.outputs))
        return sentence_bleu(self.statistics.by_metric["bleu"])

    @cached_property
    def costs(self) -> list[BagCosts | None]:
        """What the models say of each output and its reference; an empty list without a neural model."""
        return [] if self.run is None else read_costs(self.run, self.outputs)

    def lm_order(self) -> int | None:
        """The order of the language model, where the settings tell it."""
        found = [value for key in _ORDER_KEYS for value in _values(self.settings, key) if isinstance(value, int)]
        return max(found, default=None)

    def outcomes(self) -> list[Outcome]:
        """What came of the bags that were ordered."""
        return [entry.outcome for entry in self.entries if entry.ok]

    def by_size(self) -> list[SizePoint]:
        """Time, memory and phrases by the number of tokens of the bag; sizes over 20 are few each, so five are one."""
        if self.run is None:
            return []
        of_size: dict[tuple[int, int], list[Entry]] = defaultdict(list)
        for bag, entry in zip(self.run.bags, self.entries, strict=True):
            size = len(bag)
            last = size if size <= _LAST_SINGLE else size + -size % 5
            of_size[size if size <= _LAST_SINGLE else last - 4, last].append(entry)
        return [_size_point(span, of_size[span]) for span in sorted(of_size)]


@dataclass(frozen=True)
class Group:
    """The systems that ordered the same bags; `references` and `comparison` are None where the bags have none."""

    members: tuple[Member, ...]
    bags: Sequence[Bag]
    references: tuple[Sentence, ...] | None
    comparison: Comparison | None

    @property
    def label(self) -> str:
        sizes = [len(bag) for bag in self.bags]
        span = f"{min(sizes)}–{max(sizes)}" if min(sizes) < max(sizes) else str(max(sizes))
        return f"{len(self.bags)} bags of {span} tokens"

    def member(self, name: str) -> Member:
        return next(member for member in self.members if member.name == name)

    def chains(self) -> list[tuple[int, Member]]:
        """The runs that others of the group were made from, each followed by those; the number is the depth.

        Empty when no run was made from another.
        """
        if all(member.parent is None for member in self.members):
            return []
        rows: list[tuple[int, Member]] = []

        def add(parent: Member, depth: int) -> None:
            rows.append((depth, parent))
            for member in self.members:
                if member.parent == parent.name:
                    add(member, depth + 1)

        parents = {member.parent for member in self.members}
        for member in self.members:
            if member.parent is None and member.name in parents:
                add(member, 0)
        return rows

    def step(self, member: Member) -> Difference | None:
        """What a stage brought in BLEU over its input."""
        if member.parent is None or member.statistics is None:
            return None
        parent = self.member(member.parent).statistics
        return None if parent is None else paired_test(member.statistics, parent)


def read_groups(
    named: Sequence[tuple[Path, str | None]],
    *,
    baseline: str | None = None,
    sizes: Iterable[int] = SIZES,
    tokenize: str = "none",
    signature: Signature | None = None,
) -> list[Group]:
    """Read runs and files of sentences; a file goes with the first runs that have as many bags as it has lines.

    `signature` gives the signature of the lattices in a folder: a run's settings name its input by it.
    """
    if not named:
        raise InputError("found no run to report on")
    names = system_names(named)
    baseline = _known_baseline(baseline, named, names)
    if baseline is not None and baseline not in names:
        raise InputError(f"found the baseline {baseline!r}; the systems are {', '.join(names)}")
    paths = [path for path, _ in named]
    runs = {n: _read_run(n, p) for n, p in zip(names, paths, strict=True) if p.is_dir()}
    by_bags: dict[str, list[Member]] = defaultdict(list)
    for member in runs.values():
        by_bags[str(member.record["bags_sha256"])].append(member)
    if not by_bags:
        raise InputError("found no folder of a run; a report needs at least one", path=paths[0])
    for name, path in zip(names, paths, strict=True):
        if name not in runs:
            key, member = _read_file(name, path, by_bags)
            by_bags[key].append(member)
    lasts = tuple(sizes)
    order = {name: place for place, name in enumerate(names)}
    groups = []
    for members in by_bags.values():
        hosts = [*_with_parents(members, signature), *_guests(members, by_bags.values())]
        groups.append(_group(sorted(hosts, key=lambda member: order[member.name]), baseline, lasts, tokenize))
    return groups


def _known_baseline(baseline: str | None, named: Sequence[tuple[Path, str | None]], names: Sequence[str]) -> str | None:
    """The name of the baseline, which may also be told by its folder where no other has the same."""
    folders = [name for name, (path, _) in zip(names, named, strict=True) if path.resolve().name == baseline]
    return folders[0] if baseline not in names and len(folders) == 1 else baseline


def _guests(members: Sequence[Member], groups: Iterable[Sequence[Member]]) -> list[Member]:
    """The systems of other groups that ordered all the bags of these and more, cut down to these bags."""
    bags = _bags_of(members)
    guests = []
    for others in groups:
        number = {(bag.tokens, bag.reference): place for place, bag in enumerate(_bags_of(others))}
        places = [number.get((bag.tokens, bag.reference), -1) for bag in bags]
        if others is not members and min(places, default=-1) >= 0:
            guests += [Member(m.name, m.path, tuple(m.outputs[p] for p in places), is_guest=True) for m in others]
    return guests


def _bags_of(members: Sequence[Member]) -> Sequence[Bag]:
    return next(member.run.bags for member in members if member.run)


def _read_run(name: str, path: Path) -> Member:
    run = open_run(path)
    outputs = tuple(tuple(line.split()) for line in run.best())
    if len(outputs) != len(run.bags):
        raise InputError(f"found {len(outputs)} lines; the run has {len(run.bags)} bags", path=run.folder.best)
    oracles = {
        file.stem.removeprefix("oracle").lstrip("-_") or "oracle": tuple(
            read_outputs(file, [bag.reference or bag.tokens for bag in run.bags], run.folder.bags)
        )
        for file in sorted(path.glob("oracle*.txt"))
    }
    return Member(name, path, outputs, run, read_json(run.folder.run), _read_entries(run), oracles)


def _read_entries(run: Run) -> tuple[Entry, ...]:
    """Results with times; no lattice is read, so these may have been deleted."""
    path = run.folder.times
    lines = list(read_lines(path))
    if len(lines) != len(run.outcomes):
        raise InputError(f"found {len(lines)} lines; the run has {len(run.outcomes)} bags", path=path)
    entries = []
    for number, (line, outcome) in enumerate(zip(lines, run.outcomes, strict=True), 1):
        match parse_object(line, path, number):
            case {"seconds": int() | float() as seconds, "memory": int() as memory}:
                entries.append(Entry(outcome, float(seconds), memory))
            case _:
                raise InputError("found a line without seconds and memory", path=path, line=number)
    return tuple(entries)


def _read_file(name: str, path: Path, by_bags: Mapping[str, list[Member]]) -> tuple[str, Member]:
    outputs = tuple(tuple(line.split()) for line in read_lines(path))
    lines = {key: len(members[0].outputs) for key, members in by_bags.items()}
    fitting = [key for key, count in lines.items() if count == len(outputs)]
    if not fitting:
        allowed = " or ".join(sorted({str(count) for count in lines.values()}))
        raise InputError(f"found {len(outputs)} lines; the runs have {allowed} bags", path=path)
    return fitting[0], Member(name, path, outputs)


def _with_parents(members: Sequence[Member], signature: Signature | None) -> list[Member]:
    """The members, each with its parent where it was made from the lattices of another."""
    if signature is None or not any("lattices" in member.settings for member in members):
        return list(members)
    known = {signature(member.path): member.name for member in members if member.run}
    return [replace(member, parent=known.get(str(member.settings.get("lattices")))) for member in members]


def _group(members: Sequence[Member], baseline: str | None, sizes: tuple[int, ...], tokenize: str) -> Group:
    bags = _bags_of(members)
    if not bags:
        raise InputError("the run has no bags to report on", path=members[0].path)
    references = [bag.reference for bag in bags if bag.reference is not None]
    if len(references) < len(bags):
        return Group(tuple(members), bags, None, None)
    measured = [replace(m, statistics=measure(m.outputs, references, tokenize=tokenize)) for m in members]
    statistics = {member.name: member.statistics for member in measured if member.statistics is not None}
    chosen = baseline if baseline in statistics else None
    comparison = compare_statistics(statistics, baseline=chosen, ids=[bag.id for bag in bags], sizes=sizes)
    return Group(tuple(measured), bags, tuple(references), comparison)


def _size_point(span: tuple[int, int], entries: Sequence[Entry]) -> SizePoint:
    first, last = span
    seconds = [entry.seconds for entry in entries]
    phrases = [entry.outcome.phrases for entry in entries if entry.outcome.phrases is not None]
    return SizePoint(
        f"{first}–{last}" if first < last else str(first),
        (first + last) / 2,
        len(entries),
        median(seconds),
        max(seconds),
        max(entry.memory for entry in entries),
        fmean(phrases) if phrases else None,
    )


def _values(settings: Any, key: str) -> list[Any]:
    """All values under a key, at whatever depth."""
    if isinstance(settings, Mapping):
        own = [settings[key]] if key in settings else []
        return own + [found for value in settings.values() for found in _values(value, key)]
    if isinstance(settings, list):
        return [found for value in settings for found in _values(value, key)]
    return []
