from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text import corpus
from gyro.text.corpus import (
    RESERVED,
    Normalisation,
    check_normalisation,
    is_token,
    read_lines,
    read_sentences,
    tokenize,
)

SPACY = Normalisation("spacy-en")
SPLIT = Normalisation("none")
TEXT = "one line\nzwei Zeilen — ß\n\nlast"
LINES = ["one line", "zwei Zeilen — ß", "", "last"]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def long_text() -> bytes:
    return b"".join(f"{number} {number * number % 9973}\n".encode() for number in range(50_000))


@pytest.mark.parametrize("suffix", ["", ".txt", *PACKERS])
def test_files_of_every_kind_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_bytes(PACKERS.get(suffix, bytes)(TEXT.encode()))
    assert list(read_lines(path)) == LINES


@pytest.mark.parametrize("suffix", PACKERS)
def test_long_compressed_files_are_read_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_bytes(PACKERS[suffix](long_text()))
    assert "\n".join(read_lines(path)).encode() + b"\n" == long_text()


@pytest.mark.parametrize("suffix", PACKERS)
def test_joined_compressed_files_are_one_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_bytes(PACKERS[suffix](b"a\nb") + PACKERS[suffix](b"c\nd\n"))
    assert list(read_lines(path)) == ["a", "bc", "d"]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.999])
def test_truncated_compressed_files_are_refused(tmp_path: Path, suffix: str, kept: float) -> None:
    packed = PACKERS[suffix](long_text())
    path = tmp_path / f"text{suffix}"
    path.write_bytes(packed[: int(len(packed) * kept)])
    with pytest.raises(InputError, match=f"text\\{suffix}: damaged or truncated"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKERS)
def test_damaged_compressed_files_are_refused(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACKERS[suffix](long_text()))
    packed[len(packed) // 2] ^= 0x55
    path = tmp_path / f"text{suffix}"
    path.write_bytes(packed)
    # Some formats hand out wrong text before their checksum tells: then that text is what is refused.
    with pytest.raises(InputError, match=f"text\\{suffix}:"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKERS)
def test_plain_text_with_the_name_of_a_compressed_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_text(TEXT)
    with pytest.raises(InputError, match=f"text\\{suffix}: "):
        list(read_lines(path))


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\xef\xbb\xbfa\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        ("a\u2028b\u0085c\x0bd\re\nf".encode(), ["a\u2028b\u0085c\x0bd\re", "f"]),
        ("a\n\ufeffb".encode(), ["a", "\ufeffb"]),
    ],
)
def test_line_ends_and_byte_order_marks(tmp_path: Path, raw: bytes, lines: list[str]) -> None:
    (tmp_path / "text").write_bytes(raw)
    assert list(read_lines(tmp_path / "text")) == lines


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert list(read_lines("-")) == LINES


def test_bad_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"good\nb\xe9d\n")
    with pytest.raises(InputError, match=r"text:2: found the byte 0xe9 at column 2; UTF-8 is allowed"):
        list(read_lines(tmp_path / "text"))


@pytest.mark.parametrize("name", ["missing.txt", "missing.gz", "."])
def test_missing_files_and_folders_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot read"):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "normalisation", "tokens"),
    [
        ("She didn't go to the U.S.", SPACY, ["She", "did", "n't", "go", "to", "the", "U.S."]),
        ("She didn't go.", SPLIT, ["She", "didn't", "go."]),
        ("Didn't GO", Normalisation("none", lowercase=True), ["didn't", "go"]),
        ("ΣΑΣ ΣΑ", Normalisation("none", lowercase=True), ["σας", "σα"]),
        ("a\u00a0b\u2028c\u0085d\te \0f\0g", SPLIT, ["a", "b", "c", "d", "e", "f", "g"]),
        ("a\u00a0b\u2028c  d\te \0f\0g ", SPACY, ["a", "b", "c", "d", "e", "f", "g"]),
        ("<s> a <unk> </s> <eps>", SPLIT, ["a"]),
        ("<S> a <UNK>", Normalisation("none", lowercase=True), ["a"]),
        ("", SPACY, []),
        (" \t ", SPACY, []),
    ],
)
def test_tokenize(text: str, normalisation: Normalisation, tokens: list[str]) -> None:
    assert tokenize(text, normalisation) == tokens


