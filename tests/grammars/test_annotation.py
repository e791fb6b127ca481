from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from grammars.annotation import (
    Annotation,
    TreebankSentence,
    derivation_to_sentence,
    likely_categories,
    read_treebank,
    sentence_to_bag,
    tree_to_sentence,
)
from grammars.ccg.derivation import parse_auto
from grammars.ccg.tagger import train_tagger
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.errors import InputError

OWL = parse_auto(
    "(<T S[dcl] 1 2> (<T NP 1 2> (<L NP/N DT DT the NP/N>) (<L N XX XX owl N>) ) "
    r"(<L S[dcl]\NP VBZ VBZ cries S[dcl]\NP>) )"
)
DOGS = ConlluSentence(
    (
        ConlluToken("The", "the", "DET", "DT", "Definite=Def", 1, "det"),
        ConlluToken("dogs", "dog", "NOUN", "NNS", "Number=Plur", 2, "nsubj"),
        ConlluToken("bark", "_", "VERB", "_", "_", -1, "root"),
    )
)


def test_what_a_tree_tells() -> None:
    assert tree_to_sentence(DOGS, "7") == TreebankSentence(
        "7",
        ("The", "dogs", "bark"),
        xpos=("DT", "NNS", None),
        upos=("DET", "NOUN", "VERB"),
        heads=(1, 2, -1),
        labels=("det", "nsubj", "root"),
        lemmas=("the", "dog", "bark"),  # a missing lemma is the form
        feats=("Definite=Def", "Number=Plur", "_"),
        base_phrases=((0, 1),),
    )


def test_what_a_derivation_tells() -> None:
    words = ("the", "owl", "cries")
    assert derivation_to_sentence(OWL, "7") == TreebankSentence(
        "7", words, xpos=("DT", None, "VBZ"), base_phrases=((0, 1),)
    )


def test_sentences_without_a_name_are_numbered(tmp_path: Path) -> None:
    leaf = "(<L N NN NN owl N>)"
    (tmp_path / "two.auto.txt").write_text(f"ID=wsj.1 PARSER=x\n{leaf}\n{leaf}\n")
    assert [sentence.id for sentence in read_treebank(tmp_path / "two.auto.txt", first=5)] == ["wsj.1", "6"]
    row = "1\towl\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "two.conllu").write_text(f"{row}# sent_id = second\n{row}")
    assert [sentence.id for sentence in read_treebank(tmp_path / "two.conllu", first=5)] == ["5", "second"]


SIZE = 400
LONG = TreebankSentence("x", tuple(f"w{n:03}" for n in range(SIZE)), ("T",) * SIZE, heads=(-1, *range(SIZE - 1)))


def given_places(share: float, seed: int = 0) -> tuple[set[int], set[int]]:
    bag = sentence_to_bag(LONG, Annotation(pos=share, heads=share, seed=seed))
    columns = (bag.pos or (None,) * SIZE, bag.heads or (None,) * SIZE)
    with_pos, with_head = ({n for n, value in enumerate(column) if value is not None} for column in columns)
    return with_pos, with_head


def test_shares_are_drawn_and_nested() -> None:
    assert given_places(0) == (set(), set())
    assert given_places(1) == (set(range(SIZE)), set(range(SIZE)))
    quarter, half = given_places(0.25), given_places(0.5)
    for small, large in zip(quarter, half, strict=True):
        assert small < large
        assert 0.4 * SIZE < len(large) < 0.6 * SIZE
    assert half[0] != half[1]
    assert given_places(0.5, seed=1) != half == given_places(0.5)


@pytest.mark.parametrize(
    "given", [Annotation(heads=1, labels=True, units=True), Annotation(heads=1, tags="upos", lemmas=True)]
)
def test_each_word_keeps_what_is_known_of_it(given: Annotation) -> None:
    sentence = tree_to_sentence(DOGS, "7")
    bag = sentence_to_bag(sentence, given)
    tags, words = (sentence.upos, sentence.lemmas) if given.lemmas else (sentence.xpos, sentence.words)
    assert words
    assert tags
    head_words = [None if head == -1 else words[head or 0] for head in sentence.heads or ()]
    found_heads = [None if head == -1 else bag.tokens[head or 0] for head in bag.heads or ()]
    assert Counter(zip(words, tags, head_words, strict=True)) == Counter(
        zip(bag.tokens, bag.pos or (), found_heads, strict=True)
    )
    assert bag.reference == sentence.words
    units = [tuple(bag.tokens[place] for place in unit) for unit in bag.units]
    assert units == ([("The", "dogs")] if given.units else [])


def test_categories_go_with_their_words() -> None:
    sentence = derivation_to_sentence(OWL, "7")
    categories = [("NP/N",), None, ("S[dcl]\\NP", "N")]
    assert sentence_to_bag(sentence, Annotation(), categories).categories == (("S[dcl]\\NP", "N"), None, ("NP/N",))
    with pytest.raises(InputError, match="found 1 categories for 3 tokens"):
        sentence_to_bag(sentence, Annotation(), [None])


def test_likely_categories_are_the_taggers() -> None:
    tagger, sentence = train_tagger([OWL], epochs=1, seed=0), derivation_to_sentence(OWL, "7")
    tags = [tag or "XX" for tag in sentence.xpos]
    wanted = [tuple(name for name, _ in found) for found in tagger.tag(sentence.words, tags, 0.1)]
    assert likely_categories(tagger, sentence, 0.1) == wanted == [("NP/N",), ("N",), ("S[dcl]\\NP",)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pos": 1.5}, "found the share 1.5 of pos; 0 to 1 is allowed"),
        ({"heads": float("nan")}, "found the share nan of heads"),
        ({"tags": "penn"}, "found the tags 'penn'; xpos or upos is allowed"),
        ({"lemmas": True}, "found lemmas with xpos tags, which tell their forms"),
    ],
)
def test_wrong_annotation_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Annotation(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (Annotation(heads=0.1), "heads"),
        (Annotation(labels=True), "labels"),
        (Annotation(tags="upos"), "upos"),
        (Annotation(tags="upos", lemmas=True), "lemmas"),
    ],
)
def test_what_the_treebank_does_not_know_cannot_be_given(given: Annotation, name: str) -> None:
    with pytest.raises(InputError, match=f"no {name} are known of sentence '7'; CoNLL-U files have them"):
        sentence_to_bag(derivation_to_sentence(OWL, "7"), given)
