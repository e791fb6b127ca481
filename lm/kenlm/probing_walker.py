"""Walking over a KenLM probing file in bulk: only the n-grams that are asked for are looked up.

ProbingWalker  contexts of the model, numbered as they are reached, for strings over given words

A context is what KenLM keeps of a history: its last words, as far back as the model continues them, and the backoffs of
these. Sums are made in single precision and in KenLM's order: costs are equal to KenLM's to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.row_table import RowTable
from lm.kenlm.bag_acceptor import log10_to_cost
from lm.kenlm.probing import ProbingFile
from lm.kenlm.probing_kernel import LONGEST_WIDTH, MIDDLE_WIDTH, SIGN, UNIGRAM_WIDTH, find_entry

Ints = NDArray[np.int64]


class ProbingWalker:
    """Contexts as rows: the numbers of the last words, the latest first and -1 after them, then the backoffs' bits."""

    def __init__(self, file: ProbingFile, words: Sequence[str]) -> None:
        self._file = file
        self._numbers = file.word_numbers(words)
        self._longest = file.header.order - 1
        self._contexts = RowTable(2 * self._longest)
        first = np.zeros((1, 2 * self._longest), np.int64)
        first[0, : self._longest] = -1
        begin = file.begin_sentence
        first[0, 0] = begin
        first[0, self._longest] = file.tables.cells[file.tables.start[1] + begin * UNIGRAM_WIDTH + 1]
        self.start = int(self._contexts.number(first)[0])

    def step(self, contexts: Ints, words: Ints) -> tuple[Ints, NDArray[np.float64]]:
        after, log10 = _step(self._file.tables, self._contexts.rows[contexts], self._numbers[words])
        return self._contexts.number(after), log10_to_cost(log10)

    def end(self, contexts: Ints) -> NDArray[np.float64]:
        ends = np.full(len(contexts), self._file.end_sentence, np.int64)
        return log10_to_cost(_step(self._file.tables, self._contexts.rows[contexts], ends)[1])


@compiled
def _step(tables: Any, contexts: Any, numbers: Any) -> Any:
    """The context after each word, and the word's log10 probability."""
    order = len(tables.start) - 1
    longest = order - 1
    after = np.zeros(contexts.shape, np.int64)
    log10 = np.empty(len(numbers), np.float32)
    for i in range(len(numbers)):
        context, new = contexts[i], after[i]
        position = tables.start[1] + numbers[i] * UNIGRAM_WIDTH
        total = -abs(tables.floats[position])
        extends = tables.cells[position] < SIGN
        key = np.uint64(numbers[i])
        new[longest] = tables.cells[position + 1]
        length = 0 if tables.cells[position + 1] == SIGN else 1
        matched = 0
        while matched < longest and context[matched] >= 0 and extends:
            # KenLM hashes an n-gram from its last word to its first.
            oldest = (np.uint64(1) + np.uint64(context[matched])) * np.uint64(17894857484156487943)
            key = (key * np.uint64(8978948897894561157)) ^ oldest
            n = matched + 2
            width = LONGEST_WIDTH if n == order else MIDDLE_WIDTH
            position = find_entry(tables.cells, tables.start[n], tables.buckets[n], width, key)
            if position < 0:
                break
            total = -abs(tables.floats[position + 2])
            matched += 1
            if n < order:
                extends = tables.cells[position + 2] < SIGN
                new[longest + matched] = tables.cells[position + 3]
                length = length if tables.cells[position + 3] == SIGN else n
        for place in range(matched, longest):
            if context[place] >= 0:
                bits = np.uint32(context[longest + place])
                total = np.float32(total + bits.view(np.float32))
        log10[i] = total
        for place in range(longest):
            new[place] = -1 if place >= length else numbers[i] if place == 0 else context[place - 1]
            if place >= length:
                new[longest + place] = 0
    return after, log10
