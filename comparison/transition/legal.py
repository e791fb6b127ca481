"""Which actions may follow where heads are given: those after which the given forest can still be completed.

Compiled.

left_arc_allowed, right_arc_allowed   whether an arc is as given, and its dependent has all its given dependents
read_stack                            what `shift_allowed` has to know of a state
shift_allowed                         whether a slot may be shifted

Whatever lies on the stack below the top can be reached through the top alone: all that comes after a node becomes one
tree, and that tree's root and the node are joined by an arc, to one side or the other. So a new top climbs: it can go
below its given head while that is still to be shifted, and in turn below the next, until it has to wait for given
dependents that lie on the stack, or its head is not given or lies on the stack. Where it then may go below the node
under it, nothing is lost: a node that is the top may take any further tree from the right, and the rest of the stack is
as it was before. Else the node under it must go below it, now and for good; and so on down the stack.
"""

from __future__ import annotations

from comparison.transition.state import (
    ANY_HEAD,
    DEPTH,
    GIVEN,
    HEAD,
    TAIL,
    Problem,
    Room,
    States,
)
from gyro.compilation import compiled


@compiled
def _arc_allowed(problem: Problem, states: States, head: int, dependent: int) -> bool:
    slot = problem.reading_slot[states.columns[dependent, HEAD]]
    given = problem.given_head[slot]
    if given != ANY_HEAD and given != problem.reading_slot[states.columns[head, HEAD]]:
        return False
    return bool(states.columns[dependent, GIVEN] == problem.given_dependents[slot])


@compiled
def left_arc_allowed(problem: Problem, states: States, state: int) -> bool:
    """Whether the second node may go below the top."""
    return _arc_allowed(problem, states, state, states.columns[state, TAIL])


@compiled
def right_arc_allowed(problem: Problem, states: States, state: int) -> bool:
    """Whether the top may go below the second node."""
    return _arc_allowed(problem, states, states.columns[state, TAIL], state)


@compiled
def read_stack(problem: Problem, states: States, state: int, room: Room) -> None:
    """The stack, and whose given heads and further ancestors are still to be shifted."""
    depth = states.columns[state, DEPTH]
    never = depth
    room.level[:] = -1
    room.direct[:] = never
    room.through[:] = never
    at = state
    for i in range(depth - 1, -1, -1):
        slot = problem.reading_slot[states.columns[at, HEAD]]
        room.stack[i] = slot
        room.pending[i] = problem.given_dependents[slot] - states.columns[at, GIVEN]
        room.level[slot] = i
        at = states.columns[at, TAIL]
    for i in range(depth):
        head = problem.given_head[room.stack[i]]
        is_direct = True
        while head >= 0 and room.level[head] < 0:
            if is_direct:
                room.direct[head] = min(room.direct[head], i)
            else:
                room.through[head] = min(room.through[head], i)
            is_direct = False
            head = problem.given_head[head]


@compiled
def shift_allowed(problem: Problem, room: Room, depth: int, slot: int) -> bool:
    """Whether the slot may be shifted onto the stack that was read."""
    root, below = slot, depth  # of the tree on top, and how many nodes are below it
    while True:
        waits = False
        while True:
            if room.through[root] < below:
                return False
            if room.direct[root] < below:
                waits = True
                break
            head = problem.given_head[root]
            if head < 0 or room.level[head] >= 0:
                break
            root = head
        if below == 0:
            return True
        head = problem.given_head[root]
        if not waits and (head == ANY_HEAD or (head >= 0 and room.level[head] == below - 1)):
            return True
        given = problem.given_head[room.stack[below - 1]]
        if room.pending[below - 1] != 0 or (given != ANY_HEAD and given != root):
            return False
        below -= 1
