from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from lm.kenlm.model import load_model
from lm.kenlm.probing_walker import ProbingWalker
from lm.walker import AutomatonWalker, Walker

WORDS = ("the", "a", "cat", "dog", "café", "saw", "of", ".", "zebra", "gnu")


def walk(walker: Walker, tokens: list[str]) -> float:
    contexts, cost = np.array([walker.start]), 0.0
    for token in tokens:
        contexts, step = walker.step(contexts, np.array([WORDS.index(token)]))
        cost += float(step[0])
    return cost + float(walker.end(contexts)[0])


@pytest.mark.parametrize(
    ("file_type", "order", "kind"),
    [
        ("probing", 2, ProbingWalker),
        ("probing", 3, ProbingWalker),
        ("probing", 5, ProbingWalker),
        ("sparse", 4, ProbingWalker),
        ("trie", 3, AutomatonWalker),
        ("arpa", 4, AutomatonWalker),
    ],
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tokens=st.lists(st.sampled_from(WORDS), max_size=12))
def test_costs_are_those_of_kenlm(
    model_files: Callable[[str, int], Path], file_type: str, order: int, kind: type, tokens: list[str]
) -> None:
    model = load_model(model_files(file_type, order))
    walker = model.walkers()(WORDS)
    assert isinstance(walker, kind)
    assert walk(walker, tokens) == pytest.approx(model.score(tokens), abs=1e-5)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_contexts_are_as_few_as_the_states_of_kenlm(model_files: Callable[[str, int], Path], order: int) -> None:
    """Walking by every word from every context reaches the states of the acceptor, with its costs to the last bit."""
    model = load_model(model_files("probing", order))
    acceptor, walker = model.acceptor(WORDS), model.walkers()(WORDS)
    state = {walker.start: acceptor.start}
    todo = [walker.start]
    while todo:
        context = todo.pop()
        after, cost = walker.step(np.full(len(WORDS), context), np.arange(len(WORDS)))
        assert cost.tolist() == acceptor.cost[state[context]].tolist()
        assert walker.end(np.array([context]))[0] == acceptor.end_cost[state[context]]
        for word, target in enumerate(after.tolist()):
            if target not in state:
                todo.append(target)
            assert state.setdefault(target, int(acceptor.next_state[state[context], word])) == int(
                acceptor.next_state[state[context], word]
            )
    assert sorted(state.values()) == list(range(acceptor.num_states))


def test_a_model_that_was_replaced_is_noticed(model_files: Callable[[str, int], Path], tmp_path: Path) -> None:
    path = Path(shutil.copy(model_files("probing", 3), tmp_path / "model"))
    model = load_model(path)
    path.unlink()
    shutil.copy(model_files("arpa", 3), path)
    with pytest.raises(InputError, match="the model was changed while it was in use"):
        model.walkers()
