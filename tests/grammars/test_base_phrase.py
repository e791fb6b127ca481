from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.base_phrase import NOMINAL, base_noun_phrases
from grammars.conllu import ConlluSentence, ConlluToken

# word/UPOS/head/relation; heads are counted from 1, as in CoNLL-U.
CASES = [
    ("the/DET/2/det dog/NOUN/3/nsubj barks/VERB/0/root", ["the dog"]),
    ("dogs/NOUN/2/nsubj bark/VERB/0/root", []),
    ("all/DET/3/det:predet the/DET/3/det dogs/NOUN/4/nsubj bark/VERB/0/root", ["all the dogs"]),
    ("my/PRON/3/nmod:poss own/ADJ/3/amod car/NOUN/0/root", ["my own car"]),
    ("my/PRON/2/nmod:poss wife/NOUN/4/nmod:poss 's/PART/2/case car/NOUN/0/root", ["my wife 's"]),
    ("my/PRON/2/poss wife/NOUN/5/poss 's/PART/2/case red/ADJ/5/amod car/NOUN/0/root", ["my wife 's", "red car"]),
    ("Anna/PROPN/0/root May/PROPN/1/flat Smith/PROPN/1/flat", ["Anna May Smith"]),
    ("very/ADV/2/advmod old/ADJ/3/amod cars/NOUN/0/root", ["very old cars"]),
    ("red/ADJ/4/amod and/CCONJ/3/cc blue/ADJ/1/conj cars/NOUN/0/root", ["red and blue cars"]),
    ("a/DET/5/det big/ADJ/5/amod ,/PUNCT/5/punct old/ADJ/5/amod car/NOUN/0/root", ["a big , old car"]),
    ("five/NUM/3/nummod old/ADJ/3/amod cars/NOUN/0/root", ["five old cars"]),
    ("about/ADV/2/advmod five/NUM/3/nummod cars/NOUN/0/root", ["about five cars"]),
    # Prepositional phrases and clauses are no part of it; what is below them has its own.
    ("the/DET/2/det end/NOUN/0/root of/ADP/5/case the/DET/5/det day/NOUN/2/nmod", ["the end", "the day"]),
    ("on/ADP/3/case the/DET/3/det day/NOUN/0/root", ["the day"]),
    ("a/DET/2/det man/NOUN/0/root who/PRON/4/nsubj runs/VERB/2/acl:relcl", ["a man"]),
    ("the/DET/2/det dog/NOUN/0/root and/CCONJ/5/cc the/DET/5/det cat/NOUN/2/conj", ["the dog", "the cat"]),
    # A predicate: its subject and copula stay outside.
    ("she/PRON/4/nsubj is/AUX/4/cop a/DET/4/det nurse/NOUN/0/root", ["a nurse"]),
    ("not/PART/3/advmod a/DET/3/det nurse/NOUN/0/root", ["a nurse"]),
    # A gap ends the phrase.
    ("the/DET/3/det ,/PUNCT/4/punct dog/NOUN/4/nsubj barks/VERB/0/root", []),
    ("the/DET/3/det sadly/ADV/4/advmod dog/NOUN/4/nsubj barks/VERB/0/root", []),
    # What belongs to it only in part is left out as a whole.
    ("tax/NOUN/4/compound on/ADP/3/case gas/NOUN/1/nmod rules/NOUN/0/root", []),
    ("$/SYM/0/root 5/NUM/1/nummod", ["$ 5"]),
]


def sentence(text: str) -> ConlluSentence:
    tokens = []
    for part in text.split():
        form, upos, head, deprel = part.rsplit("/", 3)
        tokens.append(ConlluToken(form, upos=upos, head=int(head) - 1, deprel=deprel))
    return ConlluSentence(tuple(tokens))


@pytest.mark.parametrize(("text", "phrases"), CASES)
def test_phrases(text: str, phrases: list[str]) -> None:
    tree = sentence(text)
    found = [" ".join(tree.forms[place] for place in places) for places in base_noun_phrases(tree)]
    assert found == phrases


@st.composite
def trees(draw: st.DrawFn) -> ConlluSentence:
    size = draw(st.integers(1, 9))
    rank = draw(st.permutations(range(size)))
    labels = ["det", "amod", "compound", "nmod:poss", "nmod", "case", "punct", "flat", "conj", "nsubj", "nummod"]
    tokens = []
    for place in range(size):
        above = [head for head in range(size) if rank[head] < rank[place]]
        upos = draw(st.sampled_from(["NOUN", "PROPN", "PRON", "DET", "ADJ", "VERB", "PUNCT", "PART"]))
        head, deprel = (draw(st.sampled_from(above)), draw(st.sampled_from(labels))) if above else (-1, "root")
        tokens.append(ConlluToken(draw(st.sampled_from(["a", ",", "-"])), upos=upos, head=head, deprel=deprel))
    return ConlluSentence(tuple(tokens))


@given(trees())
def test_phrases_are_disjoint_pieces_with_one_head(tree: ConlluSentence) -> None:
    phrases = base_noun_phrases(tree, least=1)
    places = [place for phrase in phrases for place in phrase]
    assert places == sorted(set(places))
    for phrase in phrases:
        assert phrase == tuple(range(phrase[0], phrase[-1] + 1))
        heads = [place for place in phrase if tree.heads[place] not in phrase]
        assert len(heads) == 1
        assert tree.tokens[heads[0]].upos in NOMINAL
    nominal = {place for place, token in enumerate(tree.tokens) if token.upos in NOMINAL}
    assert nominal <= set(places)
    assert base_noun_phrases(tree) == [phrase for phrase in phrases if len(phrase) > 1]
