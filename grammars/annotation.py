"""From treebanks to annotated bags: what a treebank knows of a sentence, and how much of it a bag is given.

Annotation              what is given, and for which share of the tokens
TreebankSentence        a sentence with what its treebank knows, in the order of its words
read_treebank           the sentences of a file: CoNLL-U, or CCG derivations if .auto is in the file's name
tree_to_sentence        a sentence of CoNLL-U as such a one
derivation_to_sentence  a CCG derivation as such a one
sentence_to_bag         its bag, with the sentence as the reference
likely_categories       the lexical categories of its words that a CCG multi-tagger finds likely in their order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from grammars.base_phrase import base_noun_phrases
from grammars.ccg import grammar as ccg_grammar
from grammars.ccg.derivation import Derivation, leaves, read_auto
from grammars.conllu import ConlluSentence, read_conllu
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag

if TYPE_CHECKING:
    from grammars.ccg.tagger import MultiTagger

TAGS = ("xpos", "upos")
NO_TAG = ("_", "XX")  # in CoNLL-U; in derivations of a parser that does not tag

Texts = tuple[str | None, ...]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Annotation:
    """What bags are given: the shares of tokens with part of speech and head, and what else.

    >>> Annotation(heads=0.5).labels
    False
    """

    pos: float = 1.0
    heads: float = 0.0
    labels: bool = False  # the relations, for those tokens that have their heads
    tags: str = "xpos"
    units: bool = False  # base noun phrases
    lemmas: bool = False  # lemmas and attributes in place of forms
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("pos", "heads"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"found the share {getattr(self, name)} of {name}; 0 to 1 is allowed")
        if self.tags not in TAGS:
            raise InputError(f"found the tags {self.tags!r}; {' or '.join(TAGS)} is allowed")
        if self.lemmas and self.tags == "xpos":
            raise InputError("found lemmas with xpos tags, which tell their forms; upos is allowed")


class TreebankSentence(NamedTuple):
    """A sentence in its own order; None where the treebank says nothing."""

    id: str
    words: tuple[str, ...]
    xpos: Texts
    upos: Texts | None = None
    heads: tuple[int | None, ...] | None = None
    labels: Texts | None = None
    lemmas: tuple[str, ...] | None = None
    feats: tuple[str, ...] | None = None
    base_phrases: tuple[tuple[int, ...], ...] = ()


def read_treebank(path: str | PathLike[str], first: int = 1) -> Iterator[TreebankSentence]:
    """Yield the sentences of a file; those without a name are numbered from `first`."""
    if ".auto" in Path(path).suffixes:
        for number, entry in enumerate(read_auto(path), first):
            name = entry.header.partition("ID=")[2].split(" ")[0]
            yield derivation_to_sentence(entry.derivation, name or str(number))
    else:
        for number, tree in enumerate(read_conllu(path), first):
            yield tree_to_sentence(tree, tree.sent_id or str(number))


def tree_to_sentence(tree: ConlluSentence, id: str) -> TreebankSentence:
    """A dependency tree. The parts of a word that was torn apart have no lemma: there the form stands for it."""
    return TreebankSentence(
        id,
        tree.forms,
        xpos=_known(token.xpos for token in tree.tokens),
        upos=_known(token.upos for token in tree.tokens),
        heads=tree.heads,
        labels=_known(token.deprel for token in tree.tokens),
        lemmas=tuple(token.form if token.lemma == "_" else token.lemma for token in tree.tokens),
        feats=tuple(token.feats for token in tree.tokens),
        base_phrases=tuple(base_noun_phrases(tree)),
    )


def derivation_to_sentence(derivation: Derivation, id: str) -> TreebankSentence:
    """A CCG derivation: words, parts of speech and noun phrases."""
    words = leaves(derivation)
    spans = ccg_grammar.base_noun_phrases(derivation)
    phrases = tuple(tuple(range(start, end)) for start, end in spans if end - start > 1)
    return TreebankSentence(
        id, tuple(leaf.word for leaf in words), _known(leaf.pos for leaf in words), base_phrases=phrases
    )


def sentence_to_bag(
    sentence: TreebankSentence, given: Annotation, categories: Sequence[tuple[str, ...] | None] | None = None
) -> AnnotatedBag:
    """The bag of a sentence. A larger share has all tokens of a smaller one, whatever else the file has.

    `categories` are lexical categories by the sentence's order, for CCG.

    >>> sentence = TreebankSentence("7", ("the", "dog", "barks"), ("DT", "NN", "VBZ"), heads=(1, 2, -1))
    >>> bag = sentence_to_bag(sentence, Annotation(heads=1))
    >>> bag.tokens, bag.pos, bag.heads, bag.reference
    (('barks', 'dog', 'the'), ('VBZ', 'NN', 'DT'), (-1, 0, 1), ('the', 'dog', 'barks'))
    """
    _check_known(sentence, given)
    random = Random(f"{given.seed} {sentence.id}")
    size = len(sentence.words)
    has_pos = [random.random() < given.pos for _ in range(size)]
    has_head = [random.random() < given.heads for _ in range(size)]
    tags = sentence.xpos if given.tags == "xpos" else sentence.upos
    return AnnotatedBag(
        (sentence.lemmas or ()) if given.lemmas else sentence.words,
        id=sentence.id,
        reference=sentence.words,
        pos=_only(tags, has_pos),
        heads=_only(sentence.heads, has_head),
        labels=_only(sentence.labels, has_head) if given.labels else None,
        feats=sentence.feats if given.lemmas else None,
        units=sentence.base_phrases if given.units else (),
        categories=None if categories is None else tuple(categories),
        inflect=given.lemmas,
    )


def likely_categories(tagger: MultiTagger, sentence: TreebankSentence, beta: float) -> list[tuple[str, ...]]:
    """For each word the categories at least β times as probable as its best one."""
    tagged = tagger.tag(sentence.words, [tag or ccg_grammar.NO_POS for tag in sentence.xpos], beta)
    return [tuple(category for category, _ in found) for found in tagged]


def _check_known(sentence: TreebankSentence, given: Annotation) -> None:
    wanted = {"heads": given.heads > 0, "labels": given.labels, "lemmas": given.lemmas, "upos": given.tags == "upos"}
    for name, is_wanted in wanted.items():
        if is_wanted and getattr(sentence, name) is None:
            raise InputError(f"no {name} are known of sentence {sentence.id!r}; CoNLL-U files have them")


def _known(values: Iterable[str]) -> Texts:
    return tuple(None if value in NO_TAG else value for value in values)


def _only(values: Sequence[Value | None] | None, chosen: Sequence[bool]) -> tuple[Value | None, ...] | None:
    if values is None:
        return None
    return tuple(value if is_chosen else None for value, is_chosen in zip(values, chosen, strict=True))
