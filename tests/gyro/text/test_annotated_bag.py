from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.annotated_bag import PER_TOKEN, AnnotatedBag, as_annotated
from gyro.text.bag import Bag
from gyro.text.bag_file import bag_to_record, parse_bag, read_bags
from tests.gyro.text.records import DOGS, records

ROOT = -1


def permute(record: dict[str, Any], places: list[int]) -> dict[str, Any]:
    """The same bag with its tokens given in another order: `places[new]` is the old place."""
    new = {old: place for place, old in enumerate(places)} | {ROOT: ROOT, None: None}
    result = dict(record)
    for key, value in record.items():
        if key in ("tokens", "counts", *PER_TOKEN):
            result[key] = [value[place] for place in places]
        elif key in ("units", "order"):
            result[key] = [[new[place] for place in chain] for chain in value]
        elif key == "optional":
            result[key] = [new[place] for place in value]
        elif key == "positions":
            result[key] = [[new[place], number] for place, number in value]
        elif key == "choices":
            result[key] = [[[new[place] for place in group], count] for group, count in value]
    if "heads" in record:
        result["heads"] = [new[head] for head in result["heads"]]
    return result


def tree(tokens: tuple[str, ...], heads: tuple[int | None, ...], top: int | None) -> list[Any]:
    """What hangs below a place, as forms only: no order and no places."""
    below = [place for place, head in enumerate(heads) if head == top]
    return sorted(([tokens[place], tree(tokens, heads, place)] for place in below), key=repr)


def parse(record: dict[str, Any]) -> AnnotatedBag:
    return as_annotated(parse_bag(json.dumps(record), 1))


def test_annotation_goes_with_its_token() -> None:
    bag = parse(DOGS)
    assert bag.tokens == (".", "cat", "dog", "saw", "the", "the")
    assert bag.pos == (".", "NN", "NN", None, "DT", "DT")
    # The first "the" is the one whose head comes first.
    assert bag.heads == (None, 3, 3, ROOT, 1, 2)
    assert bag.units == ((4, 1), (5, 2))
    assert bag.order == ((2, 3),)
    assert (bag.words, bag.counts) == ((".", "cat", "dog", "saw", "the"), (1, 1, 1, 1, 2))


@given(records(), st.randoms())
@example({"tokens": ["a", "a", "b", "c"], "heads": [2, 3, 3, -1]}, Random(1))
def test_any_permutation_gives_the_same_bag(record: dict[str, Any], random: Random) -> None:
    places = list(range(len(record["tokens"])))
    random.shuffle(places)
    bag, other = parse(record), parse(permute(record, places))
    assert bag == other
    assert hash(bag) == hash(other)
    assert bag_to_record(bag) == bag_to_record(other)


@given(records())
def test_heads_point_at_the_same_words(record: dict[str, Any]) -> None:
    bag = parse(record)
    heads = bag.heads or (None,) * len(bag)
    for top in (ROOT, None):
        given_heads = tuple(record.get("heads", heads))
        assert tree(bag.tokens, heads, top) == tree(tuple(record["tokens"]), given_heads, top)


@given(records())
def test_each_token_keeps_what_is_said_of_it(record: dict[str, Any]) -> None:
    bag = parse(record)
    size = len(bag)
    plain = [record.get(key, [None] * size) for key in ("pos", "labels", "lemmas", "feats")]
    optional, unit = record.get("optional", []), record["units"][0]
    counts = record.get("counts", [1] * size)
    was = zip(record["tokens"], *plain, [p in optional for p in range(size)], counts, strict=True)
    columns = [getattr(bag, name) or (None,) * size for name in ("pos", "labels", "lemmas", "feats")]
    limits = bag.count_limits or (1,) * size
    now = zip(bag.tokens, *columns, [p in bag.optional for p in range(size)], limits, strict=True)
    assert sorted(was, key=repr) == sorted(now, key=repr)
    units = [[bag.tokens[place] for place in unit] for unit in bag.units]
    assert units == ([[record["tokens"][place] for place in unit]] if len(unit) > 1 else [])


@given(st.permutations(range(6)))
def test_a_chain_tells_equal_tokens_apart(places: list[int]) -> None:
    record = {"tokens": ["a"] * 6, "order": [[0, 1, 2], [2, 3]], "units": [[4, 5]]}
    bag = parse(permute(record, places))
    assert bag == parse(record)
    assert sorted(map(len, bag.order)) == [2, 3]


