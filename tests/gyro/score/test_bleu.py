"""BLEU against sacreBLEU, of corpora and of single sentences."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from gyro.score.bleu import COLUMNS, bleu_scores, bleu_statistics, sentence_bleu

WORDS = ["a", "b", "c", "d", "e", "f"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=0, max_size=9), min_size=1, max_size=5)


@settings(max_examples=200, deadline=None)
@given(SENTENCES, st.randoms(use_true_random=False))
def test_bleu_is_sacrebleus(outputs: list[list[str]], rng: random.Random) -> None:
    references = [rng.sample(words, len(words)) + rng.choices(WORDS, k=rng.randint(0, 2)) for words in outputs]
    rows = np.array([bleu_statistics(*pair) for pair in zip(outputs, references, strict=True)])
    texts, targets = [" ".join(words) for words in outputs], [" ".join(words) for words in references]
    corpus = BLEU(tokenize="none", force=True)
    expected = corpus.corpus_score(texts, [targets]).score
    assert bleu_scores(rows.sum(axis=0, keepdims=True)) == pytest.approx([expected], abs=1e-6)
    alone = BLEU(tokenize="none", force=True, effective_order=True)
    each = [alone.sentence_score(text, [target]).score for text, target in zip(texts, targets, strict=True)]
    assert sentence_bleu(rows) == pytest.approx(each, abs=1e-6)


def test_nothing_in_nothing_out() -> None:
    assert bleu_scores(np.zeros((0, COLUMNS))).tolist() == []
    assert bleu_scores(np.array([bleu_statistics((), ())])).tolist() == [0.0]
