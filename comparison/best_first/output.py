"""What the best-first decoder found, in the formats of treebanks.

dependency_tree   derivations as one tree of CoNLL-U
ccg_derivation    a derivation as one of AUTO files
output_text       all hypotheses of a bag as CoNLL-U or AUTO, with bag, rank and score
complete_order    words and missing ones, each in turn the likeliest to come next
complete_output   the best output and the tokens of the bag that it lacks, with units and order kept
missing_groups    these tokens
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoded, Derivation
from comparison.best_first.dependency_edge import HEAD_ON_LEFT, HEAD_PLACE
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import OWN, UNKNOWN_TAG
from comparison.best_first.problem import Leaf, Prepared
from grammars.ccg.derivation import Derivation as CcgDerivation
from grammars.ccg.derivation import Leaf as CcgLeaf
from grammars.ccg.derivation import Node, auto_text
from grammars.ccg.grammar import NO_POS, BinaryRule
from grammars.conllu import ConlluSentence, ConlluToken, conllu_text
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

LOOSE = "dep"  # the relation of what no rule has attached: words of units, and parts of default outputs
FORMATS = {"ccg": "auto", "dependency": "conllu"}


class _Span(NamedTuple):
    """The tokens of an edge: their heads by place, and the place of its own head."""

    leaves: list[tuple[Leaf, int]]  # each word: its leaf, and its place in that
    heads: list[int]
    labels: list[str]
    head: int


def dependency_tree(
    parts: Sequence[Derivation], grammar: DependencyGrammar, bag: AnnotatedBag, prepared: Prepared, tag_kind: str
) -> ConlluSentence:
    """One tree; the parts of a default output hang on the head of the first."""
    whole: _Span | None = None
    for part in parts:
        span = _build(part, grammar)
        whole = span if whole is None else _attach(whole, span, whole.head, span.head, LOOSE, keep=whole.head)
    if whole is None:
        return ConlluSentence(())
    whole.labels[whole.head] = "root"
    places = _token_places(whole.leaves, prepared)
    _keep_heads_of_units(whole, places, bag)
    tokens = []
    for i, (leaf, place) in enumerate(whole.leaves):
        source = places[i]
        given_tag = None if bag.pos is None else bag.pos[source]
        columns = {tag_kind: given_tag or grammar.tags[leaf.tags[place]]}
        if bag.lemmas is not None:
            columns["lemma"] = bag.lemmas[source] or "_"
        if bag.feats is not None:
            columns["feats"] = bag.feats[source] or "_"
        tokens.append(ConlluToken(leaf.words[place], head=whole.heads[i], deprel=whole.labels[i], **columns))
    return ConlluSentence(tuple(tokens))


def _build(derivation: Derivation, grammar: DependencyGrammar) -> _Span:
    if derivation.leaf is not None:
        leaf = derivation.leaf
        head = leaf.own[HEAD_PLACE - OWN]
        size = len(leaf.words)
        heads = [ROOT if place == head else head for place in range(size)]
        return _Span([(leaf, place) for place in range(size)], heads, [LOOSE] * size, head)
    left, right = (_build(part, grammar) for part in derivation.parts)
    label = grammar.labels[derivation.rule // 2] if grammar.labels else LOOSE
    if derivation.rule % 2 == HEAD_ON_LEFT:
        return _attach(left, right, left.head, right.head, label, keep=left.head)
    return _attach(left, right, right.head, left.head, label, keep=len(left.heads) + right.head)


def _attach(left: _Span, right: _Span, head: int, modifier: int, label: str, keep: int) -> _Span:
    """Join two spans; `head` and `modifier` are places in their own spans, `keep` the head's in the whole."""
    shift = len(left.heads)
    heads = left.heads + [ROOT if h == ROOT else h + shift for h in right.heads]
    labels = left.labels + right.labels
    place = shift + modifier if keep < shift else modifier
    heads[place], labels[place] = keep, label
    return _Span(left.leaves + right.leaves, heads, labels, keep)


def _keep_heads_of_units(whole: _Span, places: Sequence[int], bag: AnnotatedBag) -> None:
    """Words of a unit whose head in it is given hang there."""
    if bag.heads is None:
        return
    for i, (leaf, place) in enumerate(whole.leaves):
        first = i - place
        unit = places[first : first + len(leaf.words)]
        if (head := bag.heads[places[i]]) in unit and len(unit) > 1:
            whole.heads[i] = first + unit.index(head)
            if bag.labels is not None:
                whole.labels[i] = bag.labels[places[i]] or LOOSE


def _token_places(words: Sequence[tuple[Leaf, int]], prepared: Prepared) -> list[int]:
    """For each word a token of the bag that it is a use of; copies of a word in turn."""
    used: Counter[int] = Counter()
    places = []
    for leaf, place in words:
        groups = prepared.slots[leaf.slot]
        if place == 0:
            used[leaf.slot] += 1
        places.append(groups[min(used[leaf.slot], len(groups)) - 1][place])
    return places


