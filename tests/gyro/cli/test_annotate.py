from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.model import TAGGER, ModelSettings, save_model
from grammars.ccg.derivation import read_auto
from grammars.ccg.tagger import train_tagger
from gyro.cli import main
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag_file import read_bags

TREES = """\
# sent_id = first
1	The	the	DET	DT	Definite=Def	2	det	_	_
2	dogs	dog	NOUN	NNS	Number=Plur	3	nsubj	_	_
3	bark	bark	VERB	VBP	Tense=Pres|VerbForm=Fin	0	root	_	_
4	.	.	PUNCT	.	_	3	punct	_	_

1	No	no	INTJ	UH	_	0	root	_	_

# sent_id = blank
1	10 000	10000	NUM	CD	_	0	root	_	_

# sent_id = last
1	An	a	DET	DT	_	2	det	_	_
2	owl	owl	NOUN	NN	Number=Sing	0	root	_	_
3	!	_	PUNCT	_	_	2	punct	_	_

"""
DERIVATIONS = (
    "ID=wsj.1 PARSER=GOLD NUMPARSE=1\n"
    "(<T S[dcl] 1 2> (<T NP 1 2> (<L NP/N DT DT the NP/N>) (<L N NN NN owl N>) ) "
    r"(<L S[dcl]\NP VBZ VBZ cries S[dcl]\NP>) )"
    "\n"
    "ID=2 PARSER=x\n"
    r"(<T S[dcl] 1 2> (<L NP XX XX she NP>) (<L S[dcl]\NP XX XX cries S[dcl]\NP>) )"
    "\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees.conllu").write_text(TREES, encoding="utf-8")
    (tmp_path / "derivations.auto").write_text(DERIVATIONS, encoding="utf-8")
    return tmp_path


def annotate(folder: Path, *words: str) -> list[Any]:
    assert main(["annotate", *words, "-o", "bags.jsonl"]) == 0
    return list(read_bags(folder / "bags.jsonl"))


def test_tags_are_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags = annotate(folder, "trees.conllu")
    assert [bag.id for bag in bags] == ["first", "2", "last"]
    assert bags[0] == AnnotatedBag((".", "The", "bark", "dogs"), "first", pos=(".", "DT", "VBP", "NNS"))
    assert bags[0].reference == ("The", "dogs", "bark", ".")
    assert bags[2].pos == (None, "DT", "NN")
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith("left out blank: found '10 000'; a token is")
    assert error[1] == "3 bags, 1 sentences left out"


def test_heads_relations_and_units(folder: Path) -> None:
    options = ["--heads", "1", "--labels", "--tags", "upos", "--units", "base-np"]
    bag = annotate(folder, "trees.conllu", *options)[0]
    assert bag.pos == ("PUNCT", "DET", "VERB", "NOUN")
    assert bag.heads == (2, 3, -1, 2)
    assert bag.labels == ("punct", "det", "root", "nsubj")
    assert bag.units == ((1, 3),)


def test_lemmas(folder: Path) -> None:
    bags = annotate(folder, "trees.conllu", "--lemmas")
    assert bags[0].inflect
    assert bags[0].tokens == bags[0].lemmas == (".", "bark", "dog", "the")
    assert bags[0].pos == ("PUNCT", "VERB", "NOUN", "DET")
    assert bags[0].feats == ("_", "Tense=Pres|VerbForm=Fin", "Number=Plur", "Definite=Def")
    assert bags[0].heads == (1, -1, 1, 2)
    assert bags[0].labels == ("punct", "root", "nsubj", "det")
    assert bags[2].tokens == ("!", "a", "owl")  # a missing lemma is the form
    assert bags[2].reference == ("An", "owl", "!")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--range", "2:3"], ["2"]),
        (["--range", "2:"], ["2", "last"]),
        (["--longest", "3"], ["2", "last"]),
        (["--longest", "3", "--range", ":2"], ["2"]),
    ],
)
def test_choice_of_sentences(folder: Path, options: list[str], ids: list[str]) -> None:
    assert [bag.id for bag in annotate(folder, "trees.conllu", *options)] == ids


