from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.model import ModelSettings
from comparison.best_first.treebank import (
    ccg_training,
    dependency_training,
    development_bags,
    read_derivations,
    tag_categories,
)
from grammars.ccg.derivation import AutoEntry, Derivation, Leaf, Node, leaves, write_auto
from grammars.conllu import ConlluSentence, write_conllu
from gyro.errors import InputError
from tests.comparison.best_first.treebank import tree

DEPENDENCY = ModelSettings(bits=14)
CCG = ModelSettings(grammar="ccg", bits=14, cutoff=0)
CROSSING = "a/a/DET/DT/_/3/det very/very/ADV/RB/_/4/advmod cat/cat/NOUN/NN/_/0/root old/old/ADJ/JJ/_/3/amod"


def write_trees(path: Path, trees: list[ConlluSentence]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        write_conllu(file, trees)
    return path


def write_derivations(path: Path, trees: list[Derivation]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        write_auto(file, (AutoEntry("", tree) for tree in trees))
    return path


def test_trees_that_cross_are_left_out(conllu_file: Path, tmp_path: Path) -> None:
    crossing = write_trees(tmp_path / "crossing.conllu", [tree(CROSSING, "x")])
    found = dependency_training([conllu_file, crossing], DEPENDENCY)
    assert found.treebank.size == 10
    assert found.notes == ("10 of 11 trees; the others are not projective or not usable",)
    assert all(found.treebank.example(number) is not None for number in range(10))
    with pytest.raises(InputError, match="found no projective tree to learn from"):
        dependency_training([crossing], DEPENDENCY)


def test_signatures_tell_treebanks_apart(conllu_file: Path, auto_file: Path) -> None:
    signatures = {dependency_training([conllu_file], DEPENDENCY, limit=n).treebank.signature for n in (None, 3, 4)}
    signatures |= {ccg_training([auto_file], CCG, limit=n).treebank.signature for n in (None, 3, 4)}
    assert len(signatures) == 6
    assert dependency_training([conllu_file], DEPENDENCY, limit=3).treebank.size == 3


@pytest.mark.parametrize("grammar", ["dependency", "ccg"])
def test_some_sentences_are_chosen_at_random_by_the_seed(grammar: str, conllu_file: Path, auto_file: Path) -> None:
    """In the order of the file; the grammar is of them alone."""

    def chosen(seed: int, limit: int | None) -> list[bytes]:
        settings = replace(DEPENDENCY if grammar == "dependency" else CCG, seed=seed)
        if grammar == "dependency":
            found = dependency_training([conllu_file], settings, limit=limit)
        else:
            found = ccg_training([auto_file], settings, limit=limit)
        examples = [found.treebank.example(number) for number in range(found.treebank.size)]
        return [b"" if e is None else e.prepared.problem.words.tobytes() for e in examples]

    every = chosen(0, None)
    assert chosen(3, None) == chosen(0, 100) == every
    some = [chosen(seed, 4) for seed in range(6)]
    assert all(len(each) == 4 for each in some)
    assert all([text for text in every if text in each] == each for each in some)
    assert len({tuple(each) for each in some}) > 2
    assert chosen(5, 4) == some[5]


@pytest.mark.parametrize(("templates", "dp"), [("ours", True), ("table2", False)])
def test_the_grammar_has_the_features_of_the_settings(templates: str, dp: bool, conllu_file: Path) -> None:
    grammar = dependency_training([conllu_file], replace(DEPENDENCY, templates=templates, dp=dp)).grammar
    assert isinstance(grammar, DependencyGrammar)
    assert (grammar.templates, grammar.dp) == (templates, dp)


def test_derivations_of_files(auto_file: Path, conllu_file: Path, derivation_bank: list[Derivation]) -> None:
    entries, notes = read_derivations([auto_file])
    assert [entry.derivation for entry in entries] == derivation_bank
    assert notes == ()
    converted, notes = read_derivations([conllu_file])
    strings = {" ".join(leaf.word for leaf in leaves(entry.derivation)) for entry in converted}
    assert "the dog barks ." in strings
    assert notes == (f"{conllu_file}: {len(converted)} of 10 trees converted",)


def test_heads_and_tags_are_filled_in_where_there_are_none(tmp_path: Path) -> None:
    bare = Node("NP", "", 0, (Leaf.plain("NP/N", "the", "XX"), Leaf.plain("N", "dog", "XX")))
    path = write_derivations(tmp_path / "bare.auto", [bare])
    (entry,), notes = read_derivations([path])
    assert isinstance(entry.derivation, Node)
    assert entry.derivation.head == 1
    assert [leaf.pos for leaf in leaves(entry.derivation)] == ["DT", "NN"]
    assert notes == ("1 derivations tagged by spaCy", "all heads were on the left: assigned by category")


def test_ccg_training(auto_file: Path, derivation_bank: list[Derivation], tmp_path: Path) -> None:
    found = ccg_training([auto_file], CCG)
    assert found.treebank.size == len(derivation_bank)
    assert found.notes == ("9 categories, 1 unary and 6 binary rules",)
    assert found.tagger is None
    assert all(found.treebank.example(number) is not None for number in range(len(derivation_bank)))
    (tmp_path / "empty.auto").write_text("")
    with pytest.raises(InputError, match="found no derivation to learn from"):
        ccg_training([tmp_path / "empty.auto"], CCG)


def test_a_multitagger_gives_candidates(auto_file: Path, derivation_bank: list[Derivation]) -> None:
    settings = ModelSettings(grammar="ccg", bits=14, beta=0.01)
    found = ccg_training([auto_file], settings)
    assert found.tagger is not None
    categories = tag_categories(found.tagger, derivation_bank[5], 0.01)
    assert [names[0] for names in categories] == [leaf.category for leaf in leaves(derivation_bank[5])]
    assert found.treebank.example(5) is not None
    bags = development_bags([auto_file], settings, sample=100, tagger=found.tagger)
    assert all(bag.categories is not None and None not in bag.categories for bag in bags)


@pytest.mark.parametrize(
    ("given", "labels", "tags", "wanted"),
    [
        (("pos",), False, "xpos", {"pos"}),
        ((), False, "xpos", set()),
        (("pos", "heads"), False, "upos", {"pos", "heads"}),
        (("pos", "heads"), True, "xpos", {"pos", "heads", "labels"}),
        (("units",), False, "xpos", {"units"}),
        (("pos", "heads", "lemmas"), True, "upos", {"pos", "heads", "labels", "lemmas", "feats"}),
    ],
)
def test_development_bags_are_given_what_training_was(
    given: tuple[str, ...], labels: bool, tags: str, wanted: set[str], conllu_file: Path
) -> None:
    settings = ModelSettings(given=given, labels=labels, tags=tags)
    bags = development_bags([conllu_file], settings, sample=100)
    assert len(bags) == 10
    known = {
        name for bag in bags for name in ("pos", "heads", "labels", "feats", "lemmas", "units") if getattr(bag, name)
    }
    assert known == wanted
    assert all(bag.reference for bag in bags)


def test_development_bags_are_a_fixed_sample(conllu_file: Path, auto_file: Path, tmp_path: Path) -> None:
    samples = [development_bags([conllu_file], DEPENDENCY, sample=4) for _ in range(2)]
    assert samples[0] == samples[1]
    assert len(samples[0]) == 4
    assert len(development_bags([auto_file], CCG, sample=100)) == 8
    with pytest.raises(InputError, match="found no sentence that can be used"):
        development_bags([write_trees(tmp_path / "empty.conllu", [])], DEPENDENCY, sample=4)
