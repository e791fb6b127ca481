from __future__ import annotations

from pathlib import Path

import pytest

from gyro.run.paths import RunPaths


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "000001.fst"),
        (998, "000999.fst"),
        (999, "001/001000.fst"),
        (1998, "001/001999.fst"),
        (1999, "002/002000.fst"),
        (999_999, "1000/1000000.fst"),
    ],
)
def test_each_thousand_of_lattices_has_a_folder(tmp_path: Path, number: int, name: str) -> None:
    assert RunPaths(tmp_path).lattice(number) == tmp_path / "lattices" / name
    assert RunPaths(tmp_path, is_flat=True).lattice(number).parent == tmp_path / "lattices"


def test_names_sort_in_the_order_of_the_bags() -> None:
    paths = RunPaths("run")
    names = [str(paths.lattice(number)) for number in range(5000)]
    assert sorted(names) == names


def write(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_only_what_the_run_wrote_is_removed(tmp_path: Path) -> None:
    paths = RunPaths(tmp_path / "run")
    own = [paths.lattice(number) for number in (0, 4, 998, 1000, 1499)] + [paths.bags, paths.journal, paths.nbest_moses]
    own += [tmp_path / "run" / ".best.txt.17.tmp", paths.lattices / ".000002.fst.17.tmp"]
    others = ["notes.txt", "oracle-lattice.txt", ".mine.txt.1.tmp", "lattices/mine.fst", "lattices/.mine.fst.1.tmp"]
    others += ["lattices/001/001501.fst", "lattices/7.fst", "lattices/other/000001.fst"]
    write(*own, paths.run, *(paths.path / name for name in others))
    paths.clear(1500)
    left = sorted(str(path.relative_to(paths.path)) for path in paths.path.rglob("*") if path.is_file())
    assert left == sorted([*others, "run.json"])


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere / "000001.fst", elsewhere / "001001.fst", elsewhere / "best.txt")
    paths = RunPaths(tmp_path / "run")
    write(paths.lattice(1), paths.run)
    (paths.lattices / "001").symlink_to(elsewhere)
    paths.lattice(0).symlink_to(elsewhere / "000001.fst")
    paths.clear(2000)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "lattices").symlink_to(elsewhere)
    RunPaths(tmp_path / "linked").clear(2000)
    assert sorted(path.name for path in elsewhere.iterdir()) == ["000001.fst", "001001.fst", "best.txt"]
    assert not paths.lattice(1).exists()
