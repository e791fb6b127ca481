"""Six sentences by hand, and what tests make of bags.

trees          the sentences as dependency trees
random_heads   random heads that make a projective tree
searched       what the decoder finds for tokens
twin_begin     the same bag for the twin
twin_actions   actions of the system as those of the twin
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from comparison.transition.decoder import Decoded, Decoder
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.problem import Given, Prepared
from comparison.transition.state import FIRST_SHIFT
from grammars.conllu import ConlluSentence, ConlluToken
from tests.comparison.transition.twin import Action, State, begin_state

BITS = 14
# form/upos/xpos/head/label, the head counted from 1
SENTENCES = (
    "the/DET/DT/2/det dog/NOUN/NN/3/nsubj barks/VERB/VBZ/0/root ./PUNCT/./3/punct",
    "she/PRON/PRP/2/nsubj sees/VERB/VBZ/0/root the/DET/DT/5/det old/ADJ/JJ/5/amod cat/NOUN/NN/2/obj ./PUNCT/./2/punct",
    "they/PRON/PRP/2/nsubj saw/VERB/VBD/0/root a/DET/DT/4/det saw/NOUN/NN/2/obj ./PUNCT/./2/punct",
    "dogs/NOUN/NNS/2/nsubj see/VERB/VBP/0/root cats/NOUN/NNS/2/obj in/ADP/IN/6/case the/DET/DT/6/det park/NOUN/NN/2/x",
    "the/DET/DT/2/det saw/NOUN/NN/3/nsubj barks/VERB/VBZ/0/root loudly/ADV/RB/3/advmod",
    "old/ADJ/JJ/2/amod dogs/NOUN/NNS/3/nsubj sleep/VERB/VBP/0/root",
)


def trees() -> list[ConlluSentence]:
    found = []
    for number, text in enumerate(SENTENCES, 1):
        rows = [field.split("/") for field in text.split()]
        tokens = (ConlluToken(f, "_", upos, xpos, "_", int(head) - 1, label) for f, upos, xpos, head, label in rows)
        found.append(ConlluSentence(tuple(tokens), (f"# sent_id = {number}",)))
    return found


def random_heads(random: Random, size: int) -> list[int]:
    """A random projective tree: the root of a span is anywhere, and each side of it is cut into spans anywhere."""
    heads = [-1] * size

    def build(first: int, end: int, head: int) -> None:
        while first < end:
            cut = random.randint(first + 1, end) if head >= 0 else end
            root = random.randrange(first, cut)
            heads[root] = head
            build(first, root, root)
            build(root + 1, cut, root)
            first = cut

    build(0, size, -1)
    return heads


def random_weights(seed: int, bits: int = BITS) -> NDArray[np.float32]:
    """Weights whose sums have no ties; in steps that singles add up without error."""
    return (np.random.default_rng(seed).integers(-(1 << 12), 1 << 12, 1 << bits) / 1024).astype(np.float32)


def searched(given: Given, weights: NDArray[np.float32], beam: int, features: Features | None = None) -> Decoded:
    grammar = TransitionGrammar.from_trees(trees(), features)
    return Decoder(grammar, weights, beam).decode(given)


def plain(words: str, pos: str = "") -> Given:
    """Tokens that have nothing given but perhaps tags; `_` for one that is not."""
    tokens = tuple(words.split())
    tags = tuple(None if tag == "_" else tag for tag in pos.split()) or (None,) * len(tokens)
    return Given(tokens, tags, (None,) * len(tokens))


def twin_begin(prepared: Prepared) -> State:
    units = []
    for number, slot in enumerate(prepared.slots):
        tags = tuple(reading.tag for reading in prepared.readings if reading.slot == number)
        units.append((slot.words, tags, len(slot.groups)))
    return begin_state(units)


def twin_actions(prepared: Prepared, actions: Sequence[int]) -> tuple[Action, ...]:
    found: list[Action] = []
    for action in actions:
        if action < FIRST_SHIFT:
            found.append(("left",) if action == 0 else ("right",))
        else:
            reading = prepared.readings[action - FIRST_SHIFT]
            found.append(("shift", " ".join(reading.words), reading.tag, str(reading.slot)))
    return tuple(found)
