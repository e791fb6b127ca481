"""The command line as a whole: from text to scores, help lines, and what light commands import."""

from __future__ import annotations

import argparse
import json
import lzma
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import COMMANDS, main, whole_parser

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
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_example_of_the_help_works_as_it_is_printed(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  gyro ")]
    assert [line.split()[1] for line in commands] == ["index", "lm", "bags", "generate", "score"]
    monkeypatch.chdir(tmp_path)
    with lzma.open("news.txt.xz", "wb") as file:
        file.write(world.text.read_bytes())
    short = [" ".join(s) + "\n" for s in world.held_out if 4 <= len(s) <= 8][:6]
    Path("references.txt").write_text("".join(short))
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    assert "BLEU" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-q", "generate"], ""),
        (["generate", "--quiet"], ""),
        (["generate"], "3/3 id=3"),
        (["generate", "-v"], "MB a process at most"),
        (["--verbose", "generate"], "MB a process at most"),
    ],
)
def test_how_much_is_said_on_standard_error(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """What comes of it is the same, and a mistake is told however quiet it is to be."""
    (tmp_path / "bags").write_text("the people\n\nof america\n")
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "-o", str(tmp_path / "run")]
    assert main([*words, str(tmp_path / "bags"), *options]) == 0
    out, err = capfd.readouterr()
    counts = dict(line.rsplit("  ", 1) for line in out.splitlines()[:4])
    assert {name.strip(): count.split()[0] for name, count in counts.items()} == {
        "bags": "3",
        "ordered": "3",
        "by rules": "2",
        "by empty bag": "1",
    }
    assert said in err
    assert bool(err) == bool(said)
    assert main([*words, str(tmp_path / "none"), *options]) == 2
    assert f"gyro: {tmp_path / 'none'}: cannot read" in capfd.readouterr().err


def test_quiet_and_verbose_are_known_to_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    def leaves(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
        inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        return [leaf for action in inner for sub in action.choices.values() for leaf in leaves(sub)] or [parser]

    parsers = leaves(whole_parser())
    assert len(parsers) > len(COMMANDS)
    for parser in parsers:
        names = {name for action in parser._actions for name in action.option_strings}
        assert {"-q", "--quiet", "-v", "--verbose"} <= names, parser.prog


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
