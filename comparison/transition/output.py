"""What the transition system found, as trees in CoNLL-U.

heads_of          the head of each unit, from the actions
dependency_tree   a hypothesis as a tree
tree_text         the same with the bag's name, its rank and its score
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from comparison.transition.decoder import Decoded
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.problem import Group
from comparison.transition.state import FIRST_SHIFT, LEFT_ARC
from grammars.conllu import ConlluSentence, ConlluToken, conllu_text
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import ROOT

LOOSE = "dep"  # the relation of arcs, which have none here


def heads_of(actions: Iterable[int]) -> list[int]:
    """The head of each unit by its place in the output; that of the root is ROOT.

    >>> heads_of([2, 3, 0])  # two shifts, and the second goes above the first
    [1, -1]
    """
    heads: list[int] = []
    stack: list[int] = []
    for action in actions:
        if action >= FIRST_SHIFT:
            stack.append(len(heads))
            heads.append(ROOT)
        elif action == LEFT_ARC:
            heads[stack.pop(-2)] = stack[-1]
        else:
            dependent = stack.pop()
            heads[dependent] = stack[-1]
    return heads


def dependency_tree(
    decoded: Decoded, hypothesis: int, grammar: TransitionGrammar, bag: AnnotatedBag, tag_kind: str
) -> ConlluSentence:
    """A hypothesis as a tree; words of a unit hang on its head unless their heads in it are given."""
    readings, slots = decoded.prepared.readings, decoded.prepared.slots
    used: Counter[int] = Counter()
    groups: list[Group] = []
    tags: list[str] = []
    for number in decoded.readings[hypothesis]:
        reading = readings[number]
        groups.append(slots[reading.slot].groups[used[reading.slot]])
        used[reading.slot] += 1
        single = len(reading.words) == 1
        tags += [reading.tag] if single else [grammar.tags_of(word, None)[0] for word in reading.words]
    tops = [_top(bag, group) for group in groups]
    place_of = {token: place for place, token in enumerate(token for group in groups for token in group)}
    head_of = dict[int, int]()
    for group, top, head in zip(groups, tops, heads_of(decoded.actions[hypothesis]), strict=True):
        for token in group:
            given = None if bag.heads is None else bag.heads[token]
            inner = given if given is not None and given in group else top
            head_of[token] = (ROOT if head == ROOT else tops[head]) if token == top else inner
    return ConlluSentence(tuple(_token(bag, t, head_of[t], place_of, tags[p], tag_kind) for t, p in place_of.items()))


def _top(bag: AnnotatedBag, group: Group) -> int:
    """Which token of a unit is its head: the one whose given head is outside, else the last one that has none in it."""
    given = [None if bag.heads is None else bag.heads[token] for token in group]
    outside = [token for token, head in zip(group, given, strict=True) if head is not None and head not in group]
    free = [token for token, head in zip(group, given, strict=True) if head is None]
    return [*free, *outside][-1]


def _token(bag: AnnotatedBag, token: int, head: int, place_of: dict[int, int], tag: str, tag_kind: str) -> ConlluToken:
    given_tag = None if bag.pos is None else bag.pos[token]
    label = None if bag.labels is None or bag.heads is None or bag.heads[token] != head else bag.labels[token]
    columns = {tag_kind: given_tag or tag, "deprel": label or ("root" if head == ROOT else LOOSE)}
    return ConlluToken(bag.tokens[token], head=ROOT if head == ROOT else place_of[head], **columns)


def tree_text(decoded: Decoded, hypothesis: int, grammar: TransitionGrammar, bag: AnnotatedBag, tag_kind: str) -> str:
    """A hypothesis as the lines of a CoNLL-U file."""
    tree = dependency_tree(decoded, hypothesis, grammar, bag, tag_kind)
    comments = (
        f"# sent_id = {bag.id or '0'}",
        f"# rank = {hypothesis + 1}",
        f"# score = {decoded.scores[hypothesis]:.6f}",
    )
    return conllu_text(ConlluSentence(tree.tokens, comments))
