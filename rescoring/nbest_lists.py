"""The n-best lists of one or several runs, put together to tune weights on.

NbestLists  lists that grow run by run; a string is there once
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from gyro.lattice.nbest import NbestEntry, read_moses
from gyro.run.folder import Run
from rescoring.tuning import TuningSet, tuning_set

Features = dict[str, float]


def single_values(entry: NbestEntry) -> Features:
    """The features of an entry, as our own lists have them: one value each."""
    return {name: values[0] for name, values in entry.features.items()}


class NbestLists:
    """For each sentence its strings with their features."""

    def __init__(self, sentences: int) -> None:
        self._lists: list[dict[tuple[str, ...], Features]] = [{} for _ in range(sentences)]

    def add(self, run: Run, features: Callable[[NbestEntry], Features] = single_values) -> None:
        """Put the lists of a run to those there are."""
        for sentence, entries in groupby(read_moses(run.folder.nbest_moses), key=lambda entry: entry.sentence):
            for entry in entries:
                self._lists[sentence][entry.tokens] = features(entry)

    def tuning_set(self, references: Sequence[Sequence[str]]) -> TuningSet:
        """All lists with the references of their sentences."""
        return tuning_set([list(strings.items()) for strings in self._lists], references)
