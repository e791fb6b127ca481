"""Oracles against brute force over all strings."""

from __future__ import annotations

import argparse
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.cli import oracle as command
from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.score.bleu import bleu_scores, bleu_statistics
from gyro.score.evaluation import evaluate
from rescoring.oracle import LatticeOracle, choose_oracle, oracle_report
from rescoring.source import open_lattices

Tokens = tuple[str, ...]


def bleu(strings: tuple[Tokens, ...] | list[Tokens], references: list[Tokens]) -> float:
    rows = [bleu_statistics(string, reference) for string, reference in zip(strings, references, strict=True)]
    return float(bleu_scores(np.array(rows).sum(axis=0)[None])[0])


lists = st.lists(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=4, max_size=6).map(tuple), min_size=1, max_size=4),
    min_size=1,
    max_size=3,
)


@settings(max_examples=80, deadline=None)
@given(lists, st.data())
def test_nbest_oracle(found: list[list[Tokens]], data: st.DataObject) -> None:
    """Never better than the best of all choices, never worse than any single change would make it."""
    reference = st.lists(st.sampled_from("abcd"), min_size=4, max_size=6).map(tuple)
    references = data.draw(st.lists(reference, min_size=len(found), max_size=len(found)))
    oracle = choose_oracle(found, references)
    assert oracle.bleu == pytest.approx(bleu(oracle.strings, references))
    assert oracle.bleu <= max(bleu(choice, references) for choice in product(*found)) + 1e-9
    for sentence, strings in enumerate(found):
        for string in strings:
            changed = [*oracle.strings[:sentence], string, *oracle.strings[sentence + 1 :]]
            assert bleu(changed, references) <= oracle.bleu + 1e-9


def test_one_sentence_is_exact() -> None:
    reference = ("the", "dog", "saw", "the", "old", "cat")
    strings = sorted(set(permutations(reference)))[:200]
    assert choose_oracle([strings], [reference]).bleu == pytest.approx(max(bleu([s], [reference]) for s in strings))


@pytest.mark.parametrize("seed", range(6))
def test_lattice_oracle_finds_what_brute_force_finds(seed: int) -> None:
    """All orders of a bag with a repeated word: the whole lattice is searched, so the reference itself comes out."""
    random = np.random.default_rng(seed)
    reference = ("the", "dog", "saw", "the", "cat")
    orders = sorted(set(permutations(reference)))
    chosen = [orders[i] for i in random.choice(len(orders), 25, replace=False)]
    words = sorted(set(reference))
    for strings in (orders, chosen):
        lattice = Lattice.from_strings(words, [Hypothesis(s, float(random.random())) for s in strings])
        found = LatticeOracle(lattice).strings(reference)
        best = max(bleu([string], [reference]) for string in strings)
        assert choose_oracle([found], [reference]).bleu == pytest.approx(best)


def write_lattices(folder: Path) -> list[Tokens]:
    references: list[Tokens] = [tuple("abcde"), tuple("edcba")]
    folder.mkdir()
    for number, reference in enumerate(references, 1):
        strings = sorted(permutations("abcde"), key=lambda order: order == reference)
        hypotheses = [Hypothesis(string, number + i / 100) for i, string in enumerate(strings)]
        Lattice.from_strings(tuple("abcde"), hypotheses).write(folder / f"{number}.fst")
    return references


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The references are the dearest strings: no n-best list has them, the lattices have."""
    references = write_lattices(tmp_path / "lattices")
    report = oracle_report(open_lattices(tmp_path / "lattices"), references, nbest=10, jobs=2)
    assert report.lattice.strings == tuple(references)
    assert report.best <= report.nbest.bleu < report.lattice.bleu == pytest.approx(100.0)
    assert report.nbest.bleu == pytest.approx(evaluate(report.nbest.strings, references)["bleu"])
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    file = tmp_path / "references.txt"
    file.write_text("".join(" ".join(reference) + "\n" for reference in references))
    chosen = tmp_path / "oracle.txt"
    assert command.run(parser.parse_args([str(tmp_path / "lattices"), str(file), "-n", "10", "-o", str(chosen)])) == 0
    assert "oracle of the 10-best lists" in capsys.readouterr().out
    assert chosen.read_text() == file.read_text()
    with pytest.raises(InputError, match="no references"):
        command.run(parser.parse_args([str(tmp_path / "lattices")]))


def test_numbers_must_fit(tmp_path: Path) -> None:
    references = write_lattices(tmp_path / "lattices")
    source = open_lattices(tmp_path / "lattices")
    with pytest.raises(InputError, match="1 references for 2 lattices"):
        oracle_report(source, references[:1])
    with pytest.raises(InputError, match="at least 1"):
        oracle_report(source, references, nbest=0)
    with pytest.raises(InputError, match="2 lists and 1 references"):
        choose_oracle([[], []], references[:1])
    assert choose_oracle([[]], references[:1]).strings == ((),)
