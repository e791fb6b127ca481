from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammars.ccg.conversion import convert
from grammars.ccg.derivation import Derivation, Leaf, Node, auto_text, fold, leaves, parse_auto, words
from grammars.ccg.relation import SPACY_ROLES, UD_ROLES, with_coordinators
from grammars.ccg.report import ConversionReport, convert_all
from grammars.ccg.step import ConversionError
from grammars.conllu import ConlluSentence, ConlluToken, read_conllu
from gyro.text.corpus import ROOT
from tests.outside import TREEBANK, needs_treebank

UD = [*UD_ROLES, "nsubj:pass", "obl", "nmod", "advmod", "amod", "advcl", "acl:relcl", "appos", "parataxis", "vocative"]
SPACY = [*SPACY_ROLES, "prep", "advmod", "amod", "advcl", "relcl", "acl", "appos", "npadvmod", "neg", "prt", "intj"]
TAGS = {
    "NOUN": ("NN",), "PROPN": ("NNP",), "PRON": ("PRP", "WP", "PRP$"), "VERB": ("VB", "VBD", "VBG", "VBN", "VBZ", "_"),
    "AUX": ("MD", "VBZ", "VBN"), "ADJ": ("JJ",), "ADV": ("RB", "WRB"), "ADP": ("IN",), "DET": ("DT", "WDT"),
    "PART": ("TO", "RB"), "NUM": ("CD",), "SCONJ": ("IN",), "CCONJ": ("CC",), "INTJ": ("UH",), "SYM": ("SYM",),
    "PUNCT": (",", ".", "``"), "X": ("FW",),
}  # fmt: skip
FORMS = ("a", "b", "(", ")", ",", ".", "--", "''", "c")


def sentence(text: str) -> ConlluSentence:
    """A sentence from form/upos/xpos/head/relation, heads counted from 1."""
    items = [item.rsplit("/", 4) for item in text.split()]
    return ConlluSentence(
        tuple(ConlluToken(f, f.lower(), u, x, "_", int(head) - 1, relation) for f, u, x, head, relation in items)
    )


