"""The strings of other systems to choose from, by their own posteriors and by ours: every gain is computed by hand."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.corpus import Normalisation
from rescoring.evidence import EvidenceFiles
from rescoring.hypotheses import only_ids, open_hypotheses
from rescoring.mbr import MbrParameters
from rescoring.mbr_stage import ReadyMbr, mbr_best
from rescoring.source import LatticeSource, open_lattices

SPLIT, ENGLISH = Normalisation("none"), Normalisation("spacy-en")
Tokens = tuple[str, ...]

strings = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
systems = st.dictionaries(st.sampled_from(["A", "B", "C", "D", "E"]), strings, min_size=1)
lists = st.dictionaries(strings, st.integers(0, 24).map(lambda n: n / 8), min_size=1, max_size=6)


def contains(string: Tokens, gram: Tokens) -> bool:
    return any(string[i : i + len(gram)] == gram for i in range(len(string)))


def gain(string: Tokens, spaces: list[tuple[float, dict[Tokens, float]]], parameters: MbrParameters) -> float:
    """Tromble et al. 2008 by the definition; each space has a share and the probabilities of its strings."""
    total = -len(string) / parameters.tokens
    for n in range(1, 5):
        theta = 1 / (4 * parameters.tokens * parameters.precision * parameters.ratio ** (n - 1))
        for i in range(len(string) - n + 1):
            gram = string[i : i + n]
            for share, probability in spaces:
                total += theta * share * sum(p for other, p in probability.items() if contains(other, gram))
    return total


def chosen(source: LatticeSource, parameters: MbrParameters, mt: EvidenceFiles | None) -> tuple[Tokens, float]:
    (found,) = mbr_best(ReadyMbr(source, parameters, mt), source)
    assert found is not None
    return found.tokens, -found.cost


@settings(max_examples=40, deadline=None)
@given(systems, lists, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_both_spaces_may_be_the_one_to_choose_from(
    said: dict[str, Tokens], ours: dict[Tokens, float], alpha: float
) -> None:
    """Their outputs by our list's posteriors mixed in, and our list by theirs."""
    weights = {tokens: math.exp(-0.5 * cost) for tokens, cost in ours.items()}
    our_space = {tokens: weight / sum(weights.values()) for tokens, weight in weights.items()}
    counts = Counter(said.values())
    their_space = {tokens: count / len(said) for tokens, count in counts.items()}
    with tempfile.TemporaryDirectory() as folder:
        outputs, listed = Path(folder) / "mt.jsonl", Path(folder) / "ours.tsv"
        outputs.write_text(json.dumps({"outputs": {name: " ".join(tokens) for name, tokens in said.items()}}) + "\n")
        listed.write_text("".join(f"{' '.join(tokens)}\t{cost}\n" for tokens, cost in ours.items()))
        theirs = open_hypotheses(str(outputs), "outputs", SPLIT)
        parameters = MbrParameters(scale=1.0, prune=math.inf, alpha=alpha, first_pass=0.0)
        by_us = EvidenceFiles((str(listed),), SPLIT, format="lattices", scale=0.5)
        found, value = chosen(theirs, parameters, by_us)
        spaces = [(alpha, their_space), (1 - alpha, our_space)]
        gains = {tokens: gain(tokens, spaces, parameters) for tokens in their_space}
        assert value == pytest.approx(max(gains.values()), abs=1e-5)
        assert gains[found] == pytest.approx(max(gains.values()), abs=1e-5)

        parameters = MbrParameters(scale=0.5, prune=math.inf, alpha=alpha, first_pass=0.0)
        found, value = chosen(open_lattices(listed), parameters, EvidenceFiles((str(outputs),), SPLIT))
        spaces = [(alpha, our_space), (1 - alpha, their_space)]
        gains = {tokens: gain(tokens, spaces, parameters) for tokens in our_space}
        assert value == pytest.approx(max(gains.values()), abs=1e-5)
        assert gains[found] == pytest.approx(max(gains.values()), abs=1e-5)


