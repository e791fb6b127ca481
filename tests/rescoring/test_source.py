from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.source import LatticeSource, open_lattices
from tests.orders import failed, ordered

MOSES = """\
0 ||| the dog barks ||| LM= -12.5 TM= -1 2 WP= -3 ||| -9.5
0 ||| dog the barks ||| LM= -14 TM= -1 3 WP= -3 ||| -11.25
0 ||| the dog barks ||| LM= -12.5 TM= -4 3 WP= -3 ||| -13
4 ||| why ||| LM= -2 TM= 0 0 WP= -1 ||| 0.5
"""
JSONL = """\
{"id": "x", "rank": 1, "tokens": ["a", "b"], "cost": 1.5, "features": {"LM": -1.5}}
{"id": "x", "rank": 2, "tokens": ["b", "a"], "cost": 2.5, "features": {"LM": -2.5}}
{"id": "y", "rank": 1, "tokens": [], "cost": 0, "features": {"LM": 0}}
"""
Strings = dict[tuple[str, ...], float]


def strings(source: LatticeSource) -> dict[str, Strings | None]:
    found: dict[str, Strings | None] = {}
    for item in source:
        lattice = item.lattice()
        found[item.id] = None if lattice is None else {h.tokens: h.cost for h in lattice.strings()}
    return found


def write(path: Path, tokens: str, cost: float = 1.0) -> None:
    words = sorted(set(tokens.split()))
    Lattice.from_strings(words, [Hypothesis(tuple(tokens.split()), cost)]).write(path)


def make_run(folder: Path, bags: list[Bag]) -> Path:
    def work(_number: int, bag: Bag) -> Ordering | Outcome:
        return failed(bag) if "fail" in bag.words else ordered(bag, [Hypothesis(bag.reference or bag.tokens, 1.0)])

    run_batch(bags, folder, work, settings={"a": 1}, log=(folder.parent / "log").open("w"))
    return folder


def test_a_run(tmp_path: Path) -> None:
    bags = [Bag(("b", "a"), id="7", reference=("b", "a")), Bag(("fail",), id="8"), Bag(("c",), id="9")]
    source = open_lattices(make_run(tmp_path / "run", bags))
    assert strings(source) == {"7": {("b", "a"): 1.0}, "8": None, "9": {("c",): 1.0}}
    assert [item.bag for item in source] == bags == list(source.bags())
    assert [item.reference for item in source] == [("b", "a"), None, None]
    assert source.words() == {"a", "b", "c", "fail"}
    other = open_lattices(make_run(tmp_path / "other", bags[:1]))
    assert source.signature != other.signature
    assert source.signature == open_lattices(str(tmp_path / "run")).signature


