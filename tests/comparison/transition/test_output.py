"""Trees of hypotheses: whose heads, tags and labels are those given, and which units stay whole."""

from __future__ import annotations

from comparison.transition.decoder import Decoder
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.output import dependency_tree, tree_text
from comparison.transition.problem import bag_given
from grammars.annotation import Annotation, sentence_to_bag, tree_to_sentence
from grammars.conllu import is_projective
from gyro.text.annotated_bag import AnnotatedBag
from tests.comparison.transition.bank import random_weights, trees

GRAMMAR = TransitionGrammar.from_trees(trees())


def test_given_trees_come_back_with_their_labels() -> None:
    decoder = Decoder(GRAMMAR, random_weights(5), 8)
    for tree in trees():
        for units in (False, True):
            bag = sentence_to_bag(tree_to_sentence(tree, "x"), Annotation(heads=1.0, labels=True, units=units))
            decoded = decoder.decode(bag_given(bag))
            for hypothesis in range(len(decoded.scores)):
                found = dependency_tree(decoded, hypothesis, GRAMMAR, bag, "xpos")
                assert found.forms == decoded.words(hypothesis)
                assert is_projective(found.heads)
                named = sorted(
                    (t.form, t.xpos, t.deprel, "" if t.head is None or t.head < 0 else found.forms[t.head])
                    for t in found.tokens
                )
                assert named == sorted(
                    (t.form, t.xpos, t.deprel, "" if t.head is None or t.head < 0 else tree.forms[t.head])
                    for t in tree.tokens
                )


def test_words_of_a_unit_hang_on_its_head() -> None:
    bag = AnnotatedBag(("the", "old", "dog", "barks"), units=((0, 1, 2),), id="b")
    place = {word: i for i, word in enumerate(bag.tokens)}
    assert bag.units == ((place["the"], place["old"], place["dog"]),)
    decoded = Decoder(GRAMMAR, random_weights(2), 8).decode(bag_given(bag))
    for hypothesis in range(len(decoded.scores)):
        tree = dependency_tree(decoded, hypothesis, GRAMMAR, bag, "xpos")
        dog = tree.forms.index("dog")
        assert [tree.forms[i] for i in range(dog - 2, dog)] == ["the", "old"]
        assert tree.heads[dog - 2 : dog] == (dog, dog)
        assert [token.xpos for token in tree.tokens[dog - 2 : dog + 1]] == ["DT", "JJ", "NN"]
    text = tree_text(decoded, 0, GRAMMAR, bag, "xpos")
    assert text.startswith(f"# sent_id = b\n# rank = 1\n# score = {decoded.scores[0]:.6f}\n1\t")
