"""Walks over a probing file: costs and contexts are KenLM's own, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lm.kenlm.bag_acceptor import log10_to_cost
from lm.kenlm.model import KenlmModel, load_model
from lm.kenlm.probing_walker import ProbingWalker
from lm.walker import Walker
from tests.lm.kenlm.samples import OTHER_WORDS, arpa_models
from tests.lm.walking import walk

Files = Callable[[str, int], Path]
WORDS = ("the", "a", "cat", "dog", "café", "saw", "of", ".", "zebra", "gnu")
ORDERS = [2, 3, 4, 5, 6]
STRINGS = st.lists(st.sampled_from(WORDS), max_size=12)
shared = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(("file_type", "order"), [("probing", 2), ("probing", 3), ("probing", 5), ("sparse", 4)])
@shared
@given(tokens=STRINGS)
def test_costs_are_those_of_kenlm(model_files: Files, file_type: str, order: int, tokens: list[str]) -> None:
    model = load_model(model_files(file_type, order))
    walker = model.walkers()(WORDS)
    assert isinstance(walker, ProbingWalker)
    assert walk(walker, WORDS, tokens) == pytest.approx(model.score(tokens), abs=1e-5)


def steps(walker: Walker, words: Sequence[str], tokens: Sequence[str]) -> list[float]:
    """The cost of each word, and of the end."""
    contexts, costs = np.array([walker.start]), []
    for token in tokens:
        contexts, cost = walker.step(contexts, np.array([words.index(token)]))
        costs.append(float(cost[0]))
    return [*costs, float(walker.end(contexts)[0])]


def own_steps(path: Path, tokens: Sequence[str]) -> list[float]:
    """The same by KenLM, which tells numbers of single precision."""
    told = [score for score, _, _ in kenlm.Model(str(path)).full_scores(" ".join(tokens))]
    return [float(cost) for cost in log10_to_cost(np.array(told, np.float32))]


@pytest.mark.parametrize("order", ORDERS)
@shared
@given(tokens=STRINGS)
def test_the_cost_of_each_word_is_that_of_kenlm_to_the_last_bit(
    model_files: Files, order: int, tokens: list[str]
) -> None:
    path = model_files("probing", order)
    assert steps(load_model(path).walkers()(WORDS), WORDS, tokens) == own_steps(path, tokens)


def check_contexts(model: KenlmModel, words: tuple[str, ...]) -> None:
    """Walking by every word from every context reaches the states of the acceptor, with its costs to the last bit."""
    acceptor, walker = model.acceptor(words), model.walkers()(words)
    state = {walker.start: acceptor.start}
    todo = [walker.start]
    while todo:
        context = todo.pop()
        after, cost = walker.step(np.full(len(words), context), np.arange(len(words)))
        assert cost.tolist() == acceptor.cost[state[context]].tolist()
        assert walker.end(np.array([context]))[0] == acceptor.end_cost[state[context]]
        for word, target in enumerate(after.tolist()):
            if target not in state:
                todo.append(target)
            assert state.setdefault(target, int(acceptor.next_state[state[context], word])) == int(
                acceptor.next_state[state[context], word]
            )
    assert sorted(state.values()) == list(range(acceptor.num_states))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arpa=arpa_models(), data=st.data())
def test_models_of_other_tools(
    tmp_path: Path, build_binary: Callable[..., None], arpa: str, data: st.DataObject
) -> None:
    """Pruned ones, with n-grams that lack their suffix, and backoffs of zero."""
    source, binary = tmp_path / "model.arpa", tmp_path / "model.lm"
    source.write_text(arpa)
    binary.unlink(missing_ok=True)
    build_binary(source, binary, "-p", "200", "probing")  # room for all suffixes that KenLM may add
    model = load_model(binary)
    check_contexts(model, OTHER_WORDS)
    walker = model.walkers()(OTHER_WORDS)
    for tokens in data.draw(st.lists(st.lists(st.sampled_from(OTHER_WORDS), max_size=8), min_size=1, max_size=3)):
        assert steps(walker, OTHER_WORDS, tokens) == own_steps(binary, tokens)


@shared
@given(strings=st.lists(STRINGS, min_size=1, max_size=8), order=st.sampled_from(ORDERS))
def test_many_strings_at_once_are_as_each_alone(model_files: Files, strings: list[list[str]], order: int) -> None:
    """A step of all strings that are not at their end yet; contexts have the same numbers afterwards."""
    path = model_files("probing", order)
    walker = load_model(path).walkers()(WORDS)
    contexts, costs = np.full(len(strings), walker.start), np.zeros(len(strings))
    for place in range(max(map(len, strings))):
        going = np.array([i for i, string in enumerate(strings) if len(string) > place])
        words = np.array([WORDS.index(strings[i][place]) for i in going])
        contexts[going], cost = walker.step(contexts[going], words)
        costs[going] += cost
    costs += walker.end(contexts)
    assert costs.tolist() == pytest.approx([sum(own_steps(path, string)) for string in strings], abs=1e-9)
    for string, context in zip(strings, contexts, strict=True):
        again = np.array([walker.start])
        for token in string:
            again, _ = walker.step(again, np.array([WORDS.index(token)]))
        assert again.tolist() == [context]


@pytest.mark.parametrize("order", [2, 3, 5])
def test_contexts_are_as_few_as_the_states_of_kenlm(model_files: Files, order: int) -> None:
    check_contexts(load_model(model_files("probing", order)), WORDS)
