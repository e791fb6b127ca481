from __future__ import annotations

import pytest

from grammars.ccg.relation import Role, find_scheme, mark_category, role_of, verb_feature, with_coordinators
from grammars.conllu import ConlluSentence, ConlluToken, is_projective
from gyro.errors import InputError


def labelled(*labels: str, heads: tuple[int, ...] = ()) -> ConlluSentence:
    given = heads or tuple(range(-1, len(labels) - 1))
    return ConlluSentence(
        tuple(ConlluToken("a", head=head, deprel=label) for head, label in zip(given, labels, strict=True))
    )


@pytest.mark.parametrize(
    ("relation", "scheme", "tag", "role"),
    [
        ("nsubj:pass", "ud", "NN", Role.SUBJECT),
        ("nsubjpass", "spacy", "NN", Role.SUBJECT),
        ("obl:agent", "ud", "NN", Role.ADJUNCT),
        ("compound:prt", "ud", "RP", Role.ADJUNCT),
        ("compound", "ud", "NN", Role.INNER),
        ("mark", "ud", "IN", Role.FUNCTOR),
        ("mark", "ud", "TO", Role.AUXILIARY),
        ("case", "ud", "TO", Role.FUNCTOR),
        ("aux", "spacy", "TO", Role.AUXILIARY),
        ("never seen", "ud", "NN", Role.ADJUNCT),
        ("pobj", "spacy", "NN", Role.OBJECT),
    ],
)
def test_roles(relation: str, scheme: str, tag: str, role: Role) -> None:
    assert role_of(ConlluToken("a", xpos=tag, deprel=relation), scheme) is role


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError, match="found the scheme 'penn'; ud or spacy is allowed"):
        role_of(ConlluToken("a"), "penn")


def test_schemes_are_found() -> None:
    assert find_scheme(labelled("root", "obj")) == "ud"
    assert find_scheme(labelled("root", "dobj")) == "spacy"
    assert find_scheme(labelled("root", "nsubj")) == "ud"
    assert find_scheme(labelled("root", "cc", "conj", heads=(-1, 0, 0))) == "spacy"
    assert find_scheme(labelled("root", "cc", "conj", heads=(-1, 2, 0))) == "ud"


def test_verb_features() -> None:
    have, be = ConlluToken("has", "have"), ConlluToken("was", "be")
    seen = ConlluToken("seen", xpos="VBN")
    assert [verb_feature(seen, auxiliaries) for auxiliaries in ([], [be], [be, have], [have])] == ["pss"] * 3 + ["pt"]
    features = (
        "VerbForm=Inf",
        "Mood=Ind|VerbForm=Fin",
        "VerbForm=Ger",
        "Tense=Pres|VerbForm=Part",
        "VerbForm=Part",
        "_",
    )
    found = [verb_feature(ConlluToken("a", feats=feats)) for feats in features]
    assert found == ["b", "dcl", "ng", "ng", "pss", "dcl"]


def test_marks() -> None:
    tagged = {
        ('"', "``"): "LQU",
        ('"', "''"): "RQU",
        ("[", "-LRB-"): "LRB",
        (";", ":"): ":",
        ("*", "NFP"): ":",
        ("!", "."): ".",
    }
    for (form, tag), category in tagged.items():
        assert mark_category(ConlluToken(form, xpos=tag)) == category


@pytest.mark.parametrize(
    ("labels", "heads", "expected"),
    [
        (("root", "punct", "conj", "cc", "conj"), (-1, 0, 0, 2, 2), (-1, 2, 0, 4, 2)),  # a, b and c
        (("root", "punct", "cc", "conj"), (-1, 0, 0, 0), (-1, 3, 3, 0)),  # a, and b
        (("root", "punct", "amod"), (-1, 0, 0), (-1, 0, 0)),
        (("root", "cc", "advmod", "conj"), (-1, 0, 0, 0), (-1, 0, 0, 0)),  # not beside the conjunct
        (("cc", "root", "conj"), (1, -1, 1), (1, -1, 1)),
    ],
)
def test_coordinators_of_spacys_trees(
    labels: tuple[str, ...], heads: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    moved = with_coordinators(labelled(*labels, heads=heads))
    assert moved.heads == expected
    assert is_projective(moved.heads)
