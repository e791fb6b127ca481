"""Ten sentences by hand, as dependency trees and (eight of them) as CCG derivations.

trees        the dependency trees
derivations  the derivations
ambiguous    derivations of a grammar in which all that is of one string, or nearly so, has many derivations
"""

from __future__ import annotations

from grammars.ccg.derivation import Derivation, Leaf, Node
from grammars.conllu import ConlluSentence, ConlluToken

# form/lemma/upos/xpos/feats/head/label, the head counted from 1
SENTENCES = [
    "the/the/DET/DT/_/2/det dog/dog/NOUN/NN/Number=Sing/3/nsubj barks/bark/VERB/VBZ/{}/0/root ././PUNCT/./_/3/punct",
    "dogs/dog/NOUN/NNS/Number=Plur/2/nsubj bark/bark/VERB/VBP/_/0/root loudly/loudly/ADV/RB/_/2/advmod",
    "she/she/PRON/PRP/Case=Nom/2/nsubj sees/see/VERB/VBZ/{}/0/root the/the/DET/DT/_/5/det old/old/ADJ/JJ/_/5/amod "
    "cat/cat/NOUN/NN/Number=Sing/2/obj ././PUNCT/./_/2/punct",
    "the/the/DET/DT/_/2/det cat/cat/NOUN/NN/Number=Sing/3/nsubj sees/see/VERB/VBZ/{}/0/root the/the/DET/DT/_/5/det "
    "dog/dog/NOUN/NN/Number=Sing/3/obj ././PUNCT/./_/3/punct",
    "old/old/ADJ/JJ/_/2/amod dogs/dog/NOUN/NNS/Number=Plur/3/nsubj sleep/sleep/VERB/VBP/_/0/root",
    "they/they/PRON/PRP/Case=Nom/2/nsubj saw/see/VERB/VBD/Tense=Past|VerbForm=Fin/0/root a/a/DET/DT/_/4/det "
    "saw/saw/NOUN/NN/Number=Sing/2/obj ././PUNCT/./_/2/punct",
    "she/she/PRON/PRP/Case=Nom/2/nsubj sleeps/sleep/VERB/VBZ/{}/0/root",
    "loudly/loudly/ADV/RB/_/4/advmod the/the/DET/DT/_/3/det dog/dog/NOUN/NN/Number=Sing/4/nsubj "
    "barks/bark/VERB/VBZ/{}/0/root",
    "a/a/DET/DT/_/4/det very/very/ADV/RB/_/3/advmod old/old/ADJ/JJ/_/4/amod cat/cat/NOUN/NN/Number=Sing/0/root",
    "cats/cat/NOUN/NNS/Number=Plur/2/nsubj see/see/VERB/VBP/_/0/root dogs/dog/NOUN/NNS/Number=Plur/2/obj "
    "in/in/ADP/IN/_/6/case the/the/DET/DT/_/6/det park/park/NOUN/NN/Number=Sing/2/obl ././PUNCT/./_/2/punct",
]
THIRD = "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"


def tree(text: str, name: str) -> ConlluSentence:
    tokens = []
    for field in text.replace("{}", THIRD).split():
        form, lemma, upos, xpos, feats, head, label = field.split("/")
        tokens.append(ConlluToken(form, lemma, upos, xpos, feats, int(head) - 1, label))
    return ConlluSentence(tuple(tokens), (f"# sent_id = {name}",))


def trees() -> list[ConlluSentence]:
    return [tree(text, str(number)) for number, text in enumerate(SENTENCES, 1)]


def word(category: str, text: str) -> Leaf:
    form, pos = text.split("/")
    return Leaf.plain(category, form, pos)


def noun_phrase(text: str) -> Derivation:
    """the/DT old/JJ cat/NN, or without a determiner."""
    *before, noun = text.split()
    found: Derivation = word("N", noun)
    for adjective in reversed(before[1:] if before and before[0].endswith("/DT") else before):
        found = Node("N", "", 1, (word("N/N", adjective), found))
    if before and before[0].endswith("/DT"):
        return Node("NP", "", 1, (word("NP/N", before[0]), found))
    return Node("NP", "", 0, (found,))


VP, TV = "S[dcl]\\NP", "(S[dcl]\\NP)/NP"


def sentence(subject: Derivation, verb: str, *rest: Derivation, stop: bool = False, adverb: str = "") -> Derivation:
    predicate: Derivation = word(TV if rest else VP, verb)
    for part in rest:
        predicate = Node(VP, "", 0, (predicate, part))
    if adverb:
        predicate = Node(VP, "", 0, (predicate, word(f"({VP})\\({VP})", adverb)))
    whole: Derivation = Node("S[dcl]", "", 1, (subject, predicate))
    return Node("S[dcl]", "", 0, (whole, word(".", "./."))) if stop else whole


def derivations() -> list[Derivation]:
    she, they = word("NP", "she/PRP"), word("NP", "they/PRP")
    return [
        sentence(noun_phrase("the/DT dog/NN"), "barks/VBZ", stop=True),
        sentence(noun_phrase("dogs/NNS"), "bark/VBP", adverb="loudly/RB"),
        sentence(she, "sees/VBZ", noun_phrase("the/DT old/JJ cat/NN"), stop=True),
        sentence(noun_phrase("the/DT cat/NN"), "sees/VBZ", noun_phrase("the/DT dog/NN"), stop=True),
        sentence(noun_phrase("old/JJ dogs/NNS"), "sleep/VBP"),
        sentence(they, "saw/VBD", noun_phrase("a/DT saw/NN"), stop=True),
        sentence(she, "sleeps/VBZ"),
        sentence(noun_phrase("cats/NNS"), "see/VBP", noun_phrase("dogs/NNS"), stop=True),
    ]


def ambiguous() -> list[Derivation]:
    """Words a–f of two categories, of which any two make an X with the head on either side; a Y may become an X."""
    x, y = word("X", "a/A"), word("Y", "b/B")
    pairs = [(first, second) for first in (x, y) for second in (x, y)]
    known: list[Derivation] = [Node("X", "", head, pair) for pair in pairs for head in (0, 1)]
    others = [word("X", "c/A"), word("Y", "d/B"), word("X", "e/A"), word("Y", "f/B")]
    return [*known, Node("X", "", 0, (y,)), *others]
