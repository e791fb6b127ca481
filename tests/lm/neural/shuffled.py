"""What tests of neural models have in common: the tiny models of fixtures, and strings to be scored."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lm.neural.model import NeuralModel
from lm.neural.weights import Checkpoint
from tests.lm.neural.tiny import FAMILIES

Checkpoints = Callable[[str], Checkpoint]
Models = Callable[[str], NeuralModel]
KINDS = sorted(FAMILIES)
WORDS = ["the", "cat", "did", "n't", "know", "3", "%", ",", "it", "was", '"', "the", "mat", "-", "end", "."]


def shuffles(number: int, words: Sequence[str] = WORDS, seed: int = 0) -> list[list[str]]:
    """Strings of some of the words."""
    dice = random.Random(seed)
    return [dice.sample(list(words), dice.randrange(len(words) + 1)) for _ in range(number)]
