"""docs/notebook.ipynb runs, and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from docs.run_notebook import NOTEBOOK, execute, printed

LARGEST_DRAWING = 20_000  # bytes, of nine words


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebook_is_small_and_has_its_outputs() -> None:
    shown = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(shown)
    assert NOTEBOOK.stat().st_size < 60_000
    assert [cell.execution_count for cell in code(shown)] == list(range(1, len(code(shown)) + 1))
    assert [
        output.output_type for cell in code(shown) for output in cell.outputs if output.output_type == "error"
    ] == []
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert [place for place in ("/home/", "/root/", "/tmp/", "/usr/") if place in text] == []


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_it_shows(tmp_path: Path) -> None:
    shown, made = nbformat.read(NOTEBOOK, as_version=4), execute(tmp_path)
    for old, new in zip(code(shown), code(made), strict=True):
        assert printed(new) == printed(old), old.source
        kinds = [sorted(output.get("data", {})) for output in new.outputs]
        assert kinds == [sorted(output.get("data", {})) for output in old.outputs], old.source
    drawn = [output.data for cell in code(made) for output in cell.outputs if "image/svg+xml" in output.get("data", {})]
    assert ["text/html" in data for data in drawn] == [True, False]  # an ordering, and a lattice alone
    for data in drawn:
        for kind in set(data) - {"text/plain"}:
            assert "<svg" in data[kind]
            assert len(data[kind]) < LARGEST_DRAWING
