"""JSON objects of annotated bags.

DOGS     a sentence with two noun phrases
records  any object whose annotation agrees with itself, as a strategy
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

ROOT = -1
DOGS = {
    "id": "dogs",
    "tokens": ["the", "dog", "saw", "the", "cat", "."],
    "pos": ["DT", "NN", None, "DT", "NN", "."],
    "heads": [1, 2, -1, 4, 2, None],
    "units": [[0, 1], [3, 4]],
    "order": [[1, 2]],
}
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def records(draw: Draw) -> dict[str, Any]:
    """The JSON object of a bag with annotation that agrees with itself, in some order of the tokens."""
    size = draw(st.integers(1, 7))
    places = range(size)
    texts = st.one_of(st.none(), st.sampled_from("NV"))

    def column(values: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | st.lists(values, min_size=size, max_size=size))

    rank = draw(st.permutations(places))  # heads have lower ranks, chains go upward: no circles
    heads = [draw(st.sampled_from([None, ROOT, *(h for h in places if rank[h] < rank[place])])) for place in places]
    chain = sorted(draw(st.sets(st.sampled_from(places))), key=rank.__getitem__)
    others = [place for place in draw(st.permutations(places)) if place not in chain]
    unit, rest = others[: size // 2], others[size // 2 :]
    optional = draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    counts = [draw(st.integers(1, 3)) if place in rest else 1 for place in places]
    once = [place for place in chain if place not in optional and counts[place] == 1]
    choice = draw(st.lists(st.sampled_from(once), unique=True, min_size=1)) if once else []
    number = st.sampled_from([*range(1, size + 1), *range(-size, 0)])
    positions = draw(st.lists(st.tuples(st.sampled_from([*unit, *once]), number), max_size=3)) if once else []
    record = {
        "id": "x",
        "tokens": draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size)),
        **{name: column(texts) for name in ("pos", "labels", "lemmas", "feats")},
        "heads": heads if draw(st.booleans()) else None,
        "units": [unit],
        "order": [chain],
        "optional": optional,
        "positions": [list(pair) for pair in positions],
        "choices": [[choice, draw(st.integers(1, len(choice)))]] if choice else [],
        "counts": counts if draw(st.booleans()) else None,
        "categories": column(st.one_of(st.none(), st.just(["N", "NP"]), st.just(["S"]))),
    }
    return {key: value for key, value in record.items() if value is not None}
