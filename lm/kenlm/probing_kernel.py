"""The inner loops over KenLM's probing tables, compiled with numba.

ProbingTables  a mapped model, in the form that compiled functions take
find_words     the numbers of words
bag_states     the states of G_Ω: `lm.kenlm.bag_acceptor` says what they are, `lm.kenlm.probing` how a file is laid out

They share one file because numba, when it keeps compiled code, looks for changes in the caller's file alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

VOCABULARY_WIDTH, UNIGRAM_WIDTH, MIDDLE_WIDTH, LONGEST_WIDTH = 3, 2, 4, 3  # of an entry, in cells of four bytes
SIGN = np.uint32(0x80000000)
ROOM = 1024  # contexts that most bags of 20 tokens do not need more of


class ProbingTables(NamedTuple):
    """The mapped file as cells of four bytes, as numbers and as floats; table n begins at start[n] and has buckets[n].

    Table 0 is the vocabulary, 1 the unigrams, n the n-grams of length n; the order of the model is len(start) - 1.
    """

    cells: NDArray[np.uint32]
    floats: NDArray[np.float32]
    start: NDArray[np.int64]
    buckets: NDArray[np.uint64]


@compiled
def find_entry(cells: Any, start: Any, buckets: Any, width: Any, key: Any) -> Any:
    """The position of the entry with this key in a table, or -1; an entry begins with its key of two cells."""
    return _find_from(cells, start, buckets, width, key, start + np.int64(key % buckets) * width)


@compiled
def _find_from(cells: Any, start: Any, buckets: Any, width: Any, key: Any, position: Any) -> Any:
    """The same from the position where the search begins."""
    end = start + np.int64(buckets) * width
    for _ in range(np.int64(buckets)):  # a sound table has free entries; a damaged one must not hold us for ever
        found = np.uint64(cells[position]) | (np.uint64(cells[position + 1]) << np.uint64(32))
        if found == key:
            return position
        if found == np.uint64(0):
            return np.int64(-1)
        position += width
        if position == end:
            position = start
    return np.int64(-1)


@compiled
def _hash_word(data: Any, begin: Any, end: Any) -> Any:
    """MurmurHash64A with seed 0 of the bytes from begin to end."""
    factor, shift = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    value = np.uint64(end - begin) * factor
    position = begin
    while position < end:
        size = min(np.int64(8), end - position)
        block = np.uint64(0)
        for i in range(size):
            block |= np.uint64(data[position + i]) << np.uint64(8 * i)
        if size == 8:
            block *= factor
            block ^= block >> shift
            block *= factor
        value = (value ^ block) * factor
        position += size
    value ^= value >> shift
    value *= factor
    return value ^ (value >> shift)


@compiled
def find_words(tables: Any, data: Any, ends: Any) -> Any:
    """The numbers of words, 0 for the unknown ones; word i ends in the bytes at ends[i] and begins where i - 1 ends."""
    numbers = np.zeros(len(ends), np.int64)
    begin = np.int64(0)
    for i in range(len(ends)):
        key = _hash_word(data, begin, ends[i])
        position = find_entry(tables.cells, tables.start[0], tables.buckets[0], VOCABULARY_WIDTH, key)
        if position >= 0:
            numbers[i] = tables.cells[position + 2]
        begin = ends[i]
    return numbers


class _Contexts(NamedTuple):
    """The contexts found so far, with a column for each distinct word number and perhaps a last one for </s>."""

    log10: NDArray[np.float32]  # contexts × columns
    next_state: NDArray[np.int32]  # contexts × columns
    key: NDArray[np.uint64]  # contexts × columns: the hash of the n-gram context + word
    extends: NDArray[np.bool_]  # contexts × columns: it is in the model, and so is a longer one that ends in it
    suffix: NDArray[np.int32]  # the longest proper suffix that is a state
    length: NDArray[np.int32]
    oldest: NDArray[np.uint64]  # the number of the context's first word
    backoff: NDArray[np.float32]


@compiled
def bag_states(tables: Any, numbers: Any, begin_sentence: Any, end_sentence: Any) -> Any:
    """The tables of BagStates; begin_sentence -1: from the empty context, end_sentence -1: no end."""
    column_of, columns, words = _columns(numbers, end_sentence)
    contexts, count = _first_contexts(tables, columns, words, begin_sentence)
    context = 1
    while context < count:
        if count + words > len(contexts.length):
            contexts = _grown(contexts, 2 * (count + words))
        count = _continue_context(tables, contexts, words, context, count)
        context += 1
    start = np.int64(0 if begin_sentence < 0 else 1)
    return _number_states(contexts, count, start, column_of, end_sentence >= 0)


@compiled
def _columns(numbers: Any, end_sentence: Any) -> Any:
    """The column of each word (all unknown words share one), the number of each column, the columns that are words."""
    column_of = np.zeros(len(numbers), np.int64)
    columns = np.zeros(len(numbers) + 1, np.int64)
    words = 0
    for i in range(len(numbers)):
        column = 0
        while column < words and columns[column] != numbers[i]:
            column += 1
        columns[column] = numbers[i]
        column_of[i] = column
        words = max(words, column + 1)
    columns[words] = end_sentence
    return column_of, columns[: words + (1 if end_sentence >= 0 else 0)], words


@compiled
def _new_contexts(capacity: Any, columns: Any) -> Any:
    return _Contexts(
        np.zeros((capacity, columns), np.float32),
        np.zeros((capacity, columns), np.int32),
        np.zeros((capacity, columns), np.uint64),
        np.zeros((capacity, columns), np.bool_),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.uint64),
        np.zeros(capacity, np.float32),
    )


@compiled
def _grown(old: Any, capacity: Any) -> Any:
    """A copy with more room; in loops, because slices take numba seconds to compile."""
    new = _new_contexts(capacity, old.log10.shape[1])
    for context in range(len(old.length)):
        for column in range(old.log10.shape[1]):
            new.log10[context, column] = old.log10[context, column]
            new.next_state[context, column] = old.next_state[context, column]
            new.key[context, column] = old.key[context, column]
            new.extends[context, column] = old.extends[context, column]
        new.suffix[context] = old.suffix[context]
        new.length[context] = old.length[context]
        new.oldest[context] = old.oldest[context]
        new.backoff[context] = old.backoff[context]
    return new


@compiled
def _add_context(contexts: Any, count: Any, suffix: Any, length: Any, oldest: Any, backoff: Any) -> Any:
    contexts.suffix[count] = suffix
    contexts.length[count] = length
    contexts.oldest[count] = oldest
    contexts.backoff[count] = backoff
    return count + 1


@compiled
def _first_contexts(tables: Any, columns: Any, words: Any, begin_sentence: Any) -> Any:
    """The empty context (0), <s> (1, if asked for), and the words that the model continues."""
    contexts, count = _new_contexts(ROOM + words, len(columns)), 1
    if begin_sentence >= 0:
        position = tables.start[1] + begin_sentence * UNIGRAM_WIDTH
        count = _add_context(contexts, count, 0, 1, np.uint64(begin_sentence), tables.floats[position + 1])
    for column in range(len(columns)):
        position = tables.start[1] + columns[column] * UNIGRAM_WIDTH
        contexts.log10[0, column] = -abs(tables.floats[position])
        contexts.key[0, column] = np.uint64(columns[column])
        contexts.extends[0, column] = tables.cells[position] < SIGN
        if column < words and tables.cells[position + 1] != SIGN:
            contexts.next_state[0, column] = count
            oldest = np.uint64(columns[column])
            count = _add_context(contexts, count, 0, 1, oldest, tables.floats[position + 1])
    return contexts, count


@compiled
def _continue_context(tables: Any, contexts: Any, words: Any, context: Any, count: Any) -> Any:
    """Fill the row of a context, and add the longer contexts that its n-grams are."""
    suffix, length = contexts.suffix[context], contexts.length[context]
    n, order = length + 1, len(tables.start) - 1
    columns = contexts.log10.shape[1]
    for column in range(columns):
        contexts.log10[context, column] = contexts.log10[suffix, column] + contexts.backoff[context]
        contexts.next_state[context, column] = contexts.next_state[suffix, column]
    if contexts.length[suffix] != length - 1:
        return count  # nothing continues the suffix of length - 1, so nothing continues this context
    # KenLM hashes an n-gram from its last word to its first, so the key of the suffix is half of the work.
    oldest = (np.uint64(1) + contexts.oldest[context]) * np.uint64(17894857484156487943)
    width = LONGEST_WIDTH if n == order else MIDDLE_WIDTH
    start, buckets = tables.start[n], tables.buckets[n]
    # First all the places are touched, so that the memory brings them side by side and not one after the other.
    keys, places, touched = np.empty(columns, np.uint64), np.empty(columns, np.int64), np.empty(columns, np.uint32)
    for column in range(columns):
        if contexts.extends[suffix, column]:
            keys[column] = (contexts.key[suffix, column] * np.uint64(8978948897894561157)) ^ oldest
            places[column] = start + np.int64(keys[column] % buckets) * width
            touched[column] = tables.cells[places[column]]
    for column in range(columns):
        if not contexts.extends[suffix, column]:
            continue
        key = keys[column]
        position = _find_from(tables.cells, start, buckets, width, key, places[column])
        if position < 0:
            continue
        contexts.log10[context, column] = -abs(tables.floats[position + 2])
        if n == order:
            continue
        contexts.key[context, column] = key
        contexts.extends[context, column] = tables.cells[position + 2] < SIGN
        if column < words and tables.cells[position + 3] != SIGN:
            shorter, backoff = contexts.next_state[suffix, column], tables.floats[position + 3]
            contexts.next_state[context, column] = count
            count = _add_context(contexts, count, shorter, n, contexts.oldest[context], backoff)
    return count


@compiled
def _number_states(contexts: Any, count: Any, start: Any, column_of: Any, end: Any) -> Any:
    """The tables of the states that can be reached, numbered breadth first."""
    number = np.full(count, -1, np.int32)
    queue = np.zeros(count, np.int64)
    queue[0], number[start], reached = start, 0, 1
    next_state = np.zeros((count, len(column_of)), np.int32)
    log10 = np.zeros((count, len(column_of)), np.float32)
    end_log10 = np.zeros(count, np.float32)
    state = 0
    while state < reached:
        context = queue[state]
        for word in range(len(column_of)):
            target = contexts.next_state[context, column_of[word]]
            if number[target] < 0:
                number[target] = reached
                queue[reached] = target
                reached += 1
            next_state[state, word] = number[target]
            log10[state, word] = contexts.log10[context, column_of[word]]
        if end:
            end_log10[state] = contexts.log10[context, contexts.log10.shape[1] - 1]
        state += 1
    return next_state[:reached], log10[:reached], end_log10[:reached]
