"""`gyro bags` as a user types it."""

from __future__ import annotations

import io
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


WORDS = (("w-1", "on"), ("w-2", "10 000"), ("w-3", "off"))
EMPTY = "\t_" * 8 + "\n"
CONLLU = "".join(f"# sent_id = {name}\n1\tGo{EMPTY}2\t{word}{EMPTY}\n" for name, word in WORDS)


def test_bags_keep_the_ids_of_what_they_were_made_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"src_id": "news.7", "ref": "a b"},
        {"ref": ""},
        {"id": 9, "src_id": "x", "ref": "c"},
        {"src_id": 3, "ref": "d"},
    ]
    (tmp_path / "mt.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "trees.conllu").write_text(CONLLU)
    files = [str(tmp_path / "mt.jsonl"), str(tmp_path / "trees.conllu")]
    words = ["bags", *files, "--tokenized", "--json-field", "ref"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    expected = [("news.7", "a b"), ("9", "c"), ("4", "d"), ("w-1", "Go on"), ("w-3", "Go off")]
    assert [(bag["id"], " ".join(bag["reference"])) for bag in found] == expected
    assert err.startswith("left out w-2: found '10 000'")
    assert main([*words, "--numbered"]) == 0
    numbers = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert numbers == ["1", "3", "4", "5", "7"]
    assert main([*words[:2], *words[1:]]) == 2
    assert "found the id 'news.7' twice; each may come once; --numbered gives others" in capsys.readouterr().err


def test_lines_of_several_files_are_numbered_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("one\n\nthree\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"four\n")))
    assert main(["bags", str(tmp_path / "a"), "-", "--tokenized"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(bag["id"], bag["tokens"]) for bag in found] == [("1", ["one"]), ("3", ["three"]), ("4", ["four"])]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.txt", "-o", "{tmp}/bags"], "no.txt"),
        (["{bad}", "-o", "{tmp}/bags", "--json-field", "text"], "bad.jsonl:1: "),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["bags", *words], message)
