"""`gyro posteriors` as a user types it, and what minimum Bayes risk makes of its files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main, posteriors
from gyro.run.folder import open_run
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.mbr import MbrParameters
from rescoring.posterior_file import read_posteriors
from rescoring.source import open_lattices


def test_the_file_has_the_posteriors_of_every_lattice(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, path = str(ordered / "first"), tmp_path / "p.tsv"
    options = ["--scale", "0.3", "--prune", "4", "--max-order", "5"]
    assert main(["posteriors", first, "-o", str(path), *options]) == 0
    found, source = read_posteriors(path), open_lattices(first)
    assert found.ids == tuple(item.id for item in source)
    for number, item in enumerate(source):
        lattice = item.lattice()
        expected = {} if lattice is None else dict(ngram_posteriors(lattice, order=5, scale=0.3, prune=4.0))
        assert dict(found.posteriors(number)) == expected
    assert main(["posteriors", first, "-o", str(tmp_path / "p.tsv.gz"), "--jobs", "2", *options]) == 0
    assert gzip.decompress((tmp_path / "p.tsv.gz").read_bytes()) == path.read_bytes()
    capsys.readouterr()
    assert main(["posteriors", first, "--range", "2:3", "--min-order", "2", "--least", "0.5", *options]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    ids = [item.id for item in source][1:3]
    wanted = [
        (id, " ".join(gram), value)
        for number, id in enumerate(ids, 1)
        for gram, value in found.posteriors(number).items()
        if len(gram) > 1 and value >= 0.5
    ]
    assert sorted((row[0], row[1], float(row[2])) for row in rows if len(row) == 3) == sorted(wanted)


def test_posteriors_as_evidence_give_the_run_that_their_lattices_give(ordered: Path, tmp_path: Path) -> None:
    """With the default scale and beam of both commands; all files but the settings are the same to the byte."""
    assert (MbrParameters.scale, MbrParameters.prune) == (posteriors.SCALE, posteriors.PRUNE)
    first, evidence = str(ordered / "first"), tmp_path / "evidence"
    assert main(["mbr", first, "-o", str(evidence), "--scale", "0.1", "-n", "5"]) == 0
    assert main(["posteriors", str(evidence), "-o", str(tmp_path / "p.tsv.gz")]) == 0
    for name, file, format in (("lattices", evidence, "lattices"), ("file", tmp_path / "p.tsv.gz", "posteriors")):
        words = ["--mt", str(file), "--mt-format", format, "--mt-by", "id", "--alpha", "0.4"]
        assert main(["mbr", first, "-o", str(tmp_path / name), *words]) == 0
    told = {"run.json", "times.jsonl", ".lock"}
    runs = [
        {
            str(path.relative_to(tmp_path / name)): path.read_bytes()
            for path in sorted((tmp_path / name).rglob("*"))
            if path.is_file() and path.name not in told
        }
        for name in ("lattices", "file")
    ]
    assert len(runs[0]) > len(open_run(first))
    assert runs[0] == runs[1]
    assert open_run(tmp_path / "file").best() != open_run(first).best()  # else anything would be the same


def test_outputs_of_systems_have_posteriors_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mt.jsonl"
    path.write_text(
        json.dumps({"id": "x", "outputs": {"A": "Go on.", "B": "Go.", "C": "Go on.", "D": "Go on."}}) + "\n"
    )
    words = ["posteriors", str(path), "--hypotheses", "outputs", "--scale", "1", "--max-order", "2"]
    assert main(words) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows] == [["x", gram] for gram in (".", "Go", "on", "Go .", "Go on", "on .")]
    assert [float(row[2]) for row in rows] == pytest.approx([1, 1, 0.75, 0.25, 0.75, 0.75], abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{ordered}/first", "--max-order", "10"], "max_order = 10; 1 to 9 are allowed"),
        (["{ordered}/first", "--min-order", "3", "--max-order", "2"], "min_order = 3 to max_order = 2"),
        (["{ordered}/first", "--least", "2"], "found --least 2.0; 0 to 1 is allowed"),
        (["{ordered}/first", "--scale", "-1"], "found --scale -1.0"),
        (["{ordered}/first", "--prune", "nan"], "--prune nan"),
        (["{ordered}/first", "-o", "{tmp}/no/p.tsv.gz"], "cannot write"),
        (["{tmp}/none"], "no such file"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["posteriors", *words], message)
