from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from lm.kenlm.model import load_model
from lm.walker import AutomatonWalker
from tests.lm.walking import walk

WORDS = ("the", "a", "cat", "dog", "café", "saw", "of", ".", "zebra", "gnu")


@pytest.mark.parametrize(("file_type", "order"), [("trie", 3), ("arpa", 4)])
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tokens=st.lists(st.sampled_from(WORDS), max_size=12))
def test_costs_are_those_of_kenlm(
    model_files: Callable[[str, int], Path], file_type: str, order: int, tokens: list[str]
) -> None:
    model = load_model(model_files(file_type, order))
    walker = model.walkers()(WORDS)
    assert isinstance(walker, AutomatonWalker)
    assert walk(walker, WORDS, tokens) == pytest.approx(model.score(tokens), abs=1e-5)


def test_a_model_that_was_replaced_is_noticed(model_files: Callable[[str, int], Path], tmp_path: Path) -> None:
    path = Path(shutil.copy(model_files("probing", 3), tmp_path / "model"))
    model = load_model(path)
    path.unlink()
    shutil.copy(model_files("arpa", 3), path)
    with pytest.raises(InputError, match="the model was changed while it was in use"):
        model.walkers()
