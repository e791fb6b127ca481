"""The vertices of a dependency graph: single tokens and base noun phrases, which stand for their last word.

Vertex         the words and tags of one
Reduced        a tree over vertices
tree_vertices  a dependency tree over its vertices
bag_vertices   the vertices of a bag
tag_of         the tag of one of its tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from comparison.learning.tag_dictionary import TagDictionary
from grammars.base_phrase import base_noun_phrases
from grammars.conllu import ConlluSentence
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import ROOT


class Vertex(NamedTuple):
    """The places of its words in the sentence or bag, and the word and tag that it is known by: those of the last."""

    places: tuple[int, ...]
    word: str
    tag: str


class Reduced(NamedTuple):
    """A tree over vertices from left to right; heads are numbers of vertices, or ROOT."""

    vertices: tuple[Vertex, ...]
    heads: tuple[int, ...]


def tree_vertices(tree: ConlluSentence, *, tags: str = "xpos", units: bool = True) -> Reduced:
    """A tree, every token of which has a head, over its vertices; what hangs on a word of a phrase hangs on the phrase.

    >>> from grammars.conllu import ConlluToken
    >>> words = [("the", "DET", "DT", 1, "det"), ("dog", "NOUN", "NN", 2, "nsubj"), ("barks", "VERB", "VBZ", -1, "root")]
    >>> tokens = (ConlluToken(w, upos=u, xpos=x, head=h, deprel=r) for w, u, x, h, r in words)
    >>> tree_vertices(ConlluSentence(tuple(tokens)))
    Reduced(vertices=(Vertex(places=(0, 1), word='dog', tag='NN'), Vertex(places=(2,), word='barks', tag='VBZ')), heads=(1, -1))
    """  # noqa: E501
    groups = _groups(len(tree.tokens), base_noun_phrases(tree) if units else ())
    number = {place: v for v, group in enumerate(groups) for place in group}
    heads = [_outer_head(tree.heads, group) for group in groups]
    vertices = (Vertex(group, tree.tokens[group[-1]].form, getattr(tree.tokens[group[-1]], tags)) for group in groups)
    return Reduced(tuple(vertices), tuple(ROOT if head == ROOT else number[head] for head in heads))


def bag_vertices(bag: AnnotatedBag, tagger: TagDictionary | None = None, *, units: bool = True) -> tuple[Vertex, ...]:
    """The vertices of a bag by their first places. A tag that is not given is the likeliest of the word.

    >>> bag = AnnotatedBag(("dog", "the", "barks"), pos=("NN", "DT", "VBZ"), units=((1, 0),))
    >>> [(v.places, v.word, v.tag) for v in bag_vertices(bag)]
    [((0,), 'barks', 'VBZ'), ((2, 1), 'dog', 'NN')]
    """
    groups = _groups(len(bag), bag.units if units else ())
    return tuple(Vertex(group, bag.tokens[group[-1]], tag_of(bag, group[-1], tagger)) for group in groups)


def tag_of(bag: AnnotatedBag, place: int, tagger: TagDictionary | None) -> str:
    """The tag of a token: the one that is given, or the likeliest of the word."""
    given = None if bag.pos is None else bag.pos[place]
    likely = () if tagger is None else tagger.tags_of(bag.tokens[place])
    return given or (likely[0] if likely else "")


def _groups(size: int, units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    inside = {place for unit in units for place in unit}
    return sorted([*((place,) for place in range(size) if place not in inside), *units], key=min)


def _outer_head(heads: Sequence[int | None], group: tuple[int, ...]) -> int:
    """The head of the word of a group that hangs on a word outside."""
    outer = next((head for head in (heads[place] for place in group) if head not in group), ROOT)
    return ROOT if outer is None else outer
