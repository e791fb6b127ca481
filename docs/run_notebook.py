"""docs/notebook.ipynb, run anew.

execute   run all cells in a folder, with a kernel of this Python
printed   what a cell printed and its last value, as text
main      python -m docs.run_notebook: run it and write its outputs into it
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
SECONDS = 600  # a cell that takes longer hangs


def execute(folder: str | os.PathLike[str]) -> NotebookNode:
    """The notebook with new outputs; what fails in it raises nbclient's CellExecutionError."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    # The kernel of this Python, whatever others are installed.
    kernel = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    place = {"metadata": {"path": os.fspath(folder)}}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    client = NotebookClient(notebook, km=kernel, timeout=SECONDS, resources=place)
    client.execute(env={**os.environ, "PYTHONPATH": path}, cleanup_kc=True)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
    notebook.metadata = NotebookNode(
        kernelspec=NotebookNode(display_name="Python 3", language="python", name="python3"),
        language_info=NotebookNode(name="python"),
    )
    return notebook


def printed(cell: NotebookNode) -> str:
    """What the cell printed, and its last value as text."""
    texts = []
    for output in cell.get("outputs", ()):
        texts.append(output.text if output.output_type == "stream" else output.data.get("text/plain", "") + "\n")
    return "".join(texts)


def main() -> None:
    """Run it in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = execute(folder)
    nbformat.write(notebook, NOTEBOOK)
    sys.stdout.write(f"{NOTEBOOK}: {NOTEBOOK.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
