"""The values of features that both grammars have, for compiled code.

put_ends, put_joint  those at the ends of an edge, and where two edges meet
bucket, norm         a length or distance as a class
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.best_first.compilation import inline
from comparison.best_first.edge import (
    FIRST_TAG,
    FIRST_WORD,
    LAST_TAG,
    LAST_WORD,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    SECOND_TAG,
    SECOND_WORD,
    SIZE,
    Problem,
)
from comparison.best_first.template import (
    T1,
    T2,
    T3,
    T4,
    T_FIRST,
    T_LAST,
    T_PENULTIMATE,
    T_SECOND,
    W1,
    W2,
    W3,
    W4,
    W_FIRST,
    W_LAST,
)


@inline
def put_joint(problem: Problem, a: Any, b: Any, values: Any) -> None:
    """The words and tags that meet where the edges of two records do."""
    words, tags = problem.words, problem.tags
    values[W1], values[W2] = words[a[PENULTIMATE_WORD]], words[a[LAST_WORD]]
    values[W3], values[W4] = words[b[FIRST_WORD]], words[b[SECOND_WORD]]
    values[T1], values[T2] = tags[a[PENULTIMATE_TAG]], tags[a[LAST_TAG]]
    values[T3], values[T4] = tags[b[FIRST_TAG]], tags[b[SECOND_TAG]]


@inline
def put_ends(problem: Problem, a: Any, b: Any, single: bool, values: Any) -> None:
    """The values at the ends of an edge, from the records that have its ends. `single`: these are one and the same."""
    words, tags = problem.words, problem.tags
    values[W_FIRST], values[T_FIRST] = words[a[FIRST_WORD]], tags[a[FIRST_TAG]]
    values[W_LAST], values[T_LAST] = words[b[LAST_WORD]], tags[b[LAST_TAG]]
    values[T_SECOND] = tags[a[SECOND_TAG]] if a[SIZE] > 1 or single else tags[b[FIRST_TAG]]
    values[T_PENULTIMATE] = tags[b[PENULTIMATE_TAG]] if b[SIZE] > 1 or single else tags[a[LAST_TAG]]


@inline
def bucket(number: int) -> Any:
    """A length or distance as a class: 0–4 as they are, then 5–6, 7–9, 10–14, 15–29, 30 and more."""
    if number < 5:
        return np.uint64(number)
    if number < 7:
        return np.uint64(5)
    if number < 10:
        return np.uint64(6)
    if number < 15:
        return np.uint64(7)
    return np.uint64(8) if number < 30 else np.uint64(9)


@inline
def norm(number: int) -> Any:
    """The classes of the 2015 paper: 1–5 as they are, then up to 10, 20, 40, and more."""
    if number <= 5:
        return np.uint64(number)
    if number <= 10:
        return np.uint64(6)
    if number <= 20:
        return np.uint64(7)
    return np.uint64(8) if number <= 40 else np.uint64(9)
