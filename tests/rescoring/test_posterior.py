"""Posteriors of weighted strings, and how they are mixed."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Lattice
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.posterior import Posteriors, string_posteriors
from tests.rescoring.paths import WORDS, lattices

strings = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(tuple), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(strings, st.data())
def test_string_posteriors_are_weighted_shares(found: list[tuple[str, ...]], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 5), min_size=len(found), max_size=len(found)))
    assume(sum(weights) > 0)
    posteriors = string_posteriors(found, weights)
    for gram in posteriors:
        holding = [
            w for string, w in zip(found, weights, strict=True) if f" {' '.join(gram)} " in f" {' '.join(string)} "
        ]
        assert posteriors[gram] == pytest.approx(sum(holding) / sum(weights))
    assert set(posteriors) == {
        s[i : i + n]
        for s, w in zip(found, weights, strict=True)
        if w
        for n in range(1, 5)
        for i in range(len(s) - n + 1)
    }


@settings(max_examples=60, deadline=None)
@given(lattices(), strings, st.sampled_from([0.0, 0.25, 1.0]))
def test_mix(lattice: Lattice, others: list[tuple[str, ...]], alpha: float) -> None:
    ours = ngram_posteriors(lattice)
    theirs = string_posteriors([(*string, "z") for string in others])
    mixed = ours.mix(theirs, alpha)
    expected = {g: alpha * ours.probability(g) + (1 - alpha) * theirs.probability(g) for g in {*ours, *theirs}}
    assert dict(mixed) == pytest.approx(expected, abs=1e-12)


def test_mapping() -> None:
    posteriors = Posteriors.from_mapping({("b", "a"): 0.5, ("a",): 1.0, ("b",): 0.75})
    assert posteriors.order == 4
    assert dict(posteriors) == {("a",): 1.0, ("b",): 0.75, ("b", "a"): 0.5}
    for missing in (("c",), ("a", "b"), (), ("a",) * 5):
        assert missing not in posteriors
    with pytest.raises(InputError, match="1 to 4 words"):
        Posteriors.from_mapping({("a",) * 5: 1.0})
    with pytest.raises(InputError, match="0 to 1"):
        posteriors.mix(posteriors, 1.5)
    with pytest.raises(InputError, match="2 weights for 1 strings"):
        string_posteriors([("a",)], [1.0, 2.0])
    with pytest.raises(InputError, match="one above 0"):
        string_posteriors([("a",)], [0.0])
