"""Training on a treebank, iteration by iteration, of whatever learns weights; a training that was stopped goes on.

Treebank      what there is to learn from: how many sentences, and the example of each
Learner       what learns: weights with their averages, and how they change with a sentence
Learned       how the search for one sentence went
Plan          how long to train, and what the training must agree with to be gone on with
Iteration     how one iteration went
train         learn, try on development data after every iteration, keep the best weights
read_history  how the iterations of a training went
write_plot    the convergence as a figure
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comparison.learning.development import DevScore
from gyro.array_file import read_arrays
from gyro.bar import Bar
from gyro.errors import InputError
from gyro.files import check_type, parse_object, read_json, write_atomically, write_json, write_text
from gyro.text.corpus import read_lines

PROGRESS, HISTORY, PLOT = "checkpoint.json", "training.jsonl", "training.svg"
_SENTENCES_PER_CHECKPOINT = 2000


Example = TypeVar("Example")
Taken = TypeVar("Taken", contravariant=True)
Weights = NDArray[np.float32]


class Treebank(NamedTuple, Generic[Example]):
    """Sentences to learn from; `example` gives that of a number, or None when nothing can be learned from it."""

    size: int
    example: Callable[[int], Example | None]
    signature: str


class Learned(NamedTuple):
    """How the search for one sentence went: whether the right result came up, and the work that it took."""

    found: bool
    scored: int  # hypotheses that were scored
    expanded: int  # hypotheses that were taken up
    updates: int


class Learner(Protocol[Taken]):
    """Weights that change with every sentence: those of now, the sums of (clock · change), the sentences so far."""

    weights: Weights
    totals: NDArray[np.float64]
    clock: int

    def learn(self, example: Taken) -> Learned:
        """Search for the right result of a sentence, and mend the weights where the search goes wrong."""

    def averaged(self) -> Weights:
        """The weights to be kept after what was learned so far."""


@dataclass(frozen=True)
class Plan:
    """How long to train: `iterations`, or fewer once the development score has not risen for `patience` of them.

    `settings` are all that decides what becomes of the weights; a folder with others is not gone on with.
    """

    iterations: int
    seed: int = 0
    patience: int = 0  # 0: all iterations, whatever the scores
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Iteration:
    """One pass over the sentences: means a sentence, and the score afterwards."""

    number: int
    sentences: int
    found: float  # share of sentences whose right result came up
    scored: float
    expanded: float
    updates: float
    seconds: float
    dev_bleu: float | None = None
    dev_length_ratio: float | None = None
    dev_timeout_ratio: float | None = None
    dev_seconds: float | None = None

    def text(self) -> str:
        """One line."""
        line = f"iteration {self.number}: {self.found:.1%} found, {self.scored:.0f} hypotheses scored, "
        line += f"{self.expanded:.0f} expanded, {self.updates:.1f} updates a sentence, {self.seconds:.0f} s"
        if self.dev_bleu is not None:
            line += f"; dev BLEU {self.dev_bleu:.2f}, length {self.dev_length_ratio:.1%}"
            line += f", time-outs {self.dev_timeout_ratio:.1%}"
        return line


@dataclass(frozen=True)
class _State:
    """Where a training is: what PROGRESS holds besides the identity of the training."""

    iteration: int
    position: int
    clock: int
    sums: tuple[float, float, float, float, float, float]
    file: str


class _Tally:
    """Sums over the sentences of an iteration."""

    def __init__(self, sums: Sequence[float] = (0, 0, 0, 0, 0, 0.0)) -> None:
        self.sentences, self.found, self.scored, self.expanded, self.updates, self.seconds = sums

    def values(self) -> tuple[float, float, float, float, float, float]:
        return self.sentences, self.found, self.scored, self.expanded, self.updates, self.seconds

    def iteration(self, number: int, dev: DevScore | None) -> Iteration:
        count = max(self.sentences, 1)
        means = (self.found / count, self.scored / count, self.expanded / count, self.updates / count)
        scores = (None,) * 4 if dev is None else tuple(dev)
        return Iteration(number, int(self.sentences), *means, self.seconds, *scores)


def train(
    treebank: Treebank[Example],
    learner: Learner[Example],
    plan: Plan,
    folder: str | os.PathLike[str],
    save: Callable[[Weights, dict[str, Any]], object],
    *,
    evaluate: Callable[[Weights], DevScore] | None = None,
    facts: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = print,
) -> list[Iteration]:
    """Learn as planned. `save` is called with the best weights so far, and facts on them for the model's folder."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    identity = {"settings": dict(plan.settings), "treebank": treebank.signature, "seed": plan.seed}
    number, position, tally = _resume(path, learner, identity)
    history = read_history(path)[: number - 1]
    while number <= plan.iterations and not _has_settled(history, plan.patience):
        _run_iteration(treebank, learner, path, identity, number, position, tally)
        averaged = learner.averaged()
        dev = None if evaluate is None else evaluate(averaged)
        history.append(tally.iteration(number, dev))
        report(history[-1].text())
        if _is_best(history):
            save(averaged, {**(facts or {}), "iteration": asdict(history[-1]), "treebank": treebank.signature})
        _write_history(path, history)
        number, position, tally = number + 1, 0, _Tally()
        _save(path, learner, identity, number, position, tally)
    return history


