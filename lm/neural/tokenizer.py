"""Text to pieces; the one module that touches the package tokenizers.

Vocabulary       the tokenizer of a GGUF file as it stands there
build_tokenizer  byte-level BPE or SentencePiece's BPE out of it
load_tokenizer   the tokenizer of a Hugging Face folder
text_marks       the pieces that begin and end a text
TextTokenizer    what both give: the pieces of texts, and where each ends

Text is always text: a word like <|endoftext|> in a bag is cut into pieces like any other, and never becomes the mark of
that name. Nothing is added to a text. Where the model wants a blank before the first word (SentencePiece models
whose file says add_space_prefix, as Llama 2 and TinyLlama do, and Gemma does not), that is part of its pieces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from gyro.errors import InputError
from gyro.files import check_type, read_json

BLANK = "\N{LOWER ONE EIGHTH BLOCK}"  # what SentencePiece writes for a blank
NORMAL = 1  # the class of pieces that text can become; others are marks, bytes, or of no use
LONGEST_PIECE = 128  # characters of a piece of SentencePiece, whose merges are all ways to cut it in two

# What begins and ends a text where a vocabulary has it. The facts of a file come second: files of chat models give the
# end of a turn as their end.
MARKS = (
    ("<|endoftext|>", "<|endoftext|>"),
    ("<|begin_of_text|>", "<|end_of_text|>"),
    ("<bos>", "<eos>"),
    ("<s>", "</s>"),
)

# How text is cut before pieces are merged, as the models' own tokenizers do it; {} is how many digits stay together.
_CUT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer of a GGUF file."""

    kind: str
    pieces: Sequence[str]
    classes: Sequence[int] = ()
    merges: Sequence[str] = ()
    scores: Sequence[float] = ()
    splitting: str = "default"
    blank_first: bool = False
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class _Added:
    """A piece that a tokenizer.json adds to the vocabulary of its model."""

    id: int
    content: str
    special: bool = False


class TextTokenizer:
    """Pieces of texts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each text the numbers of its pieces, and for each piece where it ends in the text, in characters.

        A piece of a part of a character ends where the character does. Control characters for which a vocabulary has no
        piece are left out.
        """
        # One by one: a batch would start threads, which do not survive a fork.
        found = (self._tokenizer.encode(text, add_special_tokens=False) for text in texts)
        return [(one.ids, [end for _, end in one.offsets]) for one in found]


def text_marks(
    numbers: Mapping[str, int], own: tuple[int | None, int | None], size: int, path: Path
) -> tuple[int, int]:
    """The numbers of the pieces that begin and end a text; `own` is what the file says, of `size` pieces.

    >>> text_marks({"<s>": 1, "</s>": 2, "a": 3}, (None, None), 4, Path("model.gguf"))
    (1, 2)
    """
    known = [(numbers[first], numbers[last]) for first, last in MARKS if first in numbers and last in numbers]
    start, end = known[0] if known else own
    if start is None or end is None:
        names = ", ".join(dict.fromkeys(name for pair in MARKS for name in pair))
        raise InputError(
            f"found no piece that begins or ends a text; {names}, or its own bos and eos, are read", path=path
        )
    if not (0 <= start < size and 0 <= end < size):
        raise InputError(f"found {start} and {end} as start and end of a text; 0 to {size - 1} are allowed", path=path)
    return start, end


def build_tokenizer(vocabulary: Vocabulary, path: Path) -> TextTokenizer:
    """The tokenizer that the vocabulary of a GGUF file describes."""
    if vocabulary.kind not in _BUILDERS:
        found = f"found a tokenizer of the kind {vocabulary.kind[:40]!r}"
        raise InputError(f"{found}; {' and '.join(_BUILDERS)} are read", path=path)
    if vocabulary.classes and len(vocabulary.classes) != len(vocabulary.pieces):
        found = f"found {len(vocabulary.classes)} classes of {len(vocabulary.pieces)} pieces"
        raise InputError(f"{found}; as many are read", path=path)
    return TextTokenizer(_BUILDERS[vocabulary.kind](vocabulary, path))


