from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from gyro.score.ter import count_edits

SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "The", "the", ","]), max_size=9)


def sacrebleu_edits(output: list[str], reference: list[str]) -> float:
    return float(TER().sentence_score(" ".join(output), [" ".join(reference)]).num_edits)


@settings(deadline=None)
@given(SENTENCE, SENTENCE)
def test_edits_are_those_of_sacrebleu(output: list[str], reference: list[str]) -> None:
    assert count_edits([output], [reference]).tolist() == [sacrebleu_edits(output, reference)]


@pytest.mark.parametrize(("length", "words"), [(12, 40), (20, 12), (28, 60), (45, 30)])
def test_longer_orders(length: int, words: int) -> None:
    chance = random.Random(length)
    references = [[f"w{chance.randrange(words)}" for _ in range(length)] for _ in range(6)]
    outputs = []
    for number, reference in enumerate(references):
        output = list(reference)
        for _ in range(number):
            begin = chance.randrange(length)
            phrase, rest = output[begin : begin + 6], output[:begin] + output[begin + 6 :]
            target = chance.randint(0, len(rest))
            output = rest[:target] + phrase + rest[target:]
        outputs.append(output)
    expected = [sacrebleu_edits(output, reference) for output, reference in zip(outputs, references, strict=True)]
    assert count_edits(outputs, references).tolist() == expected


@pytest.mark.parametrize(
    ("output", "reference", "edits"),
    [("", "", 0), ("", "a b", 2), ("a b", "", 2), ("a b c", "a b c", 0), ("c a b", "a b c", 1), ("A b", "a B", 0)],
)
def test_edits_by_hand(output: str, reference: str, edits: int) -> None:
    assert count_edits([output.split()], [reference.split()]).tolist() == [edits]
