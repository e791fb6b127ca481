"""The published searches: a bag is parsed into a recursive transition network (RTN), which is expanded under a model.

ALGORITHMS  grammar → name → function for the three algorithms of sections 2.3 and 2.4

    full              Algorithm 1: parse, expand, apply the model; nothing is pruned
    pruned-expansion  Algorithm 2: parse everything, then prune row by row while expanding
    pruned-parsing    Algorithm 3: prune each row before it is extended

With the grammar `binary`, as published, a cell is made of any two disjoint cells; with `right-linear`, which is faster,
of a cell and one phrase after it. Unpruned, both have the same strings.
"""

from __future__ import annotations

from gyro.search.binary_rtn import ALGORITHMS as BINARY
from gyro.search.network import Algorithm
from gyro.search.right_linear import ALGORITHMS as RIGHT_LINEAR

ALGORITHMS: dict[str, dict[str, Algorithm]] = {
    "right-linear": RIGHT_LINEAR,
    "binary": BINARY,
}