def load_tokenizer(path: Path, size: int) -> tuple[TextTokenizer, dict[str, int]]:
    """The tokenizer of a tokenizer.json, for a model of so many pieces; and the numbers of all pieces, marks too."""
    whole = read_json(path)
    model = _object(whole.get("model"))
    if model.get("type") != "BPE" or model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        found = f"found a tokenizer of the type {str(model.get('type'))[:40]!r}"
        raise InputError(f"{found}; BPE without prefixes and suffixes is read", path=path)
    numbers = check_type(dict[str, int], model.get("vocab"), "vocabulary", path)
    added = check_type(list[_Added], whole.get("added_tokens") or [], "list of added tokens", path)
    if wrong := [one for one in (*numbers.values(), *(mark.id for mark in added)) if not 0 <= one < size]:
        raise InputError(f"found a piece of number {wrong[0]}; the embedding has 0 to {size - 1}", path=path)
    marks = {mark.content for mark in added if mark.special}
    plain = {piece: number for piece, number in numbers.items() if piece not in marks}
    pairs = [_pair(one, path) for one in model["merges"]] if isinstance(model.get("merges"), list) else []
    usable = [list(pair) for pair in pairs if _makes_sense(pair, plain)]
    # What is left out: marks, which no text may become, and what would add to a text, cut it or cut pieces at random.
    kept = {name: model.get(name) is True for name in ("byte_fallback", "ignore_merges", "fuse_unk")}
    text = {name: whole.get(name) for name in ("version", "normalizer", "pre_tokenizer")}
    text |= {"added_tokens": [], "model": {"type": "BPE", "vocab": plain, "merges": usable, **kept}}
    if kept["byte_fallback"]:
        _check_bytes(plain, _BYTE_NAMES, path)
    elif _uses_bytes(whole.get("pre_tokenizer")):
        _check_bytes(plain, _letters_of_bytes(), path)
    else:
        raise InputError("found a tokenizer that leaves out what it does not know; one over bytes is read", path=path)
    try:
        tokenizer = Tokenizer.from_str(json.dumps(text))
        tokenizer.encode(_EVERY_BYTE, add_special_tokens=False)
    except Exception as error:  # the package raises nothing more special
        raise InputError(f"found a tokenizer that cannot be read: {error}", path=path) from error
    return TextTokenizer(tokenizer), numbers | {mark.content: mark.id for mark in added}


def _byte_level(vocabulary: Vocabulary, path: Path) -> Tokenizer:
    """BPE over bytes that are written as letters: GPT-2 and all that took it over."""
    if vocabulary.splitting not in _SPLITTINGS:
        found = f"found text cut as {vocabulary.splitting[:40]!r}"
        raise InputError(f"{found}; {', '.join(_SPLITTINGS)} are read", path=path)
    numbers = _text_pieces(vocabulary)
    merges = [_pair(line, path) for line in vocabulary.merges]
    tokenizer = _merging(numbers, merges, path, ignore_merges=vocabulary.splitting in _WHOLE_WORDS)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(_SPLITTINGS[vocabulary.splitting])
    if vocabulary.splitting == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    _check_bytes(numbers, _letters_of_bytes(), path)
    return tokenizer


def _sentence_piece(vocabulary: Vocabulary, path: Path) -> Tokenizer:
    """BPE by scores over characters, blanks too, with bytes for what it does not know: Llama 2, TinyLlama, Gemma."""
    if len(vocabulary.scores) != len(vocabulary.pieces):
        found = f"found {len(vocabulary.scores)} scores of {len(vocabulary.pieces)} pieces"
        raise InputError(f"{found}; as many are read", path=path)
    numbers = _text_pieces(vocabulary)
    merges = _merges_by_score(numbers, vocabulary.scores, path)
    places = {piece: number for number, piece in enumerate(vocabulary.pieces)}
    spelt = {name: places[name] for name in _BYTE_NAMES if name in places}
    tokenizer = _merging(numbers | spelt, merges, path, byte_fallback=True)
    blanks: list[Any] = [normalizers.Prepend(BLANK)] if vocabulary.blank_first else []
    tokenizer.normalizer = normalizers.Sequence([*blanks, normalizers.Replace(" ", BLANK)])
    _check_bytes(spelt, _BYTE_NAMES, path)
    return tokenizer


