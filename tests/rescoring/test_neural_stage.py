"""The neural model as a stage, over runs and over lattices of other tools, on a tiny random model."""

from __future__ import annotations

import argparse
import io
import shutil
from collections.abc import Sequence
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
from lm.neural.model import load_neural_model
from rescoring.added_weight import LEAST_WEIGHT
from rescoring.neural_options import PIECES_A_WORD
from rescoring.neural_stage import NeuralStage, NeuralTuning
from rescoring.source import open_lattices
from rescoring.stage import Development, Place, run_stage
from tests.once import make_once
from tests.orders import failed, ordered
from tests.rescoring.conftest import Models
from tests.tiny_neural import NAME, write_tiny_neural

# The strings of each bag, the cheapest first; one without strings failed.
LISTS = [["a b c d", "b a c d", "d c b a", "c d a b"], [], ["a a b", "b a a", "a b a"], ["e d c b a", "a b c d e"]]
REFERENCES = ["d c b a", "x", "a b a", "a b c d e"]
COSTS = (1.0, 1.5, 2.25, 4.0)
FILES = ("best.txt", "nbest.txt", "nbest.jsonl", "results.jsonl")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)


@pytest.fixture
def guide(models: Models) -> Place:
    """The place of a pipeline whose first pass had the 3-gram model."""
    return Place(first_pass=str(models.trigram.path))


