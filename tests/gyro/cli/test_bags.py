"""`gyro bags` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.text.bag_file import read_bags


def test_bags_have_the_numbers_of_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    references, text = tmp_path / "references.txt", tmp_path / "text.txt"
    references.write_text("\nthe dog\n\n \na cat .\n\n")
    assert main(["bags", str(references), "--tokenized", "--text", str(text)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    numbered = references.read_text().splitlines()
    assert [numbered[int(bag["id"]) - 1].split() for bag in found] == [["the", "dog"], ["a", "cat", "."]]
    assert text.read_text().splitlines() == [" ".join(bag["reference"]) for bag in found]


def test_a_file_of_bags_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The dogs didn't bark.\n")
    assert main(["bags", str(tmp_path / "text"), "-o", str(tmp_path / "bags.jsonl"), "--lowercase"]) == 0
    (bag,) = read_bags(tmp_path / "bags.jsonl")
    assert bag.reference == ("the", "dogs", "did", "n't", "bark", ".")
    assert bag.tokens == tuple(sorted(bag.reference))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.txt", "-o", "{tmp}/bags"], "no.txt"),
        (["{bad}", "-o", "{tmp}/bags", "--json-field", "text"], "bad.jsonl:1: "),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["bags", *words], message)
