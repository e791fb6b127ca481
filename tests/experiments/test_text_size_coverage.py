"""What an index holds of a bag, by hand."""

from __future__ import annotations

from pathlib import Path

from experiments.text_size_coverage import Piece, measure_pieces
from gyro.index.build import build_index
from gyro.index.reader import open_index
from gyro.text.corpus import Normalisation


def test_pieces_of_a_sentence(tmp_path: Path) -> None:
    text = [["a", "b", "c", "d"], ["d", "e", "a", "b", "c"], ["b", "a"]]
    build_index(text, tmp_path / "index", order=4, normalisation=Normalisation("none", False), memory=1 << 28)
    index = open_index(tmp_path / "index")
    first, second, third = measure_pieces(
        index, 7, ["c", "b", "a", "d", "e", "d", "e", "a", "z", "b"], ["3-4", "2-4"], 4
    )
    # {a b c d}: words 4, ab ba bc cd, abc bcd, abcd; the reference's c b a and b a d are not there.
    assert first == Piece(7, 4, 0, (4, 4, 2, 1), (True, True), (True, True), (False, False), (0, 0, 0), (2, 1, 0))
    # {a d e e}: de ea, dea; with dea an e is left over, de and ea make a parse, but not of e d e a.
    assert second.phrases == (3, 2, 1, 0)
    assert (second.parses, second.reference_cuts) == ((False, True), (False, False))
    assert (second.held, second.ngrams) == ((1, 0, 0), (2, 1, 0))
    # {z b}: z is unknown and a rule, b is not; alone it is no phrase.
    assert (third.tokens, third.unknown, third.parses) == (2, 1, (False, False))


def test_unknown_words_are_rules_but_not_strictly(tmp_path: Path) -> None:
    build_index([list("abc")], tmp_path / "index", order=3, normalisation=Normalisation("none", False), memory=1 << 28)
    (piece,) = measure_pieces(open_index(tmp_path / "index"), 0, ["a", "b", "c", "x", "x"], ["3"], 20)
    assert piece.unknown == 2
    assert piece.parses == piece.reference_cuts == (True,)
    assert piece.strict_parses == (False,)