def brackets(derivation: Derivation) -> str:
    return fold(
        derivation,
        lambda leaf: f"{leaf.word}:{leaf.category}",
        lambda node, parts: f"[{node.category} {' '.join(parts)}]",
    )


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (  # arguments, a determiner, an adjective, a noun without determiner, a mark
            "The/DET/DT/2/det dog/NOUN/NN/3/nsubj saw/VERB/VBD/0/root "
            "big/ADJ/JJ/5/amod cats/NOUN/NNS/3/obj ./PUNCT/./3/punct",
            r"[S[dcl] [S[dcl] [NP The:NP/N dog:N] [S[dcl]\NP saw:(S[dcl]\NP)/NP [NP [N big:N/N cats:N]]]] .:.]",
        ),
        (  # an auxiliary over a modified verb phrase
            "She/PRON/PRP/4/nsubj will/AUX/MD/4/aux not/PART/RB/4/advmod sing/VERB/VB/0/root",
            r"[S[dcl] She:NP [S[dcl]\NP will:(S[dcl]\NP)/(S[b]\NP) [S[b]\NP not:(S\NP)/(S\NP) sing:S[b]\NP]]]",
        ),
        (  # a relative word
            "people/NOUN/NNS/0/root who/PRON/WP/3/nsubj sing/VERB/VBP/1/acl:relcl",
            r"[NP [NP people:N] [NP\NP who:(NP\NP)/(S[dcl]\NP) sing:S[dcl]\NP]]",
        ),
        (  # coordination, by a word and by a mark
            "tea/NOUN/NN/0/root ,/PUNCT/,/3/punct milk/NOUN/NN/1/conj or/CCONJ/CC/5/cc water/NOUN/NN/1/conj",
            r"[NP [NP [NP tea:N] [NP\NP ,:, [NP milk:N]]] [NP\NP or:conj [NP water:N]]]",
        ),
        (  # a shared object: the conjuncts are joined before it is found
            "They/PRON/PRP/2/nsubj bought/VERB/VBD/0/root and/CCONJ/CC/4/cc sold/VERB/VBD/2/conj cars/NOUN/NNS/2/obj",
            r"[S[dcl] They:NP [S[dcl]\NP [(S[dcl]\NP)/NP bought:(S[dcl]\NP)/NP "
            r"[((S[dcl]\NP)/NP)\((S[dcl]\NP)/NP) and:conj sold:(S[dcl]\NP)/NP]] [NP cars:N]]]",
        ),
        (  # a gap: the subject is raised, auxiliary and verb compose
            "What/PRON/WP/4/obj did/AUX/VBD/4/aux he/PRON/PRP/4/nsubj see/VERB/VB/0/root ?/PUNCT/./4/punct",
            r"[S[wq] [S[wq] What:S[wq]/(S[q]/NP) [S[q]/NP did:S[q]/S[b] "
            r"[S[b]/NP [S/(S\NP) he:NP] see:(S[b]\NP)/NP]]] ?:.]",
        ),
        (  # an adverb before an object composes
            "He/PRON/PRP/2/nsubj gave/VERB/VBD/0/root her/PRON/PRP/2/iobj slowly/ADV/RB/2/advmod books/NOUN/NNS/2/obj",
            r"[S[dcl] He:NP [S[dcl]\NP [(S[dcl]\NP)/NP [(S[dcl]\NP)/NP gave:((S[dcl]\NP)/NP)/NP her:NP] "
            r"slowly:(S\NP)\(S\NP)] [NP books:N]]]",
        ),
        (  # a predicate with a preposition
            "It/PRON/PRP/5/nsubj is/AUX/VBZ/5/cop in/ADP/IN/5/case the/DET/DT/5/det house/NOUN/NN/0/root",
            r"[S[dcl] It:NP [S[dcl]\NP is:(S[dcl]\NP)/PP [PP in:PP/NP [NP the:NP/N house:N]]]]",
        ),
        (  # a possessor
            "Ann/PROPN/NNP/3/nmod:poss 's/PART/POS/1/case book/NOUN/NN/4/nsubj fell/VERB/VBD/0/root",
            r"[S[dcl] [NP [NP/N [NP Ann:N] 's:(NP/N)\NP] book:N] fell:S[dcl]\NP]",
        ),
        (  # a preposition in two pieces
            "Go/VERB/VB/0/root because/ADP/IN/4/case of/ADP/IN/2/fixed rain/NOUN/NN/1/obl",
            r"[S[b]\NP Go:S[b]\NP [(S\NP)\(S\NP) [((S\NP)\(S\NP))/NP because:(((S\NP)\(S\NP))/NP)/PR of:PR] "
            r"[NP rain:N]]]",
        ),
        (  # a complement clause
            "He/PRON/PRP/2/nsubj says/VERB/VBZ/0/root that/SCONJ/IN/5/mark she/PRON/PRP/5/nsubj left/VERB/VBD/2/ccomp",
            r"[S[dcl] He:NP [S[dcl]\NP says:(S[dcl]\NP)/S[em] [S[em] that:S[em]/S[dcl] "
            r"[S[dcl] she:NP left:S[dcl]\NP]]]]",
        ),
        (  # a subject clause, by a type change
            "Singing/VERB/VBG/3/csubj is/AUX/VBZ/3/cop fun/ADJ/JJ/0/root",
            r"[S[dcl] [NP Singing:S[ng]\NP] [S[dcl]\NP is:(S[dcl]\NP)/(S[adj]\NP) fun:S[adj]\NP]]",
        ),
        (  # spaCy's labels: prepositions are heads, coordinators hang on the first conjunct
            "He/PRON/PRP/2/nsubj sat/VERB/VBD/0/root in/ADP/IN/2/prep gardens/NOUN/NNS/3/pobj "
            "and/CCONJ/CC/2/cc slept/VERB/VBD/2/conj",
            r"[S[dcl] He:NP [S[dcl]\NP [S[dcl]\NP sat:S[dcl]\NP [(S\NP)\(S\NP) in:((S\NP)\(S\NP))/NP [NP gardens:N]]] "
            r"[(S[dcl]\NP)\(S[dcl]\NP) and:conj slept:S[dcl]\NP]]]",
        ),
    ],
)
def test_trees_worked_by_hand(tree: str, expected: str) -> None:
    derivation = convert(sentence(tree))
    assert brackets(derivation) == expected
    is_spacy = "/prep" in tree
    check(with_coordinators(sentence(tree)) if is_spacy else sentence(tree), derivation)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ("a/NOUN/NN/3/nmod b/VERB/VB/4/advcl c/VERB/VB/0/root d/VERB/VB/3/advcl", "the tree is not projective"),
        ("10\u00a0000/NUM/CD/0/root", "a form is not a token"),
    ],
)
def test_refused_trees(tree: str, reason: str) -> None:
    items = [item.rsplit("/", 4) for item in tree.split(" ")]
    tokens = (ConlluToken(f, "_", u, x, "_", int(head) - 1, relation) for f, u, x, head, relation in items)
    with pytest.raises(ConversionError, match=reason):
        convert(ConlluSentence(tuple(tokens)))


