"""All methods: permutations with units kept, trees that can be read, constraints that are refused, run folders."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from comparison.learning.tag_dictionary import TagDictionary
from comparison.wan.count import count_events
from comparison.wan.linearise import LinearSettings
from comparison.wan.model import WanModel, WanSettings
from comparison.wan.system import AB, CLE, LMO, METHODS, TREES, VITERBI, GenerationSettings, WanOutcome, WanSystem
from grammars.conllu import is_projective, read_conllu
from gyro.errors import InputError
from gyro.run.folder import open_run
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.corpus import ROOT
from tests.comparison.wan.hand_model import HandModel, random_cost
from tests.comparison.wan.test_count import reduced

TAGS = {"a": "DT", "b": "NN", "c": "VB", "d": "IN", "e": "RB", "new": "XX"}
HAND = HandModel(3, random_cost())


@pytest.fixture(scope="module")
def model() -> WanModel:
    dice = random.Random(1)
    bank = []
    for _ in range(50):
        size = dice.randint(1, 8)
        words = [dice.choice("abcde") for _ in range(size)]
        heads = (ROOT, *(dice.randrange(place) for place in range(1, size)))
        bank.append(reduced(" ".join(f"{word}/{TAGS[word]}" for word in words), heads))
    return WanModel(WanSettings(), *count_events(bank), TagDictionary.from_words(TAGS.items()), "signature")


def random_bag(dice: random.Random, number: int) -> Bag:
    words = tuple(dice.choice(list(TAGS)) for _ in range(dice.randint(0, 9)))
    if dice.random() < 0.1:
        return Bag(words, id=str(number))
    places = dice.sample(range(len(words)), len(words))
    units = []
    while len(places) > 1 and dice.random() < 0.5:
        size = dice.randint(2, min(3, len(places)))
        units.append(tuple(places[:size]))
        places = places[size:]
    pos = tuple(TAGS[word] if dice.random() < 0.8 else None for word in words)
    return AnnotatedBag(words, id=str(number), pos=pos if words else None, units=tuple(units))


def random_settings(dice: random.Random, method: str) -> GenerationSettings:
    linear = LinearSettings(dice.randint(0, 3), dice.choice(("sentence", "empty")), dice.random() < 0.5)
    return GenerationSettings(
        method,
        q=dice.choice(("data", "wan")),
        may_stay_empty=dice.random() < 0.5,
        single_root=dice.random() < 0.5,
        linear=linear,
        beam=dice.randint(1, 20),
        end=dice.random() < 0.5,
    )


def has_units(bag: Bag, words: tuple[str, ...]) -> bool:
    """Can the words be cut into the units of the bag and its other tokens?"""
    units = [tuple(bag.tokens[place] for place in unit) for unit in getattr(bag, "units", ())]

    def fits(place: int, left: tuple[tuple[str, ...], ...]) -> bool:
        if not left:
            return True
        for unit in set(left):
            rest = list(left)
            rest.remove(unit)
            for begin in range(place, len(words) - len(unit) + 1):
                if words[begin : begin + len(unit)] == unit and fits(begin + len(unit), tuple(rest)):
                    return True
        return False

    return fits(0, tuple(units))


@pytest.mark.parametrize("method", METHODS)
def test_1000_random_bags(model: WanModel, method: str) -> None:
    dice = random.Random(METHODS.index(method))
    for number in range(1000):
        bag = random_bag(dice, number)
        found = WanSystem(HAND, random_settings(dice, method), model).order(bag)
        words = found.best().tokens
        assert tuple(sorted(words)) == bag.tokens
        assert has_units(bag, words)


@pytest.mark.parametrize("method", [CLE, AB])
def test_the_tree_is_that_of_the_output(model: WanModel, method: str, tmp_path: Path) -> None:
    dice = random.Random(8)
    system = WanSystem(HAND, GenerationSettings(method), model)
    bags = [random_bag(dice, number) for number in range(1, 80)]
    bags = [bag for bag in bags if len(bag)]
    orders = [system.order(bag) for bag in bags]
    outcomes = [order.outcome for order in orders]
    texts = [outcome.tree for outcome in outcomes if isinstance(outcome, WanOutcome)]
    (tmp_path / "trees.conllu").write_text("".join(texts), encoding="utf-8")
    trees = list(read_conllu(tmp_path / "trees.conllu"))
    assert [tree.forms for tree in trees] == [order.best().tokens for order in orders]
    assert all(tree.heads.count(ROOT) == 1 and is_projective(tree.heads) for tree in trees)
    assert [tree.sent_id for tree in trees] == [bag.id for bag in bags]


def test_units_may_be_split() -> None:
    bag = AnnotatedBag(("a", "b"), units=((1, 0),))
    costs = {("<s>", "a"): 1.0, ("a", "b"): 1.0}
    hand = HandModel(2, lambda context, word: costs.get((*context, word), 5.0))
    for method in (VITERBI, LMO):
        assert WanSystem(hand, GenerationSettings(method)).order(bag).best().tokens == ("b", "a")
        assert WanSystem(hand, GenerationSettings(method, split=True)).order(bag).best().tokens == ("a", "b")


@pytest.mark.parametrize("given", [{"heads": (1, ROOT)}, {"optional": (0,)}, {"order": ((0, 1),)}])
@pytest.mark.parametrize("method", METHODS)
def test_what_it_cannot_keep_to_is_refused(model: WanModel, method: str, given: dict[str, object]) -> None:
    bag = AnnotatedBag(("a", "b"), **given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"found the constraint {next(iter(given))}") as caught:
        WanSystem(HAND, GenerationSettings(method), model).order(bag)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"method": "best"}, {"q": "all"}, {"beam": 0}, {"least_share": 1.0}, {"least_share": -0.1}]
)
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="allowed"):
        GenerationSettings(**wrong)  # type: ignore[arg-type]


def test_trees_need_a_model() -> None:
    with pytest.raises(InputError, match="needs a model"):
        WanSystem(HAND, GenerationSettings(CLE))


@pytest.mark.parametrize("method", METHODS)
def test_runs_have_the_same_bytes_for_any_number_of_processes(model: WanModel, method: str, tmp_path: Path) -> None:
    dice = random.Random(2)
    bags = [random_bag(dice, number) for number in range(1, 25)]
    bags = [bag for bag in bags if len(bag)]
    system = WanSystem(HAND, GenerationSettings(method), model)
    for jobs in (1, 2):
        summary = system.run(bags, tmp_path / str(jobs), jobs=jobs)
        assert summary.exit_code == 0
    names = ["results.jsonl", "best.txt", *([TREES] if method in (CLE, AB) else [])]
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert len(open_run(tmp_path / "1")) == len(bags)
