from __future__ import annotations

import argparse
from dataclasses import asdict

import pytest

from gyro.errors import InputError
from gyro.search.options import add_arguments, open_system, settings_of
from gyro.search.settings import Settings


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def test_no_options_are_the_default_settings() -> None:
    assert settings_of(parse()) == Settings()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (["--algorithm", "full"], {"algorithm": "full"}),
        (["--rules", "2-3"], {"rules": "2-3"}),
        (["--algorithm", "full", "--grammar", "binary"], {"algorithm": "full", "grammar": "binary"}),
        (
            ["--algorithm", "full", "--grammar", "binary", "--cell-start", "anywhere"],
            {"algorithm": "full", "grammar": "binary", "cell_start": "anywhere"},
        ),
        (["--overlap", "2"], {"overlap": 2}),
        (["--joints", "none"], {"joints": "none"}),
        (["--phrase-cost", "phrase=1"], {"phrase_cost": "phrase=1"}),
        (["--beta", "2.5"], {"beta": 2.5}),
        (["--first-row", "4"], {"first_row": 4}),
        (["--beam", "9"], {"beam": 9}),
        (["--max-arcs", "500"], {"max_arcs": 500}),
        (["--max-tokens", "0"], {"max_tokens": 0}),
        (["--time-limit", "3"], {"time_limit": 3.0}),
        (["--steps", "500"], {"steps": 500}),
        (["--memory-limit", "1G"], {"memory_limit": "1G"}),
    ],
)
def test_options_change_their_settings_alone(words: list[str], change: dict[str, object]) -> None:
    assert asdict(settings_of(parse(*words))) == asdict(Settings()) | change


def test_index_and_model_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GYRO_INDEX", raising=False)
    monkeypatch.delenv("GYRO_LM", raising=False)
    with pytest.raises(InputError, match="--index DIR and --lm MODEL are needed"):
        open_system(parse())
