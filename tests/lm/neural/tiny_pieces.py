"""The tokenizers of tiny models.

byte_pieces          marks, all bytes, and merges that make English words: as GPT-2 has them
sentence_pieces      marks, bytes by name, words with their blank, letters and scores: as SentencePiece has them
byte_level_json      the first as a tokenizer.json
sentence_piece_json  the second
TEXT                 the words that have pieces of their own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TEXT = "the cat sat on a mat and it was here they don't know 1984 is not the end of things"
WORDS = TEXT.split()
BLANK = "▁"
Merges = list[tuple[str, str]]
CUT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_pieces(marks: Sequence[str]) -> tuple[list[str], Merges, list[float]]:
    """Marks, the 256 letters that stand for bytes, and what merges make of the words letter by letter."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in plain] + [chr(256 + number) for number in range(256 - len(plain))]
    pieces, merges = [*marks, *letters], []
    for word in WORDS:
        if word.isalpha():
            whole = "Ġ"
            for letter in word:
                if whole + letter not in pieces:
                    pieces.append(whole + letter)
                    merges.append((whole, letter))
                whole += letter
    return pieces, merges, []


def sentence_pieces(marks: Sequence[str]) -> tuple[list[str], Merges, list[float]]:
    """Marks, bytes, words with their blank and all their beginnings, and letters; the merges follow from the scores."""
    letters = sorted({letter for word in WORDS for letter in word} | {BLANK})
    starts = list(dict.fromkeys(BLANK + word[:length] for word in WORDS for length in range(1, len(word) + 1)))
    pieces = [*marks, *(f"<0x{byte:02X}>" for byte in range(256)), *starts, *letters]
    scores = [0.0] * (len(marks) + 256)
    scores += [-float(number) for number in range(len(pieces) - len(scores))]
    # A word's beginning of n letters is only made of that of n - 1: one way, at the rank of its score.
    return pieces, [(piece[:-1], piece[-1]) for piece in starts], scores


def byte_level_json(pieces: Sequence[str], merges: Merges, marks: Sequence[str], splitting: str) -> dict[str, Any]:
    """A tokenizer.json; `splitting` as GGUF files name it."""
    first: dict[str, Any] = {"type": "Digits", "individual_digits": True}
    if splitting != "smollm":
        pattern = {"Regex": CUT.replace("DIGITS", "{1,3}" if splitting == "llama-bpe" else "")}
        first = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": splitting == "smollm"}
    return _whole(pieces, merges, marks, splitting == "llama-bpe") | {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [first, last]}
    }


def sentence_piece_json(
    pieces: Sequence[str], merges: Merges, marks: Sequence[str], blank_first: bool
) -> dict[str, Any]:
    """A tokenizer.json with byte fallback."""
    blank = {"type": "Replace", "pattern": {"String": " "}, "content": BLANK}
    prefixed = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": BLANK}, blank]}
    whole = _whole(pieces, merges, marks, False) | {"normalizer": prefixed if blank_first else blank}
    whole["model"] |= {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    return whole


def _whole(pieces: Sequence[str], merges: Merges, marks: Sequence[str], ignore_merges: bool) -> dict[str, Any]:
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": mark, "special": True, **off} for number, mark in enumerate(marks)],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": {piece: number for number, piece in enumerate(pieces)},
            "merges": [list(pair) for pair in merges],
        },
    }
