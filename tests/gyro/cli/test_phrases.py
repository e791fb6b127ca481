"""`gyro phrases` as a user types it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.text.bag_file import read_bags

if TYPE_CHECKING:
    from tests.conftest import World


def test_phrases_of_every_bag(world: World, ordered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["phrases", str(ordered / "bags.jsonl"), "--index", str(world.index_path), "--order", "2"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    bags = {bag.id: bag for bag in read_bags(ordered / "bags.jsonl")}
    assert {name for name, _, _ in rows} == set(bags)
    assert {len(words.split()) for _, _, words in rows} == {1, 2}
    for name, count, words in rows:
        assert not Counter(words.split()) - Counter(bags[name].tokens)
        assert int(count) == world.index.count(words.split()) > 0


def test_the_longest_are_those_of_the_index(world: World, tmp_path: Path) -> None:
    (tmp_path / "bags").write_text("the united states of america\n")
    for order in ("5", "9"):
        words = ["phrases", str(tmp_path / "bags"), "--index", str(world.index_path), "--order", order]
        assert main([*words, "-o", str(tmp_path / order)]) == 0
    assert (tmp_path / "5").read_text() == (tmp_path / "9").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{bad}", "--index", "{tmp}"], "{tmp}: "),
        (["{bad}", "--index", "{index}"], "bad.jsonl:2: "),
        (["{bad}", "--index", "{index}", "--order", "0"], "--order 0"),
        (["{bad}", "--index", ""], "--index DIR is needed"),
        (["{index}", "{bad}"], "and --index DIR"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["phrases", *words], message)
