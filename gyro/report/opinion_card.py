"""The part of a report on what models say that were asked: of all systems the same question.

opinion_card     a table for each model and system, and the figures
opinion_figures  for each model who errs, and what words cost along the sentence
along            for one bag what each word of the reference and of the outputs costs

gyro.report.opinion has the numbers, opinions.html the HTML.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gyro.report.data import Group, Member
from gyro.report.figures import INK, Axes, Figure, Key, Point, Series, line_chart, share_bars
from gyro.report.markup import Markup, part
from gyro.report.model_costs import MODEL_ERRS, SAME, SEARCH_ERRS, WHOLE, summarise
from gyro.report.opinion import AskedModel, Opinions
from gyro.report.tables import system_key
from gyro.score.outputs import Sentence

Colours = Mapping[str, int]
PARTS = ("first fifth", "second", "third", "fourth", "last fifth", "end")
_TEMPLATE = "opinions.html"
_VERDICTS = (MODEL_ERRS, SAME, SEARCH_ERRS)


class _Row(NamedTuple):
    """A system under a model; `is_own` says that it has searched or rescored with this very model."""

    name: str
    key: Key
    is_own: bool
    cells: list[str]


class _Model(NamedTuple):
    name: str
    rows: list[_Row]


class _Line(NamedTuple):
    """The reference or an output; `costs` has, as JSON, for each model what its words cost, and last its end."""

    systems: list[tuple[str, Key]]
    words: Sentence
    costs: str
    totals: str


def opinion_card(group: Group, opinions: Opinions, colours: Colours) -> Markup:
    """Empty where the bags have no references or no model is asked."""
    if group.references is None or not opinions.models:
        return Markup()
    models = [
        _Model(model.name, [_row(group, opinions, model, member, colours) for member in group.members])
        for model in opinions.models
    ]
    head = [
        *("System", "Output, nats a word", "Reference, nats a word"),
        *("Bags where the output costs less", "the same", "the reference costs less"),
    ]
    return part(_TEMPLATE, "opinions", head=head, models=models, figures=opinion_figures(group, opinions, colours))


def _row(group: Group, opinions: Opinions, model: AskedModel, member: Member, colours: Colours) -> _Row:
    summary = summarise(opinions.bag_costs(model, group, member))[:1]
    is_own = f'"{model.signature}"' in json.dumps(dict(member.settings))
    if not summary:
        return _Row(member.name, system_key(member.name, colours), is_own, ["–"] * 5)
    [found] = summary
    total = found.counts.total()
    means = [f"{mean:.3f}" if mean is not None else "–" for mean in (found.output, found.reference)]
    shares = [f"{found.counts[name]} ({100 * found.counts[name] / total:.0f} %)" for name in _VERDICTS]
    return _Row(member.name, system_key(member.name, colours), is_own, means + shares)


def opinion_figures(group: Group, opinions: Opinions, colours: Colours) -> list[Figure]:
    """An empty list where the bags have no references."""
    if group.references is None:
        return []
    figures = []
    for model in opinions.models:
        counts = {m.name: _counts(group, opinions, model, m) for m in group.members}
        note = "bags whose output costs less: the model errs; whose reference costs less: the search errs"
        figures.append(share_bars(f"Who errs, by {model.name}", counts, _VERDICTS, note=note))
        figures.append(_along_chart(group, opinions, model, colours))
    return figures


def _counts(group: Group, opinions: Opinions, model: AskedModel, member: Member) -> dict[str, int]:
    costs = opinions.bag_costs(model, group, member)
    return dict(Counter(bag.verdict(WHOLE) for bag in costs if bag is not None))


def _along_chart(group: Group, opinions: Opinions, model: AskedModel, colours: Colours) -> Figure:
    """What a word costs on average in each fifth of its sentence, and the end of it."""
    assert group.references is not None
    strings = {"reference": (group.references, INK)}
    strings |= {member.name: (member.outputs, colours[member.name]) for member in group.members}
    series = []
    for name, (of_bags, colour) in strings.items():
        means = _means_along([opinions.of(model, string) for string in of_bags if string])
        points = [Point(place, mean) for place, mean in zip(PARTS, means, strict=True) if mean is not None]
        series.append(Series(name, points, colour))
    axes = Axes(PARTS, "place of the word in its sentence", "nats a word", form=lambda value: f"{value:.3g}")
    return line_chart(
        f"Costs along the sentence, by {model.name}", series, axes, note="mean over the words of all bags"
    )


def _means_along(costs: Sequence[np.ndarray]) -> list[float | None]:
    """The mean cost of words in each part of PARTS; None where there is none."""
    values: list[list[float]] = [[] for _ in PARTS]
    last = len(PARTS) - 1
    for of_words in costs:
        words = len(of_words) - 1
        for place, cost in enumerate(of_words[:-1].tolist()):
            values[last * place // words].append(cost)
        values[last].append(float(of_words[-1]))
    return [float(np.mean(each)) if each else None for each in values]


def along(group: Group, opinions: Opinions, bag: int, colours: Colours) -> Markup:
    """What each word costs: a line for the reference and for each different output; nothing for an empty bag."""
    reference = group.references[bag] if group.references is not None else ()
    if not reference or not opinions.models:
        return Markup()
    systems: dict[Sentence, list[tuple[str, Key]]] = {}
    for member in group.members:
        if member.outputs[bag]:
            systems.setdefault(member.outputs[bag], []).append((member.name, system_key(member.name, colours)))
    shown = [(reference, systems.pop(reference, [])), *systems.items()]
    lines = [_line(opinions, string, names) for string, names in shown]
    models = [model.name for model in opinions.models]
    return part(_TEMPLATE, "along", lines=lines, models=models, names=json.dumps(models, ensure_ascii=False))


def _line(opinions: Opinions, string: Sentence, systems: list[tuple[str, Key]]) -> _Line:
    costs = [opinions.of(model, string).tolist() for model in opinions.models]
    totals = " · ".join(f"{model.name} {sum(of):.1f}" for model, of in zip(opinions.models, costs, strict=True))
    return _Line(systems, string, json.dumps([[round(cost, 2) for cost in of] for of in costs]), totals)
