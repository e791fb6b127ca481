"""The tables of an experiment, read back: of the tiny one as it was run, and of runs whose figures are known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
import sacrebleu

from experiments.description import load_experiment
from experiments.laboratory import Laboratory
from experiments.results import write_results
from gyro.errors import InputError
from rescoring.source import open_lattices
from tests.experiments.tables import find_table
from tests.experiments.tiny import PLAIN, write
from tests.gyro.report.samples import REFERENCES, check, make_neural_run, make_run

SETS = {"dev": ["exact, soft", "+2g", "+LMBR", "+LMBR-MT"], "test": ["exact, soft", "+2g", "+LMBR"]}
CLASSES = {"1-5": (1, 5), "6-10": (6, 10), "11-15": (11, 15)}
Rows = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def results(finished: Laboratory) -> str:
    return (finished.folder / "results.md").read_text(encoding="utf-8")


def of_set(results: str, name: str) -> str:
    """The part of the text that is about a set."""
    return results.split(f"\n## Set {name}\n")[1].split("\n## ")[0]


def rows(text: str, heading: str) -> Rows:
    """A table by the first column."""
    found = find_table(text, heading)
    first = next(iter(found[0]))
    return {row.pop(first): row for row in found}


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sentences(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def bleu(strings: list[str], references: list[str]) -> float:
    return float(sacrebleu.corpus_bleu(strings, [references], tokenize="none", force=True).score)


def plain(cell: str) -> float:
    """The number of a cell without its marks."""
    return float(cell.rstrip("+-"))


def sizes(folder: Path) -> list[int]:
    return [len(bag["tokens"]) for bag in json_lines(folder / "bags.jsonl")]


def in_class(folder: Path, name: str) -> list[int]:
    first, last = CLASSES[name]
    return [number for number, size in enumerate(sizes(folder)) if first <= size <= last]


def test_scores_are_those_of_sacrebleu(finished: Laboratory, results: str) -> None:
    table = rows(results, "All sets")
    assert [*table] == SETS["dev"]
    assert table["+LMBR-MT"]["BLEU test"] == table["+LMBR-MT"]["exact match test"] == ""
    for set_name, names in SETS.items():
        by_size = rows(of_set(results, set_name), "By size: BLEU")
        matches = rows(of_set(results, set_name), "By size: exact matches, %")
        for name in names:
            folder = finished.run_folder(set_name, name)
            best, wanted = sentences(folder / "best.txt"), sentences(folder / "references.txt")
            assert plain(table[name][f"BLEU {set_name}"]) == pytest.approx(bleu(best, wanted), abs=0.006)
            same = [100 * (a == b) for a, b in zip(best, wanted, strict=True)]
            assert plain(table[name][f"exact match {set_name}"]) == pytest.approx(fmean(same), abs=0.06)
            assert [*by_size[name]] == [size for size in CLASSES if in_class(folder, size)]
            for size in by_size[name]:
                chosen = in_class(folder, size)
                assert by_size["bags"][size] == matches["bags"][size] == str(len(chosen))
                some = bleu([best[i] for i in chosen], [wanted[i] for i in chosen])
                assert float(by_size[name][size]) == pytest.approx(some, abs=0.06)
                assert float(matches[name][size]) == pytest.approx(fmean(same[i] for i in chosen), abs=0.06)


def test_each_stage_stands_below_its_input(finished: Laboratory, results: str) -> None:
    for set_name, names in SETS.items():
        table = rows(of_set(results, set_name), "Rescoring: each stage over its input")
        assert [*table] == ["exact, soft", "· +2g", *(f"· · {name}" for name in names[2:])]
        scores = {name.strip("· "): plain(row["BLEU"]) for name, row in table.items()}
        for name, row in table.items():
            parent = {"exact, soft": "", "· +2g": "exact, soft"}.get(name, "+2g")
            if parent:
                difference = scores[name.strip("· ")] - scores[parent]
                assert float(row["over its input"]) == pytest.approx(difference, abs=0.011)
            else:
                assert row["over its input"] == ""


def test_oracles_have_their_own_scores(finished: Laboratory, results: str) -> None:
    for set_name in SETS:
        table = rows(of_set(results, set_name), "Language models and oracles, BLEU")
        row, folder = table["exact, soft"], finished.run_folder(set_name, "exact, soft")
        references = sentences(folder / "references.txt")
        assert (row["bags"], row["first pass"]) == ("6", "3-gram")
        for kind in ("100-best", "lattice"):
            wanted = bleu(sentences(folder / f"oracle-{kind}.txt"), references)
            assert float(row[f"oracle, {kind}"]) == pytest.approx(wanted, abs=0.006)
        others = {name: row for name, row in table.items() if name != "exact, soft"}
        assert [*others] == (["full, short"] if set_name == "test" else [])
        assert all(row["oracle, lattice"] == "" for row in others.values())


def test_time_memory_and_phrases_are_those_of_the_bags(finished: Laboratory, results: str) -> None:
    for set_name, names in {"dev": ["exact, soft"], "test": ["exact, soft", "full, short"]}.items():
        text = of_set(results, set_name)
        tables = [
            rows(text, f"By size: {what}")
            for what in ("median seconds a bag", "peak memory of a bag, MB", "phrases of a bag, mean")
        ]
        assert [[*table] for table in tables] == [names] * 3
        for name in names:
            folder = finished.run_folder(set_name, name)
            spent, found = json_lines(folder / "times.jsonl"), json_lines(folder / "results.jsonl")
            for size in tables[0][name]:
                if not (chosen := in_class(folder, size)):
                    assert tables[0][name][size] == ""
                    continue
                assert tables[0][name][size] == f"{median(spent[i]['seconds'] for i in chosen):.2f}"
                assert tables[1][name][size] == f"{max(spent[i]['memory'] for i in chosen) / 2**20:.0f}"
                assert tables[2][name][size] == f"{fmean(found[i]['phrases'] for i in chosen):.0f}"
            rungs = rows(text, "Which rules gave the order, bags")[name]
            assert {rung: int(count) for rung, count in rungs.items()} == Counter(row["rung"] for row in found)


def label(lengths: list[int]) -> str:
    """What a group of bags is called."""
    span = f"{min(lengths)}–{max(lengths)}" if len({*lengths}) > 1 else f"{lengths[0]}"
    return f"{len(lengths)} bags of {span} tokens"


def test_systems_of_some_bags_stand_beside_those_of_all_cut_down_to_these(finished: Laboratory, results: str) -> None:
    text, folder = of_set(results, "test"), finished.run_folder("test", "full, short")
    table, whole = (rows(text, label(sizes(each))) for each in (folder, finished.run_folder("test", "exact, soft")))
    assert [*whole] == SETS["test"]
    assert [*table] == ["exact, soft", "full, short", "+2g", "+LMBR"]
    short = [i for i, size in enumerate(sizes(finished.run_folder("test", "+2g"))) if size <= 8]
    for name, row in table.items():
        run = finished.run_folder("test", name)
        best = sentences(run / "best.txt")
        chosen = best if name == "full, short" else [best[i] for i in short]
        assert plain(row["BLEU"]) == pytest.approx(bleu(chosen, sentences(folder / "references.txt")), abs=0.006)
        assert (row["median s"] == "") == (name != "full, short")  # times are told where all bags are
    for name, row in whole.items():
        seconds = [each["seconds"] for each in json_lines(finished.run_folder("test", name) / "times.jsonl")]
        told = [row["median s"], row["95 % s"], row["slowest s"]]
        assert told == [f"{value:.2f}" for value in (median(seconds), np.percentile(seconds, 95), max(seconds))]


def test_tuned_values_are_told(finished: Laboratory, results: str) -> None:
    table = rows(results, "Tuned on the development set")
    assert [*table] == [stage.name for stage in finished.experiment.stages]
    for stage in finished.experiment.stages:
        known = json.loads(finished.tuned_file(stage).read_text())
        assert table[stage.name]["BLEU there"] == f"{known.pop('bleu'):.2f}"
        assert table[stage.name]["tuned on"] == "dev"
        numbers = {**known.pop("weights", {}), **known}
        told = dict(pair.split() for pair in table[stage.name]["values"].split(", "))
        assert {name: float(value) for name, value in told.items()} == pytest.approx(numbers, abs=1e-5)


def test_it_is_told_how_everything_was_made(finished: Laboratory, results: str) -> None:
    assert results.startswith("# Tiny\n\n")
    assert "Bags: dev 6, test 6. Parameters tuned on dev." in results
    assert f"```toml\n{finished.experiment.source.strip()}\n```" in results
    made = rows(results, "How it was made")
    runs = [json.loads((path / "run.json").read_text())["settings"] for path, _ in finished.runs("test")]
    for settings in runs:
        if "model_order" in settings:
            assert made[f"{settings['model_order']}-gram model"] == {"version or signature": f"`{settings['model']}`"}
            assert made["index"] == {"version or signature": f"`{settings['index']}`"}
    assert sacrebleu.__version__ == made["sacrebleu"]["version or signature"]


def test_pages_are_written_for_each_set(finished: Laboratory) -> None:
    for name, set_name in (("report-dev.html", "dev"), ("report.html", "test")):
        text = " ".join(check(finished.folder / name).text)
        assert f"Tiny: {set_name}" in text
        assert all(run in text for run in SETS[set_name])


@pytest.fixture
def known(tmp_path: Path) -> Laboratory:
    """The tiny experiment without MT, and no run in it yet."""
    text = PLAIN.split('[[stages]]\nname = "+LMBR-MT"')[0]
    return Laboratory(load_experiment(write(tmp_path, text)), tmp_path / "runs")


def test_without_a_finished_run_there_is_nothing_to_report(known: Laboratory) -> None:
    (known.run_folder("dev", "exact, soft")).mkdir(parents=True)
    with pytest.raises(InputError, match=f"^{known.folder}: found no finished run to report on$"):
        write_results(known)
    assert not (known.folder / "results.md").exists()


def test_what_is_finished_is_reported_before_the_rest_is(known: Laboratory) -> None:
    """The last set that has runs has the report; without the baseline the first system takes its place."""
    make_run(known.run_folder("dev", "+2g"), 1)
    written = write_results(known)
    assert written == [known.folder / "report.html", known.folder / "results.md"]
    text = written[1].read_text()
    assert "## Set dev" in text
    assert "## Set test" not in text
    assert [row["system"] for row in find_table(text, "All sets")] == ["+2g"]
    assert "## Tuned on the development set\n\n(none)\n" in text


def test_failures_proofs_and_rungs_are_counted(known: Laboratory) -> None:
    """The third of five bags has no order; the fourth and the fifth are proved, every second one is by the rules."""
    make_run(known.run_folder("test", "exact, soft"), 1, fail=2)
    text = write_results(known)[-1].read_text()
    lengths = [len(reference.split()) for reference in REFERENCES]
    row = rows(text, label(lengths))["exact, soft"]
    assert (row["proved"], row["failed"], row["exact match"]) == ("40 %", "1", "0.0")
    assert rows(text, "Which rules gave the order, bags")["exact, soft"] == {"rules": "2", "2-gram rules": "2"}
    phrases = rows(text, "By size: phrases of a bag, mean")["exact, soft"]
    assert lengths == [6, 5, 12, 3, 4]  # ten phrases for each token
    assert phrases == {"1-5": "40", "6-10": "60", "11-15": ""}


def test_a_search_without_proofs_stands_beside_the_exact_one(known: Laboratory) -> None:
    """Both have the same costs here, so wherever the exact search proves the best, the other found it."""
    make_run(known.run_folder("test", "exact, soft"), 1)
    make_run(known.run_folder("test", "full, short"), 2, algorithm="full")
    text = write_results(known)[-1].read_text()
    heading = "Beside the optimum that the exact search proves, bags and pieces"
    assert rows(text, heading) == {"full, short": {"optimum found": "3", "dearer": "0", "other rules": "0"}}


def test_a_stage_is_compared_with_the_run_that_it_was_made_from(known: Laboratory) -> None:
    first = make_run(known.run_folder("test", "exact, soft"), 1)
    make_run(known.run_folder("test", "+2g"), 0, lattices=open_lattices(first).signature)
    text = write_results(known)[-1].read_text()
    table = rows(text, "Rescoring: each stage over its input")
    assert [*table] == ["exact, soft", "· +2g"]
    turned = [" ".join([*reference.split()[1:], reference.split()[0]]) for reference in REFERENCES]
    before = bleu(turned, REFERENCES)
    assert plain(table["exact, soft"]["BLEU"]) == pytest.approx(before, abs=0.006)
    assert table["· +2g"]["BLEU"] == "100.00"
    assert float(table["· +2g"]["over its input"]) == pytest.approx(100 - before, abs=0.006)


def test_neural_runs_have_tables_of_their_own(known: Laboratory) -> None:
    """A run with a neural model, made from another; its costs are those of NEURAL in the samples."""
    first = make_run(known.run_folder("test", "exact, soft"), 1)
    make_neural_run(known.run_folder("test", "+2g"), lattices=open_lattices(first).signature)
    text = write_results(known)[-1].read_text()
    row = rows(text, "Output against reference under the neural score")["+2g"]
    assert (row["search error"], row["found"], row["model error"], row["reference not known"]) == ("1", "1", "1", "1")
    weights = rows(text, "BLEU against the weight λ of the neural model")["+2g"]
    assert [*weights][::9] == ["λ 0", "its own"]
    assert weights["its own"].startswith("2: ")
    assert [*rows(text, "BLEU against the length of the list")["+2g"]] == ["λ"]  # lists of one string
    assert [*rows(text, "Seconds of one process a bag")] == ["exact, soft", "+2g"]
    assert rows(text, "How it was made")["neural model"] == {"version or signature": "`of tests`"}


def test_without_neural_runs_there_are_no_such_tables(results: str) -> None:
    assert "neural" not in results
    assert "What is gained" not in results


def test_gains_are_told_where_they_are_asked_for(tmp_path: Path) -> None:
    text = PLAIN.split('[[stages]]\nname = "+LMBR-MT"')[0].replace(
        "sample = 6", 'sample = 6\ngains = [["exact, soft", "+2g"], ["+2g", "+LMBR"]]'
    )
    place = Laboratory(load_experiment(write(tmp_path, text)), tmp_path / "runs")
    make_run(place.run_folder("test", "exact, soft"), 1)
    make_run(place.run_folder("test", "+2g"), 0)
    [row] = find_table(write_results(place)[-1].read_text(), "What is gained, without and with")
    turned = [" ".join([*reference.split()[1:], reference.split()[0]]) for reference in REFERENCES]
    assert (row["without"], row["with"], row["BLEU with"]) == ("exact, soft", "+2g", "100.00")
    assert float(row["difference"]) == pytest.approx(100 - bleu(turned, REFERENCES), abs=0.006)


def test_systems_of_cut_bags_stand_last(known: Laboratory) -> None:
    first = make_run(known.run_folder("test", "exact, soft"), 1)
    found = [{**row, "runs": [{"proved": True}, {"proved": True}]} for row in json_lines(first / "results.jsonl")]
    (first / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    make_run(known.run_folder("test", "full, short"), 2, algorithm="full")
    make_run(known.run_folder("test", "+2g"), 0, lattices=open_lattices(first).signature)
    text = write_results(known)[-1].read_text()
    wanted = ["full, short", "exact, soft (cut)", "+2g (cut)"]
    assert [*rows(text, "All sets")] == wanted
    assert [*rows(text, label([len(reference.split()) for reference in REFERENCES]))] == wanted
