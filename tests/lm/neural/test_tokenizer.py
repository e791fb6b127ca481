"""Text to pieces: against the package's own tokenizer of the same data, and SentencePiece's rule done by hand."""

from __future__ import annotations

import json
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gyro.errors import InputError
from lm.neural.tokenizer import MARKS, TextTokenizer, Vocabulary, build_tokenizer, load_tokenizer, text_marks
from tests.lm.neural.tiny import FAMILIES, needs_default, tiny_model, tokenizer_json
from tests.lm.neural.tiny_pieces import BLANK, TEXT

PATH = Path("model.gguf")
MODELS = {kind: tiny_model(kind) for kind in FAMILIES}
BYTE_LEVEL = [kind for kind, family in FAMILIES.items() if not family.sentence_piece]
SENTENCE_PIECE = [kind for kind, family in FAMILIES.items() if family.sentence_piece]
# Text of bags: no control characters and no halves of surrogate pairs; and words that look like marks.
LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn"))
WORDS = st.one_of(
    st.sampled_from([*TEXT.split(), "don't", "IT'S", "12345", "—", "naïve", "日本", "\U0001f600"]),
    st.sampled_from([name for pair in MARKS for name in pair] + ["<unk>", "<pad>", "<0x41>", "<|im_end|>"]),
    st.text(LETTERS, max_size=6),
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def _vocabulary(kind: str) -> Vocabulary:
    model, family = MODELS[kind], FAMILIES[kind]
    marks = len(model.marks)
    classes = [3] * marks + [1] * (len(model.pieces) - marks)
    if family.sentence_piece:
        classes[marks : marks + 256] = [6] * 256
        return Vocabulary("llama", model.pieces, classes, scores=model.scores, blank_first=kind == "tinyllama")
    merges = [" ".join(pair) for pair in model.merges]
    return Vocabulary("gpt2", model.pieces, classes, merges, splitting=family.splitting)


def _build(kind: str) -> TextTokenizer:
    return build_tokenizer(_vocabulary(kind), PATH)


BUILT = {kind: _build(kind) for kind in FAMILIES}


def _plain(kind: str) -> Tokenizer:
    """The package's own tokenizer, without its marks."""
    return Tokenizer.from_str(json.dumps(tokenizer_json(MODELS[kind]) | {"added_tokens": []}))


PLAIN = {kind: _plain(kind) for kind in FAMILIES}


@pytest.mark.parametrize("kind", FAMILIES)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_pieces_are_those_of_the_package(kind: str, text: str) -> None:
    if kind.startswith("qwen"):  # Qwen's own tokenizer composes letters and accents, which its GGUF files do not say
        text = unicodedata.normalize("NFC", text)
    pieces, ends = BUILT[kind].encode([text])[0]
    theirs = PLAIN[kind].encode(text, add_special_tokens=False)
    assert pieces == theirs.ids
    assert ends == [end for _, end in theirs.offsets]


@pytest.mark.parametrize("kind", FAMILIES)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_text_never_becomes_a_mark_and_nothing_is_lost(kind: str, text: str) -> None:
    pieces, ends = BUILT[kind].encode([text])[0]
    names = [MODELS[kind].pieces[piece] for piece in pieces]
    assert not set(names) & set(MODELS[kind].marks)
    assert ends == sorted(ends)
    assert ends[-1:] == ([len(text)] if text else [])
    if kind.startswith("qwen"):
        return
    if kind in BYTE_LEVEL:
        plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
        letters = {chr(byte): byte for byte in plain}
        rest = [byte for byte in range(256) if byte not in plain]
        letters |= {chr(256 + place): byte for place, byte in enumerate(rest)}
        assert bytes(letters[letter] for name in names for letter in name).decode() == text
    else:
        spelt = b"".join(
            bytes([int(name[3:5], 16)]) if name.startswith("<0x") and len(name) == 6 else name.encode()
            for name in names
        )
        expected = text.replace(" ", BLANK)
        assert spelt.decode() == (BLANK + expected if kind == "tinyllama" and text else expected)


def _by_hand(text: str, pieces: dict[str, int], scores: list[float], names: list[str]) -> list[int]:
    """SentencePiece's rule: join the neighbours whose union has the best score; bytes for what is left."""
    parts = list(text)
    while True:
        joins = [(-scores[pieces[a + b]], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in pieces]
        if not joins:
            break
        at = min(joins)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    found: list[int] = []
    for part in parts:
        found += [pieces[part]] if part in pieces else [names.index(f"<0x{byte:02X}>") for byte in part.encode()]
    return found


SMALL = ["a", "b", "c", "ab", "bc", "abc", "aa", "cab", BLANK, BLANK + "a", BLANK + "ab", BLANK + BLANK, "ca", "bca"]


@settings(max_examples=150, deadline=None)
@given(scores=st.permutations(range(len(SMALL))), text=st.text("abc é", max_size=12), blank_first=st.booleans())
def test_sentence_pieces_are_joined_by_score(scores: list[int], text: str, blank_first: bool) -> None:
    names = ["<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *SMALL]
    values = [0.0] * 258 + [-float(score) for score in scores]
    classes = [3, 3] + [6] * 256 + [1] * len(SMALL)
    tokenizer = build_tokenizer(Vocabulary("llama", names, classes, scores=values, blank_first=blank_first), PATH)
    marked = (BLANK if blank_first and text else "") + text.replace(" ", BLANK)
    normal = {name: number for number, name in enumerate(names) if classes[number] == 1}
    assert tokenizer.encode([text])[0][0] == _by_hand(marked, normal, values, names)


def test_ends_are_counted_in_characters() -> None:
    ids, ends = BUILT["llama"].encode(["the cat – don't"])[0]
    names = [MODELS["llama"].pieces[piece] for piece in ids]
    assert names == ["t", "h", "e", "Ġcat", "Ġ", "â", "Ģ", "ĵ", "Ġ", "d", "o", "n", "'", "t"]
    assert ends == [1, 2, 3, 7, 8, 9, 9, 9, 10, 11, 12, 13, 14, 15]


@pytest.mark.parametrize(
    ("splitting", "text", "words"),
    [
        ("smollm", " 1984", [" ", "1", "9", "8", "4"]),
        ("llama-bpe", " 12345", [" ", "123", "45"]),
        ("qwen2", " 1984", [" ", "1", "9", "8", "4"]),
        ("gpt-2", " 1984", [" 1984"]),
        ("default", " it's 7", [" it", "'s", " 7"]),
        ("llama-bpe", "IT'S", ["IT", "'S"]),
    ],
)
def test_text_is_cut_as_the_model_was_trained(splitting: str, text: str, words: list[str]) -> None:
    """Merges that would join all letters of a text show where it is cut."""
    model = MODELS["llama"]
    letters, merges, pieces = text.replace(" ", "Ġ"), [], model.pieces[: len(model.marks) + 256]
    for start in range(len(letters)):
        for end in range(start + 2, len(letters) + 1):
            if letters[start:end] not in pieces:
                pieces.append(letters[start:end])
                merges.append(f"{letters[start : end - 1]} {letters[end - 1]}")
    tokenizer = build_tokenizer(Vocabulary("gpt2", pieces, [], merges, splitting=splitting), PATH)
    found = [pieces[piece].replace("Ġ", " ") for piece in tokenizer.encode([text])[0][0]]
    assert found == words


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "bert"}, "found a tokenizer of the kind 'bert'; gpt2 and llama are read"),
        ({"splitting": "tekken"}, "found text cut as 'tekken'; default, gpt-2, smollm, llama-bpe, qwen2 are read"),
        ({"classes": [1]}, "found 1 classes of 302 pieces"),
        ({"merges": ["a b c"]}, "found the merge 'a b c'; two pieces"),
        ({"merges": ["a"]}, "found the merge 'a'"),
        ({"pieces": ["a"] * 302}, "found no piece for 205 of 206 bytes"),
        ({"kind": "llama"}, "found 0 scores of 302 pieces"),
        ({"kind": "llama", "scores": [0.0] * 302}, "found no piece for 256 of 256 bytes"),
        ({"kind": "llama", "scores": [0.0] * 302, "pieces": ["x" * 200] * 302}, "found a piece of 200 characters"),
    ],
)
def test_other_vocabularies_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        build_tokenizer(Vocabulary(**(vars(_vocabulary("llama")) | changes)), PATH)
    assert message in str(refusal.value)


