"""References with their ids, against what the files say."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.pipeline.reference import Reference, check_ids, read_references, write_bags
from gyro.text.bag_file import parse_bag
from gyro.text.corpus import Normalisation

SPLIT = Normalisation("none")
WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)
IDS = st.fixed_dictionaries({}, optional={"id": st.sampled_from(["x", "7"]), "src_id": st.sampled_from(["y.1", "3"])})


@settings(max_examples=30)
@given(st.lists(st.tuples(IDS, WORDS), max_size=5), st.lists(WORDS, max_size=4), st.booleans())
def test_every_line_is_numbered_or_has_its_own_id(
    tmp_path_factory: pytest.TempPathFactory,
    objects: list[tuple[dict[str, str], list[str]]],
    more: list[list[str]],
    numbered: bool,
) -> None:
    folder = tmp_path_factory.mktemp("references")
    records = [{**ids, "text": " ".join(words)} for ids, words in objects]
    (folder / "a").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "b").write_text("".join(json.dumps({"text": " ".join(words)}) + "\n" for words in more))
    found = list(read_references([folder / "a", folder / "b"], SPLIT, json_field="text", numbered=numbered))
    assert [reference.tokens for reference in found] == [*(words for _, words in objects), *more]
    for number, reference in enumerate(found, 1):
        own = objects[number - 1][0] if number <= len(objects) else {}
        name = own.get("id") or (own.get("src_id") if own.get("src_id") != "3" else None)
        assert reference.id == (str(number) if numbered or name is None else name)


def test_processes_that_share_the_work_keep_the_ids_in_step(tmp_path: Path) -> None:
    lines = [{"id": f"n{number}", "text": f"word{number}"} for number in range(4500)]
    (tmp_path / "a").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = list(read_references([tmp_path / "a"], Normalisation("spacy-en"), json_field="text", jobs=2))
    assert found == [(line["id"], [line["text"]]) for line in lines]


def test_treebanks_in_lower_case(tmp_path: Path) -> None:
    row = "\t".join("_" * 8)
    (tmp_path / "t.conllu").write_text(f"1\tGo\t{row}\n2\tON\t{row}\n\n")
    assert list(read_references([tmp_path / "t.conllu"], Normalisation("spacy-en", True))) == [("1", ["go", "on"])]


def test_bags_are_read_back() -> None:
    file = io.StringIO()
    write_bags(file, [Reference("é", ["b", "a"])])
    bag = parse_bag(file.getvalue(), 1)
    assert (bag.id, bag.tokens, bag.reference) == ("é", ("a", "b"), ("b", "a"))


def test_ids_come_once() -> None:
    check_ids([Reference("1", []), Reference("2", [])], "file")
    with pytest.raises(InputError, match="file: found the id '1' twice"):
        check_ids([Reference("1", []), Reference("1", [])], "file")
