"""Scoring n-best lists with a pretrained model: tokens a CPU-second against plain loops and another runtime.

python -m benchmarks.neural [--model default] [--lm NEWS.lm] [--index NEWS.index] [--lists 4] [--plain-strings 20]

main  print the tables; the lists are the 100 cheapest orders of bags of 14 to 16 tokens under a 4-gram model

*Computed* are the places of strings that went through the model: nodes of the trie, or all of them. *Effective* are the
tokens that got a cost, those of all strings with their ends.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray

from benchmarks.ctranslate2_scorer import BATCHES, Scorer, open_scorer
from benchmarks.material import CACHE, NORMALISATION, REFERENCES, made_index, made_model, references
from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.reader import TextIndex, open_index
from gyro.memory import private_memory
from gyro.pool import Failure, run_tasks
from gyro.search.generator import Generator
from gyro.text.bag import Bag
from gyro.text.corpus import read_sentences
from gyro.text.detokenise import detokenise
from gyro.text.embedded import write_embedded
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from lm.neural import plain
from lm.neural.compiled import compiled_folder
from lm.neural.model import NeuralModel, load_neural_model
from lm.neural.weights import Checkpoint

SIZES = range(14, 17)  # tokens of a bag
STRINGS = 100  # of a list
TRAIN, TEST = "sotu:1850-1999", "sotu:2000-2019"  # where the development text is not there
MB = 1 << 20

T = TypeVar("T")
Strings = list[tuple[str, ...]]


class Speed(NamedTuple):
    """CPU seconds, the tokens computed and scored in them, and the costs."""

    seconds: float
    computed: int
    effective: int
    costs: NDArray[np.float64]


def main(argv: list[str] | None = None) -> None:
    """Load, score in every way, fork; print what each took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.neural", description="Time the neural model.")
    parser.add_argument("--model", default="default", help="a GGUF file or Hugging Face folder (default: the embedded)")
    parser.add_argument("--lm", type=Path, help="a KenLM model (default: one of the development text)")
    parser.add_argument("--index", type=Path, help="a text index (default: one of the development text)")
    parser.add_argument("--lists", type=int, default=4, help="how many n-best lists (default 4)")
    parser.add_argument("--plain-strings", type=int, default=20, help="strings for the plain loops (default 20)")
    arguments = parser.parse_args(argv)
    try:
        load_neural_model(arguments.model)  # makes the graphs if they are missing
        model, load = timed(lambda: load_neural_model(arguments.model))
    except InputError as error:
        print(f"skipped: {error}")
        return
    lists = list(islice(make_lists(arguments.lm, arguments.index), arguments.lists))
    before = private_memory(psutil.Process())
    _, more = timed(model.load)
    loaded = private_memory(psutil.Process()) - before
    print_speeds(model, lists, arguments.plain_strings)
    print_costs_of_living(model, lists, load + more, loaded)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the CPU seconds that it took."""
    began = time.process_time()
    return work(), time.process_time() - began


# ---- lists


def make_lists(lm: Path | None, index: Path | None) -> Iterator[Strings]:
    """The cheapest orders of bags of references: of the development data, or of the embedded corpus."""
    found = _development(lm, index) if REFERENCES.exists() or (lm and index) else _embedded()
    generator = Generator(found.text, found.model)
    for tokens in found.references:
        if len(tokens) in SIZES:
            yield [each.tokens for each in generator.nbest(Bag(tuple(tokens)), STRINGS).hypotheses]


class Material(NamedTuple):
    """What n-best lists are made with."""

    text: TextIndex
    model: KenlmModel
    references: Iterator[Sequence[str]]


def _development(lm: Path | None, index: Path | None) -> Material:
    sentences = references() if REFERENCES.exists() else _sentences(TEST)
    return Material(open_index(index or made_index()), load_model(lm or made_model(4)), iter(sentences))


def _embedded() -> Material:
    index, lm = CACHE / "sotu.index", CACHE / "sotu-4gram.lm"
    if not (index.exists() and lm.exists()):
        print("making index and model of the embedded corpus (about a quarter of a minute)", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        text = list(_sentences(TRAIN))
        build_index(text, index, order=5, normalisation=NORMALISATION)
        estimate_model(text, lm, order=4, normalisation=NORMALISATION)
    return Material(open_index(index), load_model(lm), _sentences(TEST))


def _sentences(source: str) -> Iterator[list[str]]:
    return iter(read_sentences([write_embedded(source, CACHE)], NORMALISATION, paragraphs=True))


# ---- speed


def print_speeds(model: NeuralModel, lists: Sequence[Strings], few: int) -> None:
    """Every way; plain loops on the first strings of each list."""
    checkpoint = model.checkpoint
    pieces = [[ids for ids, _ in model.encode(list(map(detokenise, strings)))] for strings in lists]
    marked = [[(checkpoint.start, *ids, checkpoint.end) for ids in encoded] for encoded in pieces]
    each = max(1, few // len(lists))
    alone = [[string] for strings in lists for string in strings[:each]]
    exact = by_trie(model, lists, exact=True)
    base = by_numpy(checkpoint, [string for strings in marked for string in strings[:each]])
    speeds = {
        "trie, float32 (ours)": exact,
        "trie, eight bits (ours)": by_trie(model, lists, exact=False),
        "the same runtime, string by string, float32": by_trie(model, alone, exact=True),
        "the same runtime, string by string, eight bits": by_trie(model, alone, exact=False),
        "CTranslate2, batches, float32": by_ctranslate2(checkpoint, marked, "float32"),
        "CTranslate2, batches, int8": by_ctranslate2(checkpoint, marked, "int8"),
        "numpy, string by string": base,
    }
    places = sum(len(ids) for encoded in pieces for ids in encoded)
    sizes = sorted({len(strings[0]) for strings in lists})
    print(f"{len(lists)} lists of {len(lists[0])} orders of {sizes[0]} to {sizes[-1]} tokens, {model!r}")
    print(f"the trie saves {1 - exact.computed / places:.0%} of {places:,} tokens\n")
    print(f"{'tokens a CPU-second':46}{'computed':>10}{'effective':>11}{'× numpy':>9}{'rms error, nats a string':>26}")
    first = np.concatenate([costs[:each] for costs in np.split(exact.costs, np.cumsum(list(map(len, lists)))[:-1])])
    for name, speed in speeds.items():
        if speed is None:
            print(f"{name:46}  not measured: ctranslate2 is not installed, or cannot read this model")
            continue
        ratio = (speed.effective / speed.seconds) / (base.effective / base.seconds)
        wanted = exact.costs if len(speed.costs) == len(exact.costs) else first
        rates = f"{speed.computed / speed.seconds:10,.0f}{speed.effective / speed.seconds:11,.0f}"
        print(f"{name:46}{rates}{ratio:9.1f}{np.sqrt(np.mean((speed.costs - wanted) ** 2)):26.4f}")
    print()


def by_trie(model: NeuralModel, lists: Sequence[Strings], *, exact: bool) -> Speed:
    model.costs(lists[0][:2], exact=exact)
    found, seconds = timed(lambda: [model.count_costs(strings, exact=exact) for strings in lists])
    effective = sum(len(ids) + 1 for strings in lists for ids, _ in model.encode(list(map(detokenise, strings))))
    return Speed(seconds, sum(nodes for _, nodes in found), effective, np.concatenate([costs for costs, _ in found]))


def by_numpy(checkpoint: Checkpoint, strings: Sequence[Sequence[int]]) -> Speed:
    weights = checkpoint.read_weights()
    weights = replace(weights, layers=list(weights.layers))
    costs, seconds = timed(lambda: np.array([plain.string_cost(weights, string) for string in strings]))
    places = sum(len(string) - 1 for string in strings)
    return Speed(seconds, places, places, costs)


def by_ctranslate2(checkpoint: Checkpoint, lists: Sequence[Sequence[Sequence[int]]], precision: str) -> Speed | None:
    """With the size of batches that suits it best."""
    places = sum(len(string) - 1 for strings in lists for string in strings)
    speeds = []
    for batch in BATCHES:
        scorer = open_scorer(checkpoint, CACHE / "ctranslate2" / checkpoint.signature, precision, batch)
        if scorer is None:
            return None
        scorer(lists[0][:2])
        found, seconds = timed(partial(_each, scorer, lists))
        speeds.append(Speed(seconds, places, places, np.concatenate(found)))
    return min(speeds, key=lambda speed: speed.seconds)


def _each(scorer: Scorer, lists: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float64]]:
    return [scorer(strings) for strings in lists]


# ---- time to load, and memory


def print_costs_of_living(model: NeuralModel, lists: Sequence[Strings], load: float, loaded: int) -> None:
    """Seconds to prepare and to load; memory of one process, and of others forked from it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = replace(model.checkpoint, path=Path(folder) / model.checkpoint.path.name)
        made, prepare = timed(lambda: compiled_folder(copy))
        size = sum(path.stat().st_size for path in made.iterdir())
    forked = run_tasks(range(len(lists)), lambda i: own_memory(model, lists[i]), jobs=2)
    own = [end.result for end in forked if not isinstance(end.result, Failure)]
    print(f"prepare the graphs, once     {prepare:8.1f} CPU s, {size / MB:,.0f} MB on the disk")
    print(f"load                         {load:8.1f} CPU s, {loaded / MB:,.0f} MB of memory for both precisions")
    print(f"each further process, forked {max(own, default=0) / MB:8.0f} MB that are not shared, after scoring in both")


def own_memory(model: NeuralModel, strings: Strings) -> int:
    """The bytes that no other process has, after some scoring."""
    for exact in (True, False):
        model.costs(strings, exact=exact)
    return int(psutil.Process().memory_full_info().uss)


if __name__ == "__main__":
    main()
