from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.comparison_group import (
    Recalls,
    distortion_panels,
    distortion_table,
    length_panels,
    length_table,
    score_tables,
)
from experiments.comparison_measure import Group, Measured, equal_bins, sign_test
from gyro.score.evaluation import evaluate, measure
from tests.experiments.syntax_tiny import SENTENCES, conllu
from tests.experiments.tables import read_table

REFERENCES = [sentence.split() for sentence in SENTENCES]


def run(outputs: list[list[str]], seconds: float = 0.5) -> Measured:
    count = len(outputs)
    statistics = measure(outputs, REFERENCES[:count])
    return Measured(Path("x"), outputs, statistics, [seconds] * count, [not o for o in outputs], [False] * count)


@pytest.fixture
def group() -> Group:
    right = run(REFERENCES)
    turned = run([reference[::-1] for reference in REFERENCES[:10]], 0.1)
    lost = run([[], *REFERENCES[1:16]])
    return Group("test", "words", {"right": right, "turned": turned, "lost": lost})


def test_the_first_bags_are_a_run_of_their_own(group: Group) -> None:
    lost = group.runs["lost"].first(4)
    whole = evaluate(lost.outputs, REFERENCES[:4])
    assert len(lost) == 4
    assert {key: value for key, value in lost.scores.items() if key != "rate"} == whole.by_metric
    assert lost.statistics.distortion_shares() == whole.distortions
    assert lost.scores["rate"] == pytest.approx(2.0)
    assert group.counts == [10, 16]
    assert {len(each) for each in group.common.values()} == {10}


def test_scores_are_told_on_the_bags_that_systems_share(group: Group) -> None:
    first, second = map(read_table, score_tables(group))
    assert [row["system"] for row in first] == ["right", "turned", "lost"]
    assert [row["system"] for row in second] == ["right", "lost"]
    assert {row["bags"] for row in first} == {"10"}
    assert first[0]["BLEU"] == "100.00"
    assert first[1]["BLEU"].endswith("--")
    assert first[1]["p, sign test"] == "0.002"  # ten of ten
    assert (first[1]["exact match, %"], first[1]["s a bag"]) == ("0.0", "0.100")
    assert [row["failed"] for row in second] == ["0", "1"]


def test_sentences_of_less_than_four_words_have_no_bleu() -> None:
    references = [["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"], ["a", "b", "c", "d", "e"]]
    runs = {
        "right": Measured(Path("x"), references, measure(references, references), [0.5] * 4, [False] * 4, [False] * 4)
    }
    bleu, meteor = read_table(length_table(runs))
    assert [bleu[name] for name in ("2 (1)", "3 (1)", "4 (1)", "5 (1)")] == ["", "", "100.0", "100.0"]
    assert all(meteor.values())
    assert [[place for place, _ in panel.curves["right"]] for panel in length_panels(runs)] == [[2, 3], [0, 1, 2, 3]]


def test_details_are_tables_and_panels(group: Group, tmp_path: Path) -> None:
    runs = group.common
    rows = read_table(length_table(runs))
    assert [(row["system"], row[""]) for row in rows[:2]] == [("right", "BLEU"), ("right", "METEOR")]
    assert [row["5 (10)"] for row in rows[:2]] == ["100.0", "100.0"]
    assert float(rows[2]["5 (10)"]) < 50
    shares = read_table(distortion_table(runs))
    assert shares[0]["0"] == "100.0"
    assert shares[1]["mean"] == "0.400"  # 0.32 where "the" comes twice, 0.48 in the other half
    assert [len(panel.curves) for panel in (*length_panels(runs), *distortion_panels(runs))] == [3, 3, 3]
    trees = tmp_path / "trees.conllu"
    trees.write_text(conllu(SENTENCES), encoding="utf-8")
    recalls = Recalls.of(runs, trees)
    by_length = read_table(recalls.table("length"))
    assert [(row["system"], row[""], row["2 (20)"]) for row in by_length] == [
        ("right", "strict", "100.0"),
        ("right", "loose", "100.0"),
        ("turned", "strict", "0.0"),
        ("turned", "loose", "100.0"),
        ("lost", "strict", "90.0"),
        ("lost", "loose", "90.0"),
    ]
    assert recalls.classes("relation") == ["nsubj", "obj"]
    assert [panel.classes for panel in recalls.panels()] == [["2"], ["NN"], ["nsubj", "obj"]]


def test_the_sign_test_counts_the_bags_that_differ() -> None:
    right = run(REFERENCES)
    for worse in (1, 5, 12):
        turned = run([*(reference[::-1] for reference in REFERENCES[:worse]), *REFERENCES[worse:]])
        assert sign_test(right, turned) == sign_test(turned, right) == pytest.approx(min(1.0, 2 * 0.5**worse))
    assert sign_test(right, right) == 1.0


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(1, 10))
def test_classes_of_equal_counts_share_out_all_lengths(lengths: list[int], most: int) -> None:
    bins = equal_bins(lengths, most)
    assert len(bins) <= most
    found = [[length for length, is_in in zip(lengths, rows, strict=True) if is_in] for rows in bins.values()]
    assert sorted(length for some in found for length in some) == sorted(lengths)
    assert all(some for some in found)
    assert all(max(one) < min(other) for one, other in pairwise(found))
    for name, some in zip(bins, found, strict=True):
        ends = name.split("–")
        assert (int(ends[0]), int(ends[-1])) == (min(some), max(some))


def test_distinct_lengths_are_shared_out_evenly() -> None:
    assert {name: int(rows.sum()) for name, rows in equal_bins(range(1, 13), 4).items()} == {
        "1–3": 3,
        "4–6": 3,
        "7–9": 3,
        "10–12": 3,
    }
