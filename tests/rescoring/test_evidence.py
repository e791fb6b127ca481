"""Evidence from outputs, texts, n-best lists and lattices."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.text.corpus import Normalisation
from rescoring.evidence import align, parse_weights, read_evidence, read_nbest, read_outputs, read_texts
from rescoring.posterior import ngram_posteriors

SPLIT = Normalisation("none")
LOWER = Normalisation("spacy-en", lowercase=True)


def write_outputs(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_outputs_are_tokenised_and_weighted(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"src": "x", "outputs": {"A": "She didn't go.", "B": "She did go.", "C": "She went."}}
    ]
    path = write_outputs(tmp_path / "mt.jsonl", rows * 2)
    evidence = read_outputs(path, LOWER)
    assert evidence.ids == ("1", "2")
    posteriors = evidence.posteriors(1)
    assert posteriors["she",] == pytest.approx(1.0)
    assert posteriors["did", "n't"] == pytest.approx(1 / 3)
    assert posteriors["she", "did"] == pytest.approx(2 / 3)
    weighted = read_outputs(path, LOWER, weights={"A": 2, "C": 0}).posteriors(0)
    assert weighted["did", "n't"] == pytest.approx(2 / 3)
    assert ("went",) not in weighted


def test_texts(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x y\nx\n")
    (tmp_path / "b").write_text("y x\nx x\n")
    evidence = read_texts([tmp_path / "a", tmp_path / "b"], SPLIT, weights={"b": 3})
    assert evidence.posteriors(0)["y", "x"] == pytest.approx(0.75)
    assert evidence.posteriors(1)["x", "x"] == pytest.approx(0.75)
    assert evidence.posteriors(1)["x",] == pytest.approx(1.0)
    (tmp_path / "b").write_text("y x\n")
    with pytest.raises(InputError, match=r"b: found 1 lines; .*a has 2"):
        read_texts([tmp_path / "a", tmp_path / "b"], SPLIT)


def test_nbest_lists_are_a_softmax_of_their_scores(tmp_path: Path) -> None:
    path = tmp_path / "nbest.txt"
    path.write_text("0 ||| x y ||| LM= -1 ||| -1001\n0 ||| y x ||| LM= -1 ||| -1003\n2 ||| z ||| LM= -1 ||| -5\n")
    evidence = read_nbest(path, SPLIT, scale=0.5)
    assert evidence.ids == ("1", "2", "3")
    assert evidence.posteriors(0)["x", "y"] == pytest.approx(1 / (1 + math.exp(-1)))
    assert len(evidence.posteriors(1)) == 0
    assert evidence.posteriors(2)["z",] == pytest.approx(1.0)
    with pytest.raises(InputError, match="scale -1"):
        read_nbest(path, SPLIT, scale=-1)


def test_lattices(tmp_path: Path) -> None:
    lattice = Lattice.from_strings(("17", "4"), [Hypothesis(("17", "4"), 0.0), Hypothesis(("4", "17"), 1.0)])
    lattice.write(tmp_path / "1.fst.gz", {"17": 17, "4": 4})
    evidence = read_evidence([tmp_path], "lattices", SPLIT, scale=0.5)
    assert list(evidence.ids) == ["1"]
    assert dict(evidence.posteriors(0)) == pytest.approx(dict(ngram_posteriors(lattice, scale=0.5)))


def test_alignment(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"id": name, "outputs": {"A": name}} for name in ("x", "y", "z")]
    evidence = read_evidence([write_outputs(tmp_path / "mt.jsonl", rows)], "outputs", SPLIT)
    assert align(evidence, ["1", "2", "3"]) == [0, 1, 2]
    assert align(evidence, ["z", "x"], by="id") == [2, 0]
    with pytest.raises(InputError, match="evidence for 3 sentences and 2 lattices"):
        align(evidence, ["1", "2"])
    with pytest.raises(InputError, match="no evidence for the lattice 'q' among 3"):
        align(evidence, ["q"], by="id")
    twice = read_evidence([write_outputs(tmp_path / "mt.jsonl", rows * 2)], "outputs", SPLIT)
    with pytest.raises(InputError, match="'x' twice"):
        align(twice, ["x"], by="id")
    with pytest.raises(InputError, match="alignment 'name'"):
        align(evidence, [], by="name")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "mt.jsonl:1: found a line that is not JSON"),
        ("[1]", "mt.jsonl:1: found JSON that is not an object"),
        ('{"other": {}}', "mt.jsonl:1: found outputs None"),
        ('{"outputs": {"A": 3}}', "mt.jsonl:1: found outputs"),
        ('{"outputs": {"A": "x"}}', "weight for 'B', which is no system"),
        ('{"outputs": {"B": "x"}}', "mt.jsonl:1: found no system with a weight above 0"),
    ],
)
def test_bad_outputs(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "mt.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        read_outputs(path, SPLIT, weights={"B": 0.0})


@pytest.mark.parametrize("text", ["A", "A=x", "=2", "A=-1", "A=inf"])
def test_bad_weights(text: str) -> None:
    with pytest.raises(InputError, match="SYSTEM=NUMBER"):
        parse_weights(text)


def test_formats_take_what_belongs_to_them(tmp_path: Path) -> None:
    assert parse_weights("a=b=2, c=0.5") == {"a=b": 2.0, "c": 0.5}
    with pytest.raises(InputError, match="format 'xml'"):
        read_evidence([tmp_path], "xml", SPLIT)
    with pytest.raises(InputError, match="2 files of evidence"):
        read_evidence([tmp_path, tmp_path], "moses", SPLIT)
    with pytest.raises(InputError, match="weights of systems"):
        read_evidence([tmp_path], "lattices", SPLIT, weights={"A": 1})