def columns(_number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
    return [{"LATTICE": -h.cost / 2, "DEP": -h.cost / 4} for h in hypotheses]


def make_run(folder: Path, lists: Sequence[Sequence[str]] = LISTS) -> Path:
    """A run with n-best lists of two columns."""
    references = [tuple(text.split()) for text in REFERENCES]
    bags = [Bag(reference, id=f"s{n}", reference=reference) for n, reference in enumerate(references)]

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        pairs = zip(lists[number], COSTS, strict=False)
        strings = [Hypothesis(tuple(text.split()), cost) for text, cost in pairs]
        return ordered(bag, strings) if strings else failed(bag)

    run_batch(bags, folder, work, settings={}, features=columns, log=io.StringIO())
    return folder


def neural_costs(model: str, strings: Sequence[str]) -> list[float]:
    """Each string scored alone."""
    loaded = load_neural_model(model)
    return [float(loaded.costs([text.split()])[0]) for text in strings]


def run_over(stage: NeuralStage, lattices: Path, folder: Path, place: Place | None = None, **options: Any) -> Path:
    run_stage(stage, open_lattices(lattices), folder, place=place, log=io.StringIO(), **options)
    return folder


@pytest.mark.parametrize(("weight", "nbest"), [(2.5, 100), (0.3, 2)])
def test_strings_cost_what_they_did_and_what_the_model_says(
    model: str, tmp_path: Path, weight: float, nbest: int
) -> None:
    run = run_over(NeuralStage(model, weight, nbest), make_run(tmp_path / "first"), tmp_path / "run")
    entries = list(read_jsonl(run / "nbest.jsonl"))
    for number, strings in enumerate(LISTS):
        kept = strings[:nbest]
        neural = neural_costs(model, kept)
        expected = sorted((cost + weight * more, text) for text, cost, more in zip(kept, COSTS, neural, strict=False))
        found = [entry for entry in entries if entry.id == f"s{number}"]
        assert [" ".join(entry.tokens) for entry in found] == [text for _, text in expected]
        assert [entry.cost for entry in found] == pytest.approx([cost for cost, _ in expected], abs=1e-3)
        for entry in found:
            assert list(entry.features) == ["LATTICE", "DEP", "NEURAL"]
            place = kept.index(" ".join(entry.tokens))
            assert entry.features["DEP"] == (-COSTS[place] / 4,)
            assert entry.features["NEURAL"][0] == pytest.approx(-neural[place], abs=2e-3 / weight)
    assert [outcome.ok for outcome in open_run(run).outcomes] == [True, False, True, True]


def test_a_search_goes_on_from_the_list(model: str, models: Models, guide: Place, tmp_path: Path) -> None:
    run = run_over(NeuralStage(model, budget=200), make_run(tmp_path / "first"), tmp_path / "run", guide)
    opened = open_run(run)
    assert opened.settings["guide"] == models.trigram.signature
    for number, strings in enumerate(LISTS):
        lattice = opened.lattice(number)
        if not strings:
            assert lattice is None
            continue
        assert lattice is not None
        met = {" ".join(h.tokens): h.cost for h in lattice.strings()}
        assert set(strings) < set(met) or len(met) == 3  # all there are of `a a b`
        neural = neural_costs(model, strings)
        under = [models.trigram.score(s.split()) + 2.5 * more for s, more in zip(strings, neural, strict=True)]
        assert min(met.values()) <= min(under) + 3e-3
        assert opened.best()[number] == min(met, key=lambda text: met[text])
    for entry in read_jsonl(run / "nbest.jsonl"):
        assert list(entry.features) == ["LM", "NEURAL"]
        assert entry.features["LM"][0] + 2.5 * entry.features["NEURAL"][0] == pytest.approx(-entry.cost, abs=5e-3)


@pytest.mark.parametrize("budget", [0, 60])
def test_parallel_and_resumed_runs_give_the_same_bytes(model: str, guide: Place, tmp_path: Path, budget: int) -> None:
    first, stage = make_run(tmp_path / "first"), NeuralStage(model, budget=budget)
    whole = run_over(stage, first, tmp_path / "whole", guide)
    parallel = run_over(stage, first, tmp_path / "parallel", guide, jobs=2)
    resumed = shutil.copytree(whole, tmp_path / "resumed")
    (resumed / "lattices" / "000003.fst").unlink()
    (resumed / "nbest.txt").unlink()
    run_over(stage, first, resumed, guide)
    for other in (parallel, resumed):
        for name in (*FILES, *(f"lattices/00000{number}.fst" for number in (1, 3, 4))):
            assert (other / name).read_bytes() == (whole / name).read_bytes()


def test_lists_of_other_tools(model: str, guide: Place, tmp_path: Path) -> None:
    """Without bags, with marks and with strings of other words; the search keeps those of the best's."""
    lists = tmp_path / "list.txt"
    lists.write_text("0 ||| <s> a b c </s> ||| TM= -1 ||| -1\n0 ||| a b ||| ||| -2\n0 ||| c b a ||| ||| -3\n")
    plain = run_over(NeuralStage(model), lists, tmp_path / "plain")
    assert {" ".join(e.tokens) for e in read_jsonl(plain / "nbest.jsonl")} == {"a b c", "a b", "c b a"}
    searched = run_over(NeuralStage(model, budget=300), lists, tmp_path / "searched", guide)
    assert {"".join(sorted(e.tokens)) for e in read_jsonl(searched / "nbest.jsonl")} == {"abc"}
    assert {name for e in read_jsonl(plain / "nbest.jsonl") for name in e.features} == {"LATTICE", "NEURAL"}


# ---- tuning


def development(place: Place, lattices: Path, folder: Path) -> Development:
    references = [bag.reference or () for bag in open_run(lattices).bags]
    return Development(lattices, references, place, folder, {"log": io.StringIO()})


def test_the_tuned_weight_is_as_good_as_any_of_a_dense_grid(model: str, tmp_path: Path) -> None:
    lists = [*LISTS[:3], [REFERENCES[3]]]  # four words in a row are right in any case: BLEU is not 0
    neural = [neural_costs(model, strings) for strings in lists]

    def bleu(weight: float) -> float:
        best = []
        for strings, costs in zip(lists, neural, strict=True):
            totals = [cost + weight * more for cost, more in zip(COSTS, costs, strict=False)]
            best += [strings[int(np.argmin(totals))]] if strings else []
        references = [[REFERENCES[0], *REFERENCES[2:]]]  # a sentence without a list is left out
        return sacrebleu.corpus_bleu(best, references, tokenize="none", force=True).score

    tuning = NeuralTuning(model, start=0.8)
    tuned = tuning.tune(development(Place(), make_run(tmp_path / "first", lists), tmp_path / "tuning"))
    scores = [bleu(weight) for weight in np.geomspace(0.001, 30, 300)]
    assert len({round(score, 3) for score in scores}) > 1
    assert tuned.bleu == pytest.approx(bleu(tuned.values["weight"]), abs=1e-6)
    assert tuned.bleu >= max(scores) - 1e-6
    assert tuning.stage(tuned.values, Place()) == NeuralStage(model, tuned.values["weight"])


def test_the_guide_of_an_experiment_is_estimated_and_its_model_is_looked_for(model: str, tmp_path: Path) -> None:
    assert NeuralTuning(model, guide="kenlm:3").kenlm_orders == [3]
    assert NeuralTuning(model, guide="news.lm").kenlm_orders == NeuralTuning(model).kenlm_orders == []
    NeuralTuning(model).check()
    with pytest.raises(InputError, match="no such model"):
        NeuralTuning(str(tmp_path / "missing.gguf")).check()


def test_a_fixed_weight_is_taken_as_it_is(model: str, guide: Place) -> None:
    tuning = NeuralTuning(model, start=1.5, budget=60, fixed=True)
    values = tuning.known()
    assert values == {"weight": 1.5}
    assert tuning.stage(values, guide) == NeuralStage(model, 1.5, budget=60)
    assert NeuralTuning(model, start=1.5).known() is None


def test_tuned_weights_as_a_table() -> None:
    assert NeuralStage.owns("NEURAL")
    assert not NeuralStage.owns("LM")
    assert NeuralStage.weights_to_table({"NEURAL": 2.0}) == {"weight": 2.0}
    assert NeuralStage.weights_to_table({"NEURAL": -0.5}) == {"weight": LEAST_WEIGHT}
    assert NeuralStage.weights_to_table({}) == {}


# ---- options and mistakes


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    NeuralStage.add_arguments(parser)
    parser.add_argument("--weight", type=float, action="append", default=[])
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--beta", type=float)
    parser.add_argument("--nbest", type=int, default=100)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        ("", None),
        ("--neural m", NeuralStage("m")),
        ("--neural m --weight 1.5 --nbest 30", NeuralStage("m", 1.5, 30)),
        ("--neural m --search", NeuralStage("m", budget=PIECES_A_WORD, guide="own.lm")),
        ("--neural m --search 70 --guide g", NeuralStage("m", budget=70, guide="g")),
        ("--neural m --search 0", NeuralStage("m")),
    ],
)
def test_options_ask_for_it(words: str, stage: NeuralStage | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYRO_LM", "own.lm")
    assert NeuralStage.from_arguments(parse(*words.split())) == stage


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--search", "found --search, which goes with --neural"),
        ("--guide g", "found --guide, which goes with --neural"),
        ("--neural m --guide g", "found --guide, which goes with --search"),
        ("--neural m --weight 1 --weight 2", "found 2 weights; --neural takes one --weight"),
        ("--neural m --add", "--add and --beta go with --lm"),
        ("--neural m --beta 3", "--add and --beta go with --lm"),
        ("--neural m --weight 0", "found the weight 0.0 of the neural model; a number above 0"),
        ("--neural m --weight -2", "found the weight -2.0"),
        ("--neural m --weight nan", "found the weight nan"),
        ("--neural m --weight inf", "found the weight inf"),
        ("--neural m --search -1", "found a budget of -1 pieces a word"),
        ("--neural m --nbest 0", "found n-best lists of 0"),
    ],
)
def test_mistakes_in_options(words: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        NeuralStage.from_arguments(parse(*words.split()))
    assert "\n" not in str(raised.value)


def test_models_that_are_not_there(model: str, models: Models, tmp_path: Path) -> None:
    source = open_lattices(make_run(tmp_path / "first"))
    for stage, message in (
        (NeuralStage("no.gguf"), "no.gguf: no such model"),
        (NeuralStage(model, budget=5), "a search needs the n-gram model beside the neural one: --guide LM"),
        (NeuralStage(model, budget=5, guide="no.lm"), "no.lm: no such file"),
        (NeuralStage(str(models.trigram.path)), "found no GGUF file"),
    ):
        with pytest.raises(InputError, match=message):
            stage.ready(source, Place())
    with pytest.raises(InputError, match=r"no\.gguf: no such model"):
        NeuralStage("no.gguf").check()
    NeuralStage(model).check()
