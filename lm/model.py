"""What a language model offers to the rest of the program.

LanguageModel  the protocol: order, normalisation, signature, score of a string, acceptor of a bag, walkers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gyro.lattice.automaton import WordAutomaton
from gyro.text.corpus import Normalisation
from lm.walker import Walker


class LanguageModel(Protocol):
    """An n-gram model over words. All costs are natural-log costs: positive, lower is better."""

    @property
    def order(self) -> int:
        """The length of its longest n-grams."""

    @property
    def normalisation(self) -> Normalisation | None:
        """How its text became tokens; None where no record of it was kept."""

    @property
    def column(self) -> str:
        """The name of its scores in n-best lists, like LM4: what kind of model it is, and its order."""

    @property
    def signature(self) -> str:
        """A short hash that tells models apart."""

    def score(self, tokens: Sequence[str], bos: bool = True, eos: bool = True) -> float:
        """The cost of a string, with sentence start and end unless told otherwise."""

    def acceptor(self, words: Sequence[str], *, start: bool = True, end: bool = True) -> WordAutomaton:
        """G_Ω: the model restricted to these distinct words.

        start: the string begins a sentence (else nothing is known of what was before); end: it ends one.
        """

    def verify(self) -> None:
        """Compare the files of the model with the checksums of their making, where these are known."""

    def walkers(self) -> Callable[[Sequence[str]], Walker]:
        """A function that makes the walker for given words; what it takes to begin is done once, here."""
