"""Lattice MBR over many lattices.

MbrTask    a source of lattices, the parameters, and perhaps evidence of other systems
mbr_best   the best string of each lattice
mbr_run    a run folder like that of `gyro generate`, with minus the gains as the costs of its lattices
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from gyro.bag import Bag
from gyro.batch import Outcome, Summary, run_batch
from gyro.errors import GyroError
from gyro.lattice import Hypothesis, Lattice
from gyro.nbest import cost_feature
from gyro.pool import Failure, run_tasks
from rescoring.evidence import Evidence, align
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.posterior import Posteriors
from rescoring.source import NO_LATTICE, LatticeSource

FEATURE = "MBR"


@dataclass(frozen=True)
class MbrTask:
    """What is decoded and how; the sentences of the evidence go with the lattices `by` order or id.

    `evidence_settings` tell one evidence from another in the run's settings.
    """

    source: LatticeSource
    parameters: MbrParameters = field(default_factory=MbrParameters)
    evidence: Evidence | None = None
    by: str = "order"
    evidence_settings: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """All that decides the results."""
        values = {name: None if value == np.inf else value for name, value in asdict(self.parameters).items()}
        mt = None if self.evidence is None else {"by": self.by, **self.evidence_settings}
        return {"command": "mbr", "lattices": self.source.signature, "parameters": values, "mt": mt}

    def posteriors(self) -> Callable[[int], Posteriors | None]:
        """The evidence of the lattice with a number; that all fit together is checked here."""
        evidence = self.evidence
        if evidence is None:
            return lambda number: None
        sentence = align(evidence, [item.id for item in self.source], self.by)
        return lambda number: evidence.posteriors(sentence[number])


def mbr_best(task: MbrTask, jobs: int = 1) -> Iterator[Hypothesis | None]:
    """The string with the highest gain of each lattice, in order; None where there is no lattice."""
    posteriors = task.posteriors()

    def decode(number: int) -> Hypothesis | None:
        lattice = task.source[number].lattice()
        if lattice is None or lattice.empty():
            return None
        return MbrDecoder(lattice).decode(task.parameters, mt=posteriors(number))

    _load_kernels()
    early: dict[int, Hypothesis | None] = {}
    ends = run_tasks(range(len(task.source)), decode, jobs=jobs)
    for number in range(len(task.source)):
        while number not in early:
            ended = next(ends)
            if isinstance(ended.result, Failure):
                raise GyroError(f"lattice {task.source[ended.task].id}: {ended.result.reason}")
            early[ended.task] = None if ended.result is None else Hypothesis(tuple(ended.result[0]), ended.result[1])
        yield early.pop(number)


def mbr_run(task: MbrTask, folder: str | PathLike[str], **options: Any) -> Summary:
    """Decode all lattices into a run folder; the options are those of `gyro.batch.run_batch`."""
    posteriors = task.posteriors()

    def work(number: int, _bag: Bag) -> Outcome:
        lattice = task.source[number].lattice()
        if lattice is None or lattice.empty():
            return Outcome(None, {"reason": NO_LATTICE})
        decoder, mt = MbrDecoder(lattice), posteriors(number)
        decoded = decoder.to_lattice(task.parameters, mt=mt)
        return Outcome(decoded, {"cost": decoder.decode(task.parameters, mt=mt).cost, "arcs": decoded.num_arcs})

    def features(_number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        return cost_feature(FEATURE, hypotheses)

    _load_kernels()
    source = task.source
    return run_batch(
        source.bags(), folder, work, settings=task.settings(), words=source.words(), features=features, **options
    )


def _load_kernels() -> None:
    """Compiled code is loaded at its first use: here once, so that no worker pays for it."""
    words = ("a", "b")
    lattice = Lattice.from_strings(words, [Hypothesis(words, 0.0), Hypothesis(("a", "a"), 1.0)])
    decoder = MbrDecoder(lattice)
    parameters = MbrParameters()
    decoder.decode(parameters, mt=decoder.posteriors(1.0))
    decoder.to_lattice(parameters)
