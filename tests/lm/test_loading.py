from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.text.corpus import Normalisation
from lm.kenlm.model import KenlmModel
from lm.loading import KINDS, OwnModels, load_language_model, split_name
from lm.stupid_backoff.model import StupidBackoff


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


def test_an_order_names_a_model_that_was_made_together(index: Path, model_files: Callable[[str, int], Path]) -> None:
    own = OwnModels(index, {3: model_files("probing", 3)})
    for kind, entry in KINDS.items():
        assert load_language_model(f"{kind}:3", own).column == f"{entry.column}3"
    assert load_language_model("kenlm:3", own).column == "LM3"
    assert load_language_model("stupid-backoff:2", own).column == "SB2"
    for name in ("kenlm:4", "kenlm:3"):
        with pytest.raises(InputError, match="no such file"):
            load_language_model(name, own if name == "kenlm:4" else None)


def test_every_kind_opens_models_by_name() -> None:
    for kind, entry in KINDS.items():
        assert callable(import_module(entry.module).open_named)
        assert split_name(f"{kind}:place:5") == (kind, "place:5")
    assert split_name("c:/models/news.lm") == ("kenlm", "c:/models/news.lm")