def test_positions_and_choices_go_with_their_tokens() -> None:
    record = {"tokens": ["the", "cat", "sat", "sits", "."], "positions": [[1, -3], [4, -1]], "choices": [[[3, 2], 1]]}
    bag = parse(record)
    assert bag.tokens == (".", "cat", "sat", "sits", "the")
    assert bag.positions == ((0, -1), (1, -3))
    assert bag.choices == (((2, 3), 1),)
    assert bag.constraints == ("positions", "choices")
    assert bag.is_selection


def test_prefix_and_suffix_are_positions() -> None:
    given = {"tokens": ["a", "b", "c", "d", "e"]}
    bag = parse({**given, "prefix": [3, 0], "suffix": [2, 4], "positions": [[1, 3]]})
    assert bag == parse({**given, "positions": [[3, 1], [0, 2], [2, -2], [4, -1], [1, 3]]})
    assert "prefix" not in bag_to_record(bag)


@given(st.permutations(range(6)))
def test_a_choice_tells_equal_tokens_apart(places: list[int]) -> None:
    record = {"tokens": ["a"] * 6, "choices": [[[0, 1], 1], [[2, 3], 1]], "order": [[0, 2], [4, 5]]}
    bag = parse(permute(record, places))
    assert bag == parse(record)
    assert all(sum(place in chain for chain in bag.order for place in group) in (0, 1) for group, _ in bag.choices)


def test_lemmas_alone_are_to_be_inflected() -> None:
    record = {"id": "1", "lemmas": ["dog", "bark"], "pos": ["NOUN", "VERB"], "reference": ["dogs", "bark"]}
    bag = parse(record)
    assert (bag.tokens, bag.lemmas, bag.inflect) == (("bark", "dog"), ("bark", "dog"), True)
    assert bag.reference == ("dogs", "bark")
    assert "tokens" not in bag_to_record(bag)
    assert parse(bag_to_record(bag)) == bag == AnnotatedBag(("bark", "dog"), "1", pos=("VERB", "NOUN"), inflect=True)
    both = parse({"id": "1", "tokens": ["dogs"], "lemmas": ["dog"]})
    assert (both.tokens, both.lemmas, both.inflect) == (("dogs",), ("dog",), False)


def test_what_says_nothing_is_left_out() -> None:
    bag = AnnotatedBag(
        ("b", "a"), pos=(None, None), count_limits=(1, 1), units=((1,),), order=((0,), ()), choices=(((1,), 1),)
    )
    assert bag == as_annotated(Bag(("a", "b")))
    assert bag_to_record(bag) == bag_to_record(Bag(("a", "b"))) == {"id": "", "tokens": ("a", "b")}
    assert type(parse_bag('{"tokens": ["a"], "pos": null, "colour": [1]}', 1)) is Bag


