"""`gyro completion` as shells use it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gyro.cli import COMMANDS, main, whole_parser
from gyro.cli.completion import SHELLS, _actions
from gyro.run.system import SYSTEMS

# Calls the function that the script gives bash for `gyro`, with the words of a line, and prints what it offers.
ASK = """
source "$1"; shift
function_of() { complete -p gyro | sed 's/.*-F \\([^ ]*\\).*/\\1/'; }
COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=()
$(function_of) gyro "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    (folder / "ask").write_text(ASK)
    with pytest.MonkeyPatch.context() as patch:
        for shell in SHELLS:
            with (folder / shell).open("w") as file:
                patch.setattr("sys.stdout", file)
                assert main(["completion", shell]) == 0
    return folder


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ge"], {"generate"}),
        (["generate", "--algorithm", ""], {"exact", "beam", "pruned-parsing", "pruned-expansion", "full"}),
        (["generate", "bags", "--system", ""], set(SYSTEMS)),
        (["train", "best-first", "--tagger"], {"--tagger-cutoff"}),
        (["completion", ""], set(SHELLS)),
        (["order", "--js"], {"--json"}),
        (["generate", "some-b"], {"some-bags.txt"}),
        (["generate", "--index", "some-"], {"some-index"}),
        (["-"], {"-h", "--help", "--version", "-q", "--quiet", "-v", "--verbose"}),
    ],
)
def test_bash_offers_what_fits(scripts: Path, tmp_path: Path, words: list[str], offered: set[str]) -> None:
    (tmp_path / "some-bags.txt").touch()
    (tmp_path / "some-index").mkdir()
    if "some-b" in words:
        (tmp_path / "some-index").rmdir()
    command = ["bash", str(scripts / "ask"), str(scripts / "bash"), "gyro", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_knows_every_command_and_option(scripts: Path, shell: str) -> None:
    script = (scripts / shell).read_text()
    names = {name for action in _actions(whole_parser()) for name in action.option_strings if name.startswith("--")}
    assert {name for name in names if name not in script and name[2:] not in script} == set()
    assert {name for name in COMMANDS if name not in script} == set()


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "cmd"])
    assert "invalid choice: 'cmd'" in capsys.readouterr().err
