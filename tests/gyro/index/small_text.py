"""A small text, and what an index of any text has to tell.

SPLIT, TEXT   a text of four sentences
SENTENCES     any text, as a strategy
count_ngrams  all n-grams of a text, counted as the definition says
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st

from gyro.text.corpus import Normalisation

SPLIT = Normalisation("none")
TEXT = [line.split() for line in ("the dog saw the cat", "the cat saw the dog", "the dog slept", "why")]
WORDS = ["a", "b", "c", "ab", "é", "😀", "\uffff"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=25).filter(any)


def count_ngrams(sentences: Sequence[Sequence[str]], order: int) -> Counter[tuple[str, ...]]:
    """All n-grams of the sentences between their marks, counted as the definition says."""
    marked = [["<s>", *sentence, "</s>"] for sentence in sentences if sentence]
    return Counter(
        tuple(sentence[start : start + n])
        for sentence in marked
        for n in range(1, order + 1)
        for start in range(len(sentence) - n + 1)
    )
