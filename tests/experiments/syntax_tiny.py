"""A tiny experiment with the best-first decoder.

write_tiny  its treebanks and its TOML in a folder
laboratory  where it runs
"""

from __future__ import annotations

from pathlib import Path

from experiments.syntax import SyntaxLaboratory
from experiments.syntax_description import SyntaxExperiment, load_syntax

ROWS = {
    "dog": ("dog", "NOUN", "NN", "Number=Sing"),
    "cat": ("cat", "NOUN", "NN", "Number=Sing"),
    "the": ("the", "DET", "DT", "_"),
    "a": ("a", "DET", "DT", "_"),
    "sees": ("see", "VERB", "VBZ", "Number=Sing|Person=3|Tense=Pres"),
    "likes": ("like", "VERB", "VBZ", "Number=Sing|Person=3|Tense=Pres"),
}
SENTENCES = [f"{a} {b} {verb} {c} {d}" for a in ("the", "a") for b, d in (("dog", "cat"), ("cat", "dog"))
             for verb in ("sees", "likes") for c in ("the", "a")]  # fmt: skip
SHAPE = ((2, "det"), (3, "nsubj"), (0, "root"), (5, "det"), (3, "obj"))

TINY = """
kind = "syntax"
title = "Tiny"
seed = 1
[treebank]
train = ["{folder}/train.conllu"]
dev = ["{folder}/dev.conllu"]
test = ["{folder}/dev.conllu"]
[text]
order = 2
index_order = 2
memory = "256M"
[training]
iterations = 2
dev_bags = 3
dev_time_limit = 5.0
bits = 16
[decoding]
bags = [4]
time_limit = [5.0]
[[models]]
name = "dependency"
[[models]]
name = "dependency, LM"
lm_weight = 0.2
[[models]]
name = "CCG"
grammar = "ccg"
beta = 0.075
[[curves]]
title = "All"
models = ["dependency", "CCG"]
[[runs]]
name = "given"
models = ["dependency"]
pos = [0.5, 1.0]
heads = [0.0, 1.0]
[[runs]]
name = "limits"
models = ["CCG"]
time_limit = [2.0, 5.0]
bags = [2, 4]
[[runs]]
name = "best"
set = "test"
best_of = ["dependency", "dependency, LM"]
[[gyro]]
name = "GYRO"
bags = 4
generate = {{ rules = "1-2" }}
"""


def conllu(sentences: list[str]) -> str:
    blocks = []
    for number, sentence in enumerate(sentences, 1):
        lines = [f"# sent_id = {number}"]
        for place, (form, (head, label)) in enumerate(zip(sentence.split(), SHAPE, strict=True), 1):
            lemma, upos, xpos, feats = ROWS[form]
            lines.append("\t".join((str(place), form, lemma, upos, xpos, feats, str(head), label, "_", "_")))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def write_tiny(folder: Path) -> Path:
    """The treebanks and the description, whose path it gives."""
    (folder / "train.conllu").write_text(conllu(SENTENCES[:12]), encoding="utf-8")
    (folder / "dev.conllu").write_text(conllu(SENTENCES[10:]), encoding="utf-8")
    path = folder / "tiny.toml"
    path.write_text(TINY.format(folder=folder), encoding="utf-8")
    return path


def laboratory(tiny: Path, **options: int) -> SyntaxLaboratory:
    experiment: SyntaxExperiment = load_syntax(tiny)
    return SyntaxLaboratory(experiment, tiny.parent / "runs" / "tiny", **options)
