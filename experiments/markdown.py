"""Tables in Markdown.

markdown_table  a head and rows as text, the columns as wide as they must be
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; "(none)" without rows.

    >>> print(markdown_table(["a", "b"], [["1", "22"]]))
    | a | b  |
    | - | -- |
    | 1 | 22 |
    """
    cells = [[text.replace("|", "\\|") for text in row] for row in rows]
    if not cells:
        return "(none)"
    widths = [max(len(row[column]) for row in [list(head), *cells]) for column in range(len(head))]
    lines = [[text.ljust(width) for text, width in zip(row, widths, strict=True)] for row in [list(head), *cells]]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
