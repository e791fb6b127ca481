"""A tiny experiment with texts of two sizes.

write_tiny  its text, its references and its TOML in a folder
laboratory  where it runs
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from experiments.text_size import TextSizeLaboratory
from experiments.text_size_description import load_text_size

SENTENCES = [
    " ".join(words)
    for words in product(
        ("the", "a"), ("dog", "cat", "bird"), ("sees", "likes", "finds"), ("the", "a"), ("house", "tree")
    )
]
REFERENCES = [
    "the dog sees a tree",
    "a cat likes the house",
    "a bird",
    "the bird finds a zebra",
    "the cat sees the dog",
]

TINY = """
kind = "text-size"
title = "Tiny"
sample = 5
seed = 1
sizes = [60]
rules = ["3-4", "2-4"]
[text]
files = ["{folder}/text.txt"]
tokenized = true
[index]
order = 4
memory = "256M"
[lm]
order = 2
memory = "256M"
[sets.test]
references = ["{folder}/references.txt"]
[generate]
max_tokens = 4
beta = 1.0
[[settings]]
name = "rules 3–4"
generate = {{ rules = "3-4" }}
[[settings]]
name = "1-gram rules"
models = ["own"]
generate = {{ rules = "1" }}
[published]
words = 1000000
parse_rate = 0.9
rules = "3-4"
"""


def write_tiny(folder: Path) -> Path:
    (folder / "text.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    (folder / "references.txt").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    path = folder / "tiny.toml"
    path.write_text(TINY.format(folder=folder), encoding="utf-8")
    return path


def laboratory(path: Path) -> TextSizeLaboratory:
    return TextSizeLaboratory(load_text_size(path), path.parent / "runs" / "tiny", jobs=1)
