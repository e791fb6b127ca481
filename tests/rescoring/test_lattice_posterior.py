"""Posteriors of lattices against the enumeration of all strings."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError, ResourceError
from gyro.lattice.lattice import Hypothesis, Lattice, Transducer
from rescoring import distinct, lattice_posterior, ngram_paths
from rescoring.lattice_posterior import LatticeNgrams, ngram_posteriors
from rescoring.ngram_paths import lattice_arrays
from rescoring.posterior import string_posteriors
from tests.rescoring.paths import WORDS, Path, all_paths, cheapest, lattices


def by_enumeration(paths: list[Path], scale: float, order: int = 4) -> dict[tuple[str, ...], float]:
    weights = [math.exp(-scale * cost) for _, cost in paths]
    found: dict[tuple[str, ...], float] = {}
    for (tokens, _), weight in zip(paths, weights, strict=True):
        for gram in {tokens[i : i + n] for n in range(1, order + 1) for i in range(len(tokens) - n + 1)}:
            found[gram] = found.get(gram, 0.0) + weight / sum(weights)
    return found


@settings(max_examples=150, deadline=None)
@given(lattices(), st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.sampled_from([4, 1, 2, 6, 9]))
def test_posteriors_are_those_of_all_strings(lattice: Lattice, scale: float, order: int) -> None:
    expected = by_enumeration(cheapest(all_paths(lattice)), scale, order)
    found = ngram_posteriors(lattice, order=order, scale=scale)
    assert dict(found) == pytest.approx(expected, abs=1e-12)
    assert len(found) == len(expected)


@settings(max_examples=60, deadline=None)
@given(lattices(), st.integers(0, 24).map(lambda n: n / 4 + 1 / 16))
def test_only_paths_within_the_beam_are_evidence(lattice: Lattice, prune: float) -> None:
    # The beam is of arcs, as OpenFst's: a dearer path made of arcs of cheap ones stays.
    # The order of steps is that of other tools for LMBR: determinise, minimise with pushed weights, prune.
    merged = pywrapfst.determinize(lattice._transducer()._fst).push().minimize()
    expected = by_enumeration(all_paths(Lattice(WORDS, Transducer(merged)).prune(prune)), 0.5)
    assert dict(ngram_posteriors(lattice, scale=0.5, prune=prune)) == pytest.approx(expected, abs=1e-12)
    ngrams = LatticeNgrams.of_lattice(lattice)
    assert dict(ngrams.to_posteriors(ngrams.values(0.5, prune))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("string", "gram", "expected"),
    [
        ("a b a b a b", "a b", 1.0),
        ("a a a a a", "a a", 1.0),
        ("a a a a a", "a a a a", 1.0),
        ("a b a b a b", "b b", 0.0),
    ],
)
def test_a_repeated_ngram_counts_once(string: str, gram: str, expected: float) -> None:
    tokens = tuple(string.split())
    lattice = Lattice.from_strings(WORDS, [Hypothesis(tokens, 1.0)])
    assert ngram_posteriors(lattice).probability(gram.split()) == pytest.approx(expected)


def test_paths_with_the_same_string_count_once() -> None:
    """Four paths of which two are "a": p(a) is that of "a" and "a c" among three strings, not three of four paths."""
    lattice = Lattice.from_arrays(WORDS, 0, [0, 0, 0, 1], [0, 0, 1, 2], [1, 2, 2, 2], [1.0] * 4, [2, 1], [0.0, 0.0])
    assert sorted(tokens for tokens, _ in all_paths(lattice)) == [("a",), ("a",), ("a", "c"), ("b",)]
    assert ngram_posteriors(lattice, scale=0.0)["a",] == pytest.approx(2 / 3)


def ladder(words: int, length: int, seed: int = 0) -> Lattice:
    """Any of the words at each place, at random costs."""
    source = np.repeat(np.arange(length), words)
    cost = np.random.default_rng(seed).random(words * length)
    names = tuple(f"w{i}" for i in range(words))
    word = np.tile(np.arange(words), length)
    return Lattice.from_arrays(names, 0, source, word, source + 1, cost, [length], [0.0])


def test_a_lattice_with_too_many_arcs_is_cut_to_the_widest_part_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = ladder(6, 6)
    whole = LatticeNgrams.of_lattice(lattice)
    assert whole.width == math.inf
    most = len(whole.graphs[-1].source) // 3
    monkeypatch.setattr(ngram_paths, "MOST_ARCS", most)
    cut = LatticeNgrams.of_lattice(lattice)
    assert 0.0 < cut.width < 1.0
    assert len(cut.graphs[-1].source) <= most
    pruned = lattice.minimal().prune(cut.width)
    found, expected = (dict(ngram_posteriors(part, scale=0.5)) for part in (lattice, pruned))
    assert found == pytest.approx(expected, abs=1e-6)
    # A little wider, and it would not fit.
    step = lattice_arrays(lattice).spread() / 64
    with pytest.raises(ResourceError):
        LatticeNgrams(lattice_arrays(lattice.minimal()).pruned(cut.width + 1.01 * step))


def test_of_a_lattice_of_equal_costs_the_first_strings_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = ladder(6, 6).unweighted()
    monkeypatch.setattr(ngram_paths, "MOST_ARCS", 500)
    monkeypatch.setattr(distinct, "MOST_STRINGS", 20)
    cut = LatticeNgrams.of_lattice(lattice)
    expected = string_posteriors([h.tokens for h in lattice.nbest(20)])
    assert cut.width == 0.0
    assert dict(cut.to_posteriors(cut.values(1.0))) == pytest.approx(dict(expected))


def test_evidence_whose_repeated_ngrams_take_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = ladder(4, 6)
    ngrams = LatticeNgrams.of_lattice(lattice)
    whole = dict(ngrams.to_posteriors(ngrams.values(0.5)))
    assert ngrams.evidence_width == math.inf
    monkeypatch.setattr(lattice_posterior, "MOST_REPEAT_STEPS", 1000)
    found = dict(ngrams.to_posteriors(ngrams.values(0.5)))
    assert ngrams.width == math.inf
    assert 0.0 < ngrams.evidence_width < 2.0
    assert len(found) < len(whole)
    monkeypatch.undo()
    assert found == dict(ngrams.to_posteriors(ngrams.values(0.5, ngrams.evidence_width)))


def test_long_lattices_do_not_overflow() -> None:
    """10^400 paths, and costs whose exponentials are far below the smallest float."""
    steps = 400
    source = np.repeat(np.arange(steps), 10)
    words = tuple(f"w{i}" for i in range(10))
    word = np.tile(np.arange(10), steps)
    lattice = Lattice.from_arrays(words, 0, source, word, source + 1, np.full(len(word), 90.0), [steps], [0.0])
    posteriors = ngram_posteriors(lattice, order=2)
    assert posteriors["w3",] == pytest.approx(1 - 0.9**steps)
    assert all(0 < p <= 1 for p in posteriors.values())


def test_a_lattice_without_strings_and_one_with_the_empty_string() -> None:
    empty = Lattice.from_strings(WORDS, [])
    assert len(ngram_posteriors(empty)) == len(ngram_posteriors(empty, prune=1.0)) == 0
    assert len(ngram_posteriors(Lattice.from_strings(WORDS, [Hypothesis((), 0.5)]))) == 0


@pytest.mark.parametrize(
    ("scale", "prune"), [(-1.0, None), (math.nan, None), (math.inf, None), (1.0, -0.5), (1.0, math.nan)]
)
def test_bad_parameters(scale: float, prune: float | None) -> None:
    lattice = Lattice.from_strings(WORDS, [Hypothesis(("a",), 0.0)])
    with pytest.raises(InputError, match="is allowed"):
        ngram_posteriors(lattice, scale=scale, prune=prune)
