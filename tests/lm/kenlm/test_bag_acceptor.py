from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.text.corpus import Normalisation
from lm.kenlm.bag_acceptor import find_bag_states, log10_to_cost
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from lm.kenlm.probing_kernel import ROOM

KNOWN = (
    "the",
    "a",
    "some",
    "cat",
    "dog",
    "café",
    "straightforwardness",
    "house",
    "saw",
    "liked",
    "'s",
    "of",
    "near",
    ".",
)
UNKNOWN = ("zebra", "naïve", "an-unknown-word-of-three-blocks", "0")
SPECIAL = ("<s>", "</s>", "<unk>")

STRINGS = [
    [],
    ["cat"],
    ["the", "cat", "saw", "the", "dog", "."],
    ["the", "the", "zebra", "the", "house", "of", "zebra", "0"],
]

words_of_bags = st.lists(st.sampled_from(KNOWN + UNKNOWN), unique=True, max_size=9).map(tuple)


def kenlm_log10(path: Path, tokens: list[str], *, start: bool, end: bool) -> float:
    """KenLM's own sum over a string, by its own way through the file."""
    return math.fsum(score for score, _, _ in kenlm.Model(str(path)).full_scores(" ".join(tokens), bos=start, eos=end))


def both_ways(model: KenlmModel, words: tuple[str, ...], *, start: bool, end: bool) -> None:
    """Bulk look-ups and the walk over KenLM's states give the same tables, to the last bit."""
    assert model._probing is not None
    ours = find_bag_states(model._probing, words, start=start, end=end)
    theirs = model.walk_bag_states(words, start=start, end=end)
    for name, a, b in zip(ours._fields, ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("file_type", ["probing", "sparse", "nameless", "trie", "array", "quantised", "arpa"])
@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_scores_are_those_of_kenlm(model_files: Callable[[str, int], Path], file_type: str, order: int) -> None:
    path = model_files(file_type, order)
    model = load_model(path)
    assert model.reads_in_bulk == (file_type in {"probing", "sparse", "nameless"})
    for tokens in STRINGS:
        for start in (True, False):
            for end in (True, False):
                expected = -math.log(10) * kenlm_log10(path, tokens, start=start, end=end)
                acceptor = model.acceptor(tuple(dict.fromkeys(tokens)), start=start, end=end)
                assert acceptor.score(tokens) == pytest.approx(expected, abs=1e-9)
                assert model.score(tokens, bos=start, eos=end) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.integers(2, 6), words=words_of_bags, start=st.booleans(), end=st.booleans(), data=st.data())
def test_bulk_look_ups_equal_the_walk(
    model_files: Callable[[str, int], Path],
    order: int,
    words: tuple[str, ...],
    start: bool,
    end: bool,
    data: st.DataObject,
) -> None:
    path = model_files(data.draw(st.sampled_from(["probing", "sparse", "nameless"])), order)
    model = load_model(path)
    both_ways(model, words, start=start, end=end)
    acceptor = model.acceptor(words, start=start, end=end)
    assert acceptor.words == words
    assert acceptor.next_state.shape == (acceptor.num_states, len(words))
    assert (acceptor.next_state >= 0).all()
    tokens = data.draw(st.lists(st.sampled_from(words), max_size=12)) if words else []
    expected = -math.log(10) * kenlm_log10(path, tokens, start=start, end=end)
    assert acceptor.score(tokens) == pytest.approx(expected, abs=1e-9)