def test_marks_of_texts_come_before_those_of_turns() -> None:
    assert text_marks({"<bos>": 2, "<eos>": 1, "<end_of_turn>": 106}, (2, 106), 300, PATH) == (2, 1)
    assert text_marks({"a": 0}, (5, 6), 300, PATH) == (5, 6)
    with pytest.raises(InputError, match="no piece that begins or ends a text"):
        text_marks({"a": 0}, (5, None), 300, PATH)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_tokenizer_file_with_hostile_settings_still_cuts_text_only(kind: str, tmp_path: Path) -> None:
    """Marks are not matched, nothing is added, cut off or filled up, and no merge is left out at random."""
    whole = tokenizer_json(MODELS[kind])
    whole["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    whole["model"]["dropout"] = 0.9
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole), encoding="utf-8")
    tokenizer, numbers = load_tokenizer(tmp_path / "tokenizer.json", len(MODELS[kind].pieces))
    text = f"the cat {MODELS[kind].marks[0]} sat {MODELS[kind].marks[1]}"
    assert tokenizer.encode([text]) == BUILT[kind].encode([text])
    assert numbers == {piece: number for number, piece in enumerate(MODELS[kind].pieces)}


@needs_default
def test_the_embedded_model_cuts_english() -> None:
    from lm.neural.checkpoint import open_checkpoint

    tokenizer = open_checkpoint("default").tokenizer
    text = "Hello world, it's 1984 – don't <|endoftext|>"
    ids, ends = tokenizer.encode([text])[0]
    cut = [text[start:end] for start, end in pairwise([0, *ends])]
    assert cut[:13] == ["Hello", " world", ",", " it", "'s", " ", "1", "9", "8", "4", " –", " don", "'t"]
    assert 0 not in ids
