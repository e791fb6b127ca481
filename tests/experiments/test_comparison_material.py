"""What the systems have in common: what is held out is unseen, samples are nested, bags are given what they should."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from experiments.comparison import ComparisonLaboratory
from grammars.conllu import is_projective, read_conllu
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag_file import read_bags
from lm.kenlm.model import load_model
from tests.experiments.comparison_tiny import laboratory, write_tiny
from tests.experiments.syntax_tiny import SENTENCES

CROSSING = """# sent_id = x
1\tthe\tthe\tDET\tDT\t_\t3\tdet\t_\t_
2\tsees\tsee\tVERB\tVBZ\t_\t0\troot\t_\t_
3\tdog\tdog\tNOUN\tNN\t_\t2\tobj\t_\t_

# sent_id = blank
1\ta b\ta b\tNOUN\tNN\t_\t0\troot\t_\t_

"""


@pytest.fixture
def place(tmp_path: Path) -> ComparisonLaboratory:
    return laboratory(write_tiny(tmp_path), jobs=1)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_no_model_sees_what_is_held_out(place: ComparisonLaboratory, tmp_path: Path) -> None:
    text = tmp_path / "news.txt"
    text.write_text(text.read_text(encoding="utf-8") * 2, encoding="utf-8")  # every sentence stands there twice
    material = place.material
    material.make_text()
    held_out = lines(material.held_out)
    assert len(set(held_out)) == 3
    assert sorted(lines(material.text)) == sorted(s for s in SENTENCES * 2 if s not in held_out)
    assert set(held_out) <= set(SENTENCES)
    material.make_bags("news")
    assert sorted(" ".join(bag.reference or ()) for bag in read_bags(material.bags("news", "words"))) == sorted(
        held_out
    )


def test_too_few_sentences_to_hold_out(place: ComparisonLaboratory, tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(InputError, match="found 0 sentences of that length; 3 are held out"):
        place.material.make_text()


def test_treebanks_are_projective_and_nested(place: ComparisonLaboratory, tmp_path: Path) -> None:
    train = tmp_path / "train.conllu"
    train.write_text(train.read_text(encoding="utf-8") + CROSSING, encoding="utf-8")
    material = place.material
    for table in place.experiment.treebanks:
        material.make_treebank(table)
    trees = {name: list(read_conllu(material.treebank(name))) for name in ("gold", "few", "moved")}
    assert len(trees["gold"]) == 12  # neither the crossing one nor the one with a blank in a word
    assert len(trees["few"]) == 4
    assert {tree.sent_id for tree in trees["few"]} < {tree.sent_id for tree in trees["gold"]}
    assert all(is_projective(tree.heads) for tree in trees["moved"])
    pairs = list(zip(trees["gold"], trees["moved"], strict=True))
    assert all(gold.forms == moved.forms for gold, moved in pairs)
    differ = sum(a != b for gold, moved in pairs for a, b in zip(gold.heads, moved.heads, strict=True))
    facts = material.treebank_facts("moved")
    assert facts is not None
    assert (facts.sentences, facts.words, facts.projective) == (12, 60, 12)
    assert facts.uas == facts.kept == pytest.approx(1 - differ / 60) == pytest.approx(0.6)
    assert material.treebank_facts("none") is None


def test_spacy_trees_keep_words_and_tags(place: ComparisonLaboratory, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("moved = 0.4", 'parser = "spacy"'), encoding="utf-8")
    material = laboratory(path, jobs=1).material
    table = next(table for table in material.experiment.treebanks if table.parser)
    material.make_treebank(table)
    parsed = list(read_conllu(material.treebank("moved")))
    assert [tree.forms for tree in parsed] == [tuple(sentence.split()) for sentence in SENTENCES[:12]]
    assert {token.xpos for tree in parsed for token in tree.tokens} == {"DT", "NN", "VBZ"}
    facts = material.treebank_facts("moved")
    assert facts is not None
    assert facts.kept == 1.0
    assert facts.uas > 0.5


def test_dev_is_split_and_bags_are_the_same_under_all_conditions(place: ComparisonLaboratory, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    new = path.read_text(encoding="utf-8").replace(
        'given = ["words", "pos"]\nbags', 'given = ["words", "pos"]\nsets = ["dev"]\nbags'
    )
    path.write_text(new, encoding="utf-8")
    material = laboratory(path, jobs=1).material
    material.make_half()
    material.make_bags("dev")
    half = {tree.sent_id for tree in read_conllu(material.half)}
    bags = {given: list(read_bags(material.bags("dev", given))) for given in ("words", "pos")}
    ids = [bag.id for bag in bags["words"]]
    assert ids == [bag.id for bag in bags["pos"]] == [tree.sent_id for tree in read_conllu(material.trees("dev"))]
    assert len(half) == len(ids) == 4
    assert not half & set(ids)
    assert half | set(ids) == {tree.sent_id for tree in read_conllu(tmp_path / "dev.conllu")}
    assert not any(isinstance(bag, AnnotatedBag) for bag in bags["words"])
    assert all(isinstance(bag, AnnotatedBag) and bag.pos and bag.heads is None for bag in bags["pos"])


def test_sets_of_text_are_parsed_and_have_each_sentence_once(place: ComparisonLaboratory) -> None:
    material = place.material
    material.make_bags("other")
    trees = list(read_conllu(material.trees("other")))
    assert {tree.forms for tree in trees} == {tuple(sentence.split()) for sentence in SENTENCES[:3]}
    assert len(trees) == 3
    assert all(token.head is not None and token.xpos != "_" for tree in trees for token in tree.tokens)


def test_language_models_are_of_what_is_said(place: ComparisonLaboratory) -> None:
    material, tables = place.material, {table.name: table for table in place.experiment.language_models}
    material.make_text()
    material.make_train_text()
    material.make_treebank(next(table for table in place.experiment.treebanks if table.name == "few"))
    for table in tables.values():
        material.make_language_model(table)
        assert material.seconds(table.name) > 0
    few = load_model(material.language_model("few"))
    words = {word for tree in islice(read_conllu(material.treebank("few")), 4) for word in tree.forms}
    assert few.order == 2
    assert few.score(tuple(sorted(words))) != 0
    assert material.seconds("2-gram") > 0
    assert material.language_model("few").parent != material.shared
