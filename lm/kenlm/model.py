"""KenLM models: scores, and the language model of one bag. The only module that imports kenlm.

load_model  open an ARPA file or a KenLM binary of any type
open_named  the same for lm.loading, where an order alone names a model
KenlmModel  a model; acceptors come from bulk look-ups where the file type allows it, else from KenLM's own states
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import kenlm
import numpy as np

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.text.corpus import RESERVED, Normalisation, check_words
from lm.kenlm.bag_acceptor import BagStates, automaton_from_log10, find_bag_states, log10_to_cost
from lm.kenlm.probing import ProbingFile, open_probing, read_header
from lm.kenlm.probing_walker import ProbingWalker
from lm.kenlm.sidecar import fingerprint, read_sidecar, verify_model
from lm.loading import OwnModels
from lm.walker import AutomatonWalker, Walker

# For the check of the bulk look-ups: words in all likelihood unknown and known, of several lengths in bytes.
CHECK_WORDS = (".", "the", "of", "zyxw-unknown", "an-unknown-word-of-more-than-two-blocks", "é")
FIRST_WORDS_CHECKED = 6


class KenlmModel:
    """An n-gram model in a file.

    model = load_model("news.lm")
    model.score("the cat sat .".split())         # natural-log cost with <s> and </s>
    model.acceptor((".", "cat", "sat", "the"))   # G_Ω
    """

    def __init__(self, path: Path, model: kenlm.Model, normalisation: Normalisation | None, signature: str) -> None:
        self.path = path
        self.normalisation = normalisation
        self.signature = signature
        self._model = model
        self._probing: ProbingFile | None = None

    @property
    def order(self) -> int:
        return int(self._model.order)

    @property
    def column(self) -> str:
        return f"LM{self.order}"

    @property
    def reads_in_bulk(self) -> bool:
        """Whether acceptors come from bulk look-ups."""
        return self._probing is not None

    def __contains__(self, word: str) -> bool:
        return word in self._model

    def __repr__(self) -> str:
        return f"KenlmModel({str(self.path)!r}, order {self.order})"

    def score(self, tokens: Sequence[str], bos: bool = True, eos: bool = True) -> float:
        """The cost of a string, with sentence start and end unless told otherwise."""
        state, log10 = self._context(bos), 0.0
        for token in [*tokens, "</s>"] if eos else tokens:
            after = kenlm.State()
            log10 += self._model.BaseScore(state, token, after)
            state = after
        return float(log10_to_cost(np.array(log10)))

    def acceptor(self, words: Sequence[str], *, start: bool = True, end: bool = True) -> WordAutomaton:
        """G_Ω: the model restricted to these distinct words, exact and deterministic.

        start: the string begins a sentence (else nothing is known of what was before); end: it ends one.
        """
        check_words(words)
        if self._probing is not None:
            return automaton_from_log10(words, find_bag_states(self._probing, words, start=start, end=end))
        return automaton_from_log10(words, self.walk_bag_states(words, start=start, end=end))

    def verify(self) -> None:
        """Compare the file with its checksum; a model that GYRO did not make has none."""
        verify_model(self.path)

    def walkers(self) -> Callable[[Sequence[str]], Walker]:
        """A function that makes the walker for given words."""
        if self._probing is None:
            return lambda words: AutomatonWalker(self.acceptor(words))
        header = read_header(self.path)
        file = None if header is None else open_probing(self.path, header)
        if file is None:
            raise InputError("the model was changed while it was in use", path=self.path)
        return lambda words: ProbingWalker(file, words)

    def walk_bag_states(self, words: Sequence[str], *, start: bool, end: bool) -> BagStates:
        """The states of G_Ω, found by walking KenLM's own states over the words: slower, for every type of file."""
        states = [self._context(start)]
        number = {states[0]: 0}
        next_state, log10, end_log10 = [], [], []
        after = kenlm.State()
        for state in states:  # it grows as new states are reached
            end_log10.append(self._model.BaseScore(state, "</s>", after) if end else 0.0)
            for word in words:
                log10.append(self._model.BaseScore(state, word, after))
                target = number.setdefault(after, len(states))
                if target == len(states):
                    states.append(after)
                    after = kenlm.State()
                next_state.append(target)
        shape = (len(states), len(words))
        return BagStates(
            np.array(next_state, np.int32).reshape(shape),
            np.array(log10, np.float32).reshape(shape),
            np.array(end_log10, np.float32),
        )

    def use_bulk_look_ups(self, probing: ProbingFile | None) -> None:
        """Take acceptors from this view of the file, if it agrees with KenLM on some n-grams of the model."""
        if probing is None:
            return
        words = tuple(dict.fromkeys([*probing.some_words(FIRST_WORDS_CHECKED), *CHECK_WORDS]))
        words = tuple(word for word in words if word not in RESERVED)
        ours = find_bag_states(probing, words, start=True, end=True)
        theirs = self.walk_bag_states(words, start=True, end=True)
        if all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
            self._probing = probing

    def _context(self, start: bool) -> kenlm.State:
        state = kenlm.State()
        (self._model.BeginSentenceWrite if start else self._model.NullContextWrite)(state)
        return state


def open_named(place: str, own: OwnModels) -> KenlmModel:
    """A model by its file, or one of those made together by its order."""
    if place.isdecimal() and len(place) < 10 and int(place) in own.kenlm:
        return load_model(own.kenlm[int(place)])
    if os.path.isdir(place):
        raise InputError("found a folder; a file of KenLM's, or stupid-backoff:INDEX is allowed", path=place)
    return load_model(place)


def load_model(path: str | os.PathLike[str]) -> KenlmModel:
    """Open a model; what stands beside it (MODEL.json) must belong to it."""
    if not os.path.isfile(path):
        raise InputError("no such file; an ARPA file or a KenLM binary is allowed", path=path)
    header = read_header(path)
    facts = read_sidecar(path)
    normalisation = Normalisation.from_json(facts.get("normalisation")) if facts else None
    signature = (facts["fingerprint"] if facts else fingerprint(path))[:12]
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    config.load_method = kenlm.LoadMethod.LAZY
    try:
        opened = kenlm.Model(os.fspath(path), config)
    except UnicodeDecodeError as error:  # what KenLM says of a file has bytes of the file in it
        message = error.object.decode("utf-8", "backslashreplace")
        raise InputError(f"not a model that KenLM reads: {_reason(message)}", path=path) from error
    except (OSError, RuntimeError) as error:
        raise InputError(f"not a model that KenLM reads: {_reason(str(error))}", path=path) from error
    model = KenlmModel(Path(path), opened, normalisation, signature)
    if header is not None:
        model.use_bulk_look_ups(open_probing(path, header))
    return model


def _reason(message: str) -> str:
    """What KenLM complains about, without the place in its sources and the path."""
    found = re.search(r"threw \S+?(?: because `.*?')?\.\s+(.*)\)$", message)
    return (found.group(1) if found else message).strip()
