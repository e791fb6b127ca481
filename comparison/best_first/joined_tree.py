"""A whole sentence of what a search without a goal has found: its parts are joined to one tree, which is then ordered.

joined_tree  the bag with all heads: those that the parts have, and a head for each part
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from comparison.best_first.dependency_edge import HEAD_PLACE
from comparison.best_first.derivation import Derivation, dependency_span, token_places
from comparison.best_first.edge import OWN
from comparison.best_first.problem import Input, Prepared
from gyro.text.corpus import ROOT


def joined_tree(given: Input, prepared: Prepared, parts: Sequence[Derivation]) -> Input | None:
    """Each part, and each word that is in none, hangs on its given head, or else on the head of the sentence.

    That is the given root, or else the head of the first part or what that hangs on. None with two given roots, or
    words that may be left out or used again.
    """
    if prepared.problem.selection:
        return None
    heads, tops = _heads_within(prepared, parts)
    above = {top: head for top in tops if (head := given.tokens[top].head) is not None}
    roots = [top for top, head in above.items() if head == ROOT]
    if len(roots) > 1:
        return None
    main = roots[0] if roots else tops[0]
    for _ in tops:  # more steps than there are
        main = main if above.get(main, ROOT) == ROOT else above[main]
    heads |= dict.fromkeys(tops, main) | {main: ROOT} | above
    tokens = (replace(token, head=heads.get(place, token.head)) for place, token in enumerate(given.tokens))
    return replace(given, tokens=tuple(tokens))


def _heads_within(prepared: Prepared, parts: Sequence[Derivation]) -> tuple[dict[int, int], list[int]]:
    """The heads of units and tokens by their places in the bag, and those that have none, the parts' in turn."""
    spans = [dependency_span(part) for part in parts]
    words = [word for span in spans for word in span.leaves]
    places = token_places(words, prepared)
    heads, tops, first = {}, [], 0
    for span in spans:
        for i, head in enumerate(span.heads):
            leaf, place = span.leaves[i]
            if head == ROOT:
                tops.append(places[first + i])
            elif place == leaf.own[HEAD_PLACE - OWN]:
                heads[places[first + i]] = places[first + head]
        first += len(span.heads)
    place_of_head = {leaf.slot: leaf.own[HEAD_PLACE - OWN] for leaf in prepared.leaves}
    for slot, groups in enumerate(prepared.slots):
        tops += [group[place_of_head[slot]] for group in groups if not set(places).intersection(group)]
    return heads, tops
