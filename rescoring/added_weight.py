"""Models whose costs are added, with a weight, to those of n-best strings.

tune_added_weight  the weight, by an exact line search on a development set
known_features     the columns that strings have already in the n-best lists of a run
LEAST_WEIGHT       what stands for "it does not help"
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import numpy as np

from gyro.lattice.nbest import NbestEntry, read_jsonl
from gyro.run.folder import RunFolder, open_run
from rescoring.nbest_lists import NbestLists, single_values
from rescoring.source import FIRST_PASS, open_lattices
from rescoring.stage import Development, Stage, run_stage
from rescoring.tuning import line_search

LEAST_WEIGHT = 1e-6  # a run needs a weight

Known = Mapping[str, Mapping[tuple[str, ...], Mapping[str, float]]]  # by the id of the lattice, then by the string


def tune_added_weight(development: Development, stage: Stage, feature: str, start: float) -> tuple[float, float]:
    """The weight with the best BLEU of all, and that BLEU; the lists are those of the stage with the weight `start`."""

    def before_and_added(entry: NbestEntry) -> dict[str, float]:
        added = entry.features[feature][0]
        return {FIRST_PASS: -entry.cost - start * added, feature: added}

    target = development.folder / "start"
    run_stage(stage, open_lattices(development.lattices), target, place=development.place, **development.options)
    lists = NbestLists(len(development.references))
    lists.add(open_run(target), before_and_added)
    data = lists.tuning_set(development.references)
    before, added = np.eye(2)
    weight = max(LEAST_WEIGHT, round(line_search(data, before, added), 6))
    return weight, data.bleu(before + weight * added)


def known_features(path: str | PathLike[str]) -> Known:
    """The features in the n-best lists of a run folder; of lattices from elsewhere none are known."""
    known: dict[str, dict[tuple[str, ...], dict[str, float]]] = {}
    lists = RunFolder(path).nbest_jsonl
    for entry in read_jsonl(lists) if lists.exists() else ():
        known.setdefault(entry.id, {})[entry.tokens] = single_values(entry)
    return known
