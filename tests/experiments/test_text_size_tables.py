"""The tables of experiments with texts of several sizes, from pieces that are made up."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.text_size import Part, TextSizeLaboratory
from experiments.text_size_coverage import Piece
from experiments.text_size_description import load_text_size
from experiments.text_size_tables import SetResults, share_text
from tests.experiments.text_size_tiny import write_tiny


def piece(sentence: int, tokens: int, parses: bool, strict: bool, phrases: int) -> Piece:
    return Piece(
        sentence, tokens, 0, (3, 2, phrases, 0), (parses, True), (strict, strict), (strict, True), (1, 0, 0), (2, 1, 0)
    )


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetResults:
    """Sentences 0 to 9 of four tokens and one more of a single token, with a text of 100 and one of 10,000 tokens."""
    place = TextSizeLaboratory(load_text_size(write_tiny(tmp_path)), tmp_path / "runs")
    small, whole = place.parts

    def pieces(_set: str, part: Part) -> list[Piece]:
        few = [
            piece(n, 4, n < (2 if part.size else 5), n < (1 if part.size else 4), 1 if part.size else 3)
            for n in range(10)
        ]
        return [*few, piece(9, 1, False, False, 0)]

    class Index:
        def __init__(self, tokens: int) -> None:
            self.num_tokens, self.num_sentences, self.num_ngrams = tokens, 2, (5, 4, 3, 2)

    monkeypatch.setattr(place, "pieces", pieces)
    monkeypatch.setattr(Part, "open_index", lambda part: Index(100 if part.size else 10_000))
    assert (small.size, whole.size) == (60, 0)
    return SetResults(place, "test")


def test_shares() -> None:
    assert share_text([False] * 10) == "0.0 (0.0–27.8)"


def test_parse_rates(results: SetResults) -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in results.parse_table().splitlines()]
    assert rows[0][1:5] == ["bags", "rules 3-4, %", "rules 2-4, %", "rules 3-4, %, strict"]
    assert rows[2][:3] == ["100", "11", share_text([True] * 2 + [False] * 9)]
    assert rows[3][0] == "10,000"
    assert rows[3][4] == "36.4"


def test_phrases_and_references(results: SetResults) -> None:
    assert "| 100    | 5.9 | 3.00   | 2.00    | 0.91    | 0.00    |" in results.phrase_table()
    assert "| 50.0 " in results.reference_table()


def test_sizes_of_bags(results: SetResults) -> None:
    assert "1-5 tokens (11 bags)" in results.parse_by_size()


def test_bags_that_are_too_short_are_the_ceiling(results: SetResults) -> None:
    """Two of ten at 100 tokens, five of ten at 10,000: logits −1.386 and 0, so 0.301 for each unit of ln(tokens)."""
    assert results.ceiling(0) == pytest.approx(10 / 11)
    hits, totals = results.by_sentence(0, strict=False)
    assert hits.sum(axis=0).tolist() == [2, 5]
    assert totals.sum() == 10
    curve, samples = results.fits[0, False, "logistic"]
    assert curve.slope == pytest.approx(1.3863 / 4.6052, abs=1e-4)
    assert curve.share(100) == pytest.approx(0.2)
    assert samples
    row = next(line for line in results.fit_table().splitlines() if line.startswith("| 3-4 ") and "logistic" in line)
    assert [cell.strip() for cell in row.split("|")[4:7]] == ["90.9", "18.2", "45.5"]


def test_one_text_alone_foretells_nothing(results: SetResults) -> None:
    assert results.held_out_table() == "(none)"


def test_what_smaller_texts_foretell(results: SetResults, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten, 2, 5 and 7 parse at 100, 10,000 and 1,000,000 tokens; by their logits, the first two say 8."""
    small, whole = results.pieces
    middle = Part(5_000, whole.pipeline)
    most = [replace(each, parses=(each.tokens > 1 and each.sentence < 7, True)) for each in results.pieces[whole]]
    monkeypatch.setattr(results, "pieces", {small: results.pieces[small], middle: results.pieces[whole], whole: most})
    monkeypatch.setattr(results, "tokens", {small: 100, middle: 10_000, whole: 1_000_000})
    row = next(line for line in results.held_out_table().splitlines() if re.match(r"\| 3-4 +\| logistic", line))
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[2].startswith("72.7 (")  # 8 of the 11
    assert cells[3] == "63.6"


def test_the_text_says_how_far_it_goes(results: SetResults) -> None:
    assert "2.0 orders of magnitude beyond" in results.fit_text()


def test_without_runs_there_is_no_bleu(results: SetResults) -> None:
    assert results.bleu == {}
    assert results.bleu_table() == "(none)"