def _text_pieces(vocabulary: Vocabulary) -> dict[str, int]:
    """The pieces that text can become; of two that look alike the first."""
    numbers: dict[str, int] = {}
    for number, piece in enumerate(vocabulary.pieces):
        if piece and (not vocabulary.classes or vocabulary.classes[number] == NORMAL):
            numbers.setdefault(piece, number)
    return numbers


def _pair(merge: object, path: Path) -> tuple[str, str]:
    """The two pieces that are merged: `"a b"`, or a list of two."""
    parts = merge.split(" ") if isinstance(merge, str) else merge if isinstance(merge, list) else []
    if len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
        raise InputError(f"found the merge {str(merge)[:40]!r}; two pieces with a blank between are read", path=path)
    return parts[0], parts[1]


def _makes_sense(pair: tuple[str, str], numbers: Mapping[str, int]) -> bool:
    """Whether a merge is one of text: its pieces and what it makes of them are all there, and none is a mark."""
    return pair[0] in numbers and pair[1] in numbers and pair[0] + pair[1] in numbers


def _merges_by_score(numbers: Mapping[str, int], scores: Sequence[float], path: Path) -> list[tuple[str, str]]:
    """All ways to make a piece of two, the best score first: SentencePiece joins the neighbours that give it."""
    found = []
    for piece, number in numbers.items():
        if len(piece) > LONGEST_PIECE:
            raise InputError(f"found a piece of {len(piece)} characters; up to {LONGEST_PIECE} are read", path=path)
        for cut in range(1, len(piece)):
            first, second = numbers.get(piece[:cut]), numbers.get(piece[cut:])
            if first is not None and second is not None:
                found.append((-scores[number], number, first, second, cut, piece))
    found.sort()
    return [(piece[:cut], piece[cut:]) for *_, cut, piece in found]


def _merging(numbers: dict[str, int], merges: list[tuple[str, str]], path: Path, **options: bool) -> Tokenizer:
    """A tokenizer of these pieces; a merge of or into what is no text, like a mark, is left out."""
    usable = [pair for pair in merges if _makes_sense(pair, numbers)]
    try:
        return Tokenizer(models.BPE(vocab=numbers, merges=usable, **options))
    except Exception as error:  # the package raises nothing more special
        raise InputError(f"found a vocabulary that cannot be read: {error}", path=path) from error


def _check_bytes(numbers: Mapping[str, int], names: Sequence[str], path: Path) -> None:
    """Refuse a vocabulary that would drop a part of a text because it does not know it."""
    if missing := sorted(set(names) - numbers.keys()):
        found = f"found no piece for {len(missing)} of {len(names)} bytes, such as {missing[0]!r}"
        raise InputError(f"{found}; a vocabulary with all of them is read", path=path)


def _letters_of_bytes() -> list[str]:
    """The letters that byte-level BPE writes for the bytes of printable text."""
    return sorted(set("".join(letters for letters, _ in _BYTES.pre_tokenize_str(_EVERY_BYTE))))


def _uses_bytes(splitting: object) -> bool:
    """Whether the way to cut text turns it into bytes, itself or in one of its steps."""
    steps = _object(splitting).get("pretokenizers")
    return _object(splitting).get("type") == "ByteLevel" or (
        isinstance(steps, list) and any(_object(step).get("type") == "ByteLevel" for step in steps)
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
# Characters that have, as UTF-8, all bytes of printable text. SmolLM2 has no pieces for some control characters.
_EVERY_BYTE = "".join(map(chr, (*range(0x20, 0x7F), *range(0x80, 0x800), 0x900, *range(0x1000, 0x11000, 0x1000))))
_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
_WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
_SPLITTINGS: dict[str, list[Any]] = {
    "default": [_WORDS],
    "gpt-2": [_WORDS],
    "smollm": [pre_tokenizers.Digits(individual_digits=True), _WORDS],
    "llama-bpe": [pre_tokenizers.Split(Regex(_CUT.format("{1,3}")), "isolated"), _BYTES],
    "qwen2": [pre_tokenizers.Split(Regex(_CUT.format("")), "isolated"), _BYTES],
}
_WHOLE_WORDS = ("llama-bpe",)  # where a word that is a piece is taken whole, whether or not merges make it
_BUILDERS = {"gpt2": _byte_level, "llama": _sentence_piece}