def write_outputs(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_outputs_are_tokenised_and_cost_minus_the_logarithm_of_their_share(tmp_path: Path) -> None:
    said = {"A": "She didn't.", "B": "She didn't .", "C": "No.", "D": "Yes."}
    path = write_outputs(tmp_path / "mt.jsonl", {"id": "x", "outputs": said}, {"id": "y", "outputs": {}})
    source = open_hypotheses(path, "outputs", Normalisation("spacy-en", True), weights={"A": 2.0, "D": 0.0})
    assert [item.id for item in source] == ["x", "y"]
    lattice = source[0].lattice()
    assert lattice is not None
    costs = {string.tokens: string.cost for string in lattice.strings()}
    assert costs == pytest.approx({("she", "did", "n't", "."): math.log(4 / 3), ("no", "."): math.log(4)})
    empty = source[1].lattice()
    assert empty is not None
    assert empty.empty()
    assert source.words() >= {"she", "did", "n't", ".", "no"}


def test_lists_are_tokenised_and_keep_their_costs(tmp_path: Path) -> None:
    (tmp_path / "list.tsv").write_text("It's new.\t1.5\nIt 's new .\t1.25\nA new one.\t3\n\nNo.\t1\n")
    source = open_hypotheses(str(tmp_path / "list.tsv"), "nbest", ENGLISH)
    assert [item.id for item in source] == ["1", "2"]
    lattice = source[0].lattice()
    assert lattice is not None
    costs = {string.tokens: string.cost for string in lattice.strings()}
    assert costs == {("It", "'s", "new", "."): 1.25, ("A", "new", "one", "."): 3.0}
    assert source.words() == {"It", "'s", "new", ".", "A", "one", "No"}


def test_signatures_tell_ways_of_reading_apart(tmp_path: Path) -> None:
    path = write_outputs(tmp_path / "mt.jsonl", {"outputs": {"A": "a b", "B": "b a"}, "refs": {"A": "a b"}})
    (tmp_path / "list.tsv").write_text("a\t1\n")
    listed = str(tmp_path / "list.tsv")
    sources = [
        open_hypotheses(path, "outputs", SPLIT),
        open_hypotheses(path, "outputs", Normalisation("none", True)),
        open_hypotheses(path, "outputs", SPLIT, field="refs"),
        open_hypotheses(path, "outputs", SPLIT, weights={"A": 2.0}),
        open_hypotheses(listed, "nbest", SPLIT),
        open_hypotheses(listed, "nbest", ENGLISH),
    ]
    assert len({source.signature for source in sources}) == len(sources)
    assert open_hypotheses(path, "outputs", SPLIT).signature == sources[0].signature


def test_sentences_are_chosen_by_id(tmp_path: Path) -> None:
    rows = [{"id": id, "outputs": {"A": id}} for id in "xyz"]
    source = open_hypotheses(write_outputs(tmp_path / "mt.jsonl", *rows), "outputs", SPLIT)
    some = only_ids(source, ["z", "x"])
    assert [item.id for item in some] == ["z", "x"]
    assert some.signature not in (source.signature, only_ids(source, ["x", "z"]).signature)
    with pytest.raises(InputError, match="no lattice with the id 'q' among 3"):
        only_ids(source, ["x", "q"])
    twice = open_hypotheses(write_outputs(tmp_path / "mt.jsonl", *rows, rows[0]), "outputs", SPLIT)
    with pytest.raises(InputError, match="found the id 'x' twice"):
        only_ids(twice, ["y"])


@pytest.mark.parametrize(
    ("name", "format", "weights", "message"),
    [
        ("mt.jsonl", "lattices", None, "found the format 'lattices' of hypotheses; outputs and nbest are allowed"),
        ("list.tsv", "nbest", {"A": 1.0}, "found weights of systems for an n-best list"),
        ("", "nbest", None, "found lattices; an n-best list is needed"),
        ("a.fst.gz", "nbest", None, "found lattices; an n-best list is needed"),
        ("none.tsv", "nbest", None, "no such file"),
        ("none.jsonl", "outputs", None, "cannot read"),
    ],
)
def test_mistakes(tmp_path: Path, name: str, format: str, weights: dict[str, float] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_hypotheses(str(tmp_path / name), format, SPLIT, weights=weights)
