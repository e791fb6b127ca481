"""Small bags, written in a line.

bag          a bag by its words
POS          the tags that these words are given
BAGS         bags of every kind, each with few enough dependency trees to list them all
BROKEN_BAGS  those with heads or an order of words that may be used again or not
CCG_BAGS     the same as BAGS for CCG derivations
"""

from __future__ import annotations

from typing import Any

from comparison.best_first.problem import Input, InputToken
from gyro.text.corpus import ROOT

POS = {"dog": "NN", "barks": "VBZ", "the": "DT", "old": "JJ", "saw": "VBD", "she": "PRP", ".": ".", "sees": "VBZ"}


def bag(text: str, **facts: Any) -> Input:
    """A bag by its words: "a?" may be left out, "a*2" may be used twice, "a|b" has two forms, "saw~" has no tag."""
    tokens = []
    for field in text.split():
        optional, untagged = field.endswith("?"), field.endswith("~")
        word, _, count = field.rstrip("?~").partition("*")
        forms = tuple(word.split("|"))
        pos = None if untagged else POS.get(forms[0])
        tokens.append(InputToken(forms, pos=pos, count=int(count or 1), optional=optional))
    for name, values in facts.pop("tokens", {}).items():
        tokens = [
            InputToken(**{**t.__dict__, name: value}) if value is not None else t
            for t, value in zip(tokens, values, strict=True)
        ]
    return Input(tuple(tokens), **facts)


BAGS = {
    "one word": bag("dog"),
    "two words": bag("dog barks"),
    "a word twice": bag("the dog the"),
    "a word three times": bag("the the dog the"),
    "four words": bag("the dog barks ."),
    "ambiguous tags": bag("saw~ they~ saw~"),
    "unknown word": bag("dog xyzzy~ ."),
    "unit": bag("the dog barks .", units=((0, 1),)),
    "equal units": bag("the dog sees the dog", units=((0, 1), (3, 4))),
    "one unit": bag("the dog", units=((0, 1),)),
    "forms": bag("dog|dogs bark|barks|barking ."),
    "optional": bag("the? dog barks"),
    "optional twice": bag("the? dog the? barks"),
    "counts": bag("the*2 dog barks"),
    "counts and optional": bag("the*3 dog barks", tokens={"optional": [True, False, False]}),
    "order": bag("the dog barks .", order=((0, 1), (1, 3))),
    "order of equal words": bag("the dog the barks", order=((2, 1, 0),)),
    "order with a unit": bag("the dog barks .", units=((0, 1),), order=((1, 2),)),
    "heads": bag("the dog barks .", tokens={"head": [1, 2, ROOT, 2]}),
    "some heads": bag("the dog barks .", tokens={"head": [1, None, None, 2]}),
    "root": bag("the dog barks .", tokens={"head": [None, None, ROOT, None]}),
    "heads of equal words": bag("the dog the barks", tokens={"head": [1, None, 3, None]}),
    "head in a unit": bag("the dog barks .", units=((0, 1),), tokens={"head": [1, 2, None, 1]}),
}

# What cannot be told from the lowest bit of a counter, and given heads of or below words that are left out.
BROKEN_BAGS = {
    "order and counts": bag("the*2 dog barks", order=((0, 1),)),
    "heads and counts": bag("the*2 dog barks", tokens={"head": [1, None, None]}),
    "heads and optional": bag("the? dog barks", tokens={"head": [1, None, None]}),
    "optional head": bag("dog barks?", tokens={"head": [1, None]}),
}

CCG_BAGS = {
    "one word": bag("she"),
    "two words": bag("she sleeps~"),
    "unary rule": bag("old dogs~ sleep~ ."),
    "a word twice": bag("the dog sees the old dog"),
    "two stops": bag("she sleeps~ . ."),
    "unit": bag("the old dog sees she .", units=((0, 1, 2),)),
    "optional": bag("old? dogs~ sleep~ .?"),
    "counts": bag("the old*2 dog barks"),
    "order": bag("she sees they~ .", order=((2, 0),)),
    "categories": bag("she saw they~", tokens={"categories": [("NP",), ("(S[dcl]\\NP)/NP", "N"), ("NP", "N")]}),
    "no derivation": bag("the the she"),
}
