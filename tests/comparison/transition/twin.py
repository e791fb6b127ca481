"""The transition system in plain Python: states as trees, features as strings, all sequences of actions one by one.

State           a stack of trees, the units that are left, the words so far
NAMES           the 70 templates by number, as the paper writes them; ZGEN_NAMES those of ZGen
features        the features of a state that fire, each a number and its values
feature_place   where a model has the weight of a feature with an action
model_score     the score of an action under the weights of a model
legal_actions   actions that may be done, when nothing is given
sequences       all whole sequences of actions from a state on
beam            the best states, step by step
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from comparison.learning.hashing import SEED, text_hash
from comparison.transition.problem import BEGIN

Action = tuple[str, ...]  # ("left",), ("right",) or ("shift", form, tag, number of the unit)
Feature = tuple[int, tuple[str | int, ...]]


@dataclass(frozen=True)
class Tree:
    """A node with its dependents, in the order of the output."""

    form: str
    tag: str
    left: tuple[Tree, ...] = ()
    right: tuple[Tree, ...] = ()

    def arcs(self) -> tuple[object, ...]:
        """The order and the tree in one."""
        return tuple(t.arcs() for t in self.left), self.form, self.tag, tuple(t.arcs() for t in self.right)


@dataclass(frozen=True)
class State:
    """A state; `units` are (words, tags) with how many of each are left."""

    stack: tuple[Tree, ...] = ()
    left: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = ()
    words: tuple[tuple[str, str], ...] = field(default=())

    def do(self, action: Action) -> State:
        if action[0] == "shift":
            left = tuple((u, tags, n - (str(i) == action[3])) for i, (u, tags, n) in enumerate(self.left))
            words = self.words + tuple((word, action[2]) for word in action[1].split(" "))
            return State((*self.stack, Tree(action[1], action[2])), left, words)
        *rest, second, top = self.stack
        joined = replace(top, left=(second, *top.left)) if action == ("left",) else None
        return replace(self, stack=(*rest, joined or replace(second, right=(*second.right, top))))


def _names() -> dict[int, str]:
    names = []
    for s in ("S0", "S1"):
        names += [f"{s}w", f"{s}p"]
        for d in ("l", "r"):
            names += [f"{s}{d}w", f"{s}{d}p", f"{s}w {s}{d}w", f"{s}w {s}{d}p", f"{s}p {s}{d}w", f"{s}p {s}{d}p"]
            names += [f"{s}w {s}p {s}{d}w", f"{s}w {s}{d}w {s}{d}p", f"{s}w {s}p {s}{d}p", f"{s}p {s}{d}w {s}{d}p"]
            names += [f"{s}{d}2w", f"{s}{d}2p", f"{s}{d}w {s}{d}2w", f"{s}{d}p {s}{d}2p"]
    names += ["S0w S1w", "S0w S1p", "S0p S1w", "S0p S1p"]
    names += ["w0", "p0", "w-1 w0", "p-1 p0", "w-2 w-1 w0", "p-2 p-1 p0"]
    return dict(enumerate(names, 1))


NAMES = _names()


def _zgen_names() -> dict[int, str]:
    names = ["S0w S0p S1w", "S0w S0p S1p", "S0w S1w S1p", "S0p S1w S1p"]
    names += [f"S0{a} S1{b} far" for a in "wp" for b in "wp"]
    names += [f"{s}{a} {s}{d}{b} {s}{d}far" for s in ("S0", "S1") for d in "lr" for a in "wp" for b in "wp"]
    columns = ("lcount", "rcount", "ltags", "rtags")
    names += [f"{s}{a} {s}{column}" for s in ("S0", "S1") for a in "wp" for column in columns]
    return dict(enumerate(names, 101))


ZGEN_NAMES = _zgen_names()


def values(state: State) -> dict[str, str]:
    """The values by name; what is absent is not there."""
    known: dict[str, str] = {}
    for i, name in enumerate(("S0", "S1"), 1):
        tree = state.stack[-i] if len(state.stack) >= i else Tree(BEGIN, BEGIN)
        nodes = {"": (tree,), "l": tree.left, "r": tree.right[::-1]}
        for side, found in nodes.items():
            for number, node in zip(("", "2"), found, strict=False):
                known[f"{name}{side}{number}w"], known[f"{name}{side}{number}p"] = node.form, node.tag
    padded = (((BEGIN, BEGIN),) * 3 + state.words)[::-1]
    for i, name in enumerate(("0", "-1", "-2")):
        known[f"w{name}"], known[f"p{name}"] = padded[i]
    return known


def in_order(tree: Tree) -> Iterator[Tree]:
    """All nodes of a tree in the order of the output."""
    for part in (*tree.left, None, *tree.right):
        yield from (tree,) if part is None else in_order(part)


def zgen_values(state: State, tag_bit: Callable[[str], int]) -> dict[str, int]:
    """The values of ZGen's templates that are numbers."""
    known: dict[str, int] = {}
    order = [id(node) for tree in state.stack for node in in_order(tree)]

    def far(a: Tree, b: Tree) -> int:
        apart = abs(order.index(id(a)) - order.index(id(b)))
        return apart if apart <= 5 else 6 + sum(apart > limit for limit in (10, 20, 40))

    for i, name in enumerate(("S0", "S1"), 1):
        tree = state.stack[-i] if len(state.stack) >= i else Tree(BEGIN, BEGIN)
        for d, nodes in (("l", tree.left), ("r", tree.right[::-1])):
            known[f"{name}{d}count"] = len(nodes) + 1
            known[f"{name}{d}tags"] = (1 << 64) - 1 - sum({1 << tag_bit(node.tag) for node in nodes})
            if nodes:
                known[f"{name}{d}far"] = far(tree, nodes[0])
    if len(state.stack) >= 2:
        known["far"] = far(state.stack[-1], state.stack[-2])
    return known


