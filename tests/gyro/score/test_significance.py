from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from gyro.errors import InputError
from gyro.score.evaluation import measure
from gyro.score.metric import METRICS
from gyro.score.significance import compare, paired_test, sampled_scores

Sentences = list[list[str]]


def swapped(sentences: Sentences, share: float, seed: int) -> Sentences:
    """The same with some of the neighbours swapped."""
    chance = random.Random(seed)
    changed = [list(sentence) for sentence in sentences]
    for sentence in changed:
        for place in range(len(sentence) - 1):
            if chance.random() < share:
                sentence[place], sentence[place + 1] = sentence[place + 1], sentence[place]
    return changed


@pytest.fixture(scope="module")
def references() -> Sentences:
    chance = random.Random(9)
    return [[f"w{chance.randrange(50)}" for _ in range(chance.randint(3, 20))] for _ in range(120)]


@pytest.fixture(scope="module")
def systems(references: Sentences) -> dict[str, Sentences]:
    good = swapped(references, 0.15, 1)
    return {"good": good, "alike": swapped(references, 0.15, 2), "bad": swapped(references, 0.5, 3), "same": good}


def test_samples_are_those_of_sacrebleu(systems: dict[str, Sentences], references: Sentences) -> None:
    texts = [" ".join(sentence) for sentence in systems["good"]]
    metrics = {"bleu": BLEU(tokenize="none", force=True), "chrf": CHRF()}
    test = PairedTest(
        [("a", texts), ("b", texts)],
        metrics,
        references=[[" ".join(s) for s in references]],
        test_type="bs",
        n_samples=200,
    )
    drawn = sampled_scores(measure(systems["good"], references), samples=200)
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        result = test()[1][name][0]
        assert isinstance(result, Result)
        assert drawn[key].mean() == pytest.approx(result.mean, rel=1e-4)
        ordered = np.sort(drawn[key])
        assert (ordered[200 - 5 - 1] - ordered[5]) / 2 == pytest.approx(result.ci, rel=1e-3)


def test_identical_systems_do_not_differ(systems: dict[str, Sentences], references: Sentences) -> None:
    comparison = compare({name: systems[name] for name in ("good", "same")}, references)
    assert {d.p for d in comparison.differences["same"].values()} == {1.0}
    assert {d.difference for d in comparison.differences["same"].values()} == {0.0}
    assert {comparison.mark("same", key) for key in METRICS} == {""}


def test_chance_is_seldom_taken_for_a_difference(references: Sentences) -> None:
    """Twenty pairs of equally good systems: at p < 0.05 one of them is to be expected."""
    chosen = references[:60]
    measured = [measure(swapped(chosen, 0.2, seed), chosen) for seed in range(40)]
    found = [paired_test(one, other, "kendall") for one, other in zip(measured[::2], measured[1::2], strict=True)]
    assert sum(difference.p < 0.05 for difference in found) <= 3


def test_clear_differences_are_found(systems: dict[str, Sentences], references: Sentences) -> None:
    comparison = compare(systems, references)
    assert comparison.baseline == "good"
    for key in METRICS:
        assert comparison.differences["bad"][key].p < 0.01
        assert comparison.mark("bad", key) == "--"
        interval, score = comparison.intervals["bad"][key], comparison.evaluations["bad"][key]
        assert interval.low <= score <= interval.high
    turned = compare(systems, references, baseline="bad")
    assert {turned.mark("good", key) for key in METRICS} == {"++"}
    assert "+ better, - worse than bad" in turned.text()


def test_the_seed_decides(systems: dict[str, Sentences], references: Sentences) -> None:
    two = {name: systems[name] for name in ("good", "alike")}
    assert compare(two, references, seed=3) == compare(two, references, seed=3)
    assert compare(two, references, seed=3).intervals != compare(two, references, seed=4).intervals


def test_one_metric_alone_and_in_pieces(
    systems: dict[str, Sentences], references: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = {name: measure(systems[name], references) for name in ("good", "bad")}
    together = compare({n: systems[n] for n in statistics}, references).differences["bad"]["ter"]
    assert paired_test(statistics["bad"], statistics["good"], "ter") == together
    monkeypatch.setattr("gyro.score.significance._MOST_CELLS", 7 * len(references))
    assert paired_test(statistics["bad"], statistics["good"], "ter") == together


def test_text_and_json(systems: dict[str, Sentences], references: Sentences) -> None:
    comparison = compare(systems, references, samples=500)
    rows = comparison.text().splitlines()
    assert rows[0].startswith("system")
    assert [row.split()[0] for row in rows[1:5]] == list(systems)
    assert rows[3].count("--") == len(METRICS)
    value = json.loads(json.dumps(comparison.to_json()))
    assert value["differences"]["bad"]["bleu"]["p"] == comparison.differences["bad"]["bleu"].p


def test_bad_input(references: Sentences) -> None:
    with pytest.raises(InputError, match="found the baseline 'b'; the systems are a"):
        compare({"a": references}, references, baseline="b")
    with pytest.raises(InputError, match="found 0 bootstrap samples"):
        compare({"a": references}, references, samples=0)