def test_several_files_are_numbered_through(folder: Path) -> None:
    bags = annotate(folder, "trees.conllu", "trees.conllu")
    assert [bag.id for bag in bags] == ["first", "2", "last", "first", "6", "last"]


def test_derivations(folder: Path) -> None:
    bags = annotate(folder, "derivations.auto", "--units", "base-np")
    assert bags[0] == AnnotatedBag(("cries", "owl", "the"), "wsj.1", pos=("VBZ", "NN", "DT"), units=((2, 1),))
    assert (bags[1].id, bags[1].tokens, bags[1].reference) == ("2", ("cries", "she"), ("she", "cries"))
    assert not isinstance(bags[1], AnnotatedBag)  # "XX" is no tag, and one word no unit


def test_categories_of_a_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = next(read_auto(folder / "derivations.auto")).derivation
    inventory, weights = CcgInventory.from_derivations([tree]), np.zeros(1 << 10, np.float32)
    for name, beta in (("bare", 0.0), ("tagged", 0.075)):
        save_model(folder / name, inventory, weights, ModelSettings(grammar="ccg", beta=beta, bits=10), {})
    train_tagger([tree], epochs=1, seed=0).save(folder / "tagged" / TAGGER)
    bags = annotate(folder, "derivations.auto", "--range", "1:1", "--categories", "tagged")
    assert bags[0].categories == (("S[dcl]\\NP",), ("N",), ("NP/N",))
    assert main(["annotate", "derivations.auto", "-o", "no.jsonl", "--categories", "bare"]) == 2
    assert "bare: has no multi-tagger" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0", "0.5", "1"])
def test_standard_output_is_the_file(folder: Path, capsys: pytest.CaptureFixture[str], share: str) -> None:
    annotate(folder, "trees.conllu", "--pos", share)
    capsys.readouterr()
    assert main(["annotate", "trees.conllu", "--pos", share]) == 0
    assert capsys.readouterr().out == (folder / "bags.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trees.conllu", "--pos", "1.5"], "found the share 1.5 of pos; 0 to 1 is allowed"),
        (["trees.conllu", "--heads", "-1"], "found the share -1.0 of heads; 0 to 1 is allowed"),
        (["trees.conllu", "--lemmas", "--tags", "xpos"], "found lemmas with xpos tags, which tell their forms"),
        (["trees.conllu", "--range", "x"], "found the range 'x'"),
        (["trees.conllu", "--range", "3:3"], "trees.conllu: no sentences that can be used"),
        (["derivations.auto", "--heads", "1"], "no heads are known of sentence 'wsj.1'; CoNLL-U files have them"),
        (["derivations.auto", "--lemmas"], "no heads are known of sentence 'wsj.1'"),
        (["derivations.auto", "--tags", "upos"], "no upos are known of sentence 'wsj.1'"),
        (["none.conllu"], "none.conllu: cannot read"),
    ],
)
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["annotate", *words, "-o", "bags.jsonl"]) == 2
    error = capsys.readouterr().err.splitlines()
    assert message in error[-1]
    assert not (folder / "bags.jsonl").exists()
    assert not list(folder.glob(".*.tmp"))


def test_a_draw_is_the_sentence_s_own(folder: Path) -> None:
    """The rest of the file does not change what a sentence is given."""
    options = ["--pos", "0.5", "--heads", "0.5", "--seed", "3"]
    assert (
        annotate(folder, "trees.conllu", *options)[2] == annotate(folder, "trees.conllu", "--range", "4:4", *options)[0]
    )


def test_the_lines_are_json(folder: Path) -> None:
    annotate(folder, "trees.conllu", "--heads", "1")
    first = json.loads((folder / "bags.jsonl").read_text().splitlines()[0])
    assert list(first) == ["id", "tokens", "reference", "pos", "heads"]
