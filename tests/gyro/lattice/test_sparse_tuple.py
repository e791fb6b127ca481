from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.sparse_tuple import BAD_COMPONENT, COMPLETE, ENDS_EARLY, read_sparse_states
from tests.gyro.lattice.foreign import INFINITE, tuple64_of, tuple_of, vector_file

HEADER = len(vector_file("tropicalsparsetuple", []))
numbers = st.integers(-64, 640).map(lambda n: n / 64)
components = st.dictionaries(st.sampled_from([-7, 1, 2, 3, 4]), numbers)
weights = st.tuples(numbers, components) | st.just((INFINITE, {}))
Weight = tuple[float, dict[int, float]]


def body_of(states: list[tuple[Weight, list[tuple[int, Weight, int]]]], pack: type | object) -> np.ndarray:
    """The bytes of the states, each a final weight and arcs of label, weight and target."""
    packed = [
        (pack(*final), [(label, label + 1, pack(*weight), target) for label, weight, target in arcs])  # type: ignore[operator]
        for final, arcs in states
    ]
    return np.frombuffer(vector_file("tropicalsparsetuple", packed)[HEADER:], np.uint8)


def by_hand(weight: Weight, scales: list[float], adds_default: bool) -> float:
    default, listed = weight
    if default == INFINITE:
        return INFINITE
    if adds_default:
        return default + sum(scales[number - 1] * value for number, value in listed.items() if number > 0)
    return sum(scale * listed.get(number, default) for number, scale in enumerate(scales, 1))


@given(
    st.lists(st.tuples(weights, st.lists(st.tuples(st.integers(-5, 5), weights, st.integers(0, 9)), max_size=3))),
    st.lists(numbers, min_size=4, max_size=5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_all_states_are_read(
    states: list[tuple[Weight, list[tuple[int, Weight, int]]]],
    scales: list[float],
    adds_default: bool,
    double: bool,
    known: bool,
) -> None:
    body = body_of(states, tuple64_of if double else tuple_of)
    found = read_sparse_states(body, len(states) if known else -1, 8 if double else 4, np.array(scales), adds_default)
    status, _, source, in_label, out_label, target, cost, final = found
    arcs = [(state, *arc) for state, (_, leaving) in enumerate(states) for arc in leaving]
    assert status == COMPLETE
    assert source.tolist() == [state for state, *_ in arcs]
    assert in_label.tolist() == [label for _, label, _, _ in arcs]
    assert out_label.tolist() == [label + 1 for _, label, _, _ in arcs]
    assert target.tolist() == [to for *_, to in arcs]
    assert cost.tolist() == pytest.approx([by_hand(weight, scales, adds_default) for _, _, weight, _ in arcs])
    assert final.tolist() == pytest.approx([by_hand(weight, scales, adds_default) for weight, _ in states])


STATES: list[tuple[Weight, list[tuple[int, Weight, int]]]] = [
    ((INFINITE, {}), [(5, (0.0, {1: 0.5, 3: 2.0}), 1)]),
    ((0.0, {2: 1.0}), []),
]


@pytest.mark.parametrize(
    ("scales", "component"),
    [([1.0, 1.0], 3), ([1.0], 3), ([], 1)],  # the arc comes before the final weight of its end
)
def test_a_component_without_a_scale_is_told(scales: list[float], component: int) -> None:
    found = read_sparse_states(body_of(STATES, tuple_of), 2, 4, np.array(scales, float), True)
    assert found[:2] == (BAD_COMPONENT, component)


def test_component_0_is_none() -> None:
    found = read_sparse_states(body_of([((0.0, {0: 1.0}), [])], tuple_of), 1, 4, np.array([1.0]), True)
    assert found[:2] == (BAD_COMPONENT, 0)


def test_every_truncation_and_every_size_is_noticed() -> None:
    body, scales = body_of(STATES, tuple_of), np.ones(3)
    for size in range(len(body)):
        assert read_sparse_states(body[:size], 2, 4, scales, True)[0] == ENDS_EARLY
    for states in (3, 1 << 40, (1 << 63) - 1):
        assert read_sparse_states(body, states, 4, scales, True)[0] == ENDS_EARLY
    # The numbers of other components, of arcs, of others in the arc's weight.
    for place in (12, 20, 28 + 8 + 12):
        for value in (b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\x09" + b"\x00" * 7):
            changed = body.copy()
            changed[place : place + 8] = np.frombuffer(value, np.uint8)
            assert read_sparse_states(changed, 2, 4, scales, True)[0] == ENDS_EARLY
