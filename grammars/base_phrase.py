"""Base noun phrases of dependency trees: noun phrases that have no other noun phrase in them.

base_noun_phrases  the places of each, from left to right; such phrases are given to a decoder as units

"the old man 's dog barked at two black and white cats" has three: "the old man 's", "dog" and "two black and
white cats". Relations may be those of Universal Dependencies or of spaCy's English models.
"""

from __future__ import annotations

from collections.abc import Iterator

from grammars.conllu import ConlluSentence, ConlluToken
from gyro.text.corpus import ROOT

NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM"})
# What stands before the head of a base noun phrase and belongs to it. Subtypes like det:predet are included.
BEFORE = frozenset({"det", "predet", "amod", "nummod", "compound", "nn", "num", "nmod", "poss", "quantmod", "flat"})
AFTER = frozenset({"flat", "goeswith", "fixed", "nummod", "case"})
# What may hang below these. Clauses and prepositional phrases have noun phrases of their own in them.
BELOW = BEFORE | AFTER - {"case"} | {"advmod", "neg", "punct", "cc", "conj", "npadvmod", "number", "hmod", "hyph"}
BELOW_UNMARKED = frozenset({"obl:unmarked", "obl:npmod", "obl:tmod"})
BRIDGES = frozenset({",", "-", "–", "/"})
MARKS = frozenset({"case", "mark", "prep"})


def base_noun_phrases(sentence: ConlluSentence, least: int = 2) -> list[tuple[int, ...]]:
    """The places of each base noun phrase of at least so many tokens; each is in one piece and has its head in it.

    >>> words = "the old man 's dog barks".split()
    >>> upos = "DET ADJ NOUN PART NOUN VERB".split()
    >>> heads, labels = (2, 2, 4, 2, 5, ROOT), "det amod nmod:poss case nsubj root".split()
    >>> columns = zip(words, upos, heads, labels)
    >>> tokens = tuple(ConlluToken(word, upos=tag, head=head, deprel=label) for word, tag, head, label in columns)
    >>> base_noun_phrases(ConlluSentence(tokens)), base_noun_phrases(ConlluSentence(tokens), least=1)
    ([(0, 1, 2, 3)], [(0, 1, 2, 3), (4,)])
    """
    tree = _Tree(sentence)
    taken: set[int] = set()
    phrases: list[tuple[int, ...]] = []
    for head in tree.from_the_top():
        if tree.tokens[head].upos in NOMINAL and head not in taken:
            left, right = tree.phrase(head)
            phrases.append(tuple(range(left, right + 1)))
            taken.update(phrases[-1])
    return sorted(phrase for phrase in phrases if len(phrase) >= least)


class _Tree:
    """A sentence with what hangs below each token."""

    def __init__(self, sentence: ConlluSentence) -> None:
        self.tokens: tuple[ConlluToken, ...] = sentence.tokens
        self.below: list[list[int]] = [[] for _ in self.tokens]
        self.tops: list[int] = []
        for place, head in enumerate(sentence.heads):
            (self.tops if head is None or head == ROOT else self.below[head]).append(place)

    def from_the_top(self) -> Iterator[int]:
        """All places, each after its head."""
        waiting = list(reversed(self.tops))
        while waiting:
            place = waiting.pop()
            yield place
            waiting += self.below[place]

    def phrase(self, head: int) -> tuple[int, int]:
        """The first and the last place of the base noun phrase of a head: what belongs to it and has no gap."""
        left = right = head
        for place in sorted((place for place in self.below[head] if place < head), reverse=True):
            span = self.inner_span(place, head)
            if span is not None and (span[1] == left - 1 or (span[1] == left - 2 and self.is_bridge(left - 1, head))):
                left = span[0]
        for place in (place for place in self.below[head] if place > head):
            span = self.inner_span(place, head)
            if span is not None and span[0] == right + 1:
                right = span[1]
        return left, right

    def inner_span(self, place: int, head: int) -> tuple[int, int] | None:
        """The span of a token and all below it, when it can be part of its head's base noun phrase."""
        token = self.tokens[place]
        relation = _relation(token)
        if relation not in (BEFORE if place < head else AFTER) or (place > head and self.below[place]):
            return None
        if relation == "case" and token.upos != "PART":  # 's is part of the phrase, a preposition is not
            return None
        members = [place]
        for member in members:
            if not self.is_inner(member, top=member == place):
                return None
            members += self.below[member]
        first, last = min(members), max(members)
        return (first, last) if last - first + 1 == len(members) else None

    def is_inner(self, place: int, *, top: bool) -> bool:
        token = self.tokens[place]
        relation = _relation(token)
        if not (top or relation in BELOW or token.deprel in BELOW_UNMARKED):
            return False
        if relation == "poss":
            return token.upos in ("PRON", "DET")
        return not any(_relation(self.tokens[child]) in MARKS for child in self.below[place])

    def is_bridge(self, place: int, head: int) -> bool:
        """Whether this is a comma or hyphen between two parts of the phrase."""
        return self.tokens[place].form in BRIDGES and self.tokens[place].head == head


def _relation(token: ConlluToken) -> str:
    """The relation without its subtype; possession is "poss", as spaCy has it, because pronouns alone may have it."""
    return "poss" if token.deprel in ("nmod:poss", "det:poss") else token.deprel.partition(":")[0]
