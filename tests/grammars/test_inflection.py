from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.inflection import candidate_forms, capitalise, parse_feats

FINITE = "Mood=Ind|VerbForm=Fin"


@pytest.mark.parametrize(
    ("lemma", "upos", "feats", "forms"),
    [
        ("city", "NOUN", "Number=Plur", "cities"),
        ("city", "NOUN", "Number=Sing", "city"),
        ("city", "NOUN", "_", "cities city"),
        ("city", "NOUN", None, "cities city"),
        ("child", "NOUN", "Number=Plur", "children"),
        ("fish", "NOUN", "Number=Plur", "fish fishes"),
        ("scissors", "NOUN", "Number=Ptan", "scissors"),
        ("State", "PROPN", "Number=Plur", "States"),
        ("Beatles", "PROPN", "Number=Plur", "Beatles"),
        ("p.m.", "NOUN", "Number=Sing", "PM p.m. pm"),
        ("walk", "VERB", "VerbForm=Inf", "walk"),
        ("walk", "VERB", f"{FINITE}|Number=Sing|Person=3|Tense=Pres", "walks"),
        ("walk", "VERB", f"{FINITE}|Number=Plur|Person=3|Tense=Pres", "walk"),
        ("walk", "VERB", f"{FINITE}|Person=1|Tense=Pres", "walk"),
        ("walk", "VERB", f"{FINITE}|Tense=Pres", "walk walks"),
        ("walk", "VERB", f"{FINITE}|Tense=Past", "walked"),
        ("walk", "VERB", "VerbForm=Ger", "walking"),
        ("walk", "VERB", "Mood=Imp|VerbForm=Fin", "walk"),
        ("walk", "VERB", "_", "walk walked walking walks"),
        ("take", "VERB", "Tense=Past|VerbForm=Part", "taken"),
        ("take", "VERB", "Tense=Past|VerbForm=Part|Voice=Pass", "taken"),
        ("take", "VERB", "Tense=Pres|VerbForm=Part", "taking"),
        ("take", "VERB", "VerbForm=Part", "taken taking"),
        ("take", "VERB", "Tense=Past", "taken took"),
        ("take", "VERB", None, "take taken takes taking took"),
        ("get", "VERB", "Tense=Past|VerbForm=Part", "got gotten"),
        ("be", "AUX", f"{FINITE}|Number=Sing|Person=1|Tense=Pres", "'m am"),
        ("be", "AUX", f"{FINITE}|Number=Sing|Person=2|Tense=Pres", "'re are"),
        ("be", "AUX", f"{FINITE}|Number=Sing|Person=3|Tense=Past", "was"),
        ("be", "AUX", f"{FINITE}|Number=Plur|Tense=Past", "were"),
        ("be", "AUX", "Mood=Sub|Number=Sing|Person=3|Tense=Past|VerbForm=Fin", "were"),
        ("be", "AUX", f"{FINITE}|Tense=Past", "was were"),
        ("be", "AUX", "VerbForm=Inf", "be"),
        ("be", "AUX", "Tense=Past|VerbForm=Part", "been"),
        ("be", "AUX", None, "'m 're 's am are be been being is was were"),
        ("have", "AUX", f"{FINITE}|Number=Sing|Person=3|Tense=Pres", "'s has"),
        ("have", "VERB", f"{FINITE}|Number=Sing|Person=3|Tense=Pres", "has"),
        ("will", "AUX", "VerbForm=Fin", "'ll will wo"),
        ("will", "VERB", "VerbForm=Inf", "will"),
        ("can", "AUX", None, "ca can"),
        ("good", "ADJ", "Degree=Cmp", "better"),
        ("good", "ADJ", "Degree=Sup", "best"),
        ("good", "ADJ", "Degree=Pos", "good"),
        ("big", "ADJ", None, "big bigger biggest"),
        ("important", "ADJ", None, "important"),
        ("more", "ADJ", "Degree=Cmp", "more"),
        ("first", "ADJ", "NumType=Ord", "first"),
        ("soon", "ADV", "_", "soon"),
        ("soon", "ADV", "Degree=Cmp", "sooner"),
        ("I", "PRON", "Case=Acc|Number=Sing|Person=1", "me"),
        ("I", "PRON", "Person=1", "I me"),
        ("I", "PRON", None, "I me my"),
        ("they", "PRON", "Case=Nom", "they"),
        ("we", "PRON", "Case=Acc", "'s us"),
        ("my", "PRON", "Case=Gen|Poss=Yes", "my"),
        ("my", "PRON", "Poss=Yes", "mine my"),
        ("this", "DET", "Number=Plur|PronType=Dem", "these"),
        ("that", "PRON", "PronType=Rel", "that"),
        ("that", "DET", None, "that those"),
        ("that", "SCONJ", None, "that"),
        ("a", "DET", "Definite=Ind|PronType=Art", "a an"),
        ("not", "PART", "Polarity=Neg", "n't not"),
        ("'s", "PART", "_", "' 's"),
        ("25000", "NUM", "NumForm=Digit|NumType=Card", "25,000 25000"),
        ("1984", "NUM", None, "1984"),
        ("007", "NUM", None, "007"),
        ("of", "ADP", "_", "of"),
        ("dog", None, None, "dog"),
    ],
)
def test_forms(lemma: str, upos: str | None, feats: str | None, forms: str) -> None:
    assert candidate_forms(lemma, upos, feats) == tuple(forms.split())