def _has_settled(history: Sequence[Iteration], patience: int) -> bool:
    """Whether none of the last `patience` iterations was better than all before it."""
    if not patience or len(history) <= patience:
        return False
    return not any(_is_best(history[:end]) for end in range(len(history) - patience + 1, len(history) + 1))


def _run_iteration(
    treebank: Treebank[Example],
    learner: Learner[Example],
    path: Path,
    identity: dict[str, Any],
    number: int,
    first: int,
    tally: _Tally,
) -> None:
    order = list(range(treebank.size))
    random.Random(f"{identity['seed']} {number}").shuffle(order)
    bar = Bar(total=treebank.size, initial=first, unit=" sentences", desc=f"iteration {number}")
    began = time.monotonic()
    with bar:
        for position in range(first, treebank.size):
            example = treebank.example(order[position])
            if example is not None:
                learned = learner.learn(example)
                tally.sentences += 1
                tally.found += learned.found
                tally.scored += learned.scored
                tally.expanded += learned.expanded
                tally.updates += learned.updates
            bar.update()
            if (position + 1) % _SENTENCES_PER_CHECKPOINT == 0 and position + 1 < treebank.size:
                tally.seconds += time.monotonic() - began
                began = time.monotonic()
                _save(path, learner, identity, number, position + 1, tally)
    tally.seconds += time.monotonic() - began
    if not tally.sentences:
        raise InputError("found no sentence that something can be learned from")


def _is_best(history: Sequence[Iteration]) -> bool:
    """Whether the last iteration is the one to keep: the best on development data, or the last without any."""
    last = history[-1].dev_bleu
    return last is None or all(last > (earlier.dev_bleu or 0.0) for earlier in history[:-1])


def _save(
    path: Path, learner: Learner[Any], identity: dict[str, Any], number: int, position: int, tally: _Tally
) -> None:
    """The weights first: the small file that names them is written when they are whole."""
    name = f"checkpoint-{number}-{position}.npz"
    with write_atomically(path / name) as file:
        np.savez(file, weights=learner.weights, totals=learner.totals)
    state = _State(number, position, learner.clock, tally.values(), name)
    write_json(path / PROGRESS, {**identity, **asdict(state)})
    for old in path.glob("checkpoint-*.npz"):
        if old.name != name:
            old.unlink()


def _resume(path: Path, learner: Learner[Any], identity: dict[str, Any]) -> tuple[int, int, _Tally]:
    """Where to go on: iteration, position in it, and the sums so far."""
    if not (path / PROGRESS).exists():
        return 1, 0, _Tally()
    state = read_json(path / PROGRESS)
    if json.loads(json.dumps(identity)) != {key: state.get(key) for key in identity}:
        raise InputError("holds another training; choose another folder, or remove this one", path=path)
    begun = check_type(
        _State, {field.name: state.get(field.name) for field in fields(_State)}, "state of a training", path / PROGRESS
    )
    file = path / Path(begun.file).name
    weights, totals = read_arrays(file, "the weights of a training", weights=np.float32, totals=np.float64)
    if not len(weights) == len(totals) == len(learner.weights):
        raise InputError(f"found {len(weights)} weights; {len(learner.weights)} are needed", path=file)
    learner.weights[:], learner.totals[:] = weights, totals
    learner.clock = begun.clock
    return begun.iteration, begun.position, _Tally(begun.sums)


def read_history(folder: str | os.PathLike[str]) -> list[Iteration]:
    """How the iterations of a training went."""
    path = Path(folder) / HISTORY
    if not path.exists():
        return []
    records = ((parse_object(line, path, number), number) for number, line in enumerate(read_lines(path), 1))
    return [check_type(Iteration, record, "iteration of a training", path, number) for record, number in records]


def _write_history(path: Path, history: Sequence[Iteration]) -> None:
    write_text(path / HISTORY, "".join(json.dumps(asdict(iteration)) + "\n" for iteration in history))
    write_plot(path / PLOT, history)


def write_plot(path: str | os.PathLike[str], history: Sequence[Iteration]) -> None:
    """Draw the convergence: development BLEU, expanded edges, updates and time by iteration."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    numbers = [iteration.number for iteration in history]
    panels: list[tuple[str, list[float | None]]] = [
        ("development BLEU", [iteration.dev_bleu for iteration in history]),
        ("expanded hypotheses a sentence", [iteration.expanded for iteration in history]),
        ("updates a sentence", [iteration.updates for iteration in history]),
        ("minutes", [iteration.seconds / 60 for iteration in history]),
    ]
    with pyplot.rc_context(
        {"svg.hashsalt": "gyro", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure, axes = pyplot.subplots(1, len(panels), figsize=(11, 2.6), layout="constrained")
        for axis, (title, values) in zip(axes, panels, strict=True):
            known = [(n, value) for n, value in zip(numbers, values, strict=True) if value is not None]
            axis.plot(*zip(*known, strict=True) if known else ([], []), marker="o", color="#1b6ca8")
            axis.set_title(title, loc="left")
            axis.set_xlabel("iteration")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.grid(axis="y", alpha=0.25)
        with write_atomically(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        pyplot.close(figure)
