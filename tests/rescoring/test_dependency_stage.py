"""The dependency model as a stage: costs and columns by spaCy's own trees, λ against a dense grid."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import read_jsonl
from gyro.run.batch import run_batch
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation
from gyro.text.parsing import parse_sentences
from lm.dependency.model import DependencyModel, estimate_dependency_model, load_dependency_model
from lm.dependency.parse import Parsed
from rescoring.added_weight import LEAST_WEIGHT
from rescoring.dependency_stage import DependencyStage, DependencyTuning
from rescoring.source import open_lattices
from rescoring.stage import Development, Place, TextWork, run_stage
from tests.orders import failed, ordered

SPLIT = Normalisation("none")
TEXT = [text.split() for text in ("the dog barks .", "the cat sleeps .", "a big dog sleeps .", "the cat sees a dog .")]
# The strings of each bag, the cheapest first; one without strings failed.
LISTS = [
    ["dog the barks .", "the barks dog .", "the dog barks .", ". barks dog the"],
    [],
    ["cat a sees the dog .", "a cat sees the dog .", "dog . the cat sees a"],
]
COSTS = (1.0, 1.5, 2.25, 4.0)
REFERENCES = ["the dog barks .", "x", "a cat sees the dog ."]
Columns = dict[str, float]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A folder with a model of TEXT's trees where a pipeline has it."""
    folder = tmp_path_factory.mktemp("models")
    parses = [Parsed(tuple(s), heads) for s, heads in zip(TEXT, parse_sentences(TEXT), strict=True)]
    estimate_dependency_model(parses, folder / DependencyStage.model_file, memory="64M", normalisation=SPLIT)
    return Place(folder=folder)


@pytest.fixture
def model(place: Place) -> DependencyModel:
    return load_dependency_model(place.folder / DependencyStage.model_file)


def columns(_number: int, hypotheses: Sequence[Hypothesis]) -> list[Columns]:
    return [{"LATTICE": -h.cost / 2, "LM": -h.cost / 4} for h in hypotheses]


def make_run(folder: Path, lists: Sequence[Sequence[str]] = LISTS, nbest: int = 100) -> Path:
    """A first pass with n-best lists of two columns."""
    references = [tuple(text.split()) for text in REFERENCES]
    bags = [Bag(reference, id=f"s{n}", reference=reference) for n, reference in enumerate(references)]

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        pairs = zip(lists[number], COSTS, strict=False)
        strings = [Hypothesis(tuple(text.split()), cost) for text, cost in pairs]
        return ordered(bag, strings) if strings else failed(bag)

    run_batch(bags, folder, work, settings={}, features=columns, nbest=nbest, log=io.StringIO())
    return folder


def tree_costs(model: DependencyModel, strings: Sequence[str]) -> list[float]:
    """By spaCy's trees and the model itself."""
    tokens = [text.split() for text in strings]
    return [model.score(t, heads) for t, heads in zip(tokens, parse_sentences(tokens), strict=True)]


@pytest.mark.parametrize(("weight", "nbest"), [(0.3, 100), (2.0, 2), (-0.5, 3)])
def test_strings_cost_what_they_did_and_their_trees(
    place: Place, model: DependencyModel, tmp_path: Path, weight: float, nbest: int
) -> None:
    source = open_lattices(make_run(tmp_path / "first"))
    summary = run_stage(DependencyStage(weight, nbest=nbest), source, tmp_path / "run", place=place, log=io.StringIO())
    assert (summary.ok, [id for id, _ in summary.failures]) == (2, ["s1"])
    entries = list(read_jsonl(tmp_path / "run" / "nbest.jsonl"))
    for number, strings in enumerate(LISTS):
        kept = strings[:nbest]  # the cheapest of the lattice
        trees = tree_costs(model, kept)
        expected = sorted((cost + weight * tree, text) for text, cost, tree in zip(kept, COSTS, trees, strict=False))
        found = [entry for entry in entries if entry.id == f"s{number}"]
        assert [" ".join(entry.tokens) for entry in found] == [text for _, text in expected]
        assert [entry.cost for entry in found] == pytest.approx([cost for cost, _ in expected], abs=1e-4)
        assert open_run(tmp_path / "run").best()[number] == (expected[0][1] if expected else "")


def test_columns_of_the_source_are_kept_and_others_get_their_cost_in_the_lattice(
    place: Place, model: DependencyModel, tmp_path: Path
) -> None:
    """The first pass has lists of two strings, the stage looks at all."""
    source = open_lattices(make_run(tmp_path / "first", nbest=2))
    run_stage(DependencyStage(0.7), source, tmp_path / "run", place=place, log=io.StringIO())
    found = {" ".join(entry.tokens): entry.features for entry in read_jsonl(tmp_path / "run" / "nbest.jsonl")}
    for strings in LISTS:
        for number, (text, cost, tree) in enumerate(zip(strings, COSTS, tree_costs(model, strings), strict=False)):
            before = {"LATTICE": -cost / 2, "LM": -cost / 4} if number < 2 else {"LATTICE": -cost}
            assert list(found[text]) == [*before, "DEP"]
            values = {name: value for name, (value,) in found[text].items()}
            assert values == pytest.approx({**before, "DEP": -tree}, abs=2e-3)


