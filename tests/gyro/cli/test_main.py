"""The command line as a whole: from text to scores, help lines, and what light commands import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import COMMANDS, main

if TYPE_CHECKING:
    from tests.conftest import World


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_text_to_scores_by_command(tmp_path: Path, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    index, model, bags, run = (str(tmp_path / n) for n in ("index", "model.lm", "bags.jsonl", "run"))
    references = tmp_path / "references.txt"
    references.write_text("".join(" ".join(s) + "\n" for s in world.held_out if 4 <= len(s) <= 8)[:1000])
    assert main(["index", str(world.text), "-o", index, "--tokenized", "--order", "4"]) == 0
    assert main(["lm", str(world.text), "-o", model, "--tokenized", "--order", "3", "--memory", "256M"]) == 0
    assert main(["bags", str(references), "-o", bags, "--tokenized"]) == 0
    count = len(Path(bags).read_text().splitlines())
    capsys.readouterr()
    assert main(["phrases", bags, "--index", index, "--order", "2"]) == 0
    rows = [line.split("\t") for line in lines(capsys)]
    assert {len(row[2].split()) for row in rows} == {1, 2}
    assert all(int(row[1]) > 0 for row in rows)
    options = ["--index", index, "--lm", model, "--rules", "1-4"]
    assert main(["generate", bags, "-o", run, *options, "--jobs", "2"]) == 0
    capsys.readouterr()
    assert main(["best", run]) == 0
    best = lines(capsys)
    assert len(best) == count
    assert best == (tmp_path / "run" / "best.txt").read_text().splitlines()
    assert main(["nbest", run, "-n", "3"]) == 0
    assert all(line.count(" ||| ") == 3 for line in lines(capsys))
    assert main(["score", run]) == 0
    assert "BLEU" in capsys.readouterr().out
    assert main(["score", run, str(references), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    lattice = str(tmp_path / "run" / "lattices" / "000001.fst")
    assert main(["show", lattice, "-o", str(tmp_path / "a.svg"), str(tmp_path / "a.png"), "--paths", "3"]) == 0
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_of_every_command(command: str) -> None:
    words = [sys.executable, "-m", "gyro", *([command] if command else []), "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "usage: gyro" in result.stdout
    assert "Traceback" not in result.stderr


HEAVY = ("kenlm", "lemminflect", "matplotlib", "numba", "pynini", "pywrapfst", "sacrebleu", "spacy")
# These ask the stages which options they have.
QUICK_HELP = [command for command in COMMANDS if command not in ("rescore", "mbr", "tune")]
IMPORTS = """
import sys
from gyro.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as stopped:
    code = stopped.code
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def heavy_imports(words: list[str]) -> list[str]:
    """Which of the packages that take long to load a command has loaded."""
    result = subprocess.run([sys.executable, "-c", IMPORTS, *words], capture_output=True, text=True, check=True)
    return sorted(set(HEAVY) & set(result.stderr.splitlines()[-1].split()))


@pytest.mark.parametrize("words", [["--help"], ["--version"]], ids=" ".join)
def test_what_needs_no_command_is_light(words: list[str]) -> None:
    assert heavy_imports(words) == []


@pytest.mark.parametrize("command", QUICK_HELP)
def test_help_of_a_command_is_light(command: str) -> None:
    assert heavy_imports([command, "--help"]) == []


def test_best_is_light(ordered: Path) -> None:
    """Reading strings from a file needs neither OpenFst nor compiled code."""
    assert heavy_imports(["best", str(ordered / "first")]) == []
