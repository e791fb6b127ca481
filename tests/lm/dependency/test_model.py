from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import kenlm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.corpus import ROOT, Normalisation
from lm.dependency.model import (
    END,
    FACTS,
    LEFT,
    RIGHT,
    SEQUENCES,
    TOP,
    DependencyModel,
    estimate_dependency_model,
    load_dependency_model,
    tree_sequences,
)
from lm.dependency.parse import Parsed
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import load_model

NORMALISATION = Normalisation("none")
MARKS = (LEFT, RIGHT, TOP)
TREES: dict[str, tuple[str, tuple[int, ...], str]] = {
    "published": (
        "the boy will find it interesting",
        (1, 3, 3, ROOT, 3, 3),
        "↓ find; find← will boy; find→ it interesting; will←; will→; boy← the; boy→;"
        " it←; it→; interesting←; interesting→; the←; the→",
    ),
    "one word": ("Yes", (ROOT,), "↓ Yes; Yes←; Yes→"),
    "repeated words": ("a a a", (1, ROOT, 1), "↓ a; a← a; a→ a; a←; a→; a←; a→"),
    "a chain": ("a b c", (ROOT, 0, 1), "↓ a; a←; a→ b; b←; b→ c; c←; c→"),
    "crossing branches": (
        "A hearing is scheduled on the issue today",
        (1, 3, 3, ROOT, 1, 6, 4, 3),
        "↓ scheduled; scheduled← is hearing; scheduled→ today; is←; is→; hearing← A; hearing→ on;"
        " today←; today→; A←; A→; on←; on→ issue; issue← the; issue→; the←; the→",
    ),
    "odd tokens": (
        "well-known n't ←",
        (1, ROOT, 1),
        "↓ n't; n't← well-known; n't→ ←; well-known←; well-known→; ←←; ←→",
    ),
    "no words": ("", (), ""),
}


