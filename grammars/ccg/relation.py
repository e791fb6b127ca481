"""What the relations of dependency trees mean for CCG: the tables of the conversion.

Role               what a dependent is to its head
SCHEMES            the label schemes: "ud" (Universal Dependencies 2) and "spacy" (ClearNLP's labels)
find_scheme        the scheme of a sentence's labels
role_of            the role of a token, by its relation and tag
is_nominal         is the token the head of a noun phrase?
is_question_word   who, what, when …
verb_feature       the feature that a verb or auxiliary gives its S: dcl, b, to, ng, pt, pss
mark_category      the category of a punctuation mark
with_coordinators  a spaCy tree with each coordinator under the conjunct that it introduces, as UD has it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from grammars.conllu import ConlluSentence, ConlluToken
from gyro.errors import InputError

SCHEMES = ("ud", "spacy")

Role = Enum(
    "Role",
    "SUBJECT OBJECT COMPLEMENT DETERMINER FUNCTOR AUXILIARY COORDINATOR CONJUNCT PUNCTUATION PART INNER ADJUNCT",
)

# What is not listed is an adjunct. COMPLEMENT: an argument of any category; PART: of a word in several pieces;
# INNER: within a noun phrase, next to its head.
UD_ROLES = {
    "nsubj": Role.SUBJECT,
    "csubj": Role.SUBJECT,
    "expl": Role.SUBJECT,
    "obj": Role.OBJECT,
    "iobj": Role.OBJECT,
    "xcomp": Role.COMPLEMENT,
    "ccomp": Role.COMPLEMENT,
    "det": Role.DETERMINER,
    "nmod:poss": Role.DETERMINER,
    "case": Role.FUNCTOR,
    "mark": Role.FUNCTOR,
    "aux": Role.AUXILIARY,
    "cop": Role.AUXILIARY,
    "cc": Role.COORDINATOR,
    "cc:preconj": Role.ADJUNCT,
    "conj": Role.CONJUNCT,
    "punct": Role.PUNCTUATION,
    "fixed": Role.PART,
    "goeswith": Role.PART,
    "flat": Role.INNER,
    "compound": Role.INNER,
    "compound:prt": Role.ADJUNCT,
    "nummod": Role.INNER,
}
SPACY_ROLES = {
    "nsubj": Role.SUBJECT,
    "nsubjpass": Role.SUBJECT,
    "csubj": Role.SUBJECT,
    "csubjpass": Role.SUBJECT,
    "expl": Role.SUBJECT,
    "dobj": Role.OBJECT,
    "dative": Role.OBJECT,
    "pobj": Role.OBJECT,
    "attr": Role.COMPLEMENT,
    "acomp": Role.COMPLEMENT,
    "oprd": Role.COMPLEMENT,
    "xcomp": Role.COMPLEMENT,
    "ccomp": Role.COMPLEMENT,
    "pcomp": Role.COMPLEMENT,
    "det": Role.DETERMINER,
    "predet": Role.DETERMINER,
    "poss": Role.DETERMINER,
    "case": Role.FUNCTOR,
    "mark": Role.FUNCTOR,
    "aux": Role.AUXILIARY,
    "auxpass": Role.AUXILIARY,
    "cc": Role.COORDINATOR,
    "conj": Role.CONJUNCT,
    "punct": Role.PUNCTUATION,
    "compound": Role.INNER,
    "nummod": Role.INNER,
    "quantmod": Role.INNER,
}
ROLES = {"ud": UD_ROLES, "spacy": SPACY_ROLES}
# Labels that only one scheme has.
ONLY_UD = frozenset(("obj", "iobj", "obl", "cop", "fixed", "flat", "goeswith", "nsubj:pass", "acl:relcl", "nmod:poss"))
ONLY_SPACY = frozenset(SPACY_ROLES).difference(UD_ROLES) | {"prep", "agent", "npadvmod", "prt", "neg", "relcl", "intj"}
# Dependents of a noun that belong to its noun phrase even where the noun is the predicate of a clause.
NOUN_RELATIONS = frozenset(
    ["nmod", "acl", "appos", "amod", "det", "flat", "compound", "nummod", "fixed", "goeswith", "prep", "relcl", "poss"]
)
NOUN_TAGS = frozenset(["NOUN", "PROPN", "PRON", "NUM", "SYM", "X", "DET"])
WH_TAGS = frozenset(("WDT", "WP", "WP$", "WRB"))

TAG_FEATURES = {"VB": "b", "VBZ": "dcl", "VBP": "dcl", "VBD": "dcl", "MD": "dcl", "VBG": "ng", "VBN": "pss", "TO": "to"}
FORM_FEATURES = (
    ("VerbForm=Inf", "b"),
    ("VerbForm=Ger", "ng"),
    ("Tense=Pres|VerbForm=Part", "ng"),
    ("VerbForm=Part", "pss"),
)
MARKS = {
    "(": "LRB", "[": "LRB", "{": "LRB", ")": "RRB", "]": "RRB", "}": "RRB", ",": ",", ".": ".", "?": ".", "!": ".",
    "“": "LQU", "``": "LQU", "‘": "LQU", "”": "RQU", "''": "RQU", "’": "RQU",
}  # fmt: skip
TAG_MARKS = {"``": "LQU", "''": "RQU", "-LRB-": "LRB", "-RRB-": "RRB", ",": ",", ".": "."}


def find_scheme(sentence: ConlluSentence) -> str:
    """The scheme of the labels: spaCy's if one is there that UD does not have, or a coordinator behind its head.

    >>> find_scheme(ConlluSentence((ConlluToken("it", deprel="dobj"),)))
    'spacy'
    """
    labels = {token.deprel for token in sentence.tokens}
    if not labels.isdisjoint(ONLY_UD):
        return "ud"
    is_behind = any(t.deprel == "cc" and t.head is not None and 0 <= t.head < i for i, t in enumerate(sentence.tokens))
    return "spacy" if is_behind or not labels.isdisjoint(ONLY_SPACY) else "ud"


def role_of(token: ConlluToken, scheme: str) -> Role:
    """What a token is to its head.

    >>> role_of(ConlluToken("cat", deprel="nsubj:pass"), "ud").name
    'SUBJECT'
    """
    if scheme not in ROLES:
        raise InputError(f"found the scheme {scheme!r}; {' or '.join(SCHEMES)} is allowed")
    roles = ROLES[scheme]
    relation = token.deprel
    role = roles.get(relation) or roles.get(relation.partition(":")[0], Role.ADJUNCT)
    if role is Role.FUNCTOR and token.xpos == "TO" and relation == "mark":
        return Role.AUXILIARY  # the "to" of infinitives, which spaCy calls an auxiliary too
    if relation == "dative" and token.upos == "ADP":
        return Role.ADJUNCT
    return role


def is_nominal(token: ConlluToken) -> bool:
    """Is the token the head of a noun phrase?"""
    return token.upos in NOUN_TAGS


def is_question_word(token: ConlluToken) -> bool:
    """Is it an interrogative or relative word?"""
    return token.xpos in WH_TAGS or any(f"PronType={kind}" in token.feats for kind in ("Int", "Rel"))


def verb_feature(token: ConlluToken, auxiliaries: Sequence[ConlluToken] = ()) -> str:
    """The feature of the S that a verb makes, with its auxiliaries from the inmost outwards.

    >>> verb_feature(ConlluToken("seen", upos="VERB", xpos="VBN"), [ConlluToken("has", "have")])
    'pt'
    """
    feature = TAG_FEATURES.get(token.xpos, "")
    if not feature:
        feature = next((found for form, found in FORM_FEATURES if form in token.feats), "dcl")
    if feature == "pss" and auxiliaries and auxiliaries[0].lemma == "have":
        return "pt"
    return feature


def mark_category(token: ConlluToken) -> str:
    """The category of a mark: , . : and CCGbank's names of brackets and quotes.

    >>> [mark_category(ConlluToken(form)) for form in ("?", "(", "--")]
    ['.', 'LRB', ':']
    """
    return MARKS.get(token.form) or TAG_MARKS.get(token.xpos, ":")


def with_coordinators(sentence: ConlluSentence) -> ConlluSentence:
    """The tree with a coordinator, and the marks beside it, under the conjunct that follows instead of the one before.

    >>> forms, heads, labels = ("cats", "and", "dogs"), (-1, 0, 0), ("ROOT", "cc", "conj")
    >>> tokens = tuple(ConlluToken(f, head=h, deprel=d) for f, h, d in zip(forms, heads, labels))
    >>> with_coordinators(ConlluSentence(tokens)).heads
    (-1, 2, 0)
    """
    tokens = list(sentence.tokens)
    waiting: dict[int, list[int]] = {}  # by head: marks and coordinators behind its last other dependent
    for place, token in enumerate(tokens):
        if token.head is None or token.head < 0 or token.head > place:
            continue
        if token.deprel in ("cc", "punct"):
            waiting.setdefault(token.head, []).append(place)
            continue
        before = waiting.pop(token.head, [])
        if token.deprel == "conj":
            for other in before:
                tokens[other] = replace(tokens[other], head=place)
    return replace(sentence, tokens=tuple(tokens))
