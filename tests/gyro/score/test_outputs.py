from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.score.outputs import parse_system, read_systems, unique_names


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))
    return path


def make_run(folder: Path, references: list[str], outputs: list[str]) -> Path:
    write(folder / "references.txt", *references)
    write(folder / "best.txt", *outputs)
    write(folder / "bags.jsonl", *(f'{{"id": "bag{n}"}}' for n in range(len(outputs))))
    return folder


@pytest.mark.parametrize(
    ("text", "path", "name"),
    [
        ("run", "run", None),
        ("run:A", "run", "A"),
        ("a:b:C", "a:b", "C"),
        ("A=run", "run", "A"),
        ("c:/run", "c:/run", None),
        (":A", ":A", None),
        ("x=", "x=", None),
    ],
)
def test_names(text: str, path: str, name: str | None) -> None:
    assert parse_system(text) == (Path(path), name)


def test_what_exists_is_a_path(tmp_path: Path) -> None:
    odd = write(tmp_path / "a:b=c", "x")
    assert parse_system(str(odd)) == (odd, None)
    assert parse_system(f"{odd}:N") == (odd, "N")


def test_names_are_as_short_as_they_can_be() -> None:
    named = [(Path("/x/one/run"), None), (Path("/x/two/run"), None), (Path("/x/y"), "Z")]
    assert unique_names(named) == ["one/run", "two/run", "Z"]
    with pytest.raises(InputError, match="found the system 'A' twice"):
        unique_names([(Path("a"), "A"), (Path("b"), "A")])


def test_runs_bring_their_references(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", ["a b", "c"], ["b a", "c"])
    two = make_run(tmp_path / "two", ["a b", "c"], ["a b", ""])
    found = read_systems([(one, None), (two, "second")])
    assert found.outputs == {"one": (("b", "a"), ("c",)), "second": (("a", "b"), ())}
    assert found.references == (("a", "b"), ("c",))
    assert found.ids == ("bag0", "bag1")


def test_bad_systems(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", ["a b", "c"], ["b a", "c"])
    other = make_run(tmp_path / "other", ["a b", "d"], ["b a", "d"])
    with pytest.raises(
        InputError, match=r"other/references.txt:2: found other references than in .*one/references.txt"
    ):
        read_systems([(one, None), (other, None)])
    file = write(tmp_path / "file", "a b")
    with pytest.raises(InputError, match="no references: give a file, or a run"):
        read_systems([(file, None)])
    with pytest.raises(InputError, match="file: line 2 is missing: found 1 lines"):
        read_systems([(file, None)], one / "references.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no best.txt here"):
        read_systems([(tmp_path / "empty", None)], file)
    with pytest.raises(InputError, match="the bags of this run have no references"):
        read_systems([(tmp_path / "empty", None)])
    with pytest.raises(InputError, match="found no system"):
        read_systems([])
