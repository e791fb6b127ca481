from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import rescoring.dependency
from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import NbestEntry, read_jsonl, write_jsonl
from gyro.text.corpus import ROOT, Heads, Normalisation
from gyro.text.parsing import parse_sentences
from lm.dependency.model import DependencyModel, estimate_dependency_model, load_dependency_model
from lm.dependency.parse import Parsed
from rescoring.dependency import DependencyRescorer

NORMALISATION = Normalisation("none")
STRINGS = [
    tuple(text.split()) for text in ("dogs bark", "bark dogs", "big dogs bark", "dogs big bark", "well-known n't")
]


def chain(tokens: Sequence[str]) -> Heads:
    """Every token hangs on the next one."""
    return (*range(1, len(tokens)), ROOT) if tokens else ()


class CountingParser:
    """Chains instead of parses, and how often each string was asked for."""

    def __init__(self) -> None:
        self.batches: list[list[tuple[str, ...]]] = []

    def __call__(self, strings: Sequence[tuple[str, ...]]) -> Iterable[Heads]:
        self.batches.append(list(strings))
        return map(chain, strings)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> DependencyModel:
    texts = ["dogs bark", "big dogs bark", "cats sleep", "big cats sleep", "dogs bark"]
    parses = [Parsed(tuple(text.split()), chain(text.split())) for text in texts]
    path = tmp_path_factory.mktemp("dependency") / "model"
    estimate_dependency_model(parses, path, memory="64M", normalisation=NORMALISATION)
    return load_dependency_model(path)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, -0.5])
def test_the_new_cost_is_the_old_one_and_the_weighted_cost_of_the_tree(model: DependencyModel, weight: float) -> None:
    hypotheses = [Hypothesis(tokens, 10.0 + number / 8) for number, tokens in enumerate(STRINGS)]
    rescored = DependencyRescorer(model, weight, parse=CountingParser()).rescore_nbest(hypotheses)
    expected = []
    for tokens, cost in hypotheses:
        tree = model.score(tokens, chain(tokens))
        expected.append((cost + weight * tree, tokens, tree))
    assert [(hypothesis.cost, hypothesis.tokens, tree) for hypothesis, tree in rescored] == sorted(expected)


def test_equal_costs_are_sorted_by_their_words(model: DependencyModel) -> None:
    hypotheses = [Hypothesis(("b", "a"), 1.0), Hypothesis(("a", "b"), 1.0)]
    rescored = DependencyRescorer(model, 0.0, parse=CountingParser()).rescore_nbest(hypotheses)
    assert [hypothesis.tokens for hypothesis, _ in rescored] == [("a", "b"), ("b", "a")]


def test_the_model_changes_the_order(model: DependencyModel) -> None:
    hypotheses = [Hypothesis(("dogs", "big", "bark"), 5.0), Hypothesis(("big", "dogs", "bark"), 5.5)]
    assert DependencyRescorer(model, 0.0, parse=CountingParser()).rescore_nbest(hypotheses)[0][0].tokens[0] == "dogs"
    assert DependencyRescorer(model, 1.0, parse=CountingParser()).rescore_nbest(hypotheses)[0][0].tokens[0] == "big"


def test_each_different_string_is_parsed_once(model: DependencyModel) -> None:
    parser = CountingParser()
    rescorer = DependencyRescorer(model, 1.0, parse=parser)
    lists = [[Hypothesis(tokens, 1.0) for tokens in STRINGS + STRINGS[:2]] for _ in range(3)]
    together = rescorer.rescore_lists(lists)
    assert parser.batches == [STRINGS]
    assert together == [rescorer.rescore_nbest(hypotheses) for hypotheses in lists]
    assert parser.batches == [STRINGS]
    assert (rescorer.share.strings, rescorer.share.parsed) == (6 * 7, 5)
    assert "42 strings, 5 parsed" in rescorer.share.text()


def test_a_shared_cache(model: DependencyModel) -> None:
    cache: dict[tuple[str, ...], float] = {}
    first = DependencyRescorer(model, 1.0, cache=cache, parse=CountingParser()).costs(STRINGS)
    parser = CountingParser()
    assert DependencyRescorer(model, 0.2, cache=cache, parse=parser).costs(STRINGS) == first
    assert parser.batches == []


