from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.judge.pair import read_trial
from tests.gyro.report.samples import REFERENCES, make_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Five bags: `one` has the references, `two` and `three` turn them by one word and by two; `two` fails on one."""
    folder = tmp_path_factory.mktemp("judged")
    found = {
        "one": make_run(folder / "one", 0),
        "two": make_run(folder / "two", 1, fail=3),
        "three": make_run(folder / "three", 2),
        "few": make_run(folder / "few", 1, REFERENCES[:2]),
        "other": make_run(folder / "other", 1, ["some other words"]),
    }
    (folder / "plain.txt").write_text("\n".join([*REFERENCES[:4], "is it so ."]) + "\n")
    return {**found, "plain": folder / "plain.txt"}


def test_pairs_are_those_that_differ(runs: dict[str, Path]) -> None:
    """The plain file has the references but for the last bag."""
    trial = read_trial([(runs["one"], None), (runs["plain"], "plain")])
    assert trial.systems == ("one", "plain")
    assert [(pair.bag, pair.orders) for pair in trial.pairs] == [("s5", ("it is so .", "is it so ."))]
    assert (trial.equal, trial.missing, trial.bags) == (4, 0, 1)
    assert trial.pairs[0].reference == "it is so ."


def test_each_two_of_three_systems(runs: dict[str, Path]) -> None:
    trial = read_trial([(runs[name], None) for name in ("one", "two", "three")])
    assert (len(trial.pairs), trial.equal, trial.missing, trial.bags) == (13, 0, 2, 5)
    assert {pair.systems for pair in trial.pairs} == {("one", "two"), ("one", "three"), ("two", "three")}
    for pair in trial.pairs:
        words = REFERENCES[int(pair.bag[1:]) - 1].split()
        turned = [words[shift:] + words[:shift] for shift in (("one", "two", "three").index(s) for s in pair.systems)]
        assert [order.split() for order in pair.orders] == turned


def test_order_and_sides_are_drawn_by_the_seed(runs: dict[str, Path]) -> None:
    named = [(runs[name], None) for name in ("one", "two", "three")]
    first, same, other = read_trial(named, seed=5), read_trial(named, seed=5), read_trial(named, seed=6)
    assert first == same
    assert first.pairs != other.pairs
    assert {(p.bag, p.systems, p.orders) for p in first.pairs} == {(p.bag, p.systems, p.orders) for p in other.pairs}
    sides = [read_trial(named, seed=seed).pairs[0].first for seed in range(40)]
    assert 10 <= sum(sides) <= 30
    pair = next(pair for pair in first.pairs if pair.first)
    assert pair.sides == pair.systems[::-1]


def test_samples(runs: dict[str, Path]) -> None:
    """So many of the bags that have a pair, with all their pairs; long ones are left out before."""
    named = [(runs[name], None) for name in ("one", "two", "three")]
    trial = read_trial(named, bags=2)
    assert trial.bags == 2
    drawn = {frozenset(p.bag for p in read_trial(named, bags=2, seed=seed).pairs) for seed in range(30)}
    assert len(drawn) > 5
    assert {p.bag for p in read_trial(named, longest=5).pairs} == {"s2", "s4", "s5"}
    with pytest.raises(InputError, match="found --bags 6; the orders differ on 5 bags: 1 to 5 are allowed"):
        read_trial(named, bags=6)


def test_references_and_natural_text(runs: dict[str, Path]) -> None:
    named = [(runs["one"], None), (runs["three"], None)]
    assert {pair.reference for pair in read_trial(named, with_reference=False).pairs} == {None}
    [pair] = [pair for pair in read_trial(named, natural=True).pairs if pair.bag == "s5"]
    assert (pair.reference, pair.orders) == ("it is so.", ("it is so.", "so. it is"))


def test_runs_of_some_of_the_bags(runs: dict[str, Path]) -> None:
    trial = read_trial([(runs["few"], None), (runs["one"], None)])
    assert {pair.bag for pair in trial.pairs} == {"s1", "s2"}
    assert trial.missing == 3


def test_mistakes(runs: dict[str, Path]) -> None:
    for names, message in (
        (["one"], "found 1 system; two or more are needed for pairs"),
        ([], "found 0 systems; two or more"),
        (["plain", "plain"], "plain.txt' twice"),
        (["one", "other"], "found other words in bag 's1' of other than of one"),
        (["few", "plain"], "line 3 is one too many"),
    ):
        with pytest.raises(InputError, match=message):
            read_trial([(runs[name], None) for name in names])
    with pytest.raises(InputError, match="found no folder of a run"):
        read_trial([(runs["plain"], "a"), (runs["plain"], "b")])
    with pytest.raises(InputError, match="found no two different orders of a bag by a, b"):
        read_trial([(runs["one"], "a"), (runs["one"], "b")])
    with pytest.raises(InputError, match=r"found the system name 'a\\nb'; a line of 1 to 200 characters is allowed"):
        read_trial([(runs["one"], "a\nb"), (runs["two"], None)])
    with pytest.raises(InputError, match="less than 16 digits"):
        read_trial([(runs["one"], None), (runs["two"], None)], seed=10**15)