@st.composite
def arpa_models(draw: st.DrawFn) -> str:
    """ARPA files as other tools write them: pruned (n-grams may lack their suffix), zero backoffs, <unk> in n-grams.

    Every n-gram's prefix is there, which KenLM demands; the numbers are no distribution, which it does not mind.
    """
    order = draw(st.integers(2, 5))
    number = st.sampled_from(["-0.1", "-0.25", "-1.5", "-2", "-3.125", "-7.0625"])
    backoff = st.sampled_from(["0", "0", "-0.5", "-0.3", "0.125"])
    levels: list[list[tuple[str, ...]]] = [[(word,) for word in (*SPECIAL, "a", "b", "c")]]
    for _ in range(2, order + 1):
        contexts = [gram for gram in levels[-1] if gram[-1] != "</s>"]
        longer = st.tuples(st.sampled_from(contexts), st.sampled_from(["a", "b", "c", "</s>", "<unk>"]))
        chosen = draw(st.lists(longer, unique=True, max_size=16)) if contexts else []
        levels.append([(*context, word) for context, word in chosen])
    while len(levels) > 2 and not levels[-1]:
        levels.pop()
    lines = ["\\data\\", *(f"ngram {n}={len(grams)}" for n, grams in enumerate(levels, 1)), ""]
    for n, grams in enumerate(levels, 1):
        lines.append(f"\\{n}-grams:")
        for gram in grams:
            tail = f"\t{draw(backoff)}" if n < len(levels) and gram[-1] != "</s>" else ""
            lines.append(f"{draw(number)}\t{' '.join(gram)}{tail}")
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arpa=arpa_models(), start=st.booleans(), end=st.booleans(), data=st.data())
def test_models_of_other_tools(
    tmp_path: Path, build_binary: Callable[..., None], arpa: str, start: bool, end: bool, data: st.DataObject
) -> None:
    source, binary = tmp_path / "model.arpa", tmp_path / "model.lm"
    source.write_text(arpa)
    binary.unlink(missing_ok=True)
    build_binary(source, binary, "-p", "20", "probing")  # room for the suffixes that KenLM adds
    model = load_model(binary)
    assert model.reads_in_bulk
    words = ("a", "b", "c", "unknown", "other")
    both_ways(model, words, start=start, end=end)
    tokens = data.draw(st.lists(st.sampled_from(words), max_size=8))
    expected = -math.log(10) * kenlm_log10(binary, tokens, start=start, end=end)
    assert model.acceptor(words, start=start, end=end).score(tokens) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("order", [2, 4])
def test_the_words_of_a_state_sum_to_one(model_files: Callable[[str, int], Path], order: int) -> None:
    path = model_files("arpa", order)
    unigrams = path.read_text().split("\\1-grams:\n")[1].split("\n\n")[0].splitlines()
    words = [line.split("\t")[1] for line in unigrams]
    acceptor = load_model(model_files("probing", order)).acceptor((*(w for w in words if w not in SPECIAL), "unknown"))
    mass = np.exp(-acceptor.cost).sum(axis=1) + np.exp(-acceptor.end_cost)
    np.testing.assert_allclose(mass, 1.0, atol=1e-4)


def test_more_contexts_than_there_is_room_for(tmp_path: Path) -> None:
    words = tuple(f"w{i}" for i in range(60))
    draw = random.Random(2).choices
    text = [draw(words, k=12) for _ in range(1500)]
    estimate_model(text, tmp_path / "m", order=4, memory="64M", normalisation=Normalisation("none"))
    model = load_model(tmp_path / "m")
    both_ways(model, (*words, "unknown"), start=True, end=True)
    assert model.acceptor(words).num_states > 2 * ROOM


def test_the_order_of_the_words_changes_nothing_but_numbers(model_files: Callable[[str, int], Path]) -> None:
    model = load_model(model_files("probing", 4))
    a, b = model.acceptor(KNOWN), model.acceptor(KNOWN[::-1])
    tokens = ["the", "cat", "of", "the", "house", "saw", "some", "dog", "."]
    assert a.score(tokens) == b.score(tokens)
    assert a.num_states == b.num_states
    again = model.acceptor(KNOWN)
    assert all(np.array_equal(x, y) for x, y in ((a.next_state, again.next_state), (a.cost, again.cost)))


def test_costs_have_no_negative_zero() -> None:
    cost = log10_to_cost(np.array([0.0, -0.0, -1.0], np.float32))
    assert not np.signbit(cost).any()
    assert cost[2] == pytest.approx(math.log(10))