def features(state: State, tag_bit: Callable[[str], int] | None = None) -> list[Feature]:
    """The features; with the places of tags in sets of tags those of ZGen too."""
    known: dict[str, str | int] = {**values(state)}
    names = NAMES
    if tag_bit is not None:
        known, names = {**known, **zgen_values(state, tag_bit)}, NAMES | ZGEN_NAMES
    found = [(number, text.split()) for number, text in names.items()]
    return [(n, tuple(known[name] for name in parts)) for n, parts in found if all(name in known for name in parts)]


def mixed(found: int, *values: int) -> int:
    for value in values:
        found = ((found ^ value) * 0x9E3779B97F4A7C15) % (1 << 64)
        found ^= found >> 32
    return found


def action_number(action: Action) -> int:
    if action[0] != "shift":
        return mixed(int(SEED), 301 if action[0] == "left" else 302)
    return mixed(int(SEED), 303, *map(text_hash, action[1:3]))


def feature_place(feature: Feature, action: Action, size: int) -> int:
    """The place of a feature with an action among the weights of a model."""
    numbers = (value if isinstance(value, int) else text_hash(value) for value in feature[1])
    return mixed(int(SEED), feature[0], *numbers, action_number(action)) % size


Score = Callable[[State, Action], float]


def model_score(
    weights: NDArray[np.float32], tag_bit: Callable[[str], int] | None = None, shift_tags: bool = False
) -> Score:
    """The score of an action under the weights of a model."""

    def score(state: State, action: Action) -> float:
        forms = [action, ("shift", action[2])] if shift_tags and action[0] == "shift" else [action]
        found = features(state, tag_bit)
        return sum(float(weights[feature_place(feature, form, len(weights))]) for feature in found for form in forms)

    return score


def legal_actions(state: State) -> list[Action]:
    """In the order of the system: arcs, then shifts by form and tag as they are listed."""
    actions: list[Action] = [("left",), ("right",)] if len(state.stack) >= 2 else []
    units = enumerate(state.left)
    return actions + [("shift", " ".join(unit), tag, str(i)) for i, (unit, tags, n) in units if n for tag in tags]


def sequences(state: State, score: Score, total: float = 0.0) -> Iterator[tuple[float, State, tuple[Action, ...]]]:
    """All whole sequences from a state on, with their scores."""
    actions = legal_actions(state)
    if not actions:
        yield total, state, ()
    for action in actions:
        for value, end, rest in sequences(state.do(action), score, total + score(state, action)):
            yield value, end, (action, *rest)


def beam(begin: State, score: Score, size: int) -> list[tuple[float, tuple[Action, ...]]]:
    """The states of the last step, best first; equal scores in the order of their making."""
    held: list[tuple[float, State, tuple[Action, ...]]] = [(0.0, begin, ())]
    while legal_actions(held[0][1]):
        made = [
            (total + score(state, action), state.do(action), (*done, action))
            for total, state, done in held
            for action in legal_actions(state)
        ]
        held = sorted(made, key=lambda item: -item[0])[:size]
    return [(total, done) for total, _, done in held]


def begin_state(units: Sequence[tuple[tuple[str, ...], tuple[str, ...], int]]) -> State:
    return State((), tuple(units))


def early_update(begin: State, right: Sequence[Action], score: Score, size: int) -> list[tuple[Feature, Action, int]]:
    """What a beam changes that knows the right actions: features with actions, and by how much."""
    held: list[tuple[float, State, tuple[Action, ...]]] = [(0.0, begin, ())]
    steps = 0
    while legal_actions(held[0][1]) and any(done == tuple(right[:steps]) for _, _, done in held):
        made = [
            (total + score(state, action), state.do(action), (*done, action))
            for total, state, done in held
            for action in legal_actions(state)
        ]
        held = sorted(made, key=lambda item: -item[0])[:size]
        steps += 1
    best, target = held[0][2], tuple(right[:steps])
    parted = next((i for i in range(steps) if best[i] != target[i]), steps)
    changes: list[tuple[Feature, Action, int]] = []
    for actions, by in ((target, 1), (best, -1)):
        state = begin
        for i, action in enumerate(actions):
            if i >= parted:
                changes += [(feature, action, by) for feature in features(state)]
            state = state.do(action)
    return changes
