"""Dependency trees in CoNLL-U files, read and written without loss.

ConlluToken     one token: its form, its head's place and the other columns as the file has them
ConlluSentence  the tokens of a sentence, its comments, and the lines that are no tokens
read_conllu     the sentences of a file, plain or compressed
conllu_text     a sentence as the lines of such a file
write_conllu    write sentences to an open file
is_projective   does no arc of the tree cross another?
tree_to_conllu  a tree of spaCy's as such a sentence
is_usable       are all forms tokens in the sense of gyro.text.corpus?

Reading and writing gives the same bytes, if lines end in a line feed and one empty line ends each sentence, as the
standard has it (https://universaldependencies.org/format.html).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import IO

from gyro.errors import InputError
from gyro.text.corpus import ROOT, is_token, read_lines
from gyro.text.parsing import ParsedTree

COLUMNS = 10
SENT_ID = "# sent_id ="


@dataclass(frozen=True, slots=True)
class ConlluToken:
    """A token. The head is its place in the sentence, counted from 0, ROOT, or None when the file has "_".

    >>> ConlluToken("dogs", upos="NOUN", head=1, deprel="nsubj").head
    1
    """

    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: int | None = None
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"


@dataclass(frozen=True)
class ConlluSentence:
    """A sentence. `others` are the lines of multiword ranges and empty nodes, each with the tokens that stand before.

    >>> sentence = ConlluSentence((ConlluToken("dogs", head=1), ConlluToken("bark", head=ROOT)), ("# sent_id = a1",))
    >>> sentence.forms, sentence.heads, sentence.sent_id
    (('dogs', 'bark'), (1, -1), 'a1')
    """

    tokens: tuple[ConlluToken, ...]
    comments: tuple[str, ...] = ()
    others: tuple[tuple[int, str], ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """The words."""
        return tuple(token.form for token in self.tokens)

    @property
    def heads(self) -> tuple[int | None, ...]:
        """The place of each token's head, ROOT for the root's, None where no head is given."""
        return tuple(token.head for token in self.tokens)

    @property
    def sent_id(self) -> str:
        """The name of the sentence; empty when it has none."""
        return next((c.removeprefix(SENT_ID).strip() for c in self.comments if c.startswith(SENT_ID)), "")


def read_conllu(path: str | PathLike[str]) -> Iterator[ConlluSentence]:
    """Yield the sentences of a file ("-": standard input, .gz .xz .bz2 .zst are unpacked), each error with its line."""
    lines: list[str] = []
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        if line:
            lines.append(line)
        elif lines:
            yield _parse_block(lines, path, number - len(lines))
            lines = []
    if lines:
        yield _parse_block(lines, path, number + 1 - len(lines))


def conllu_text(sentence: ConlluSentence) -> str:
    r"""The lines of a sentence, with the empty line that ends it.

    >>> conllu_text(ConlluSentence((ConlluToken("Go", "go", head=ROOT, deprel="root"),)))
    '1\tGo\tgo\t_\t_\t_\t0\troot\t_\t_\n\n'
    """
    lines = [_token_line(number, token) for number, token in enumerate(sentence.tokens, 1)]
    for place, line in reversed(sentence.others):
        lines.insert(place, line)
    return "\n".join([*sentence.comments, *lines]) + "\n\n"


def write_conllu(file: IO[str], sentences: Iterable[ConlluSentence]) -> None:
    """Write sentences to a file that is open for text."""
    file.writelines(map(conllu_text, sentences))


def tree_to_conllu(tree: ParsedTree, name: str) -> ConlluSentence:
    r"""A tree of spaCy's under a name; what spaCy leaves empty is "_", and the root's relation is the standard's.

    >>> conllu_text(tree_to_conllu(ParsedTree(("Go",), (ROOT,), ("ROOT",), ("VB",), ("VERB",), ("go",)), "1"))
    '# sent_id = 1\n# text = Go\n1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n'
    """
    columns = zip(tree.tokens, tree.lemmas, tree.coarse_tags, tree.tags, tree.heads, tree.labels, strict=True)
    tokens = (
        ConlluToken(form, lemma or "_", upos or "_", xpos or "_", "_", head, "root" if head == ROOT else label or "_")
        for form, lemma, upos, xpos, head, label in columns
    )
    return ConlluSentence(tuple(tokens), (f"{SENT_ID} {name}", f"# text = {' '.join(tree.tokens)}"))


def is_projective(heads: Sequence[int | None]) -> bool:
    """Does no arc cross another, the one into the root included? Tokens without head have no arc.

    >>> is_projective([1, ROOT, 1]), is_projective([2, 3, ROOT, 2])
    (True, False)
    """
    arcs = sorted((min(h, d), -max(h, d)) for d, h in enumerate(heads) if h is not None)
    open_ends: list[int] = []
    for left, negated_right in arcs:
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and -negated_right > open_ends[-1]:
            return False
        open_ends.append(-negated_right)
    return True


def is_usable(sentence: ConlluSentence) -> bool:
    """Are all forms tokens in the sense of gyro.text.corpus? CoNLL-U allows blanks in a form; bags and models do not.

    >>> is_usable(ConlluSentence((ConlluToken("10 000"),)))
    False
    """
    return all(is_token(token.form) for token in sentence.tokens)


def _token_line(number: int, token: ConlluToken) -> str:
    head = "_" if token.head is None else str(token.head + 1)
    before = (str(number), token.form, token.lemma, token.upos, token.xpos, token.feats)
    return "\t".join((*before, head, token.deprel, token.deps, token.misc))


def _parse_block(lines: Sequence[str], path: str | PathLike[str], first: int) -> ConlluSentence:
    """The sentence of the lines; `first` is the number of the first one in the file."""
    tokens: list[ConlluToken] = []
    others: list[tuple[int, str]] = []
    comments = tuple(line for line in lines if line.startswith("#"))
    number = first - 1
    try:
        for line in lines:
            number += 1
            if line.startswith("#"):
                if tokens or others:
                    raise InputError("found a comment after a token; comments are allowed before the first one")
                continue
            columns = _split_columns(line)
            if columns[0].isdecimal():
                tokens.append(_parse_token(columns, len(tokens) + 1))
            else:
                _check_other(columns[0], len(tokens), [line.partition("\t")[0] for _, line in others])
                others.append((len(tokens), line))
        # What is wrong with the sentence as a whole is told with its first token's line.
        number = first + len(comments)
        if not tokens:
            raise InputError("found a sentence without tokens")
        _check_heads([token.head for token in tokens])
        _check_ranges(others, len(tokens))
    except InputError as error:
        raise InputError(str(error), path=path, line=number) from error
    return ConlluSentence(tuple(tokens), comments, tuple(others))


def _split_columns(line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        raise InputError(f"found {len(columns)} columns; {COLUMNS} separated by tabs are allowed")
    if "" in columns:
        raise InputError(f"found column {columns.index('') + 1} empty; _ stands for nothing")
    return columns


def _parse_token(columns: Sequence[str], number: int) -> ConlluToken:
    name, form, lemma, upos, xpos, feats, head, deprel, deps, misc = columns
    if name != str(number):
        raise InputError(f"found the id {name:.40}; {number} is allowed here")
    if head != "_" and not (head.isdecimal() and len(head) < 10 and str(int(head)) == head):
        raise InputError(f"found the head {head!r:.40}; a number or _ is allowed")
    place = None if head == "_" else int(head) - 1
    return ConlluToken(form, lemma, upos, xpos, feats, place, deprel, deps, misc)


def _check_other(name: str, tokens: int, earlier: Sequence[str]) -> None:
    """Refuse what is neither the range that starts with the next token nor the next empty node."""
    kind = "-" if "-" in name else "."
    start, _, end = name.partition(kind)
    if not (start.isdecimal() and end.isdecimal() and len(name) < 20 and f"{int(start)}{kind}{int(end)}" == name):
        raise InputError(
            f"found the id {name!r:.40}; a number, a range such as 2-3 or an empty node such as 2.1 is allowed"
        )
    covered = max((int(other.partition("-")[2]) for other in earlier if "-" in other), default=0)
    if kind == "-" and not max(tokens, covered) < int(start) == tokens + 1 <= int(end):
        raise InputError(f"found the range {name}; one that starts at a next token in no range is allowed")
    nodes = sum(other.startswith(f"{tokens}.") for other in earlier)
    is_late = bool(earlier) and earlier[-1].startswith(f"{tokens + 1}-")
    if kind == "." and (is_late or name != f"{tokens}.{nodes + 1}"):
        raise InputError(f"found the empty node {name}; {tokens}.{nodes + 1} is allowed here, before a range")


def _check_ranges(others: Sequence[tuple[int, str]], tokens: int) -> None:
    for _, line in others:
        name = line.partition("\t")[0]
        if "-" in name and int(name.partition("-")[2]) > tokens:
            raise InputError(f"found the range {name}; the last token is {tokens}")


def _check_heads(heads: Sequence[int | None]) -> None:
    """Refuse what is no tree and cannot become one when the heads not given are filled in."""
    for place, head in enumerate(heads):
        if head is not None and head >= len(heads):
            raise InputError(f"found the head {head + 1} of token {place + 1}; 0 to {len(heads)} is allowed")
    roots = heads.count(ROOT)
    if roots > 1 or (roots == 0 and None not in heads):
        raise InputError(f"found {roots} roots; one token with the head 0 is allowed")
    is_clear = [False] * len(heads)  # tokens from which the way up is known to end
    for place in range(len(heads)):
        way: list[int] = []
        at: int | None = place
        while at is not None and at != ROOT and not is_clear[at]:
            if len(way) > len(heads):
                raise InputError(f"found a cycle of heads that token {place + 1} leads into; a tree is allowed")
            way.append(at)
            at = heads[at]
        for passed in way:
            is_clear[passed] = True
