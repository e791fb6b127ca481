"""Tables in Markdown, read back.

read_table   the rows of a table, each by the names of its columns
find_table   the same for the first table below a heading
"""

from __future__ import annotations

import re


def cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line)
    assert parts[0] == parts[-1] == ""
    return [part.strip(" ").replace("\\|", "|") for part in parts[1:-1]]


def read_table(text: str) -> list[dict[str, str]]:
    head, rule, *rows = text.split("\n")
    assert {*"".join(cells(rule))} <= {"-"}
    return [dict(zip(cells(head), cells(row), strict=True)) for row in rows]


def find_table(text: str, heading: str) -> list[dict[str, str]]:
    after = text.split(f"# {heading}\n\n", 1)[1]
    return read_table(after[after.index("|") :].split("\n\n", 1)[0].rstrip("\n"))
