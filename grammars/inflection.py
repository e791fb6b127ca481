"""The forms that a lemma may take, for systems that choose forms and order together.

candidate_forms  the forms that lemma, part of speech and attributes allow
capitalise       a form as it starts a sentence
parse_feats      attributes like "Number=Plur|Person=3" as a dictionary

Parts of speech and attributes are those of Universal Dependencies for English. What the attributes do not settle stays
open, and so do forms that depend on the neighbours: a and an, is and 's, not and n't. The search decides on them.

The only module that touches lemminflect, which knows the forms of English words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from lemminflect import getAllInflectionsOOV, getInflection

MODALS = frozenset({"can", "could", "may", "might", "must", "ought", "shall", "should", "will", "would"})
# Comparatives and superlatives that are lemmas in themselves.
COMPARED = frozenset({"more", "most", "less", "least", "lesser", "worse", "worst", "better", "best", "further"})
# lemminflect has the singular among the plurals of most nouns. These are the common ones for which that is right.
UNCHANGED = frozenset({"aircraft", "chicken", "craft", "fish", "offspring", "series", "shrimp", "staff", "youth"})
# Frequent forms that lemminflect does not have.
ALSO = {("get", "VBN"): "got", ("prove", "VBN"): "proven", ("learn", "VBN"): "learnt", ("forecast", "VBD"): "forecast"}
# Lemmas that stand for several spellings.
SPELLINGS: dict[str, tuple[str, ...]] = {"a.m.": ("AM", "am", "a.m."), "p.m.": ("PM", "pm", "p.m.")}
YEARS = range(1900, 2100)  # numbers of four digits that are written without a comma
# Forms by case.
PRONOUNS = {
    "I": {"Nom": "I", "Acc": "me", "Gen": "my"},
    "you": {"Nom": "you", "Acc": "you", "Gen": "your"},
    "he": {"Nom": "he", "Acc": "him", "Gen": "his"},
    "she": {"Nom": "she", "Acc": "her", "Gen": "her"},
    "it": {"Nom": "it", "Acc": "it", "Gen": "its"},
    "we": {"Nom": "we", "Acc": "us", "Gen": "our"},
    "they": {"Nom": "they", "Acc": "them", "Gen": "their"},
    "who": {"Nom": "who", "Acc": "whom", "Gen": "whose"},
}
# Without the noun that they belong to.
INDEPENDENT = {"my": "mine", "your": "yours", "her": "hers", "our": "ours", "their": "theirs"}
PLURALS = {"this": "these", "that": "those"}
# What a form may become because of its neighbours: after the word before it, before n't, before a vowel.
BESIDE_OTHERS: dict[str, dict[str, tuple[str, ...]]] = {
    "AUX": {
        "am": ("'m",),
        "are": ("'re",),
        "is": ("'s",),
        "has": ("'s",),
        "have": ("'ve",),
        "had": ("'d",),
        "would": ("'d",),
        "will": ("'ll", "wo"),
        "can": ("ca",),
        "shall": ("sha",),
    },
    "DET": {"a": ("an",)},
    "PART": {"not": ("n't",), "'s": ("'",)},
    "PRON": {"us": ("'s",)},
    "VERB": {"is": ("'s",)},
}


def candidate_forms(
    lemma: str, upos: str | None, feats: str | None = None, *, initial: bool = False
) -> tuple[str, ...]:
    """The forms that a lemma may take, sorted; with `initial` also as they start a sentence.

    `feats` are attributes as in CoNLL-U; None: not known.

    >>> candidate_forms("dog", "NOUN", "Number=Plur"), candidate_forms("a", "DET")
    (('dogs',), ('a', 'an'))
    >>> candidate_forms("see", "VERB", "Tense=Past|VerbForm=Part"), candidate_forms("see", "VERB", "Tense=Past")
    (('seen',), ('saw', 'seen'))
    >>> candidate_forms("be", "AUX", "Mood=Ind|Number=Sing|Tense=Pres|VerbForm=Fin")
    ("'m", "'re", "'s", 'am', 'are', 'is')
    """
    forms = _forms(lemma, upos or "X", feats)
    forms |= {other for form in forms for other in BESIDE_OTHERS.get(upos or "", {}).get(form, ())}
    return tuple(sorted(forms | set(map(capitalise, forms)) if initial else forms))


def capitalise(form: str) -> str:
    """The form as it starts a sentence; what starts with no letter stays as it is.

    >>> capitalise("the"), capitalise("iPod"), capitalise("'s")
    ('The', 'IPod', "'s")
    """
    return form[:1].upper() + form[1:]


def parse_feats(feats: str | None) -> dict[str, str]:
    """Attributes by name; "_" and None have none.

    >>> parse_feats("Number=Plur|Person=3")
    {'Number': 'Plur', 'Person': '3'}
    """
    pairs = (part.partition("=") for part in (feats or "_").split("|") if part != "_")
    return {name: value for name, _, value in pairs}


def _forms(lemma: str, upos: str, feats: str | None) -> set[str]:
    """The forms as they stand by themselves."""
    attributes = parse_feats(feats)
    if upos in ("NOUN", "PROPN"):
        return {form for number in _open(attributes, "Number", "Sing", "Plur") for form in _noun(lemma, upos, number)}
    if upos in ("VERB", "AUX"):
        return _verb(lemma, upos, attributes)
    if upos in ("ADJ", "ADV"):
        return _compared(lemma, upos, _degree(upos, feats, attributes))
    if upos in ("PRON", "DET"):
        return _pronoun(lemma, attributes, known=feats is not None)
    if (
        upos == "NUM"
        and lemma.isdecimal()
        and lemma[0] != "0"
        and len(lemma) < 100
        and int(lemma) >= 1000
        and int(lemma) not in YEARS
    ):
        return {lemma, f"{int(lemma):,}"}
    return {lemma}


def _open(attributes: Mapping[str, str], name: str, *values: str) -> tuple[str, ...]:
    """The value of an attribute; all of them when it is not given."""
    return (attributes[name],) if name in attributes else values


def _noun(lemma: str, upos: str, number: str) -> tuple[str, ...]:
    if lemma in SPELLINGS:
        return SPELLINGS[lemma]
    if number != "Plur" or (upos == "PROPN" and lemma.endswith("s")):  # the lemma of a plural name is often a plural
        return (lemma,)
    forms = _inflect(lemma, "NNS" if upos == "NOUN" else "NNPS")
    if forms == (lemma,):
        return (lemma, *getAllInflectionsOOV(lemma, upos).get("NNS", ()))
    if forms[0] == lemma or lemma in UNCHANGED:
        return forms
    return tuple(form for form in forms if form != lemma)


def _degree(upos: str, feats: str | None, attributes: Mapping[str, str]) -> str | None:
    """The degree; None when it is open.

    Most adverbs have none, and ordinals have none: there its absence among the attributes means that.
    """
    is_open = feats is None or (upos == "ADJ" and "NumType" not in attributes)
    return attributes.get("Degree", None if is_open else "Pos")


def _compared(lemma: str, upos: str, degree: str | None) -> set[str]:
    if degree == "Pos" or lemma in COMPARED:
        return {lemma}
    tag = "JJ" if upos == "ADJ" else "RB"
    if degree is None:  # the forms that are known, for by rule every adjective would have some
        known = (getInflection(lemma, tag + letter, inflect_oov=False) for letter in "RS")
        return {lemma, *(form for forms in known for form in forms)}
    return {_inflect(lemma, tag + ("R" if degree == "Cmp" else "S"))[0]}


def _verb(lemma: str, upos: str, attributes: Mapping[str, str]) -> set[str]:
    if upos == "AUX" and lemma in MODALS:
        return {lemma}
    forms: set[str] = set()
    for tag in _verb_tags(attributes):
        is_finite_be = lemma == "be" and tag in ("VBD", "VBP", "VBZ")
        forms.update(_finite_be(attributes) if is_finite_be else _inflect(lemma, tag))
    return forms


def _verb_tags(attributes: Mapping[str, str]) -> list[str]:
    """The Penn tags that the attributes allow.

    >>> _verb_tags({"VerbForm": "Fin", "Tense": "Pres", "Number": "Sing"})
    ['VBP', 'VBZ']
    """
    tense, person, number = (attributes.get(name) for name in ("Tense", "Person", "Number"))
    mood, form = attributes.get("Mood"), attributes.get("VerbForm")
    tags = {
        "VB": form in (None, "Inf") or mood in ("Imp", "Sub"),
        "VBG": form in (None, "Ger") or (form == "Part" and tense != "Past"),
        "VBN": form in (None, "Part"),
        "VBD": form in (None, "Fin"),
        "VBP": form in (None, "Fin") and not (person == "3" and number == "Sing"),
        "VBZ": form in (None, "Fin") and person in (None, "3") and number in (None, "Sing"),
    }
    past, present = ("VBD", "VBN"), ("VB", "VBG", "VBP", "VBZ")
    allowed: tuple[str, ...] = past if tense == "Past" else present if tense == "Pres" else past + present
    if attributes.get("Voice") == "Pass" and form in (None, "Part"):
        allowed = ("VBN",)
    elif mood == "Imp":
        allowed = ("VB",)
    elif form is None and (person is not None or number is not None):
        tags |= {"VB": mood == "Sub", "VBG": False, "VBN": False}
    # Attributes that contradict each other leave none; the tense is the first to be wrong.
    return sorted(tag for tag in allowed if tags[tag]) or sorted(tag for tag in tags if tags[tag]) or ["VB"]


def _finite_be(attributes: Mapping[str, str]) -> set[str]:
    forms: set[str] = set()
    for tense in _open(attributes, "Tense", "Pres", "Past"):
        for number in _open(attributes, "Number", "Sing", "Plur"):
            for person in _open(attributes, "Person", "1", "2", "3"):
                if number == "Plur" or person == "2":
                    forms.add("are" if tense == "Pres" else "were")
                elif tense == "Past":
                    forms.add("were" if attributes.get("Mood") == "Sub" else "was")
                else:
                    forms.add("am" if person == "1" else "is")
    return forms


def _pronoun(lemma: str, attributes: Mapping[str, str], *, known: bool) -> set[str]:
    if lemma in PRONOUNS:
        cases = _open(attributes, "Case", "Nom", "Acc") if known else ("Nom", "Acc", "Gen")
        return {PRONOUNS[lemma].get(case, lemma) for case in cases}
    if lemma in INDEPENDENT:
        return {lemma} if "Case" in attributes else {lemma, INDEPENDENT[lemma]}
    if lemma in PLURALS:
        if known and attributes.get("PronType", "Dem") != "Dem":
            return {lemma}
        both = {"Sing": lemma, "Plur": PLURALS[lemma]}
        return {both.get(number, lemma) for number in _open(attributes, "Number", "Sing", "Plur")}
    return {lemma}


@cache
def _inflect(lemma: str, tag: str) -> tuple[str, ...]:
    """The forms that lemminflect knows or, for a lemma it does not know, makes by rule."""
    forms: tuple[str, ...] = tuple(getInflection(lemma, tag)) or (lemma,)
    return (*forms, ALSO[lemma, tag]) if (lemma, tag) in ALSO else forms
