"""Evidence from outputs, texts and n-best lists."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.text.corpus import Normalisation
from rescoring.string_evidence import parse_weights, read_nbest, read_outputs, read_texts

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


def test_text_and_cost_say_what_the_same_list_of_moses_says(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(
        "0 ||| x y ||| LM= -1 ||| -1\n0 ||| y x ||| LM= -1 ||| -3\n2 ||| z ||| LM= 0 ||| -5\n"
    )
    (tmp_path / "list.tsv").write_text("x y\t1\ny x\t3\n\n\nz\t5\n")
    found = [read_nbest(tmp_path / name, SPLIT, scale=0.5, order=2) for name in ("list.txt", "list.tsv")]
    assert found[0] == found[1]
    assert found[0].posteriors(0).order == 2
    (tmp_path / "list.tsv").rename(tmp_path / "strings")
    assert read_nbest(tmp_path / "strings", SPLIT, scale=0.5, order=2, format="tsv") == found[0]


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