def test_the_lattices_of_a_large_run_are_in_folders(tmp_path: Path) -> None:
    for name in ("000999.fst", "001/001000.fst", "001/001001.fst", "1000/1000000.fst", "old/000002.fst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, f"w{Path(name).stem}")
    assert [item.id for item in open_lattices(tmp_path)] == ["000999", "001000", "001001", "1000000"]


def test_a_part_of_a_source(tmp_path: Path) -> None:
    bags = [Bag(tuple(text.split()), id=text) for text in ("a b", "c", "d e")]
    source = open_lattices(make_run(tmp_path / "run", bags))
    part = source.part(2, 3)
    assert [item.id for item in part] == ["c", "d e"]
    assert (part.words(), part.first, part.whole) == ({"c", "d", "e"}, 1, source)
    assert len(source.part(4, None)) == 0
    write(tmp_path / "run" / "lattices" / "000009.fst", "x y")
    assert open_lattices(tmp_path / "run" / "lattices").part(4, 4).words() == {"x", "y"}


def test_a_folder_of_files_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10.fst", "2.fst.gz", "1.fst", "x-3.fst", "x-12.fst"):
        write(tmp_path / name, f"w{name.split('.')[0]} end")
    (tmp_path / "notes.txt").write_text("not a lattice")
    source = open_lattices(tmp_path)
    assert [item.id for item in source] == ["1", "2", "10", "x-3", "x-12"]
    assert strings(source)["2"] == {("w2", "end"): 1.0}
    assert source.words() == {"w1", "w2", "w10", "wx-3", "wx-12", "end"}
    assert list(source.bags()) == [Bag((), id=item.id) for item in source]
    assert [item.id for item in source[1:3]] == ["2", "10"]
    before = source.signature
    write(tmp_path / "1.fst", "other words")
    assert open_lattices(tmp_path).signature != before


def test_one_file_and_its_marks(tmp_path: Path) -> None:
    write(tmp_path / "some.fst.gz", "<s> a b </s>", 0.5)
    source = open_lattices(tmp_path / "some.fst.gz")
    assert strings(source) == {"some": {("a", "b"): 0.5}}
    assert source.words() == {"a", "b"}


def test_how_files_are_read_is_part_of_the_signature(tmp_path: Path) -> None:
    lattice = Lattice.from_strings(("1", "2", "7"), [Hypothesis(("1", "7", "2"), 0.5)])
    lattice.write(tmp_path / "1.fst", {"1": 1, "2": 2, "7": 7}, symbols=False)
    (tmp_path / "map").write_text("dog 7\n")
    formats = {
        ("1", "7", "2"): LatticeFormat(),
        ("7",): LatticeFormat(marks=(1, 2)),
        ("dog",): LatticeFormat(epsilon=(1, 2), wordmap=str(tmp_path / "map")),
    }
    signatures = set()
    for place in (tmp_path, tmp_path / "1.fst"):
        for tokens, format in formats.items():
            source = open_lattices(place, format=format)
            assert strings(source) == {"1": {tokens: 0.5}}
            assert source.words() == set(tokens)
            signatures.add((place, source.signature))
    assert len(signatures) == 6


@pytest.mark.parametrize("name", ["list.txt", "list.nbest", "list.txt.gz"])
def test_a_list_of_moses(tmp_path: Path, name: str) -> None:
    data = MOSES.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    source = open_lattices(tmp_path / name)
    assert strings(source) == {
        "1": {("the", "dog", "barks"): 9.5, ("dog", "the", "barks"): 11.25},
        "5": {("why",): -0.5},
    }
    assert source.words() == {"the", "dog", "barks", "why"}
    weighted = open_lattices(tmp_path / name, weights={"LM": 2.0, "WP": -1.0})
    assert strings(weighted)["1"] == {("the", "dog", "barks"): 22.0, ("dog", "the", "barks"): 25.0}
    assert weighted.signature != source.signature


def test_a_list_in_json_lines(tmp_path: Path) -> None:
    (tmp_path / "nbest.jsonl").write_text(JSONL)
    source = open_lattices(tmp_path / "nbest.jsonl")
    assert strings(source) == {"x": {("a", "b"): 1.5, ("b", "a"): 2.5}, "y": {(): 0.0}}


def test_marks_in_lists(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("0 ||| <s> a </s> ||| ||| -1\n")
    source = open_lattices(tmp_path / "list.txt")
    assert strings(source) == {"1": {("a",): 1.0}}
    assert source.words() == {"a"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("missing", None, "no such file or folder; a run folder, a folder of .fst files"),
        ("other.doc", "x", "found a file of another kind"),
        ("bad.fst", "x", "not an OpenFst binary file"),
        ("list.txt", "0 ||| a\n", r"list.txt:1: found 2 fields"),
        ("list.txt", MOSES + "0 ||| a ||| LM= 1 ||| 1\n", "sentence 1 comes back after another"),
        ("nbest.jsonl", "{}\n", r"nbest.jsonl:1: found id None"),
    ],
)
def test_what_is_no_source(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        strings(open_lattices(tmp_path / name))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_that_are_no_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found no run\.json and no files \.fst"):
        open_lattices(tmp_path)
    write(tmp_path / "1.fst", "a")
    write(tmp_path / "1.fst.gz", "a")
    with pytest.raises(InputError, match="the same lattice gzipped and not"):
        open_lattices(tmp_path)


@pytest.mark.parametrize(
    ("weights", "message"),
    [({"XX": 1.0}, "0 numbers for the feature 'XX'; one is needed, and there are LM, TM, WP"), ({"TM": 1.0}, "2 numb")],
)
def test_features_that_cannot_be_weighted(tmp_path: Path, weights: dict[str, float], message: str) -> None:
    (tmp_path / "list.txt").write_text(MOSES)
    with pytest.raises(InputError, match=message):
        open_lattices(tmp_path / "list.txt", weights=weights)
