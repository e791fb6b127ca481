"""Tokens in some order become natural text: which neighbours stand together, and which have a blank between them.

WRITTEN     how tokens in the style of the Penn Treebank are written
written     how one token is written
Glue        what two neighbours say of the blank between them: NONE, BLANK, or OPEN where more must be seen
glue        that of two tokens
spaced      each token as it stands in the text, with the blank before it or without
detokenise  the text

The tokens are those of spaCy's English tokeniser, in any order. Each clings to what stands left of it, to what stands
right of it, to both or to neither. Of most tokens two neighbours tell that. Straight quotes, hyphens and marks that
enclose words are open: the whole string is seen before they are decided (`_sides_of_open`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache

Side = tuple[bool, bool]  # does a token cling to what stands left of it, and to what stands right?

CLOSES, OPENS, TOGETHER, APART = (True, False), (False, True), (True, True), (False, False)

MOST_KEPT = 1 << 17  # pairs of neighbours that are remembered

TREEBANK = {"``": '"', "''": '"', "`": "'", "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}
TREEBANK |= {"-LCB-": "{", "-RCB-": "}", "\\/": "/", "\\*": "*"}
WRITTEN = TREEBANK | {token.lower(): form for token, form in TREEBANK.items()}


def _as_tokens(*forms: str) -> frozenset[str]:
    """All tokens that are written in one of these ways, but for straight quotes, which are open."""
    return frozenset(forms) | {token for token, form in WRITTEN.items() if form in forms}


STOPS = _as_tokens(",", ".", ";", ":", "!", "?", ")", "]", "}", "”", "»", "’") | {"''"}
ELLIPSES = frozenset(["...", "…", "..", "....", "……"])
RAISED = frozenset(["™", "®", "²", "³"])
BRACKETS = _as_tokens("(", "[", "{", "„", "‘", "«", "¿", "¡") | {"``", "`"}
# Of the dashes – stands between blanks; these do more seldom than not.
JOINTS = _as_tokens("/", "—", "--", "---", "——")
SIDES: dict[str, Side] = {
    **dict.fromkeys(STOPS | ELLIPSES | RAISED, CLOSES),
    **dict.fromkeys(BRACKETS, OPENS),
    **dict.fromkeys(JOINTS, TOGETHER),
}
AFTER_NUMBER = frozenset(["%", "‰", "°", "′", "″", "+", "M", "G", "K", "T", "m"])
BEFORE_NUMBER = frozenset(["£", "€", "¥", "§", "+"])  # and all that ends in $, like US$

HYPHEN = "-"
QUOTES = frozenset(['"', "'", "“"])
ENCLOSING = frozenset(["*", "#", "_"])
OPEN_TOKENS = QUOTES | ENCLOSING | {HYPHEN}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLITICS = frozenset(mark + end for mark in "'’" for end in _words("s re ve ll d m y")) | {"n't", "n’t"}
# What spaCy takes off words without an apostrophe: "dont", "youre".
BARE_CLITICS = _words("nt ve ll re d s m")
TAKE_CLITICS = _words("i he she it that there they we what when where who why you how these this those")
TAKE_NT = _words(
    "ai are ca could dare did does do had has have is may might must need ought sha should was were wo would"
)
PARTED = frozenset([("can", "not"), ("gon", "na"), ("got", "ta"), ("°", "c"), ("°", "f"), ("°", "k")])
PARTED |= {pair for mark in "'’" for pair in ((f"y{mark}", "all"), (f"c{mark}m", "on"))}
CUT_AT_FRONT = _words("tis twas til till em n cause bout")  # words that begin with an apostrophe

# Words that end no compound: a hyphen before one of them was a dash. Most prepositions do ("built-in").
NEVER_SECOND = _words(
    "the a an this that these those it he she they we i you his her its their our my your which who whom whose what "
    "when where why whether while if because but and or nor yet so though although however therefore then thus is are "
    "was were has had will would could must should as at to for from with than there here among during despite since "
    "until including especially namely not no just also perhaps maybe some any many most more something nothing "
    "everything someone everyone nobody"
)
NEVER_FIRST = _words("is are was were has had should them him us also their its") | CLITICS
PREFIXES = _words(
    "all anti by co counter cross ex extra half inter mid multi neo non over post pre pro re self semi so sub super "
    "ultra un under vice well"
)
PREPOSITIONS = _words("in on after before by of under over about without")  # that end a compound in lower case only
LONGEST_INSERTION = 9  # tokens from a dash to the one that ends what it began
SHORT_TAIL = 5  # tokens from a quote to the end that may be »" Mr. Smith said .«


class Glue(IntEnum):
    """What two neighbours say of the blank between them."""

    NONE = 0
    BLANK = 1
    OPEN = 2


def written(token: str) -> str:
    """How the token is written in natural text.

    >>> written("-LRB-"), written("dog")
    ('(', 'dog')
    """
    return WRITTEN.get(token, token)


def glue(before: str | None, token: str) -> Glue:
    """What the two neighbours say of the blank between them; None stands for the beginning.

    >>> glue("did", "n't").name, glue("the", "dog").name, glue("the", '"').name
    ('NONE', 'BLANK', 'OPEN')
    """
    if not before or not token:
        return Glue.NONE
    if SIDES.get(before, APART)[1] or SIDES.get(token, APART)[0] or _is_parted(before, token):
        return Glue.NONE
    return Glue.OPEN if _is_open(before, token) else Glue.BLANK


def _is_parted(before: str, token: str) -> bool:
    """Are these two parts of what is written as one: a word and its clitic, a number and its mark?"""
    if before[-1].isdigit():
        return token in AFTER_NUMBER or token.lower() in CLITICS
    if token[0].isdigit() or token == "#":
        return before in BEFORE_NUMBER or before[-1] == "$"
    if before in ELLIPSES and token[0].isupper():
        return True  # text is cut into sentences where a blank stands here, so that within one there is none
    first, second = before.lower(), token.lower()
    if second in CLITICS or (first, second) in PARTED:
        return True
    return second in BARE_CLITICS and first in (TAKE_NT if second == "nt" else TAKE_CLITICS)


def _is_open(before: str, token: str) -> bool:
    if token == HYPHEN or before == HYPHEN:
        return (token != HYPHEN or before[-1].isalnum()) and (before != HYPHEN or token[0].isalnum() or token[0] == "-")
    return token in OPEN_TOKENS or before in OPEN_TOKENS


@lru_cache(MOST_KEPT)
def _joined(before: str | None, token: str) -> str | None:
    """The token with its blank or without; None where the neighbours do not tell."""
    found = glue(before, token)
    return None if found is Glue.OPEN else " " * found + written(token)


def spaced(tokens: Sequence[str]) -> list[str]:
    """Each token as it stands in the text: with the blank before it, or without.

    >>> spaced(["The", "dog", "did", "n't", "."])
    ['The', ' dog', ' did', "n't", '.']
    """
    parts = list(map(_joined, [None, *tokens], tokens))
    if None in parts:
        sides = _sides_of_open(tokens)
        for place, part in enumerate(parts):
            if part is None:
                clings = sides.get(place, APART)[0] or sides.get(place - 1, APART)[1]
                parts[place] = written(tokens[place]) if clings else " " + written(tokens[place])
    return parts  # type: ignore[return-value]  # none is None any more


def detokenise(tokens: Sequence[str]) -> str:
    """The text of the tokens.

    >>> detokenise(["``", "Wo", "n't", "do", ",", "''", "he", "said", "."])
    '"Won\\'t do," he said.'
    """
    return "".join(spaced(tokens))


def _sides_of_open(tokens: Sequence[str]) -> dict[int, Side]:
    """For the place of each open token: to which sides does it cling?"""
    sides: dict[int, Side] = {}
    unclosed: set[str] = set()  # quotes
    dash = len(tokens)  # the place of one that began an insertion
    for place, token in enumerate(tokens):
        if token == HYPHEN:
            sides[place] = _side_of_hyphen(tokens, place, inserted=0 < place - dash <= LONGEST_INSERTION)
            # What a dash inserts goes on in lower case: behind the place of a report a sentence begins.
            begins = place < dash and sides[place] == APART and "".join(tokens[place + 1 : place + 2]).islower()
            dash = place if begins else len(tokens)
        elif token in ENCLOSING:
            closes = sides.get(place - 2) == OPENS and tokens[place - 2] == token
            sides[place] = CLOSES if closes else _side_of_enclosing(tokens, place)
        elif token in QUOTES:
            side, is_quote = SIDE_OF_QUOTE[token](tokens, place, token in unclosed)
            sides[place] = side
            if is_quote:
                (unclosed.add if side == OPENS else unclosed.discard)(token)
        elif token == "„":
            unclosed.add("“")
        elif token == "”":
            unclosed.discard("“")
    return sides


def _side_of_hyphen(tokens: Sequence[str], place: int, *, inserted: bool) -> Side:
    """A hyphen between words or numbers joins them, unless a word beside it is none of a compound.

    The first one after a dash is a dash as well.
    """
    if not 0 < place < len(tokens) - 1:
        return APART
    before, after = tokens[place - 1], tokens[place + 1]
    if not _may_join(before, after):
        return APART
    if HYPHEN in tokens[place + 2 : place + 3] or HYPHEN in tokens[max(0, place - 2) : place]:
        return TOGETHER  # a chain, as in "horse-and-buggy"
    # "the Hepatitis-A virus" names a letter; "Turin - A goal" begins a sentence behind its place.
    is_letter = after == "A" and any(token[:1].islower() for token in tokens[:place])
    if before in NEVER_FIRST or (after.lower() in NEVER_SECOND and not is_letter):
        return APART
    if after.istitle() and after.lower() in PREPOSITIONS:
        return APART
    return APART if inserted and before[-1].isalpha() and before.lower() not in PREFIXES else TOGETHER


def _may_join(before: str, after: str) -> bool:
    """Would spaCy take the two apart at a hyphen between them? Behind a letter no digit may stand."""
    if before[-1:].isdigit():
        return after[:1].isalnum() or after[:1] == HYPHEN
    return before[-1:].isalpha() and after[:1].isalpha()


def _side_of_enclosing(tokens: Sequence[str], place: int) -> Side:
    """A mark before and after a word encloses it; # alone numbers what follows, * alone stands alone."""
    after = tokens[place + 1 : place + 3]
    if len(after) == 2 and after[1] == tokens[place] and after[0][:1].isalnum():
        return OPENS
    return OPENS if tokens[place] == "#" and after and after[0][:1].isalnum() else APART


