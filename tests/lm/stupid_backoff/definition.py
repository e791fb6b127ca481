"""Stupid backoff by its definition, over a Counter.

ByDefinition        equation 5 of Brants et al.
TEXT                four sentences
SENTENCES, STRINGS  strategies: texts of three of the WORDS, strings over all four
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st

from gyro.text.corpus import Normalisation
from lm.stupid_backoff.model import UNSEEN

SPLIT = Normalisation("none")
TEXT = [line.split() for line in ("the dog saw the cat", "the cat saw the dog", "the dog slept", "why")]
WORDS = ["a", "b", "c", "d"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS[:3]), min_size=1, max_size=7), min_size=1, max_size=12)
STRINGS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=6)


class ByDefinition:
    """Equation 5 of Brants et al. over a Counter."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, alpha: float) -> None:
        marked = [("<s>", *sentence, "</s>") for sentence in sentences]
        self.order, self.alpha = order, alpha
        self.counts = Counter(s[i:j] for s in marked for i in range(len(s)) for j in range(i + 1, len(s) + 1))
        self.total = sum(map(len, sentences)) + len(sentences)

    def s(self, word: str, history: tuple[str, ...]) -> float:
        if not history:
            return (self.counts[word,] or UNSEEN) / self.total
        if self.counts[*history, word]:
            return self.counts[*history, word] / self.counts[history]
        return self.alpha * self.s(word, history[1:])

    def cost(self, tokens: Sequence[str], bos: bool, eos: bool) -> float:
        words, cost = ("<s>", *tokens) if bos else tuple(tokens), 0.0
        words = (*words, "</s>") if eos else words
        for i in range(int(bos), len(words)):
            cost -= math.log(self.s(words[i], words[max(0, i - self.order + 1) : i]))
        return cost
