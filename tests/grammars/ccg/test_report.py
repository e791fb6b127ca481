from __future__ import annotations

from collections import Counter

from grammars.ccg.derivation import parse_auto
from grammars.ccg.report import SHOWN_REASONS, TYPE_CHANGE, ConversionReport, convert_all
from grammars.conllu import ConlluSentence, ConlluToken

# "cats chase mice", worked by hand: two type changes, an application to the right and one to the left.
TV, IV = "(S[dcl]\\NP)/NP", "S[dcl]\\NP"
CATS = parse_auto(
    f"(<T S[dcl] 1 2> (<T NP 0 1> (<L N NNS NNS cats N>) ) (<T {IV} 0 2> (<L {TV} VBP VBP chase {TV}>) "
    "(<T NP 0 1> (<L N NNS NNS mice N>) ) ) )"
)


def sentence(*rows: tuple[str, str, str, int, str], name: str = "") -> ConlluSentence:
    tokens = tuple(ConlluToken(form, form, upos, xpos, "_", head, label) for form, upos, xpos, head, label in rows)
    return ConlluSentence(tokens, (f"# sent_id = {name}",) if name else ())


DOGS = (("Dogs", "NOUN", "NNS", 1, "nsubj"), ("bark", "VERB", "VBP", -1, "root"))
CROSSING = (("a", "NOUN", "NN", 2, "nmod"), ("b", "NOUN", "NN", 3, "nmod"), ("c", "NOUN", "NN", -1, "root"),
            ("d", "NOUN", "NN", 2, "nmod"))  # fmt: skip


def test_the_counts_of_a_derivation() -> None:
    report = ConversionReport()
    report.add(CATS)
    report.add(CATS)
    report.refuse("too deep")
    assert (report.trees, report.converted) == (3, 2)
    assert report.categories == {"N": 4, TV: 2}
    assert report.roots == {"S[dcl]": 2}
    assert report.unary == {("N", "NP"): 4}
    assert report.binary == {(TV, "NP", IV, 0): 2, ("NP", IV, "S[dcl]", 1): 2}
    assert report.combinators == {TYPE_CHANGE: 4, "fa": 2, "ba": 2}
    assert report.text().splitlines() == [
        "3 trees, 2 converted (66.7 %)",
        "     1  too deep",
        "2 lexical categories, 1 unary and 2 binary rule instances",
        "     4  type change",
        "     2  fa",
        "     2  ba",
    ]


def test_only_the_most_frequent_reasons_are_shown() -> None:
    report = ConversionReport()
    for number in range(SHOWN_REASONS + 3):
        for _ in range(number + 1):
            report.refuse(f"reason {number}")
    lines = report.text().splitlines()
    assert lines[1] == f"{SHOWN_REASONS + 3:6}  reason {SHOWN_REASONS + 2}"
    assert lines[SHOWN_REASONS] == "     4  reason 3"
    total = (SHOWN_REASONS + 3) * (SHOWN_REASONS + 4) // 2
    assert lines[SHOWN_REASONS + 1] == f"{total:6}  in all, for {SHOWN_REASONS + 3} reasons"


def test_no_trees_at_all() -> None:
    assert ConversionReport().text().startswith("0 trees, 0 converted (0.0 %)\n")


def test_sentences_keep_their_names_or_numbers() -> None:
    report = ConversionReport()
    sentences = [sentence(*DOGS, name="first"), sentence(*CROSSING), sentence(*DOGS)]
    entries = list(convert_all(sentences, report, "ud"))
    assert [entry.header for entry in entries] == [f"ID={name} PARSER=gyro NUMPARSE=1" for name in ("first", "3")]
    assert (report.trees, report.converted) == (3, 2)
    assert report.reasons == Counter({"the tree is not projective": 1})
