"""Commands side by side: order, failures, going on, starting anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from experiments.comparison_process import Command, read_used, run_commands
from gyro.errors import InputError


def make_command(
    name: str, folder: Path, arguments: Sequence[str], inputs: Sequence[Path] = (), weight: float = 0.0
) -> Command:
    target = folder / name
    return Command(name, target, lambda: arguments, inputs, target.exists, lambda: weight)


def bags(folder: Path, name: str, text: str, **options: object) -> Command:
    """`gyro bags` of a line: a quick command with a file as its target."""
    source = folder / f"{name}.txt"
    if not source.exists():
        source.write_text(text, encoding="utf-8")
    arguments = ["bags", str(source), "--tokenized", "-o", str(folder / name)]
    return make_command(name, folder, arguments, [source, *options.pop("inputs", [])])  # type: ignore[misc]


@pytest.fixture
def told() -> list[str]:
    return []


def test_a_failure_does_not_stop_the_others_but_those_that_need_it(tmp_path: Path, told: list[str]) -> None:
    good = bags(tmp_path, "good.jsonl", "a b\n")
    bad = make_command("bad", tmp_path, ["bags", str(tmp_path / "nowhere"), "-o", str(tmp_path / "bad")])
    after_bad = make_command("after bad", tmp_path, ["score"], [bad.target])
    after_good = bags(tmp_path, "next.jsonl", "c d\n", inputs=[good.target])

    def refuse() -> list[str]:
        raise InputError("no such system")

    refused = Command("refused", tmp_path / "refused", refuse, [], lambda: True, lambda: 1.0)
    commands = [after_good, after_bad, bad, refused, good]
    failed = run_commands(commands, 2, told.append)
    assert set(failed) == {"bad", "after bad", "refused"}
    assert "nowhere" in failed["bad"]
    assert failed["after bad"] == "something that it needs was not made"
    assert failed["refused"] == "no such system"
    assert [command.is_done() for command in (good, after_good, bad, after_bad)] == [True, True, False, False]
    used = read_used(good.target)
    assert used is not None
    assert used.wall >= 0
    assert used.cpu > 0
    assert "c" in (tmp_path / "next.jsonl").read_text(encoding="utf-8")
    # Again: what is done is not done again, what failed is tried again.
    before = good.target.stat().st_mtime_ns
    assert set(run_commands(commands, 1, told.append)) == set(failed)
    assert good.target.stat().st_mtime_ns == before


def test_other_facts_make_it_undone(tmp_path: Path, told: list[str]) -> None:
    command = bags(tmp_path, "one.jsonl", "a b\n")
    assert not run_commands([command], 1, told.append)
    assert command.is_done()
    other = Command(command.name, command.target, lambda: ["bags", "x"], command.inputs, command.is_whole, lambda: 0.0)
    assert not other.is_done()
    (tmp_path / "one.jsonl.txt").write_text("a b c\n", encoding="utf-8")
    assert not command.is_done()


@pytest.mark.parametrize(
    ("arguments", "begun"),
    [
        (["train", "--iterations", "3", "--seed", "1"], True),
        (["train", "--iterations", "2", "--seed", "2"], False),
        (["train", "--seed", "1"], True),
    ],
)
def test_a_longer_training_is_more_of_the_same(tmp_path: Path, arguments: list[str], begun: bool) -> None:
    first = make_command("model", tmp_path, ["train", "--iterations", "2", "--seed", "1"])
    (tmp_path / "model.begun.json").write_text(json.dumps({**(first.facts() or {}), "wall": 3.0, "cpu": 1.0}))
    assert first.is_begun()
    assert make_command("model", tmp_path, arguments).is_begun() == begun


def test_long_ones_go_first(tmp_path: Path, told: list[str]) -> None:
    started: list[str] = []

    def noted(name: str) -> Callable[[], Sequence[str]]:
        def arguments() -> Sequence[str]:
            started.append(name)
            raise InputError("not now")

        return arguments

    commands = [
        Command(name, tmp_path / name, noted(name), [], lambda: True, lambda weight=weight: weight)  # type: ignore[misc]
        for name, weight in (("short", 1.0), ("long", 9.0), ("middle", 5.0))
    ]
    assert set(run_commands(commands, 1, told.append)) == {"short", "long", "middle"}
    assert started == ["long", "middle", "short"]