def test_missing_heads_and_endless_chains_are_refused() -> None:
    with pytest.raises(ConversionError, match="heads are missing"):
        convert(ConlluSentence((ConlluToken("a"),)))
    chain = [ConlluToken("a", "_", "NOUN", "NN", "_", place - 1, "nmod") for place in range(2000)]
    with pytest.raises(ConversionError, match="too deep"):
        convert(ConlluSentence(tuple(chain)))
    flat = [ConlluToken("a", "_", "NOUN", "NN", "_", 0 if place else ROOT, "nmod") for place in range(2000)]
    with pytest.raises(ConversionError, match="too deep"):
        convert(ConlluSentence(tuple(flat)))


def random_sentence(size: int, relations: list[str], random: Random) -> ConlluSentence:
    """A projective tree with any tags and relations."""
    heads = [ROOT] * size
    waiting = [(0, size, ROOT)]  # a span, and the head on which its trees hang
    while waiting:
        start, end, head = waiting.pop()
        if start == end:
            continue
        split = end if head == ROOT else random.randint(start + 1, end)
        root = random.randrange(start, split)
        heads[root] = head
        waiting += [(start, root, root), (root + 1, split, root), (split, end, head)]
    tokens = []
    for head in heads:
        upos = random.choice(list(TAGS))
        xpos = random.choice(TAGS[upos])
        relation = "root" if head == ROOT else random.choice(relations)
        tokens.append(ConlluToken(random.choice(FORMS), "have", upos, xpos, "_", head, relation))
    return ConlluSentence(tuple(tokens))


@settings(max_examples=500)
@given(st.integers(1, 14), st.sampled_from(["ud", "spacy"]), st.randoms(use_true_random=False))
def test_whatever_converts_is_licensed_and_keeps_the_tree(size: int, scheme: str, random: Random) -> None:
    tree = random_sentence(size, UD if scheme == "ud" else SPACY, random)
    try:
        derivation = convert(tree, scheme)
    except ConversionError:
        return
    check(with_coordinators(tree) if scheme == "spacy" else tree, derivation)


@pytest.mark.parametrize("scheme", ["ud", "spacy"])
def test_most_trees_convert_even_with_wild_relations(scheme: str) -> None:
    random = Random(7)
    report = ConversionReport()
    trees = [random_sentence(random.randint(1, 14), UD if scheme == "ud" else SPACY, random) for _ in range(400)]
    assert len(list(convert_all(trees, report, scheme))) == report.converted
    assert report.converted > 0.8 * report.trees, report.text()


@needs_treebank
def test_the_treebank_converts_and_generalises() -> None:
    report, seen = ConversionReport(), ConversionReport()
    sentences = list(read_conllu(TREEBANK / "en_ewt-ud-dev.conllu.xz"))
    entries = {entry.header.split()[0]: entry.derivation for entry in convert_all(sentences, report)}
    assert report.converted > 0.98 * report.trees
    assert len(report.categories) < 400
    assert len(report.binary) < 1000
    for tree in sentences[::7]:
        if f"ID={tree.sent_id}" in entries:
            check(tree, entries[f"ID={tree.sent_id}"])
    assert "other" not in report.combinators
    others = read_conllu(TREEBANK / "en_ewt-ud-test.conllu.xz")  # smaller than train, so that the test is quick
    assert list(convert_all(others, seen))
    unseen = sum(count for instance, count in report.binary.items() if instance not in seen.binary)
    assert unseen < 0.02 * report.binary.total()


# An independent judge of derivations: categories are read and rules applied by the definitions.


def check(tree: ConlluSentence, derivation: Derivation) -> None:
    """The words are the sentence's, every step is licensed, every arc of the tree is one binary node, and no other."""
    assert words(derivation) == tree.forms
    assert [leaf.pos for leaf in leaves(derivation)] == [token.xpos for token in tree.tokens]
    assert parse_auto(auto_text(derivation)) == derivation
    places = iter(range(len(tree.tokens)))
    arcs: dict[int, int] = {}

    def at_node(node: Node, heads: list[int]) -> int:
        assert is_licensed(node), (node.category, [child.category for child in node.children])
        if len(heads) == 2:
            arcs[heads[1 - node.head]] = heads[node.head]
        return heads[node.head]

    root = fold(derivation, lambda leaf: next(places), at_node)  # type: ignore[arg-type]
    arcs[root] = ROOT
    assert tuple(arcs[place] for place in range(len(tree.tokens))) == tree.heads