def test_the_start_of_a_sentence() -> None:
    assert candidate_forms("a", "DET", initial=True) == ("A", "An", "a", "an")
    assert candidate_forms("Bush", "PROPN", "Number=Sing", initial=True) == ("Bush",)
    assert [capitalise(form) for form in ("", "a", "n't", "McCain", "3rd")] == ["", "A", "N't", "McCain", "3rd"]


LEMMAS = st.sampled_from(["be", "have", "go", "can", "dog", "good", "I", "this", "xyzzy", "not", "2000", "_", "-"])
UPOS = st.sampled_from(["ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "VERB"])
ATTRIBUTES = {
    "Case": ("Nom", "Acc", "Gen"),
    "Degree": ("Pos", "Cmp", "Sup"),
    "Mood": ("Ind", "Imp", "Sub"),
    "Number": ("Sing", "Plur"),
    "Person": ("1", "2", "3"),
    "Tense": ("Past", "Pres"),
    "VerbForm": ("Fin", "Ger", "Inf", "Part"),
    "Voice": ("Pass",),
}
FEATS = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in ATTRIBUTES.items()})


@given(LEMMAS, UPOS, FEATS)
def test_there_is_always_a_form(lemma: str, upos: str, attributes: dict[str, str]) -> None:
    feats = "|".join(f"{name}={value}" for name, value in sorted(attributes.items())) or "_"
    assert parse_feats(feats) == attributes
    forms = candidate_forms(lemma, upos, feats)
    assert forms  # attributes that contradict each other leave one too
    assert list(forms) == sorted(set(forms))
    assert all(form.split() == [form] for form in forms)
    assert set(forms) <= set(candidate_forms(lemma, upos, feats, initial=True))


PARADIGM = {  # what school grammars have: number and person, then be in the present and in the past
    ("Sing", "1"): ("am", "was"),
    ("Sing", "2"): ("are", "were"),
    ("Sing", "3"): ("is", "was"),
    ("Plur", "1"): ("are", "were"),
    ("Plur", "2"): ("are", "were"),
    ("Plur", "3"): ("are", "were"),
}


@pytest.mark.parametrize(("number", "person"), PARADIGM)
def test_what_is_settled_is_among_what_is_open(number: str, person: str) -> None:
    for tense, form in zip(("Pres", "Past"), PARADIGM[number, person], strict=True):
        parts = [f"Number={number}", f"Person={person}", f"Tense={tense}", "VerbForm=Fin"]
        for left_out in (None, *parts):
            feats = "|".join(part for part in parts if part != left_out)
            assert form in candidate_forms("be", "AUX", feats)
        full = [word for word in candidate_forms("be", "AUX", "|".join(parts)) if "'" not in word]
        assert full == [form]
