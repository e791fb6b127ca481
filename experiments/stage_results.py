"""Tables on what stages cost and bring.

seconds_table    seconds a bag of each run, and of the whole chain that led to it
gains_table      what something brings, with its interval: pairs of systems without and with it
reference_table  what outputs and references cost under a neural score, and so who errs
cut_systems      those whose bags were cut by their references
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import numpy as np

from experiments.markdown import markdown_table
from gyro.report.data import Group, Member
from gyro.report.model_costs import MODEL_ERRS, NEURAL, SAME, SEARCH_ERRS, UNKNOWN, neural_weight, summarise
from gyro.score.significance import p_text, paired_test


def seconds_table(group: Group) -> str:
    """By the clock of one process, which has one thread: CPU-seconds, where no other work takes the core from it."""
    rows = []
    for member in group.members:
        if member.entries:
            seconds = [entry.seconds for entry in member.entries]
            numbers = (
                fmean(seconds),
                median(seconds),
                float(np.percentile(seconds, 95)),
                _chain_seconds(group, member),
            )
            rows.append([member.name, *(f"{number:.2f}" for number in numbers)])
    return markdown_table(["system", "mean", "median", "95 %", "mean with all before it"], rows)


def _chain_seconds(group: Group, member: Member) -> float:
    own = fmean(entry.seconds for entry in member.entries)
    return own + (_chain_seconds(group, group.member(member.parent)) if member.parent else 0.0)


def gains_table(groups: Sequence[Group], pairs: Sequence[tuple[str, str]]) -> str:
    """A line for each pair whose two systems ordered the same bags here; "" where there is none."""
    rows = []
    for without, with_it in pairs:
        for group in groups:
            members = {member.name: member.statistics for member in group.members}
            before, after = members.get(without), members.get(with_it)
            if before is None or after is None:
                continue
            step = paired_test(after, before)
            scores = [f"{each.scores()['bleu']:.2f}" for each in (before, after)]
            told = [
                f"{step.difference:+.2f}",
                f"{step.low:+.2f} to {step.high:+.2f}",
                p_text(step.p).removeprefix("= "),
            ]
            rows.append([without, with_it, *scores, *told])
            break
    head = ["without", "with", "BLEU without", "BLEU with", "difference", "95 %", "p"]
    return markdown_table(head, rows) if rows else ""


def reference_table(members: Sequence[Member]) -> str:
    """For the runs with a neural model, counts of bags and mean costs a word; "" where there is none."""
    rows = []
    for member in members:
        summaries = {summary.score: summary for summary in summarise(member.costs)}
        if not summaries:
            continue
        whole, neural = next(iter(summaries.values())), summaries.get(NEURAL)
        counts = [str(whole.counts[verdict]) for verdict in (SEARCH_ERRS, SAME, MODEL_ERRS, UNKNOWN)]
        means = [whole.output, whole.reference]
        means += [neural.output, neural.reference] if neural else [None, None]
        cells = [f"{mean:.3f}" if mean is not None else "" for mean in means]
        rows.append([member.name, f"{neural_weight(member.settings):.4g}", str(whole.counts.total()), *counts, *cells])
    head = ["system", "λ", "bags", "search error", "found", "model error", "reference not known"]
    head += [f"{what}, {whose}" for what in ("cost a word", "neural cost a word") for whose in ("output", "reference")]
    return markdown_table(head, rows) if rows else ""


def cut_systems(groups: Sequence[Group]) -> set[str]:
    """The systems whose bags, or those of the run that they go back to, were cut where the reference says."""
    return {member.name for group in groups for member in group.members if _is_cut(group, member)}


def _is_cut(group: Group, member: Member) -> bool:
    if any(entry.outcome.pieces for entry in member.entries):
        return True
    return member.parent is not None and _is_cut(group, group.member(member.parent))
