"""The states and arcs of OpenFst files whose weights are sparse tuples: records of no fixed size, read one by one.

read_sparse_states  the arrays of such a file; every size is checked before it is believed

A weight is its default, a first component (its number and its cost; the number -1: there is none), how many others
there are, and those. A state is its final weight, the number of its arcs, and these: input label, output label, weight,
target.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

COMPLETE, ENDS_EARLY, BAD_COMPONENT = 0, 1, 2
NO_COMPONENT = -1

_Int32s = NDArray[np.int32]
_Float64s = NDArray[np.float64]


@compiled
def read_sparse_states(
    body: NDArray[np.uint8], num_states: int, number_size: int, scales: _Float64s, adds_default: bool
) -> tuple[int, int, _Int32s, _Int32s, _Int32s, _Int32s, _Float64s, _Float64s]:
    """COMPLETE or what was wrong, a component without a scale, then source, input, output, target, costs, final costs.

    A negative number of states means that they go on to the end of the bytes.
    """
    weight_size = 2 * number_size + 12  # at least
    state_size, arc_size = weight_size + 8, weight_size + 12
    columns = np.empty((4, len(body) // arc_size), np.int32)
    cost, final = np.empty(len(body) // arc_size), np.empty(len(body) // state_size)
    listed = np.zeros(len(scales), np.int64)
    status, component, at, state, arc = COMPLETE, 0, 0, 0, 0
    if num_states > len(final):
        status = ENDS_EARLY
    while status == COMPLETE and (state < num_states or (num_states < 0 and at < len(body))):
        status, component, at, final_cost = _read_weight(body, at, number_size, scales, adds_default, listed)
        if status != COMPLETE or at + 8 > len(body):
            status = max(status, ENDS_EARLY)
            break
        final[state] = final_cost
        left = _integer(body, at, 8)
        at += 8
        if not 0 <= left <= (len(body) - at) // arc_size:
            status = ENDS_EARLY
        while status == COMPLETE and left > 0:
            if at + 8 > len(body):
                status = ENDS_EARLY
                break
            columns[0, arc], columns[1, arc], columns[2, arc] = state, _integer(body, at, 4), _integer(body, at + 4, 4)
            status, component, at, cost[arc] = _read_weight(body, at + 8, number_size, scales, adds_default, listed)
            if status != COMPLETE or at + 4 > len(body):
                status = max(status, ENDS_EARLY)
                break
            columns[3, arc] = _integer(body, at, 4)
            at, arc, left = at + 4, arc + 1, left - 1
        state += 1
    source, in_label, out_label, target = columns[0, :arc], columns[1, :arc], columns[2, :arc], columns[3, :arc]
    return status, component, source, in_label, out_label, target, cost[:arc], final[:state]


@compiled
def _read_weight(
    body: NDArray[np.uint8],
    at: int,
    number_size: int,
    scales: _Float64s,
    adds_default: bool,
    listed: NDArray[np.int64],
) -> tuple[int, int, int, float]:
    """The status, a component without a scale, the place after the weight, and its cost.

    `listed` is room to note which components there are: at which place of the file they were last seen.
    """
    pair_size = 4 + number_size
    first = at + number_size
    if first + pair_size + 8 > len(body):
        return ENDS_EARLY, 0, at, 0.0
    default = _float(body, at, number_size)
    others = _integer(body, first + pair_size, 8)
    end = first + pair_size + 8
    if not 0 <= others <= (len(body) - end) // pair_size:
        return ENDS_EARLY, 0, at, 0.0
    after = end + others * pair_size
    if _integer(body, first, 4) == NO_COMPONENT:
        others = -1
        if default == np.inf:  # no arc, or no final state, whatever the scales
            return COMPLETE, 0, after, default
    cost = default if adds_default else 0.0
    for number in range(others + 1):
        place = first if number == 0 else end + (number - 1) * pair_size
        component = _integer(body, place, 4)
        if component < 0:  # not for us, as MT decoders see it
            continue
        if component == 0 or component > len(scales):
            return BAD_COMPONENT, component, at, 0.0
        listed[component - 1] = after
        scale = scales[component - 1]
        if scale != 0.0:  # an infinite cost that does not count is none
            cost += scale * _float(body, place + 4, number_size)
    if not adds_default and default != 0.0:
        for k in range(len(scales)):
            if listed[k] != after and scales[k] != 0.0:
                cost += scales[k] * default
    return COMPLETE, 0, after, cost


@compiled
def _integer(body: NDArray[np.uint8], at: int, size: int) -> int:
    bits = np.uint64(0)
    for i in range(size):
        bits |= np.uint64(body[at + i]) << np.uint64(8 * i)
    return int(np.int32(bits)) if size == 4 else int(np.int64(bits))


@compiled
def _float(body: NDArray[np.uint8], at: int, size: int) -> float:
    # Copied, for a number in the bytes may stand at any place.
    if size == 4:
        return float(body[at : at + 4].copy().view(np.float32)[0])
    return float(body[at : at + 8].copy().view(np.float64)[0])