def development(place: Place, lattices: Path, folder: Path) -> Development:
    references = [bag.reference or () for bag in open_run(lattices).bags]
    return Development(lattices, references, place, folder, {"log": io.StringIO()})


def test_the_tuned_weight_is_as_good_as_any_of_a_dense_grid(
    place: Place, model: DependencyModel, tmp_path: Path
) -> None:
    trees = [tree_costs(model, strings) for strings in LISTS]

    def bleu(weight: float) -> float:
        best = []
        for strings, costs in zip(LISTS, trees, strict=True):
            totals = [cost + weight * tree for cost, tree in zip(COSTS, costs, strict=False)]
            best += [strings[int(np.argmin(totals))]] if strings else []
        references = [[REFERENCES[0], REFERENCES[2]]]  # a sentence without a list is left out
        return sacrebleu.corpus_bleu(best, references, tokenize="none", force=True).score

    tuning = DependencyTuning(start=0.4)
    tuned = tuning.tune(development(place, make_run(tmp_path / "first"), tmp_path / "tuning"))
    scores = [bleu(weight) for weight in np.geomspace(0.01, 10, 300)]
    assert len({round(score, 3) for score in scores}) > 1
    assert tuned.bleu == pytest.approx(bleu(tuned.values["lambda"]), abs=1e-6)
    assert tuned.bleu >= max(scores) - 1e-6
    assert tuning.stage(tuned.values, place) == DependencyStage(tuned.values["lambda"])


def test_a_model_that_does_not_help_gets_the_least_weight(place: Place, tmp_path: Path) -> None:
    lists = [[REFERENCES[0], "dog the barks ."], [], [REFERENCES[2], "cat a sees the dog ."]]
    tuned = DependencyTuning().tune(development(place, make_run(tmp_path / "first", lists), tmp_path / "tuning"))
    assert tuned.values == {"lambda": LEAST_WEIGHT}
    assert tuned.bleu == pytest.approx(100.0)


def test_a_pipeline_estimates_the_model_of_its_text(model: DependencyModel, tmp_path: Path) -> None:
    asked: list[int] = []
    made: dict[str, Any] = {}

    def sentences(count: int) -> Iterator[list[str]]:
        asked.append(count)
        return iter(TEXT)

    def make(name: str, target: Path, facts: Mapping[str, Any], do: Callable[[], None]) -> None:
        made.update(name=name, target=target, facts=facts)
        do()

    text = TextWork({"file": "text"}, tmp_path, SPLIT, 64 << 20, 1, sentences, make)
    stage = DependencyStage(sentences=500)
    stage.estimate(text)
    assert asked == [500]
    target = tmp_path / stage.model_file
    facts = {"text": {"file": "text"}, "order": 3, "sentences": 500}
    assert made == {"name": "dependency model", "target": target, "facts": facts}
    strings = [text for strings in LISTS for text in strings]
    assert tree_costs(load_dependency_model(target), strings) == pytest.approx(tree_costs(model, strings))
    assert DependencyStage(sentences=0).estimate_seconds > stage.estimate_seconds > 0


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    DependencyStage.add_arguments(parser)
    parser.add_argument("--weight", type=float, action="append", default=[])
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--beta", type=float)
    parser.add_argument("--nbest", type=int, default=100)
    return parser.parse_args(words)


def test_options_ask_for_it() -> None:
    assert DependencyStage.from_arguments(parse("--weight", "0.5")) is None
    words = ("--dependency-lm", "m", "--weight", "0.5", "--nbest", "7")
    assert DependencyStage.from_arguments(parse(*words)) == DependencyStage(0.5, nbest=7, model="m")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "found 0 weights; --dependency-lm takes one"),
        ("--weight 1 --weight 2", "found 2 weights; --dependency-lm takes one"),
        ("--weight 1 --add", "--add and --beta go with --lm"),
        ("--weight 1 --beta 3", "--add and --beta go with --lm"),
        ("--weight 0", "found the weight 0 of the dependency model; it would change nothing"),
        ("--weight 1 --nbest 0", "found n-best lists of 0; at least 1 is allowed"),
    ],
)
def test_options_that_do_not_fit(words: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DependencyStage.from_arguments(parse("--dependency-lm", "m", *words.split()))


def test_its_weight_goes_into_its_table() -> None:
    assert DependencyStage.weights_to_table({"DEP": 0.25}) == {"weight": 0.25}
    assert DependencyStage.weights_to_table({}) == {}
