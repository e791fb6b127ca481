"""Acceptors of stupid backoff against its definition: their costs, their contexts and their states."""

from __future__ import annotations

import math
import tempfile
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.index.build import build_index
from gyro.index.reader import BEGIN, END, open_index
from lm.stupid_backoff.acceptor import context_tables
from lm.stupid_backoff.model import StupidBackoff
from tests.lm.stupid_backoff.definition import SENTENCES, SPLIT, STRINGS, TEXT, WORDS, ByDefinition

Ngram = tuple[str, ...]
ORDERS, ALPHAS = st.integers(1, 5), st.sampled_from([0.4, 0.1, 1.0])


@settings(deadline=None, max_examples=60)
@given(SENTENCES, STRINGS, ORDERS, ALPHAS, st.sets(st.sampled_from(WORDS)), st.booleans(), st.booleans())
def test_costs_are_the_definition(
    sentences: list[list[str]],
    strings: list[list[str]],
    order: int,
    alpha: float,
    chosen: set[str],
    start: bool,
    end: bool,
) -> None:
    expected = ByDefinition(sentences, order, alpha)
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "index"), normalisation=SPLIT)
        acceptor = StupidBackoff(open_index(Path(folder, "index")), order, alpha).acceptor(
            sorted(chosen), start=start, end=end
        )
        for string in strings:
            known = [token for token in string if token in chosen]
            assert acceptor.score(known) == pytest.approx(expected.cost(known, start, end))


class Contexts:
    """The n-grams that some word of the columns continues in the text; after <s>, if the string begins a sentence."""

    def __init__(self, definition: ByDefinition, columns: list[str], start: bool) -> None:
        self.columns = columns
        firsts = [*columns, *[BEGIN] * start]
        self.known: set[Ngram] = {()}
        for length in range(1, definition.order):
            for gram in product(firsts, *[columns] * (length - 1)):
                if any(definition.counts[*gram, word] for word in columns):
                    self.known.add(gram)

    def after(self, context: Ngram, word: str) -> Ngram:
        """The longest end that is a context."""
        return next(end for end in ends((*context, word)) if end in self.known)


def ends(gram: Ngram) -> list[Ngram]:
    return [gram[i:] for i in range(len(gram) + 1)]


@settings(deadline=None, max_examples=60)
@given(SENTENCES, ORDERS, ALPHAS, st.sets(st.sampled_from(WORDS), min_size=1), st.booleans(), st.booleans())
def test_contexts_are_the_ngrams_that_the_text_continues(
    sentences: list[list[str]], order: int, alpha: float, chosen: set[str], start: bool, end: bool
) -> None:
    columns = [*sorted(chosen), *[END] * end]
    definition = ByDefinition(sentences, order, alpha)
    wanted = Contexts(definition, columns, start)
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "index"), normalisation=SPLIT)
        model = StupidBackoff(open_index(Path(folder, "index")), order, alpha)
        ids = model.word_ids(columns)
        tables = context_tables(
            model.index,
            ids,
            order=order,
            begin=int(model.word_ids([BEGIN])[0]) if start else None,
            word_costs=model.word_costs(ids),
            backoff_cost=model.backoff_cost,
        )
    assert sorted(tables.length.tolist()) == sorted(map(len, wanted.known))
    first: Ngram = (BEGIN,) if start and (BEGIN,) in wanted.known else ()
    gram_of: dict[int, Ngram] = {0: (), tables.start: first}
    todo = [*gram_of]
    while todo:
        context = todo.pop()
        gram = gram_of[context]
        assert tables.length[context] == len(gram)
        for column, word in enumerate(columns):
            assert tables.cost[context, column] == pytest.approx(-math.log(definition.s(word, gram)))
            after = int(tables.next_context[context, column])
            if after not in gram_of:
                todo.append(after)
            assert gram_of.setdefault(after, wanted.after(gram, word)) == wanted.after(gram, word)
    assert {*gram_of.values()} == wanted.known


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize(
    "words", [("why",), ("the", "zebra"), ("dog", "saw", "the"), ("cat", "dog", "saw", "slept", "the")]
)
def test_states_are_contexts_with_lengths_of_history(
    words: tuple[str, ...], start: bool, order: int, model: StupidBackoff
) -> None:
    """As many as there are pairs of these after all strings, however long."""
    contexts = Contexts(ByDefinition(TEXT, order, 0.4), [*words, END], start)
    length = min(int(start), order - 1)
    first: Ngram = (BEGIN,) if start and (BEGIN,) in contexts.known else ()
    pairs, todo = {(first, length)}, [(first, length)]
    while todo:
        context, length = todo.pop()
        for word in words:
            pair = contexts.after(context, word), min(length + 1, order - 1)
            if pair not in pairs:
                pairs.add(pair)
                todo.append(pair)
    acceptor = StupidBackoff(model.index, order).acceptor(words, start=start)
    assert acceptor.num_states == len(pairs)


def test_contexts_that_nothing_continues_are_no_states(model: StupidBackoff) -> None:
    assert model.acceptor(("why",), start=False).num_states == 5  # a history of 0 to 4 words, which ends in "why"
    assert StupidBackoff(model.index, 1).acceptor(("the", "dog")).num_states == 1
    small, large = model.acceptor(("the", "zebra")), model.acceptor(("dog", "saw", "the", "zebra"))
    assert small.num_states < large.num_states
