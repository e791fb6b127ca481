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

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoded
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.derivation import LOOSE, Derivation, Span, attach, dependency_span, token_places
from comparison.best_first.edge import UNKNOWN_TAG
from comparison.best_first.problem import Prepared
from grammars.ccg.derivation import Derivation as CcgDerivation
from grammars.ccg.derivation import Leaf as CcgLeaf
from grammars.ccg.derivation import Node, auto_text
from grammars.ccg.grammar import NO_POS, BinaryRule
from grammars.conllu import ConlluSentence, ConlluToken, conllu_text
from gyro.text.annotated_bag import AnnotatedBag
from lm.model import LanguageModel

FORMATS = {"ccg": "auto", "dependency": "conllu"}


def dependency_tree(
    parts: Sequence[Derivation], grammar: DependencyGrammar, bag: AnnotatedBag, prepared: Prepared, tag_kind: str
) -> ConlluSentence:
    """One tree; the parts of a default output hang on the head of the first."""
    whole: Span | None = None
    for part in parts:
        span = dependency_span(part, grammar.labels)
        whole = span if whole is None else attach(whole, span, whole.head, span.head, LOOSE, keep=whole.head)
    if whole is None:
        return ConlluSentence(())
    whole.labels[whole.head] = "root"
    places = token_places(whole.leaves, prepared)
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


def _keep_heads_of_units(whole: Span, places: Sequence[int], bag: AnnotatedBag) -> None:
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
    places = token_places(spelt, decoded.prepared)
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
