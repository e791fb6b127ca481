"""Systems are found by name, and each has the options of its own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gyro.cli import main
from gyro.lattice.lattice import Hypothesis
from gyro.run import system
from gyro.run.batch import Summary, run_batch
from gyro.run.outcome import Ordering
from gyro.run.system import SYSTEMS, system_kind, trained_kinds
from gyro.text.bag import Bag
from tests.orders import ordered


class Sorter:
    """The smallest system there is: the words in the order of the alphabet."""

    def __init__(self, reverse: bool) -> None:
        self.reverse = reverse

    def order(self, bag: Bag) -> Ordering:
        return ordered(bag, [Hypothesis(tuple(sorted(bag.tokens, reverse=self.reverse)), 0.0)])

    def run(self, bags: Sequence[Bag], folder: Any, **options: Any) -> Summary:
        return run_batch(bags, folder, lambda _, bag: self.order(bag), settings={"reverse": self.reverse}, **options)

    def run_text(self, folder: Any) -> str:
        return f"sorted {'down' if self.reverse else 'up'}"


@pytest.fixture
def sorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system is a module and its line in the table."""
    module = ModuleType("tests_sorter")
    module.add_arguments = lambda parser: parser.add_argument("--reverse", action="store_true")  # type: ignore[attr-defined]
    module.open_system = lambda arguments: Sorter(arguments.reverse)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tests_sorter", module)
    monkeypatch.setitem(SYSTEMS, "sorter", system._Entry("tests_sorter", False))


@pytest.mark.usefixtures("sorter")
def test_a_new_system_is_its_module_and_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bags.txt").write_text("b c a\nz y\n")
    words = ["generate", str(tmp_path / "bags.txt"), "-o", str(tmp_path / "run"), "--system", "sorter", "--reverse"]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("sorted down\n")
    assert (tmp_path / "run" / "best.txt").read_text() == "c b a\nz y\n"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"] == {"reverse": True}


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_options_without_hidden_defaults(name: str) -> None:
    parser = argparse.ArgumentParser()
    system_kind(name).add_arguments(parser)
    shown = {action.dest for action in parser._actions if "default" in (action.help or "")}
    assert shown
    assert all(parser.get_default(dest) is not None for dest in shown)


def test_options_of_one_system_are_not_those_of_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bags.txt").write_text("a\n")
    words = ["generate", str(tmp_path / "bags.txt"), "-o", str(tmp_path / "run")]
    for more in (["--goals", "2"], ["--system", "best-first", "--first-row", "3"]):
        with pytest.raises(SystemExit) as stopped:
            main([*words, *more])
        assert stopped.value.code == 2
        assert "unrecognized arguments" in capsys.readouterr().err


def test_an_unknown_system_is_told_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["generate", "bags.txt", "-o", "run", "--system=magic"])
    assert "gyro" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "gyro", "x.conllu", "-o", "m"])


def test_what_can_be_trained() -> None:
    assert list(trained_kinds()) == [name for name, entry in SYSTEMS.items() if entry.is_trained]
