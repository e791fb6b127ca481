"""Evidence by the name of its format, and which sentence goes with which lattice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.text.corpus import Normalisation
from rescoring.evidence import FORMATS, align, missing_orders_warning, read_evidence
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.string_evidence import parse_weights

SPLIT = Normalisation("none")


def write_outputs(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_lattices(tmp_path: Path) -> None:
    lattice = Lattice.from_strings(("17", "4"), [Hypothesis(("17", "4"), 0.0), Hypothesis(("4", "17"), 1.0)])
    lattice.write(tmp_path / "1.fst.gz", {"17": 17, "4": 4})
    evidence = read_evidence([tmp_path], "lattices", SPLIT, scale=0.5)
    assert list(evidence.ids) == ["1"]
    assert dict(evidence.posteriors(0)) == pytest.approx(dict(ngram_posteriors(lattice, scale=0.5)))


def test_alignment(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"id": name, "outputs": {"A": name}} for name in ("x", "y", "z")]
    evidence = read_evidence([write_outputs(tmp_path / "mt.jsonl", rows)], "outputs", SPLIT)
    assert align(evidence, ["1", "2", "3"], by="order") == [0, 1, 2]
    assert align(evidence, ["z", "x"]) == [2, 0]
    assert align(evidence, ["3", "1"]) == [2, 0]  # numbers of its lines
    with pytest.raises(
        InputError, match=r"evidence for 3 sentences and 2 lattices; as many of both are needed, or --mt-by id"
    ):
        align(evidence, ["1", "2"], by="order")
    for ids, missing in ((["q"], "q"), (["x", "1"], "1"), (["1", "4"], "1"), (["0", "1"], "0")):
        with pytest.raises(InputError, match=f"no evidence for the lattice '{missing}' among 3 .*--mt-by order"):
            align(evidence, ids)
    twice = read_evidence([write_outputs(tmp_path / "mt.jsonl", rows * 2)], "outputs", SPLIT)
    with pytest.raises(InputError, match="'x' twice"):
        align(twice, ["x"], by="id")
    with pytest.raises(InputError, match="alignment 'name'"):
        align(evidence, [], by="name")


def test_formats_take_what_belongs_to_them(tmp_path: Path) -> None:
    assert parse_weights("a=b=2, c=0.5") == {"a=b": 2.0, "c": 0.5}
    with pytest.raises(InputError, match="format 'xml'"):
        read_evidence([tmp_path], "xml", SPLIT)
    with pytest.raises(InputError, match="2 files of evidence"):
        read_evidence([tmp_path, tmp_path], "moses", SPLIT)
    with pytest.raises(InputError, match="weights of systems"):
        read_evidence([tmp_path], "lattices", SPLIT, weights={"A": 1})


FILES = {
    "outputs": ("mt.jsonl", '{"outputs": {"A": "x y z", "B": "x y z"}}\n'),
    "text": ("mt.txt", "x y z\n"),
    "moses": ("mt.nbest", "0 ||| x y z ||| LM= -1 ||| -1\n"),
    "tsv": ("mt.tsv", "x y z\t1\n"),
    "lattices": ("list.tsv", "x y z\t1\n"),
    "posteriors": ("p.tsv", "".join(f"1\t{gram}\t1.0\n" for gram in ("x", "y", "z", "x y", "y z", "x y z"))),
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_can_say_the_same(tmp_path: Path, format: str) -> None:
    name, text = FILES[format]
    (tmp_path / name).write_text(text)
    evidence = read_evidence([tmp_path / name], format, SPLIT, order=3)
    assert list(evidence.ids) == ["1"]
    assert evidence.words(0) == {"x", "y", "z"}
    grams = [("x",), ("y",), ("z",), ("x", "y"), ("y", "z"), ("x", "y", "z")]
    assert dict(evidence.posteriors(0)) == dict.fromkeys(grams, 1.0)


def test_orders_that_a_file_of_posteriors_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("1\ta\t1.0\n1\ta b\t0.5\n")
    evidence = read_evidence([tmp_path / "p.tsv"], "posteriors", SPLIT)
    assert missing_orders_warning(evidence, 1, 2) is None
    assert missing_orders_warning(evidence, 2, 4) == "the evidence has no n-grams of 3 and 4 words"
    (tmp_path / "mt.txt").write_text("a\n")
    assert missing_orders_warning(read_evidence([tmp_path / "mt.txt"], "text", SPLIT), 1, 4) is None
