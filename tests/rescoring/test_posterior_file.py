"""Files of posteriors: what is written is read back exactly, and damage is told with its line."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from rescoring.posterior import Posteriors, string_posteriors
from rescoring.posterior_file import posterior_lines, read_posteriors

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=3).filter(
    lambda text: text.split() == [text]
)
grams = st.dictionaries(
    st.lists(words, min_size=1, max_size=9).map(tuple), st.floats(0.0, 1.0, allow_subnormal=True), max_size=6
)


@given(st.lists(grams, max_size=4))
def test_posteriors_are_read_back_exactly(sentences: list[dict[tuple[str, ...], float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.tsv.gz"
        text = "".join(posterior_lines(f"id {number}", each) for number, each in enumerate(sentences))
        path.write_bytes(gzip.compress(text.encode()))
        found = read_posteriors(path)
    assert found.ids == tuple(f"id {number}" for number in range(len(sentences)))
    assert [dict(posteriors) for posteriors in found.sentences] == sentences
    assert found.orders == {len(gram) for each in sentences for gram in each}
    for number, each in enumerate(sentences):
        assert found.words(number) == {word for gram in each for word in gram}


def test_lines_are_sorted_and_chosen() -> None:
    posteriors = string_posteriors([("b", "a", "c"), ("b", "a")], [3, 1], order=3)
    assert posterior_lines("7", posteriors).splitlines() == [
        *("7\ta\t1.0", "7\tb\t1.0", "7\tc\t0.75", "7\ta c\t0.75", "7\tb a\t1.0", "7\tb a c\t0.75"),
    ]
    assert posterior_lines("7", posteriors, min_order=2, least=0.8) == "7\tb a\t1.0\n"
    # The same n-grams over words in another order give the same lines.
    again = Posteriors.from_mapping({("z",): 1.0, **posteriors}, 4)
    assert posterior_lines("7", {gram: p for gram, p in again.items() if gram != ("z",)}) == posterior_lines(
        "7", posteriors
    )
    assert posterior_lines("7", posteriors, min_order=4) == "7\n"


@pytest.mark.parametrize(
    ("id", "gram", "message"),
    [
        ("a\tb", ("x",), "found the id 'a"),
        ("", ("x",), "found the id ''"),
        ("a\n", ("x",), "found the id 'a"),
        ("1", ("x y",), "found the word 'x y'"),
        ("1", ("",), "found the word ''"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(id: str, gram: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        posterior_lines(id, {gram: 0.5})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\tx\t1.5", "found the posterior '1.5'; 0 to 1 is allowed"),
        ("1\tx\t-0.1", "found the posterior '-0.1'"),
        ("1\tx\tnan", "found the posterior 'nan'"),
        ("1\tx\thigh", "found the posterior 'high'"),
        ("1\tx", "found 2 columns; id, n-gram and posterior"),
        ("1\tx\t1\t2", "found 4 columns"),
        ("1\tx  y\t1", "found the n-gram 'x y'; 1 to 9 words"),  # errors have single blanks
        ("1\t\t1", "found the n-gram ''; 1 to 9 words"),
        ("1\ta b c d e f g h i j\t1", "1 to 9 words"),
        ("1\ta\t0.25", "found the n-gram 'a' again"),
        ("1", "found the id '1' alone and with n-grams"),
        ("\ta\t1", "without an id"),
        ("", "without an id"),
    ],
)
def test_damaged_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(f"1\ta\t1.0\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        read_posteriors(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


def test_sentences_stand_together(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("1\ta\t1.0\n2\n1\tb\t1.0\n")
    with pytest.raises(InputError, match=r"p\.tsv:3: found the id '1' after another"):
        read_posteriors(path)
    path.write_text("1\n1\tb\t1.0\n")
    with pytest.raises(InputError, match=r"p\.tsv:2: found the id '1' alone and with n-grams"):
        read_posteriors(path)


def test_more_words_than_the_order_allows(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("".join(f"s\tw{i}\t1\n" for i in range(130)) + "s\tw0 w1 w2 w3 w4 w5 w6 w7 w8\t1\n")
    with pytest.raises(InputError, match=r"p\.tsv: sentence 's': found 130 distinct words; .* of order 9 allow 126"):
        read_posteriors(path)
