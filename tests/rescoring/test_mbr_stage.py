"""Minimum Bayes risk as a stage: lattices of others, evidence of MT systems, and what is tuned."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest
import sacrebleu

from gyro.cli import mbr as command
from gyro.errors import GyroError, InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import read_moses
from gyro.run.folder import open_run
from gyro.text.corpus import Normalisation
from rescoring.evidence import EvidenceFiles
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.mbr_stage import MbrStage, MbrTuning, ReadyMbr, evidence_of, mbr_best
from rescoring.posterior import string_posteriors
from rescoring.source import LatticeItem, LatticeSource, open_lattices
from rescoring.stage import Development, Place, run_ready

SPLIT = Normalisation("none")
MT = {"y": "b a c d", "z": "d c", "x": "a b c d"}  # in another order than the lattices
NBEST = """\
0 ||| a b c d ||| LM= -1 ||| -1
0 ||| b a c d ||| LM= -1 ||| -1.5
0 ||| d c b a ||| LM= -1 ||| -1.75
1 ||| a b c d ||| LM= -1 ||| -1
1 ||| a b d c ||| LM= -1 ||| -1.25
1 ||| b a d c ||| LM= -1 ||| -1.5
"""


def write_integer_lattices(folder: Path) -> None:
    """As another tool writes them: labels without symbols."""
    folder.mkdir()
    lists: list[list[tuple[str, ...]]] = [[("7", "12"), ("12", "7")], [("3",), ("5", "3")]]
    for number, strings in enumerate(lists, 1):
        words = sorted({token for string in strings for token in string})
        lattice = Lattice.from_strings(words, [Hypothesis(s, float(i)) for i, s in enumerate(strings)])
        lattice.write(folder / f"{number}.fst.gz", {word: int(word) for word in words})


def test_run_of_integer_label_lattices(tmp_path: Path) -> None:
    write_integer_lattices(tmp_path / "lattices")
    source = open_lattices(tmp_path / "lattices")
    (tmp_path / "mt.txt").write_text("12 7\n5 3\n")
    evidence = EvidenceFiles((str(tmp_path / "mt.txt"),), Normalisation("none"), format="text", by="order")
    for alpha, expected in ((1.0, ["7 12", "3"]), (0.0, ["12 7", "5 3"])):
        parameters = MbrParameters(alpha=alpha, scale=1.0, word_penalty=-0.05 if alpha == 0 else 0.0)
        ready = ReadyMbr(source, parameters, evidence)
        assert [" ".join(h.tokens) for h in mbr_best(ready, source, jobs=2) if h] == expected
        summary = run_ready(ready, source, tmp_path / f"run{alpha}", nbest=2)
        assert summary.exit_code == 0
        run = open_run(tmp_path / f"run{alpha}")
        assert run.best() == expected
        entries = list(read_moses(run.folder.nbest_moses))
        assert [entry.rank for entry in entries] == [1, 2, 1, 2]
        assert all(entry.features["MBR"][0] == -entry.cost for entry in entries)


def run_command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_integer_lattices(tmp_path / "lattices")
    lattices, mt = str(tmp_path / "lattices"), tmp_path / "mt.txt"
    assert run_command(lattices, "--scale", "1") == 0
    assert capsys.readouterr().out.splitlines()[0] == "7 12"
    mt.write_text("12 7\n5 3\n")
    options = ["--mt", str(mt), "--mt-format", "text", "--mt-tokenized", "--alpha", "0"]
    assert run_command(lattices, *options, "-o", str(tmp_path / "run")) == 0
    assert (tmp_path / "run" / "best.txt").read_text().splitlines()[0] == "12 7"
    mt.write_text("12 7\n")
    with pytest.raises(InputError, match=r"evidence for 1 sentences and 2 lattices; .* or --mt-by id "):
        run_command(lattices, *options, "--mt-by", "order")
    with pytest.raises(InputError, match="no evidence for the lattice '2' among 1 sentences"):
        run_command(lattices, *options)


def test_a_range_keeps_its_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_integer_lattices(tmp_path / "lattices")
    lattices, mt = str(tmp_path / "lattices"), tmp_path / "mt.txt"
    mt.write_text("12 7\n5 3\n")
    options = ["--mt", str(mt), "--mt-format", "text", "--mt-tokenized", "--alpha", "0"]
    assert run_command(lattices, *options) == 0
    both = capsys.readouterr().out.splitlines()
    for number in (1, 2):
        limits = ["--time-limit", "60", "--memory-limit", "2G"]
        assert run_command(lattices, *options, *limits, "--range", f"{number}:{number}") == 0
        assert capsys.readouterr().out.splitlines() == [both[number - 1]]


def outputs(path: Path) -> EvidenceFiles:
    """What one system says, with ids."""
    path.write_text("".join(json.dumps({"id": id, "outputs": {"A": text}}) + "\n" for id, text in MT.items()))
    return EvidenceFiles((str(path),), SPLIT, by="id")


def items(*strings: list[str] | None) -> LatticeSource:
    """Lattices x, y, … of strings, each dearer by one than the one before; None for a bag that failed."""

    def item(id: str, texts: list[str] | None) -> LatticeItem:
        listed = [Hypothesis(tuple(text.split()), float(cost)) for cost, text in enumerate(texts or [])]
        lattice = None if texts is None else Lattice.from_strings(("a", "b", "c", "d"), listed)
        return LatticeItem(id, lambda: lattice)

    return LatticeSource("memory", [item(id, texts) for id, texts in zip("xyz", strings, strict=False)], "none")


def test_evidence_goes_to_the_lattice_of_its_id(tmp_path: Path) -> None:
    source = items(["a b c d"], ["a b c d"])
    posteriors = evidence_of(source, MbrParameters(), outputs(tmp_path / "mt.jsonl"))
    for number, item in enumerate(source):
        expected = dict(string_posteriors([tuple(MT[item.id].split())]))
        assert dict(posteriors(number) or {}) == pytest.approx(expected)
    assert evidence_of(source, MbrParameters(), None)(0) is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_best_strings_come_in_order_and_none_where_there_is_no_lattice(jobs: int) -> None:
    source = items(["a b", "b a"], None, [])
    ready = MbrStage(scale=1.0).ready(source, Place())
    first, *others = mbr_best(ready, source, jobs)
    lattice = source[0].lattice()
    assert lattice is not None
    assert first == MbrDecoder(lattice).decode(MbrParameters(scale=1.0))
    assert others == [None, None]


def test_a_lattice_that_cannot_be_decoded_is_named() -> None:
    def broken() -> Lattice:
        raise InputError("the file is gone")

    source = LatticeSource("memory", [*items(["a b"]), LatticeItem("broken", broken)], "none")
    with pytest.raises(GyroError, match=r"lattice broken: .*the file is gone"):
        list(mbr_best(MbrStage().ready(source, Place()), source))


def test_a_pipeline_runs_it_alone_and_with_mt_where_there_is_mt(tmp_path: Path) -> None:
    stage, mt = MbrStage(alpha=0.5, scale=0.3), outputs(tmp_path / "mt.jsonl")
    alone = ("mbr", MbrStage(alpha=1.0, scale=0.3))
    assert stage.variants(Place()) == [alone]
    assert stage.variants(Place(mt=mt)) == [alone, ("mbr-mt", MbrStage(alpha=0.5, scale=0.3, mt=mt))]
    source = items(["a b"])
    titles = [variant.ready(source, Place()).title("first") for _, variant in stage.variants(Place(mt=mt))]
    assert titles == ["first + LMBR", "first + LMBR with MT"]


def test_settings_have_every_parameter_and_tell_evidence_apart(tmp_path: Path) -> None:
    source, mt = items(["a b"]), outputs(tmp_path / "mt.jsonl")
    ready = [ReadyMbr(source, MbrParameters(prune=math.inf), each) for each in (None, mt)]
    names = {field.name for field in fields(MbrParameters)}
    assert set(ready[0].settings["parameters"]) == names - {"min_order", "max_order"}
    orders = ReadyMbr(source, MbrParameters(max_order=5), None).settings["parameters"]
    assert set(orders) == names
    assert (orders["min_order"], orders["max_order"]) == (1, 5)
    assert json.loads(json.dumps(ready[0].settings, allow_nan=False))["parameters"]["prune"] is None
    before = ready[1].settings
    (tmp_path / "mt.jsonl").write_text(json.dumps({"id": "x", "outputs": {"A": "b a"}}) + "\n")
    after = ReadyMbr(source, MbrParameters(prune=math.inf), mt).settings
    assert ready[0].settings != before != after


@pytest.fixture
def development(tmp_path: Path) -> Development:
    (tmp_path / "nbest.txt").write_text(NBEST)
    references = [["b", "a", "c", "d"], ["a", "b", "d", "c"]]
    (tmp_path / "mt.txt").write_text("b a c d\nb a d c\n")
    mt = EvidenceFiles((str(tmp_path / "mt.txt"),), SPLIT, format="text", by="order")
    return Development(tmp_path / "nbest.txt", references, Place(mt=mt), tmp_path / "tuning", {"jobs": 2})


@pytest.mark.parametrize("with_mt", [False, True])
def test_tuning_gives_the_best_of_all_combinations(development: Development, with_mt: bool) -> None:
    """Each combination run as a stage of its own, scored by sacreBLEU."""
    values = {"scale": [0.1, 4.0], "precision": [0.5], "ratio": [0.3, 1.0], "prune": [0.1, 5.0], "alpha": [0.0, 0.9]}
    tuning = MbrTuning(mt=with_mt, **values)
    source = open_lattices(development.lattices)
    references = [[" ".join(reference) for reference in development.references]]
    names = [name for name in values if with_mt or name != "alpha"]
    scores = {}
    for numbers in product(*(values[name] for name in names)):
        stage = tuning.stage(dict(zip(names, numbers, strict=True)), development.place)
        assert isinstance(stage, MbrStage)
        assert (stage.mt is not None) == with_mt
        assert stage.alpha == (numbers[-1] if with_mt else 1.0)
        best = [" ".join(found.tokens) for found in mbr_best(stage.ready(source, Place()), source) if found]
        scores[numbers] = sacrebleu.corpus_bleu(best, references, tokenize="none", force=True).score
    assert len({round(score, 3) for score in scores.values()}) > 1  # else any answer would do
    tuned = tuning.tune(development)
    assert list(tuned.values) == names
    assert tuned.bleu == pytest.approx(max(scores.values()), abs=1e-3)
    assert scores[tuple(tuned.values.values())] == pytest.approx(tuned.bleu, abs=1e-3)
    first = next(iter(scores.values()))
    assert (
        tuned.words == f"BLEU {first:.2f} with the default parameters, {tuned.bleu:.2f} with the best of {len(scores)}"
    )


def test_orders_stay_as_they_were_set_and_go_with_what_is_tuned(development: Development) -> None:
    tuning = MbrTuning(scale=[0.1, 4.0], ratio=[0.5], prune=[5.0], min_order=2, max_order=6)
    assert {(each.min_order, each.max_order) for each in tuning.grid()} == {(2, 6)}
    tuned = tuning.tune(development)
    assert list(tuned.values) == ["scale", "precision", "ratio", "prune", "min_order", "max_order"]
    stage = tuning.stage(tuned.values, development.place)
    assert isinstance(stage, MbrStage)
    assert (stage.scale, stage.min_order, stage.max_order) == (tuned.values["scale"], 2, 6)
    with pytest.raises(InputError, match="max_order = 10"):
        MbrTuning(max_order=10)


def test_longer_ngrams_of_lattice_and_evidence_count(tmp_path: Path) -> None:
    """The string that the evidence is has the gain of all its n-grams, those of 5 to 7 words too."""
    (tmp_path / "mt.txt").write_text("a b c d\nb c d a b c d\n")
    mt = EvidenceFiles((str(tmp_path / "mt.txt"),), SPLIT, format="text", by="order")
    source = items(["a b c d", "d c b a"], ["b c d a b c d", "d c b a d c b"])
    for order in (4, 5, 7):
        posteriors = evidence_of(source, MbrParameters(max_order=order), mt)(1)
        assert posteriors is not None
        assert max(map(len, posteriors)) == order
        ready = ReadyMbr(source, MbrParameters(max_order=order, alpha=0.0), mt)
        found = list(mbr_best(ready, source))
        assert found[1] is not None
        gain = sum((8 - n) / (4 * 10 * 0.74 * 0.62 ** (n - 1)) for n in range(1, order + 1))
        assert -found[1].cost == pytest.approx(gain - 0.7, abs=1e-5)


def test_a_grid_needs_values_that_are_allowed() -> None:
    with pytest.raises(InputError, match="found no values for ratio; at least one is needed"):
        MbrTuning(ratio=[])
    with pytest.raises(InputError, match="ratio = 0"):
        MbrTuning(ratio=[0.5, 0.0])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], None),
        (["--mbr", "--scale", "0.2,0.5"], (False, [0.2, 0.5])),
        (["--mbr", "--scale", "1", "--mt", "mt.jsonl", "--mt-by", "id", "--mt-lowercase"], (True, [1.0])),
    ],
)
def test_options_of_tuning(words: list[str], expected: tuple[bool, list[float]] | None) -> None:
    parser = argparse.ArgumentParser()
    MbrTuning.add_arguments(parser)
    found = MbrTuning.from_arguments(parser.parse_args(words))
    if expected is None:
        assert found is None
        return
    assert found is not None
    tuning, place = found
    assert (tuning.mt, tuning.scale) == expected
    assert tuning.grid()[0] == MbrParameters()  # the start, of which equal scores are
    wanted = EvidenceFiles(("mt.jsonl",), Normalisation("spacy-en", True), by="id") if expected[0] else None
    assert place == Place(mt=wanted)


def test_a_list_that_is_no_numbers_is_named() -> None:
    parser = argparse.ArgumentParser()
    MbrTuning.add_arguments(parser)
    with pytest.raises(InputError, match="found --prune '5;6'; numbers with commas between are allowed"):
        MbrTuning.from_arguments(parser.parse_args(["--mbr", "--prune", "5;6"]))