def ccg_derivation(derivation: Derivation, inventory: CcgInventory) -> CcgDerivation:
    """The same derivation; a unit is one leaf with blanks between its words replaced by underscores."""
    if derivation.leaf is not None:
        leaf = derivation.leaf
        tag = inventory.tags[leaf.tags[-1]]
        tag = NO_POS if tag == UNKNOWN_TAG else tag
        return CcgLeaf.plain(inventory.categories[leaf.own[0]], "_".join(leaf.words), tag)
    parts = tuple(ccg_derivation(part, inventory) for part in derivation.parts)
    rule = inventory.rules[derivation.rule]
    return Node(rule.result, "", rule.head if isinstance(rule, BinaryRule) else 0, parts)


def output_text(
    decoded: Decoded, grammar: DependencyGrammar | CcgInventory, bag: AnnotatedBag, tag_kind: str
) -> list[str]:
    """Each hypothesis as text: CoNLL-U with comments, or AUTO, a line for each part."""
    texts = []
    for rank, (score, parts) in enumerate(decoded.hypotheses, 1):
        if isinstance(grammar, CcgInventory):
            lines = [
                f"ID={bag.id or '0'}.{rank}.{i} SCORE={score:.6f}\n{auto_text(ccg_derivation(part, grammar))}\n"
                for i, part in enumerate(parts, 1)
            ]
            texts.append("".join(lines))
            continue
        tree = dependency_tree(parts, grammar, bag, decoded.prepared, tag_kind)
        comments = (
            f"# sent_id = {bag.id or '0'}",
            f"# rank = {rank}",
            f"# score = {score:.6f}",
            f"# how = {decoded.how}",
        )
        texts.append(conllu_text(ConlluSentence(tree.tokens, comments)))
    return texts


def complete_order(
    words: Sequence[str],
    missing: Sequence[Sequence[str]],
    model: LanguageModel | None,
    earlier: Mapping[int, Collection[int]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """The words, then the missing ones: each time those that the language model likes best there.

    `missing` are words or units; `earlier` has the numbers of those that must come before a number.
    """
    order = list(words)
    left = sorted(range(len(missing)), key=lambda i: (tuple(missing[i]), i))
    known = sorted({*words, *(word for group in missing for word in group)})
    number = {word: i for i, word in enumerate(known)}
    automaton = None if model is None else model.acceptor(known)
    while left:
        free = [i for i in left if not set(earlier.get(i, ())) & set(left)]
        chosen = free[0]
        if automaton is not None:
            state = automaton.start
            for word in order:
                state = int(automaton.next_state[state, number[word]])
            chosen = min(free, key=lambda i: (automaton.cost[state, number[missing[i][0]]], missing[i], i))
        order += missing[chosen]
        left.remove(chosen)
    return tuple(order)


def complete_output(decoded: Decoded, bag: AnnotatedBag, model: LanguageModel | None) -> tuple[str, ...]:
    """The best output and the tokens that it lacks. What must come before a word of the output stands before that."""
    leaves = [leaf for part in decoded.hypotheses[0][1] for leaf in part.leaves()]
    spelt = [(leaf, place) for leaf in leaves for place in range(len(leaf.words))]
    words = [leaf.words[place] for leaf, place in spelt]
    places = _token_places(spelt, decoded.prepared)
    starts = [i - place for i, (_, place) in enumerate(spelt)]  # of the unit that a word is in
    after = _followers(bag)
    left = missing_groups(bag, decoded)
    while True:
        free = [group for group in left if not any(after[a] & set(group) for other in left for a in other)]
        late = [(group, [i for i, place in enumerate(places) if place in _all(after, group)]) for group in free]
        group, followers = next(((group, found) for group, found in late if found), ((), []))
        if not group:
            break
        at, size = starts[followers[0]], len(group)
        words[at:at], places[at:at] = [bag.tokens[place] for place in group], group
        starts[at:] = [*([at] * size), *(start + size for start in starts[at:])]
        left.remove(group)
    earlier = {i: [j for j, other in enumerate(left) if _all(after, other) & set(left[i])] for i in range(len(left))}
    return complete_order(words, [[bag.tokens[place] for place in group] for group in left], model, earlier)


def missing_groups(bag: AnnotatedBag, decoded: Decoded) -> list[tuple[int, ...]]:
    """The tokens and units of the bag that the best output has to have and lacks, by their places."""
    used = Counter(leaf.slot for part in decoded.hypotheses[0][1] for leaf in part.leaves())
    groups = [group for slot, copies in enumerate(decoded.prepared.slots) for group in copies[used[slot] :]]
    return [group for group in groups if not set(group) <= set(bag.optional)]


def _followers(bag: AnnotatedBag) -> dict[int, set[int]]:
    """For each place all those that must come after it."""
    after: dict[int, set[int]] = {place: set() for place in range(len(bag))}
    for chain in bag.order:
        for i, place in enumerate(chain):
            after[place].update(chain[i + 1 :])
    for _ in bag.order:  # a step across chains each time
        for place, found in after.items():
            after[place] = found.union(*(after[later] for later in found))
    return after


def _all(after: Mapping[int, set[int]], group: Sequence[int]) -> set[int]:
    return set().union(*(after[place] for place in group))
