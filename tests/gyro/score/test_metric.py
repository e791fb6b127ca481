from __future__ import annotations

import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from gyro.score.metric import DISTORTION_BINS, DISTORTION_LABELS, METRICS, distortion_counts

SACREBLEU = {
    "bleu": BLEU(tokenize="none", force=True),
    "bleu_lc": BLEU(tokenize="none", lowercase=True, force=True),
    "chrf": CHRF(),
    "ter": TER(),
}


@pytest.fixture(scope="module")
def sentences() -> tuple[list[list[str]], list[list[str]]]:
    """References of 0 to 14 words with hypotheses in other orders, some of them short, empty or of other words."""
    chance = random.Random(5)
    references = [[chance.choice(["the", "a", "dog", "saw", "it", ".", "§"]) for _ in range(n % 15)] for n in range(60)]
    outputs = [chance.sample(reference, len(reference)) for reference in references]
    outputs[::7] = references[::7]
    outputs[5], outputs[20], outputs[31] = [], ["zebra"] * 4, outputs[31][:3]
    outputs[40] = [word.capitalize() for word in references[40]]
    return outputs, references


@pytest.mark.parametrize("key", SACREBLEU)
def test_scores_are_those_of_sacrebleu(key: str, sentences: tuple[list[list[str]], list[list[str]]]) -> None:
    outputs, references = sentences
    texts, targets = [" ".join(s) for s in outputs], [" ".join(s) for s in references]
    statistics = METRICS[key].statistics(outputs, references, "none")
    ours = METRICS[key].scores(statistics.sum(axis=0, keepdims=True))
    assert ours == pytest.approx([SACREBLEU[key].corpus_score(texts, [targets]).score])
    each = [SACREBLEU[key].corpus_score([text], [[target]]).score for text, target in zip(texts, targets, strict=True)]
    assert METRICS[key].scores(statistics) == pytest.approx(each)
    assert METRICS[key].signature("none") == str(SACREBLEU[key].get_signature())


def test_case_counts_for_one_bleu_alone() -> None:
    outputs, references = [["it", "saw", "The", "dog"]], [["It", "saw", "the", "dog"]]
    found = {key: METRICS[key].scores(METRICS[key].statistics(outputs, references, "none")) for key in SACREBLEU}
    assert found["bleu_lc"] == pytest.approx([100.0])
    assert found["bleu"][0] < 50


@pytest.mark.parametrize("key", METRICS)
def test_perfect_and_direction(key: str) -> None:
    references = [list("abcdef"), list("ghijkl")]
    worse = [list("fbdcae"), list("lkjihg")]
    perfect, other = (
        METRICS[key].scores(METRICS[key].statistics(s, references, "none").sum(axis=0, keepdims=True))[0]
        for s in (references, worse)
    )
    assert perfect == pytest.approx({"ter": 0.0, "distortion": 0.0, "kendall": 1.0}.get(key, 100.0))
    assert (perfect > other) == METRICS[key].higher_is_better


@pytest.mark.parametrize("length", range(1, 31))
def test_distortion_classes(length: int) -> None:
    """The first word moved to the end: one word by (n − 1) / n, all others by 1 / n."""
    reference = [f"w{k}" for k in range(length)]
    counts = distortion_counts([reference[1:] + reference[:1]], [reference])[0]
    expected = np.zeros(len(DISTORTION_BINS), int)
    for moved in [1] * (length - 1) + [length - 1]:
        expected[-(-10 * moved // length)] += 1  # the ceiling, in whole numbers
    if length == 1:
        expected = np.eye(1, len(DISTORTION_BINS), dtype=int)[0]
    assert counts.tolist() == expected.tolist()
    assert len(DISTORTION_LABELS) == len(DISTORTION_BINS)