@pytest.mark.parametrize("name", TREES)
def test_the_sequences_of_a_tree(name: str) -> None:
    sentence, heads, expected = TREES[name]
    sequences = tree_sequences(sentence.split(), heads)
    assert "; ".join(map(" ".join, sequences)).replace("\u2009", "") == expected


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((1, ROOT), "2 heads for 3 tokens"),
        ((ROOT, ROOT, 0), "2 roots"),
        ((1, 2, 0), "0 roots"),
        ((ROOT, 2, 1), "no tree"),
        ((ROOT, 0, 3), "no tree"),
        ((ROOT, 0, -2), "no tree"),
        ((ROOT, 1, 0), "no tree"),
    ],
)
def test_what_is_no_tree_is_refused(heads: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tree_sequences(["a", "b", "c"], heads)


@st.composite
def random_trees(draw: st.DrawFn, words: str = "abcdxy") -> tuple[list[str], list[int]]:
    """A tree of any shape, crossing branches included: each token hangs on one that was hung before."""
    size = draw(st.integers(1, 8))
    order = draw(st.permutations(range(size)))
    heads = [ROOT] * size
    for position, place in enumerate(order[1:], 1):
        heads[place] = order[draw(st.integers(0, position - 1))]
    return draw(st.lists(st.sampled_from(words), min_size=size, max_size=size)), heads


@given(random_trees())
def test_every_word_is_generated_once_and_closes_two_sides(tree: tuple[list[str], list[int]]) -> None:
    tokens, heads = tree
    sequences = tree_sequences(tokens, heads)
    assert Counter(word for sequence in sequences for word in sequence[1:]) == Counter(tokens)
    marked = Counter(sequence[0] for sequence in sequences)
    assert marked == Counter([TOP, *(token + mark for token in tokens for mark in (LEFT, RIGHT))])


def tiny_parses() -> list[Parsed]:
    """Four trees whose counts are easy to see."""
    return [
        Parsed(("dogs", "bark"), (1, ROOT)),
        Parsed(("big", "dogs", "bark"), (1, 2, ROOT)),
        Parsed(("dogs", "eat", "bones"), (1, ROOT, 1)),
        Parsed(("bark",), (ROOT,)),
    ]


def kneser_ney(sequences: Iterable[Sequence[str]], discounts: Sequence[float]) -> dict[tuple[str, str], float]:
    """Interpolated bigram probabilities with modified Kneser–Ney smoothing, straight from the definition."""
    bigrams = Counter(pair for sequence in sequences for pair in zip(["<s>", *sequence], [*sequence, END], strict=True))
    words = {word for _, word in bigrams} | {"<unk>"}

    def discount(count: int) -> float:
        return (0.0, *discounts)[min(count, 3)]

    def smooth(counts: Counter[str], lower: dict[str, float]) -> dict[str, float]:
        total = sum(counts.values())
        left = sum(map(discount, counts.values())) / total
        return {word: (counts[word] - discount(counts[word])) / total + left * lower[word] for word in words}

    unigram = smooth(Counter(word for _, word in bigrams), dict.fromkeys(words, 1 / len(words)))
    table = {}
    for context in {first for first, _ in bigrams}:
        counts = Counter({word: count for (first, word), count in bigrams.items() if first == context})
        table.update({(context, word): p for word, p in smooth(counts, unigram).items()})
    return table


def test_a_worked_example_with_known_counts(tmp_path: Path) -> None:
    """Three of four roots are `bark`; on its left is `dogs` twice, nothing once; `dogs` has `big` once in three."""
    sequences = [sequence for parsed in tiny_parses() for sequence in tree_sequences(*parsed)]
    counts = Counter(sequences)
    assert counts[TOP, "bark"] == 3
    assert counts[TOP, "eat"] == 1
    assert counts["bark" + LEFT, "dogs"] == 2
    assert counts["bark" + LEFT,] == 1
    assert counts["dogs" + LEFT, "big"] == 1
    assert counts["dogs" + LEFT,] == 2
    assert counts["eat" + RIGHT, "bones"] == 1
    estimate_dependency_model(tiny_parses(), tmp_path / "m", order=2, memory="64M", normalisation=NORMALISATION)
    model = load_dependency_model(tmp_path / "m")
    p = kneser_ney(sequences, (0.5, 1.0, 1.5))  # so small a text has lmplz take its fallback discounts
    words = {word for _, word in p if not word.endswith(MARKS)}

    def conditional(context: str, word: str) -> float:
        possible = words - {END} if context == TOP else words
        return p[context, word] / sum(p[context, other] for other in possible)

    by_hand = (
        conditional(TOP, "bark")
        * (conditional("bark" + LEFT, "dogs") * conditional("dogs", END) * conditional("bark" + RIGHT, END))
        * (conditional("dogs" + LEFT, "big") * conditional("big", END) * conditional("dogs" + RIGHT, END))
        * (conditional("big" + LEFT, END) * conditional("big" + RIGHT, END))
    )
    assert model.score(["big", "dogs", "bark"], (1, 2, ROOT)) == pytest.approx(-math.log(by_hand), abs=1e-4)


@cache
def random_parses() -> list[Parsed]:
    """Two hundred trees with crossing branches, from a fixed congruential generator."""
    parses, number = [], 7
    for _ in range(200):
        drawn = []
        for _ in range(18):
            number = (number * 1103515245 + 12345) % (1 << 31)
            drawn.append(number >> 16)
        size = 1 + drawn[0] % 6
        places = sorted(range(size), key=lambda place: (drawn[place + 1], place))
        heads = [ROOT] * size
        for at in range(1, size):
            heads[places[at]] = places[drawn[at + 6] % at]
        parses.append(Parsed(tuple("aaabcd"[d % 6] for d in drawn[12 : 12 + size]), tuple(heads)))
    return parses


@pytest.fixture(scope="module", params=[2, 3, 4])
def model(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> DependencyModel:
    path = tmp_path_factory.mktemp("dependency") / "model"
    estimate_dependency_model(
        random_parses(), path, order=request.param, memory="64M", normalisation=NORMALISATION, parser="none"
    )
    return load_dependency_model(path)


class Kenlm:
    """The model's sequences, asked through the kenlm module itself."""

    def __init__(self, model: DependencyModel) -> None:
        self.model = kenlm.Model(str(model.path / SEQUENCES))
        self.marks = [word + mark for word in "abcd" for mark in (LEFT, RIGHT)] + [TOP]

    def probability(self, context: Sequence[str], word: str) -> float:
        state, after = kenlm.State(), kenlm.State()
        self.model.BeginSentenceWrite(state)
        for before in context:
            self.model.BaseScore(state, before, after)
            state, after = after, kenlm.State()
        return float(10 ** self.model.BaseScore(state, word, after))

    def cost(self, sequence: Sequence[str]) -> float:
        """What the sequence's own words cost when nothing is left for the marks."""
        cost = 0.0
        is_root = sequence[0] == TOP
        for at, word in enumerate(sequence if is_root else [*sequence, END]):
            if at > 0:
                never = [*self.marks, END] if is_root else self.marks
                rest = 1 - sum(self.probability(sequence[:at], mark) for mark in never)
                cost -= math.log(self.probability(sequence[:at], word) / rest)
        return cost


@settings(max_examples=60, deadline=None)
@given(tree=random_trees())
def test_the_cost_of_a_tree_is_the_sum_over_its_sequences(
    model: DependencyModel, tree: tuple[list[str], list[int]]
) -> None:
    truth = Kenlm(model)
    expected = sum(truth.cost(sequence) for sequence in tree_sequences(*tree))  # x and y are unknown words
    assert model.score(*tree) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("context", [[TOP], ["a" + LEFT], ["a" + LEFT, "b"], ["d" + RIGHT, "a", "c"], ["zebra" + LEFT]])
def test_what_can_follow_sums_to_one(model: DependencyModel, context: list[str]) -> None:
    """No probability is left for marks, nor for an end instead of a root."""
    before = tuple(context[-(model.order - 1) :])
    following = [*"abcd", "<unk>"] if context == [TOP] else [*"abcd", "<unk>", END]
    assert sum(math.exp(-model._event_cost(before, word)) for word in following) == pytest.approx(1.0, abs=1e-5)


def test_one_root_and_its_strings(model: DependencyModel) -> None:
    """The trees of a lone word: p(root) · p(no left dependents) · p(no right ones)."""
    truth = Kenlm(model)
    expected = truth.cost((TOP, "a")) + truth.cost(("a" + LEFT,)) + truth.cost(("a" + RIGHT,))
    assert model.score(["a"], (ROOT,)) == pytest.approx(expected, abs=1e-5)
    assert model.score([], ()) == 0.0


def test_frequent_trees_are_cheaper(tmp_path: Path) -> None:
    estimate_dependency_model(tiny_parses() * 5, tmp_path / "m", memory="64M", normalisation=NORMALISATION)
    model = load_dependency_model(tmp_path / "m")
    seen = model.score(["big", "dogs", "bark"], (1, 2, ROOT))
    assert seen < model.score(["dogs", "big", "bark"], (2, 2, ROOT))
    assert seen < model.score(["bark", "dogs", "big"], (ROOT, 0, 1))


def test_a_model_says_what_it_is(model: DependencyModel) -> None:
    assert model.normalisation == NORMALISATION
    assert model.parser == "none"
    assert len(model.signature) == 12
    assert repr(model).endswith(f"model', order {model.order})")
    facts = json.loads((model.path / FACTS).read_text())
    assert facts["sentences"] == 200
    assert facts["tokens"] == sum(len(parsed.tokens) for parsed in random_parses())


def test_an_older_model_is_replaced(tmp_path: Path) -> None:
    for order in (2, 3):
        estimate_dependency_model(tiny_parses(), tmp_path / "m", order=order, memory="64M", normalisation=NORMALISATION)
        assert load_dependency_model(tmp_path / "m").order == order
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_plain_and_dependency_models_are_not_taken_for_each_other(tmp_path: Path) -> None:
    estimate_model([["a", "b"]], tmp_path / "plain.lm", order=2, memory="64M", normalisation=NORMALISATION)
    estimate_dependency_model(tiny_parses(), tmp_path / "m", memory="64M", normalisation=NORMALISATION)
    with pytest.raises(InputError, match="found a file; a model that gyro dependency-lm made is allowed"):
        load_dependency_model(tmp_path / "plain.lm")
    with pytest.raises(InputError, match="an ARPA file or a KenLM binary is allowed"):
        load_model(tmp_path / "m")
    with pytest.raises(InputError, match="folder of another kind"):
        load_dependency_model(tmp_path)
    with pytest.raises(InputError, match="found nothing"):
        load_dependency_model(tmp_path / "none")


DAMAGE: dict[str, tuple[dict[str, object], str]] = {
    "format": ({"format": "gyro language model"}, "found format 'gyro language model'"),
    "version": ({"version": 2}, "found version 2; 1 is allowed"),
    "mass": ({"mark mass": 2.0}, "found the mark mass 2.0"),
    "no mass": ({"mark mass": None}, "found the mark mass None"),
    "signature": ({"signature": "0" * 12}, "does not belong to sequences.lm"),
    "order": ({"order": 5}, "does not belong to sequences.lm"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_facts_are_refused(tmp_path: Path, name: str) -> None:
    change, message = DAMAGE[name]
    estimate_dependency_model(tiny_parses(), tmp_path / "m", memory="64M", normalisation=NORMALISATION)
    path = tmp_path / "m" / FACTS
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=message):
        load_dependency_model(tmp_path / "m")


def test_a_changed_binary_is_refused(tmp_path: Path) -> None:
    estimate_dependency_model(tiny_parses(), tmp_path / "m", memory="64M", normalisation=NORMALISATION)
    with open(tmp_path / "m" / SEQUENCES, "ab") as file:
        file.write(b"\0")
    with pytest.raises(InputError, match="changed or cut"):
        load_dependency_model(tmp_path / "m")


def test_what_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").write_text("")
    cases = [
        ("m", 1, "found order 1"),
        ("m", 7, "found order 7"),
        ("other", 3, "something else"),
        ("no/m", 3, "cannot"),
    ]
    for name, order, message in cases:
        with pytest.raises(InputError, match=message):
            estimate_dependency_model(
                tiny_parses(), tmp_path / name, order=order, memory="64M", normalisation=NORMALISATION
            )
    with pytest.raises(InputError, match="no sentence"):
        estimate_dependency_model([], tmp_path / "m", memory="64M", normalisation=NORMALISATION)
    assert not (tmp_path / "m").exists()