def test_references() -> None:
    words = ("a", "b")
    with pytest.raises(InputError, match="does not have the words"):
        AnnotatedBag(words, pos=("X", "Y"), reference=("a", "c"))
    choice = AnnotatedBag(words, choices=(((0, 1), 1),))
    for free in (AnnotatedBag(words, optional=(0,)), AnnotatedBag(words, count_limits=(2, 1)), choice):
        assert free.is_selection
        assert replace(free, reference=("b", "a", "a")).reference == ("b", "a", "a")
        with pytest.raises(InputError, match="found the word of the reference 'a b'"):
            replace(free, reference=("a b",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pos": ["DT"]}, "found 1 pos for 6 tokens; one for each token is allowed"),
        ({"counts": [1]}, "found 1 counts for 6 tokens"),
        ({"pos": [1, 2, 3, 4, 5, 6]}, "found pos .*; a list of strings and nulls is allowed"),
        ({"pos": "DT NN V V D NN N"}, "found 7 pos for 6 tokens"),
        ({"labels": ["a b"] + [None] * 5}, "found the labels value 'a b'"),
        ({"feats": [""] + [None] * 5}, "found the feats value ''"),
        ({"heads": [6, 2, -1, 4, 2, None]}, "found 6 in heads; places from 0 to 5 are allowed, or -1 for the root"),
        ({"heads": [-2, 2, -1, 4, 2, None]}, "found -2 in heads"),
        ({"heads": [True, 2, -1, 4, 2, None]}, "a list of whole numbers and nulls is allowed"),
        ({"heads": [1, 2, 0, 4, 2, None]}, "found heads that run in a circle through"),
        ({"heads": [0, 2, -1, 4, 2, None]}, "found heads that run in a circle through 0, 0"),
        ({"units": [[0, 1], [1, 2]]}, "found token 1 twice in units"),
        ({"units": [[0, 0]]}, "found token 0 twice in units"),
        ({"units": [[0, 9]]}, "found 9 in units; places from 0 to 5 are allowed$"),
        ({"units": [0, 1]}, "found in units 0; a list of whole numbers is allowed"),
        ({"units": {"a": 1}}, "a list of lists of places is allowed"),
        ({"optional": [1]}, "found token 1 in a unit and in optional"),
        ({"optional": [7]}, "found 7 in optional"),
        ({"optional": [1.5]}, "a list of whole numbers is allowed"),
        ({"counts": [2, 1, 1, 1, 1, 1]}, "found token 0 in a unit with a count of 2"),
        ({"counts": [1, 1, 0, 1, 1, 1]}, "found 0 in counts; 1 or more is allowed"),
        ({"counts": [1, 1, None, 1, 1, 1]}, "a list of whole numbers is allowed"),
        ({"order": [[2, 5, 2]]}, "found token 2 twice in a chain of order"),
        (
            {"order": [[2, 5], [5, 2]]},
            r"contradicts itself: '(.+)' before '(\w+)' before '\1' \(token ",
        ),
        ({"order": [[1, 0]]}, r"in order \(token 1, 0\), and after it in a unit"),
        ({"order": [[0, 2, 1]]}, "found an order that contradicts itself"),
        ({"order": [[0, 3], [4, 1]]}, "found an order that contradicts itself"),
        ({"order": [[-1, 3]]}, "found -1 in order"),
        ({"positions": [[2, 0]]}, "found token 2 at 0 in positions; 1 to 6 are allowed, or -1 to -6"),
        ({"positions": [[2, 7]]}, "found token 2 at 7 in positions"),
        ({"positions": [[6, 1]]}, "found 6 in positions; places from 0 to 5 are allowed"),
        ({"positions": [2, 1]}, "found positions .*; a list of pairs of a place and a number is allowed"),
        ({"positions": [[2, 1, 3]]}, "a list of pairs of a place and a number"),
        ({"positions": {"2": 1}}, "a list of pairs of a place and a number"),
        ({"positions": [[2, 1]], "counts": [1, 1, 2, 1, 1, 1]}, "found token 2 in positions with a count of 2"),
        ({"prefix": 2}, "found prefix 2; a list of whole numbers is allowed"),
        ({"suffix": [9]}, "found 9 in positions"),
        ({"choices": [[2, 5]]}, "found in choices 2; a list of whole numbers is allowed"),
        ({"choices": [[[2, 5], 3]]}, "found a choice of 3 of 2 tokens; 1 to 2 are allowed"),
        ({"choices": [[[2, 5], 0]]}, "found a choice of 0 of 2 tokens"),
        ({"choices": [[[2, 5], 1], [[5], 1]]}, "found token 5 twice in choices"),
        ({"choices": [[[1, 5], 1]]}, "found token 1 in choices and in a unit"),
        ({"choices": [[[2, 5], 1]], "optional": [5]}, "found token 5 in choices and in optional"),
        ({"choices": [[[2, 5], 1]], "counts": [1, 1, 2, 1, 1, 1]}, "found token 2 in choices with a count of 2"),
        ({"choices": [[[2, 5]]]}, "a list of pairs of places and how many of them are used is allowed"),
        ({"categories": [[], None, None, None, None, None]}, "found no categories for token 0"),
        ({"categories": [["a b"], None, None, None, None, None]}, "found the category 'a b'"),
        ({"categories": [3, None, None, None, None, None]}, "found in categories 3; a list of strings is allowed"),
        ({"tokens": None}, "found tokens None; a list of strings is allowed"),
        ({"tokens": None, "lemmas": ["a", None]}, "found lemmas .*; a list of strings is allowed"),
        ({"tokens": None, "lemmas": ["a", "b"]}, "found 6 pos for 2 tokens"),
        ({"tokens": [], "pos": [], "heads": [], "order": []}, "found 0 in units; the bag has no tokens"),
    ],
)
def test_bad_annotation_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (tmp_path / "bags").write_text("good\n" + json.dumps({**DOGS, **change}) + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_bags(tmp_path / "bags"))
    assert f"{tmp_path / 'bags'}:2: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tokens_to_inflect_are_the_lemmas() -> None:
    with pytest.raises(InputError, match="found tokens to inflect that are not the lemmas"):
        AnnotatedBag(("dogs",), lemmas=("dog",), inflect=True)