def _side_of_double_quote(tokens: Sequence[str], place: int, inside: bool) -> tuple[Side, bool]:
    """A straight double quote: what stands beside it tells most, then whether one is open."""
    if place == 0 or tokens[place - 1] in BRACKETS:
        return OPENS, True
    after = tokens[place + 1 : place + 2]
    if inside or not after or after[0] in STOPS:
        return CLOSES, True
    # One without a partner behind punctuation closes what an earlier sentence opened, if what follows looks like
    # »he said« and not like the beginning of a sentence.
    is_single = sum(token == '"' for token in tokens[place:]) % 2 == 1
    if is_single and tokens[place - 1] in STOPS - {":"}:
        names_speaker = after[0][:1].islower() or len(tokens) - place <= SHORT_TAIL
        return (CLOSES if names_speaker else OPENS), True
    return OPENS, True


def _side_of_apostrophe(tokens: Sequence[str], place: int, inside: bool) -> tuple[Side, bool]:
    """A straight single quote may be an apostrophe: before the short form of a year, or behind a plural."""
    before = tokens[place - 1] if place else ""
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    later = [found for found, token in enumerate(tokens) if found > place and token == "'"]
    if after.lower() in CUT_AT_FRONT or (not inside and _is_short_year(after, before)):
        return OPENS, place + 2 in later  # a quote after all, around this one word
    if not before or inside:
        return (CLOSES if before else OPENS), True
    if before[-1].isalnum() and (not later or (_ends_in_s(before) and _ends_in_s(tokens[later[0] - 1]))):
        return CLOSES, False
    return (CLOSES if not after or after in STOPS else OPENS), True


def _is_short_year(word: str, before: str) -> bool:
    """Is this the end of '68 or of the '90s, and not the 30 of »the Islanders' 30 shots«?"""
    return word[:2].isdigit() and (word[2:] == "s" or (len(word) == 2 and not _ends_in_s(before)))


def _ends_in_s(word: str) -> bool:
    return word[-1:] in ("s", "S", "x", "z")


def _side_of_curled_quote(tokens: Sequence[str], place: int, inside: bool) -> tuple[Side, bool]:
    """“ opens, but in the German manner it also closes: there is no ” for it then."""
    if not inside or place == 0:
        return OPENS, True
    following = next((token for token in tokens[place + 1 :] if token in ("“", "”")), None)
    return (OPENS if following == "”" else CLOSES), True


SIDE_OF_QUOTE: dict[str, Callable[[Sequence[str], int, bool], tuple[Side, bool]]] = {
    '"': _side_of_double_quote,
    "'": _side_of_apostrophe,
    "“": _side_of_curled_quote,
}