def test_a_full_cache_is_emptied(model: DependencyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescoring.dependency, "MOST_CACHED", 3)
    cache: dict[tuple[str, ...], float] = {}
    rescorer = DependencyRescorer(model, 1.0, cache=cache, parse=CountingParser())
    once = rescorer.costs(STRINGS[:3])
    assert rescorer.costs(STRINGS[2:] + STRINGS[:1])[0] == once[2]
    assert rescorer.costs(STRINGS[:3]) == once
    assert len(cache) <= 5


def entries() -> list[NbestEntry]:
    lists = (("7", STRINGS[:2]), ("8", STRINGS[2:4]), ("9", STRINGS[4:]))
    return [
        NbestEntry(sentence, tokens, float(rank), {"LM": (-float(rank),)}, rank, name)
        for sentence, (name, strings) in enumerate(lists)
        for rank, tokens in enumerate(strings, 1)
    ]


@pytest.mark.parametrize("lists_at_once", [1, 2, 100])
def test_entries_keep_their_features(
    model: DependencyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lists_at_once: int
) -> None:
    monkeypatch.setattr(rescoring.dependency, "LISTS_AT_ONCE", lists_at_once)
    parser = CountingParser()
    rescored = list(DependencyRescorer(model, 0.5, parse=parser).rescore_entries(iter(entries())))
    assert len(parser.batches) == math.ceil(3 / lists_at_once)
    assert [(entry.id, entry.rank) for entry in rescored] == [("7", 1), ("7", 2), ("8", 1), ("8", 2), ("9", 1)]
    before = {entry.tokens: entry for entry in entries()}
    for entry in rescored:
        tree = model.score(entry.tokens, chain(entry.tokens))
        old = before[entry.tokens]
        assert entry.features == {"LM": (-old.cost,), "DEP": (-tree,)}
        assert entry.cost == old.cost + 0.5 * tree
        assert entry.sentence == old.sentence
    for first, second in pairwise(rescored):
        assert first.sentence < second.sentence or first.cost <= second.cost
    file = io.StringIO()
    write_jsonl(file, rescored)
    path = tmp_path / "nbest.jsonl"
    path.write_text(file.getvalue(), encoding="utf-8")
    assert list(read_jsonl(path)) == rescored


def test_a_list_is_not_rescored_twice(model: DependencyModel) -> None:
    rescorer = DependencyRescorer(model, 0.5, parse=CountingParser())
    with pytest.raises(InputError, match="list of '7': it was rescored already"):
        list(rescorer.rescore_entries(rescorer.rescore_entries(entries())))


def test_no_hypotheses_and_no_words(model: DependencyModel) -> None:
    rescorer = DependencyRescorer(model, 0.5, parse=CountingParser())
    assert rescorer.rescore_nbest([]) == []
    assert rescorer.rescore_lists([[], []]) == [[], []]
    assert rescorer.rescore_nbest([Hypothesis((), 2.0)]) == [(Hypothesis((), 2.0), 0.0)]
    assert list(rescorer.rescore_entries([])) == []
    [entry] = rescorer.rescore_entries([replace(entries()[0], tokens=())])
    assert repr(entry.features["DEP"]) == "(0.0,)"


def test_what_cannot_be_rescored(model: DependencyModel) -> None:
    with pytest.raises(InputError, match="found the weight nan"):
        DependencyRescorer(model, math.nan)
    with pytest.raises(InputError, match="found a mark of models in '<s> a </s>'"):
        DependencyRescorer(model, 1.0).costs([("<s>", "a", "</s>")])


def test_spacy_parses_the_strings_as_they_are(model: DependencyModel) -> None:
    rescorer = DependencyRescorer(model, 1.0)
    expected = [model.score(tokens, heads) for tokens, heads in zip(STRINGS, parse_sentences(STRINGS), strict=True)]
    assert rescorer.costs(STRINGS) == expected
    assert rescorer.share.parser_seconds > 0
