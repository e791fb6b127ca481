from __future__ import annotations

import numpy as np
import pytest

from lm.neural.prefixes import Prefixes
from tests.lm.neural.shuffled import KINDS, Models, shuffles


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_extended_beginnings_cost_what_whole_strings_do(neural_models: Models, kind: str, exact: bool) -> None:
    model = neural_models(kind)
    strings = [string for string in shuffles(20, ["the", "cat", "did", "n't", "know", "3", ",", "."]) if string]
    prefixes = Prefixes(model, exact=exact)
    numbers = [0] * len(strings)
    for place in range(max(map(len, strings))):
        going = [i for i, string in enumerate(strings) if place < len(string)]
        made, _ = prefixes.extend([numbers[i] for i in going], [[strings[i][place]] for i in going])
        for i, number in zip(going, made, strict=True):
            numbers[i] = number
    assert len(prefixes) == 1 + sum(map(len, strings))
    np.testing.assert_allclose(prefixes.end_costs(numbers), model.costs(strings, exact=exact), atol=2e-3)


def test_several_words_at_once(neural_models: Models) -> None:
    prefixes = Prefixes(neural_models("llama"))
    [the], [cost] = prefixes.extend([0], [["the"]])
    [cat], _ = prefixes.extend([the], [["cat"]])
    one_by_one, costs = prefixes.extend([cat, the], [["sat"], ["mat"]])
    at_once, same = prefixes.extend([0, 0], [["the", "cat", "sat"], ["the", "mat"]])
    assert costs.tolist() == pytest.approx(same.tolist(), abs=2e-3)
    assert cost < costs.min()
    assert prefixes.end_costs(one_by_one) == pytest.approx(prefixes.end_costs(at_once), abs=2e-3)
