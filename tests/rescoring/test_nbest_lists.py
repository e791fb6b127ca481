"""Lists of several runs put together, against plain dictionaries."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import NbestEntry
from gyro.run.batch import run_batch
from gyro.run.folder import Run, open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.nbest_lists import NbestLists, single_values
from rescoring.tuning import TuningSet
from tests.orders import failed, ordered

REFERENCES = ["a b c d e", "x", "d c b a", "a | b &amp; c"]
# For each run the strings of each bag with their costs; a bag without strings failed.
RUNS = [
    [{"a b c d e": 1.0, "b a c d e": 2.0}, {}, {"a b c d": 1.5}, {"a | c &amp; b": 3.0}],
    [{"b a c d e": 0.5, "a c b d e": 0.75}, {}, {"d c b a": 2.5, "a b c d": 4.0}, {"a | b &amp; c": 1.0}],
]


def make_run(folder: Path, lists: list[dict[str, float]], word: str) -> Run:
    """A run with the columns COST and FIRST, where FIRST says whether the string begins with a word."""
    bags = [Bag(tuple(r.split()), id=f"s{n}", reference=tuple(r.split())) for n, r in enumerate(REFERENCES)]

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        strings = [Hypothesis(tuple(text.split()), cost) for text, cost in lists[number].items()]
        return ordered(bag, strings) if strings else failed(bag)

    def features(_number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        return [{"COST": -h.cost, "FIRST": float(h.tokens[0] == word)} for h in hypotheses]

    run_batch(bags, folder, work, settings={"word": word}, features=features, log=io.StringIO())
    return open_run(folder)


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    return [make_run(tmp_path / f"{n}", lists, "ab"[n]) for n, lists in enumerate(RUNS)]


def rows(data: TuningSet) -> list[list[tuple[float, ...]]]:
    tables = np.split(data.features, data.first[1:-1])
    return [sorted(tuple(row) for row in table.tolist()) for table in tables]


def references() -> list[list[str]]:
    return [text.split() for text in REFERENCES]


def test_a_string_is_there_once_with_the_features_of_the_last_run(runs: list[Run]) -> None:
    lists = NbestLists(len(REFERENCES))
    expected: list[dict[str, tuple[float, float]]] = [{} for _ in REFERENCES]
    for run, found, word in zip(runs, RUNS, "ab", strict=True):
        lists.add(run)
        for sentence, strings in enumerate(found):
            expected[sentence] |= {text: (-cost, float(text[0] == word)) for text, cost in strings.items()}
        data = lists.tuning_set(references())
        assert data.names == ("COST", "FIRST")
        assert rows(data) == [sorted(strings.values()) for strings in expected if strings]


def test_each_string_is_scored_against_the_reference_of_its_sentence(runs: list[Run]) -> None:
    lists = NbestLists(len(REFERENCES))
    for run in runs:
        lists.add(run)
    data = lists.tuning_set(references())
    for weights, chosen in (
        ([1.0, 0.0], ["b a c d e", "d c b a", "a | b &amp; c"]),
        ([0.0, 1.0], ["a b c d e", "a b c d", "a | c &amp; b"]),  # the first of equal ones
    ):
        texts = [[REFERENCES[number] for number in (0, 2, 3)]]
        expected = sacrebleu.corpus_bleu(chosen, texts, tokenize="none", force=True).score
        assert data.bleu(np.array(weights)) == pytest.approx(expected)


def test_other_features_may_be_made_of_an_entry(runs: list[Run]) -> None:
    def doubled(entry: NbestEntry) -> dict[str, float]:
        return {"TWICE": 2 * entry.cost, "LENGTH": float(len(entry.tokens))}

    lists = NbestLists(len(REFERENCES))
    lists.add(runs[0], doubled)
    data = lists.tuning_set(references())
    assert data.names == ("TWICE", "LENGTH")
    assert rows(data) == [[(2.0, 5.0), (4.0, 5.0)], [(3.0, 4.0)], [(6.0, 5.0)]]
    lists.add(runs[1])
    with pytest.raises(InputError, match="found features"):
        lists.tuning_set(references())


def test_the_values_of_an_entry() -> None:
    assert single_values(NbestEntry(0, ("a",), 1.0, {"LM": (-2.0,), "DEP": (0.5,)})) == {"LM": -2.0, "DEP": 0.5}


def test_nothing_to_tune_on() -> None:
    with pytest.raises(InputError, match="found no n-best list"):
        NbestLists(2).tuning_set([["a"], ["b"]])
