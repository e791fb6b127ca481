from __future__ import annotations

from pathlib import Path

from gyro.report.data import read_groups
from tests.gyro.report.samples import REFERENCES, make_run


def test_smaller_runs_get_guests(runs: dict[str, Path]) -> None:
    groups = read_groups([(runs[name], name) for name in ("perfect", "few")])
    assert [[member.name for member in group.members] for group in groups] == [["perfect"], ["perfect", "few"]]
    assert groups[1].label == "2 bags of 6–12 tokens"
    assert groups[1].members[0].outputs == tuple(tuple(REFERENCES[n].split()) for n in (0, 2))
    assert groups[1].members[0].is_guest


def test_long_bags_are_joined_in_fives(tmp_path: Path) -> None:
    lengths = [1, 7, 7, 20, 21, 25, 26, 58, 60]
    run = make_run(tmp_path / "run", 1, [" ".join(f"w{k}" for k in range(n)) for n in lengths])
    [group] = read_groups([(run, None)])
    points = group.members[0].by_size()
    spans = [(point.sizes, point.size, point.bags) for point in points]
    assert spans == [("1", 1, 1), ("7", 7, 2), ("20", 20, 1), ("21–25", 23, 2), ("26–30", 28, 1), ("56–60", 58, 2)]
    assert [point.phrases for point in points] == [10, 70, 200, 230, 260, 590]


def test_rescoring_stages(runs: dict[str, Path], tmp_path: Path) -> None:
    """Two runs made one from the other, and one that has nothing to do with them."""
    second = make_run(tmp_path / "second", 1, command="rescore", lattices="of perfect")
    third = make_run(tmp_path / "third", 2, command="mbr", lattices="of second")
    named = [(path, None) for path in (runs["perfect"], second, third, runs["turned"])]
    [group] = read_groups(named, signature=lambda path: f"of {path.name}")
    assert [(depth, member.name) for depth, member in group.chains()] == [(0, "perfect"), (1, "second"), (2, "third")]
    step = group.step(group.member("second"))
    assert step is not None
    assert step.difference < 0
