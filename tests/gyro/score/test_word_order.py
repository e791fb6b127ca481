from __future__ import annotations

from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.score.word_order import common_sequence, count_chunks, distortions, kendall, match, meteor

SENTENCE = st.lists(st.sampled_from("abcd"), max_size=6).map(tuple)


def brute_force_chunks(output: tuple[str, ...], reference: tuple[str, ...]) -> tuple[int, int]:
    """All ways to match as many words as possible, and the fewest runs among them."""
    choices = [[*(j for j, word in enumerate(reference) if word == each), None] for each in output]
    best = (0, 0)
    for places in product(*choices):
        used = [place for place in places if place is not None]
        if len({*used}) == len(used):
            follows = zip((None, *places), places, strict=False)
            runs = sum(place is not None and (last is None or place != last + 1) for last, place in follows)
            best = max(best, (len(used), -runs))
    return best[0], -best[1]


@given(SENTENCE, SENTENCE)
def test_chunks_are_fewest(output: tuple[str, ...], reference: tuple[str, ...]) -> None:
    assert count_chunks(output, reference) == brute_force_chunks(output, reference)


@given(SENTENCE, st.randoms())
def test_chunks_of_orders(reference: tuple[str, ...], chance: object) -> None:
    output = tuple(chance.sample(reference, len(reference)))  # type: ignore[attr-defined]
    assert count_chunks(output, reference) == brute_force_chunks(output, reference)


def test_many_repetitions_end() -> None:
    words = ("a", "b", "c") * 12
    matches, chunks = count_chunks(words[1:] + words[:1], words)
    assert (matches, chunks) == (36, 2)


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("a b c d", "a b c d", 1.0),
        ("d c b a", "a b c d", 0.5),  # four chunks of four matches: the whole penalty
        ("c d a b", "a b c d", 1 - 0.5 * (2 / 4) ** 3),
        ("", "a b", 0.0),
        ("x y", "a b", 0.0),
        ("", "", 1.0),
        # P = 1, R = 1/2, F = 0.5 / (0.9 + 0.05); one chunk of two words
        ("a b", "a b c d", 0.5 / 0.95 * (1 - 0.5 * (1 / 2) ** 3)),
        # P = 2/3, R = 1, F = (2/3) / (0.6 + 0.1); two chunks of two words
        ("a x b", "a b", (2 / 3) / 0.7 * 0.5),
    ],
)
def test_meteor_by_hand(output: str, reference: str, expected: float) -> None:
    assert meteor(output.split(), reference.split()) == pytest.approx(expected)


def test_meteor_sees_long_moves_that_bleu_does_not() -> None:
    """Liu and Zhang's example: two sentences swapped are two chunks."""
    first = ["The", "document", "is", "necessary", "for", "developer", "."]
    second = ["so", "you", "can", "not", "follow", "this", "document", "to", "get", "right", "options", "."]
    assert count_chunks(second + first, first + second) == (len(first + second), 2)


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("a b c", "a b c", 1.0),
        ("c b a", "a b c", -1.0),
        ("b a c", "a b c", 1 / 3),
        ("a a b", "a b a", 1 / 3),
        ("a", "a", 1.0),
        ("", "a", 0.0),
        ("", "", 1.0),
        ("x", "a b", 0.0),
        ("b x a", "a b", -1.0),
    ],
)
def test_kendall_by_hand(output: str, reference: str, expected: float) -> None:
    assert kendall(output.split(), reference.split()) == pytest.approx(expected)


def test_kendall_counts_pairs() -> None:
    reference = tuple("abcde")
    for output in permutations(reference):
        places = [reference.index(word) for word in output]
        signs = [1 if one < other else -1 for one, other in combinations(places, 2)]
        assert kendall(output, reference) == pytest.approx(sum(signs) / len(signs))


def test_kendall_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    reference = tuple("abcdef")
    for output in list(permutations(reference))[::37]:
        expected = stats.kendalltau(range(6), [reference.index(word) for word in output]).statistic
        assert kendall(output, reference) == pytest.approx(expected)


@given(SENTENCE, st.randoms())
def test_copies_in_order_cross_least(reference: tuple[str, ...], chance: object) -> None:
    output = tuple(chance.sample(reference, len(reference)))  # type: ignore[attr-defined]

    def crossings(places: tuple[int, ...]) -> int:
        return sum(one > other for one, other in combinations(places, 2))

    orders = (
        p for p in permutations(range(len(reference))) if all(reference[j] == w for j, w in zip(p, output, strict=True))
    )
    assert crossings(tuple(match(output, reference))) == min(map(crossings, orders))


def test_distortions() -> None:
    assert distortions(["d", "a", "b", "c"], ["a", "b", "c", "d"]) == [0.75, 0.25, 0.25, 0.25]
    assert distortions(["x", "a"], ["a", "b"]) == [0.5]
    assert distortions([], ["a"]) == []
    assert distortions(["d"], ["a", "b", "c", "d"]) == [0.75]


@given(SENTENCE, SENTENCE)
def test_common_sequence_is_longest(output: tuple[str, ...], reference: tuple[str, ...]) -> None:
    found = common_sequence(output, reference)
    assert all(output[i] == reference[j] for i, j in found)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(found))
    parts = {s for n in range(len(output) + 1) for s in combinations(output, n)}
    others = {s for n in range(len(reference) + 1) for s in combinations(reference, n)}
    assert len(found) == max(map(len, parts & others))
