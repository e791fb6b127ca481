from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.corpus import Normalisation
from gyro.errors import InputError
from gyro.index_build import build_index
from lm.kenlm_model import KenlmModel
from lm.loading import load_language_model
from lm.stupid_backoff import StupidBackoff


@pytest.fixture
def index(tmp_path: Path) -> Path:
    build_index([["a", "b"]], tmp_path / "some:3", order=4, normalisation=Normalisation("none"))
    return tmp_path / "some:3"


def test_models_by_name(index: Path, model_files: Callable[[str, int], Path]) -> None:
    kenlm = str(model_files("probing", 3))
    for name in (kenlm, f"kenlm:{kenlm}"):
        model = load_language_model(name)
        assert isinstance(model, KenlmModel)
        assert model.order == 3
    for name, order in ((f"stupid-backoff:{index}", 4), (f"stupid-backoff:{index}:2", 2)):
        model = load_language_model(name)
        assert isinstance(model, StupidBackoff)
        assert model.order == order


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.lm", "missing.lm: no such file"),
        ("other:kind", "other:kind: no such file"),
        ("stupid-backoff:", "stupid-backoff:PLACE is allowed"),
        ("stupid-backoff:missing", "missing: no such folder"),
        ("stupid-backoff:{index}:9", "found the order 9; 1 to 4 is allowed"),
        ("stupid-backoff:{index}:x", "some:3:x: no such folder"),
        ("{index}", "found a folder; a file of KenLM's, or stupid-backoff:INDEX is allowed"),
    ],
)
def test_bad_names(index: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_language_model(name.format(index=index))
