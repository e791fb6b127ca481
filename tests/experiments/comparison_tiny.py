"""A tiny comparison of systems.

write_tiny   its treebanks, its text and its TOML in a folder
laboratory   where it runs
"""

from __future__ import annotations

from pathlib import Path

from experiments.comparison import ComparisonLaboratory
from experiments.comparison_description import load_comparison
from tests.experiments.syntax_tiny import SENTENCES, conllu

TINY = """
kind = "comparison"
title = "Tiny comparison"
seed = 1
[treebank]
train = ["{folder}/train.conllu"]
dev = ["{folder}/dev.conllu"]
test = ["{folder}/test.conllu"]
[text]
files = ["{folder}/news.txt"]
held_out = 3
held_out_name = "news"
index_order = 2
memory = "256M"
[sets.other]
references = ["{folder}/other.jsonl"]
json_field = "ref"
[training]
dev_sample = 2
options = {{ seed = 3 }}
[[language_models]]
name = "2-gram"
order = 2
[[language_models]]
name = "few"
order = 2
text = false
treebank = "few"
[[treebanks]]
name = "gold"
[[treebanks]]
name = "few"
sentences = 4
[[treebanks]]
name = "moved"
moved = 0.4
[[models]]
name = "best-first"
system = "best-first"
treebank = "gold"
given = ["words", "pos"]
options = {{ iterations = 2, bits = 16 }}
[[models]]
name = "worse"
system = "best-first"
treebank = "moved"
given = ["pos"]
options = {{ iterations = 1, bits = 16 }}
[[models]]
name = "not there"
system = "no-such-system"
treebank = "gold"
[[runs]]
name = "GYRO"
system = "gyro"
lm = "2-gram"
given = ["words", "pos"]
options = {{ rules = "1-2" }}
[[runs]]
name = "best-first"
system = "best-first"
model = "best-first"
given = ["words", "pos"]
bags = 4
[[runs]]
name = "worse"
system = "best-first"
model = "worse"
given = ["pos"]
bags = 4
vary = {{ beam = [8, 64] }}
[[runs]]
name = "few"
system = "gyro"
lm = "few"
sets = ["test", "news", "other"]
options = {{ rules = "1-2" }}
[[runs]]
name = "lost"
system = "no-such-system"
model = "not there"
[[stages]]
name = "few after GYRO"
source = "GYRO"
lm = "few"
bags = 4
[[details]]
given = "pos"
[[curves]]
title = "Trees"
line = "best-first"
runs = ["best-first", "worse, beam 64"]
over = ["sentences", "seconds", "uas"]
given = "pos"
[[published]]
paper = "Somebody 2020"
table = "1"
rows = [["theirs", 42.0, "GYRO"], ["another's", 43, ""]]
[[published]]
paper = "Somebody 2020"
table = "2"
rows = [["sentences a second", 15.4, "best-first"]]
metric = "rate"
given = "pos"
"""


def write_tiny(folder: Path) -> Path:
    """The files and the description, whose path it gives."""
    for name, sentences in (("train", SENTENCES[:12]), ("dev", SENTENCES[8:]), ("test", SENTENCES[10:])):
        (folder / f"{name}.conllu").write_text(conllu(sentences), encoding="utf-8")
    (folder / "news.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES), encoding="utf-8")
    lines = (f'{{"ref": "{sentence}"}}\n' for sentence in (*SENTENCES[:3], SENTENCES[0]))
    (folder / "other.jsonl").write_text("".join(lines), encoding="utf-8")
    path = folder / "tiny.toml"
    path.write_text(TINY.format(folder=folder), encoding="utf-8")
    return path


def laboratory(tiny: Path, **options: int) -> ComparisonLaboratory:
    return ComparisonLaboratory(load_comparison(tiny), tiny.parent / "runs" / "tiny", **options)