@given(st.text(), st.sampled_from(["spacy-en", "none"]), st.booleans())
def test_tokens_are_tokens_and_hold_the_whole_text(text: str, tokenizer: str, lowercase: bool) -> None:
    tokens = tokenize(text, Normalisation(tokenizer, lowercase))
    assert all(map(is_token, tokens))
    if not lowercase and tokenizer == "none" and RESERVED.isdisjoint(text.split()):
        assert "".join(tokens) == "".join(text.replace("\0", " ").split())


@pytest.mark.parametrize(
    "word", ["", " ", " a", "a ", "a b", "a\nb", "a\u00a0", "\0", "a\0", *sorted(RESERVED), "\ud800"]
)
def test_what_is_not_a_token(word: str) -> None:
    assert not is_token(word)


@pytest.mark.parametrize("word", ["a", "ß", "😀", "<s", "\u200b", "{"])
def test_what_is_a_token(word: str) -> None:
    assert is_token(word)


def test_sentences_of_several_files_without_the_empty_ones(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two\n\n   \n<s> </s>\nthree")
    (tmp_path / "b").write_text("four\n")
    lines: list[int] = []
    sentences = read_sentences([tmp_path / "a", tmp_path / "b"], SPLIT, progress=lines.append)
    assert list(sentences) == [["one", "two"], ["three"], ["four"]]
    assert sum(lines) == 6


def test_paragraphs(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("A dog. It is 3.5. Isn't it?\n\nNext\n")
    assert list(read_sentences([tmp_path / "text"], SPACY, paragraphs=True)) == [
        ["A", "dog", "."],
        ["It", "is", "3.5", "."],
        ["Is", "n't", "it", "?"],
        ["Next"],
    ]


def test_paragraphs_of_split_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("A dog . It barks ! <s> Is it ?\n")
    found = list(read_sentences([tmp_path / "text"], Normalisation("none", lowercase=True), paragraphs=True))
    assert found == [["a", "dog", "."], ["it", "barks", "!"], ["is", "it", "?"]]


@pytest.mark.parametrize("paragraphs", [False, True])
def test_the_number_of_processes_does_not_matter(
    tmp_path: Path, paragraphs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "LINES_PER_TASK", 7)
    text = "".join(f"Sentence {n} isn't long. It's no. {n * n}!\n\n" for n in range(100))
    (tmp_path / "text").write_text(text)
    paths = [tmp_path / "text", tmp_path / "text"]
    one, two = (list(read_sentences(paths, SPACY, paragraphs=paragraphs, jobs=jobs)) for jobs in (1, 2))
    assert one == two
    assert len(one) == (600 if paragraphs else 200)


@pytest.mark.parametrize("jobs", [1, 2])
def test_empty_lines_can_be_kept(tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LINES_PER_TASK", 3)
    text = ["", "a b", "", "", "c", " ", "d e f", ""]
    (tmp_path / "text").write_text("".join(line + "\n" for line in text))
    found = list(read_sentences([tmp_path / "text"], SPACY, keep_empty=True, jobs=jobs))
    assert found == [line.split() for line in text]
    assert list(read_sentences([tmp_path / "text"], SPACY, jobs=jobs)) == [["a", "b"], ["c"], ["d", "e", "f"]]


def test_an_error_ends_the_processes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LINES_PER_TASK", 2)
    (tmp_path / "text").write_bytes(b"good\n" * 20 + b"\xff\n")
    with pytest.raises(InputError, match=":21: "):
        list(read_sentences([tmp_path / "text"], SPACY, jobs=2))


def test_spacy_made_anew_gives_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Mr. O'Neill can't (really) pay $3.50 a.m."
    before = tokenize(text, SPACY)
    monkeypatch.setattr(corpus, "MOST_WORDS_IN_SPACY", 1)
    assert tokenize(text, SPACY) == before


def test_normalisation_to_json_and_back() -> None:
    for normalisation in (SPACY, SPLIT, Normalisation("none", lowercase=True)):
        assert Normalisation.from_json(normalisation.to_json()) == normalisation
    assert Normalisation.from_json({"tokenizer": "spacy-en", "lowercase": False, "spacy": "0.1"}).spacy == "0.1"
    assert Normalisation("spacy-en", spacy="0.1") == SPACY


@pytest.mark.parametrize("value", [None, [], {}, {"tokenizer": "none"}, {"tokenizer": "moses", "lowercase": True}])
def test_foreign_normalisations_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="allowed"):
        Normalisation.from_json(value)


def test_check_normalisation() -> None:
    check_normalisation(SPACY, "index", Normalisation("spacy-en", spacy="0.1"), "model")
    check_normalisation(None, "index", SPACY, "model")
    check_normalisation(SPACY, "index", None, "model")
    with pytest.raises(InputError, match=r"the index \(tokenizer spacy-en, case kept\) and the model \(tokenizer none"):
        check_normalisation(SPACY, "the index", SPLIT, "the model")


@pytest.mark.parametrize(
    ("a", "b", "is_allowed"),
    [
        (SPACY, SPLIT, True),
        (SPLIT, SPACY, True),
        (Normalisation("none", True), Normalisation("spacy-en", True), True),
        (Normalisation("none", True), SPACY, False),
        (Normalisation("spacy-en", True), SPACY, False),
    ],
)
def test_text_that_came_split_can_be_vouched_for(a: Normalisation, b: Normalisation, is_allowed: bool) -> None:
    """Whether it was split alike is known to the user alone; in which case it is, is recorded."""
    with pytest.raises(InputError) as caught:
        check_normalisation(a, "the index", b, "the model", vouched=False)
    assert ("or give --vouch" in str(caught.value)) == is_allowed
    with pytest.raises(InputError) as caught:
        check_normalisation(a, "the index", b, "the model")  # where nobody is asked
    assert "--vouch" not in str(caught.value)
    if is_allowed:
        check_normalisation(a, "the index", b, "the model", vouched=True)
    else:
        with pytest.raises(InputError):
            check_normalisation(a, "the index", b, "the model", vouched=True)


def test_split_text_does_not_pay_for_spacy() -> None:
    code = "import sys, gyro.text.corpus as c; c.tokenize('a b', c.Normalisation('none'));"
    code += " sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- bounds


def test_lines_are_the_same_however_they_fall_into_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_bytes(("\ufeff" + TEXT + "\r\n\r\nend").encode())
    whole = list(read_lines(tmp_path / "text"))
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(corpus, "PIECE", size)
        assert list(read_lines(tmp_path / "text")) == whole == [*LINES, "", "end"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_line_that_is_too_long_is_refused_with_its_place(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"text{suffix}"
    monkeypatch.setattr(corpus, "PIECE", 1 << 10)
    monkeypatch.setattr(corpus, "MOST_TOKENS_IN_LINE", 100)
    monkeypatch.setattr(corpus, "LONGEST_LINE", 5000)
    file.write_bytes(PACKERS[suffix](b"short\n" + b"x" * 5000 + b"\n"))
    assert len(list(read_lines(file))) == 2
    for end in (b"\n", b"", b"x" * 100_000):
        file.write_bytes(PACKERS[suffix](b"short\n" + b"x" * 5001 + end))
        with pytest.raises(InputError, match=rf"text{suffix}:2: found a line of more than"):
            list(read_lines(file))


def test_a_line_of_too_many_tokens_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MOST_TOKENS_IN_LINE", 10)
    (tmp_path / "text").write_text("a " * 10 + "\n" + "a " * 11)
    with pytest.raises(InputError, match=r"text:2: found a line of more than 10 tokens"):
        list(read_lines(tmp_path / "text"))


BOMB = """
import resource, sys
from gyro.text.corpus import read_lines

number = sum(1 for _ in read_lines(sys.argv[1]))
print(number, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


def test_a_small_file_of_many_lines_takes_little_memory(tmp_path: Path) -> None:
    """256 MB of lines in a few KB: where a piece of the file was unpacked at once, they were all in memory."""
    packer = zstandard.ZstdCompressor()
    file, small = tmp_path / "bomb.zst", tmp_path / "small.zst"
    file.write_bytes(packer.compress((b"x" * 1023 + b"\n") * (1 << 18)))
    small.write_bytes(packer.compress(b"\n"))
    lines, memory = zip(
        *(map(int, subprocess.check_output([sys.executable, "-c", BOMB, str(f)]).split()) for f in (small, file)),
        strict=True,
    )
    assert lines == (1, 1 << 18)
    assert memory[1] - memory[0] < 100
