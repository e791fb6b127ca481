"""`gyro compile`: everything that the parts use is compiled, and nothing twice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gyro.cli import COMMANDS, compile, main
from gyro.cli.exercise import PARTS, prepare
from gyro.compilation import QUIET
from gyro.files import read_json
from gyro.source_digest import PACKAGES, module_file, source_files
from lm.kenlm.toolchain import find_program

ROOT = Path(__file__).parents[3]
COMPILED = re.compile(r"^@(?:compiled|outer)\b", re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "found"),
    [(["nothing"], "found 'nothing'; parts are text, "), (["--jobs", "0"], "found 0 jobs; 1 or more are allowed")],
)
def test_what_cannot_be_is_one_line(words: list[str], found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert found in line


def test_a_part_that_lacks_what_it_needs_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile, "_is_compiled", lambda name: name != "neural")
    monkeypatch.setattr("lm.neural.embedded.default_places", lambda: (tmp_path / "none", tmp_path / "none"))
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    assert main(["compile"]) == 0
    left_out, already = capsys.readouterr().out.splitlines()
    assert left_out.startswith("left out: neural (no neural model is installed")
    assert already == f"compiled already: {', '.join(name for name in PARTS if name != 'neural')}"
    assert main(["compile", "neural"]) == 2
    assert "no neural model is installed" in capsys.readouterr().err


def test_tasks_are_commands_on_files_that_are_made(tmp_path: Path) -> None:
    prepare(tmp_path)
    text = (tmp_path / "text.tok").read_text(encoding="utf-8").splitlines()
    rows = (tmp_path / "trees.conllu").read_text(encoding="utf-8").split("\n\n")
    sentences = [" ".join(row.split("\t")[1] for row in tree.splitlines()[1:]) for tree in rows if tree]
    assert sentences == text[: len(sentences)]
    assert {command.split()[0] for part in PARTS.values() for command in part.commands} <= set(COMMANDS)


@pytest.mark.slow
def test_a_part_is_compiled_once_and_again_when_a_source_changed(tmp_path: Path) -> None:
    find_program("lmplz")
    environment = {name: value for name, value in os.environ.items() if name != QUIET}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def printed(*words: str) -> list[str]:
        command = [sys.executable, "-m", "gyro", *words]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert result.stderr == ""  # and nothing is said of compilation behind it
        return result.stdout.splitlines()

    first, last = printed("compile", "text", "--jobs", "1")
    assert first == "compiling 1 parts: text"
    assert re.fullmatch(r"compiled 1 of 1 parts, \d+ s: text", last)
    assert printed("compile", "text") == ["compiled already: text"]
    prepare(tmp_path)
    assert printed("index", str(tmp_path / "text.tok"), "-o", str(tmp_path / "index"), "--tokenized")
    # As when a source had changed: the folder of a module's code has another name.
    (record,) = (tmp_path / "kept" / "gyro").glob("part-text.*.json")
    module = read_json(record)["used"][0][0]
    (folder,) = (tmp_path / "kept" / "gyro").glob(f"{module}-*")
    folder.rename(folder.with_name(f"{module}-old"))
    assert printed("compile", "text", "--jobs", "1")[0] == "compiling 1 parts: text"
    assert folder.is_dir()


# Indexes in shards are Spark's: executors compile what makes them, at first use, and so does who opens one.
OF_SPARK = ("block.py", "cut.py", "sharded.py")


def test_every_module_with_compiled_functions_is_in_the_code_of_a_part() -> None:
    """Where everything is compiled, as `make test` does first."""
    records = [path for name in PARTS if (path := compile._record(name)).exists()]
    if len(records) < len(PARTS):
        pytest.skip("not all parts are compiled; gyro compile does it")
    used = {(module, tuple(rooms)) for path in records for module, rooms, _ in read_json(path)["used"]}
    sources = {Path(file) for module, rooms in used for file in source_files(str(module_file(module)), rooms)}
    files = {path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    compiled = {path for path in files if COMPILED.search(path.read_text(encoding="utf-8"))}
    assert compiled - {ROOT / "gyro" / "index" / name for name in OF_SPARK} <= sources