MARKS = {",", ".", ":", "LRB", "RRB", "LQU", "RQU"}
MODIFIED = {"N", "NP", "PP", "S", r"S\NP"}
CHANGES = {
    "NP": {"N", "PP", "S", r"S\NP", "S/NP"},
    r"S[adj]\NP": {"NP", "PP"},
    "S[adj]/NP": {"NP", "PP"},
    "NP/N": {"NP"},
    r"S/(S\NP)": {"NP"},
    "S/(S/NP)": {"NP"},
    r"(S\NP)/((S\NP)/NP)": {"NP"},
}

# A category is an atom, or result, slash and argument.
Category = str | tuple["Category", str, "Category"]


def read(text: str) -> Category:
    """Split at the last slash that is in no brackets."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0 and text[at] in "/\\":
            return read(text[:at]), text[at], read(text[at + 1 :])
    return read(text[1:-1]) if text.startswith("(") else text


def bare(text: str) -> str:
    for feature in ("dcl", "b", "to", "ng", "pt", "pss", "adj", "em", "q", "wq", "intj", "frg"):
        text = text.replace(f"[{feature}]", "")
    return text


def is_licensed(node: Node) -> bool:
    if len(node.children) == 1:
        source = bare(node.children[0].category)
        return source in CHANGES.get(node.category, ()) or (
            source in MODIFIED | {"S/NP"} and modifies(read(node.category))
        )
    left, right = (child.category for child in node.children)
    result = read(node.category)
    if (left in MARKS and right == node.category) or (right in MARKS and left == node.category):
        return True
    if left in ("conj", ",", ":") and result == (read(right), "\\", read(right)):
        return True
    return result in (*forward(read(left), read(right)), *backward(read(left), read(right)))


def modifies(category: Category) -> bool:
    """Is it X|X for a phrase X, or for such a modifier?"""
    if isinstance(category, str) or category[0] != category[2]:
        return False
    return category[0] in [read(phrase) for phrase in MODIFIED] or modifies(category[0])


def forward(left: Category, right: Category) -> list[Category]:
    """X/Y before Y, Y/Z or Y/Z|W: application and harmonic composition."""
    return [] if isinstance(left, str) or left[1] != "/" else joined(left, right, "/")


def backward(left: Category, right: Category) -> list[Category]:
    """X\\Y behind Y, Y|Z or Y|Z|W: application and both kinds of composition."""
    return [] if isinstance(right, str) or right[1] != "\\" else joined(right, left, "/\\")


def joined(primary: tuple[Category, str, Category], secondary: Category, slashes: str) -> list[Category]:
    results: list[Category] = []
    behind: list[tuple[str, Category]] = []
    inner = secondary
    while len(behind) <= 2:
        feature = unify(primary[2], inner)
        if feature is not None and (not behind or behind[-1][0] in slashes):
            result = fill(primary[0], feature)
            for slash, argument in reversed(behind):
                result = (result, slash, argument)
            results.append(result)
        if isinstance(inner, str):
            break
        behind.append((inner[1], inner[2]))
        inner = inner[0]
    return results


def unify(wanted: Category, found: Category) -> str | None:
    """The feature that an open S in what is wanted takes from what is found ("" for none); None if they differ."""
    if isinstance(wanted, str) or isinstance(found, str):
        if wanted == found:
            return ""
        if isinstance(found, str) and wanted == "S" and found.startswith("S["):
            return found[1:]
        return "" if isinstance(wanted, str) and found == "S" and wanted.startswith("S[") else None
    parts = [unify(wanted[0], found[0]), unify(wanted[2], found[2])]
    if wanted[1] != found[1] or None in parts:
        return None
    features = {part for part in parts if part}
    return None if len(features) > 1 else "".join(features)  # type: ignore[arg-type]


def fill(category: Category, feature: str) -> Category:
    if isinstance(category, str):
        return category + feature if category == "S" else category
    return fill(category[0], feature), category[1], fill(category[2], feature)


@pytest.mark.parametrize(
    ("left", "right", "result", "licensed"),
    [
        ("NP", r"S[dcl]\NP", "S[dcl]", True),
        (r"S[dcl]\NP", "NP", "S[dcl]", False),
        (r"(S[b]\NP)/NP", r"(S\NP)\(S\NP)", r"(S[b]\NP)/NP", True),
        (r"S/S", r"S[dcl]\NP", r"S[dcl]\NP", False),
        ("S/S", "S[q]/NP", "S[q]/NP", True),
        ("conj", "NP", r"NP\NP", True),
        ("N", "N", "N", False),
    ],
)
def test_the_judge(left: str, right: str, result: str, licensed: bool) -> None:
    node = Node(result, "", 0, (Leaf.plain(left, "a", "X"), Leaf.plain(right, "b", "X")))
    assert is_licensed(node) is licensed
