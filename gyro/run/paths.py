"""The names of the files of a run, and which files in its folder are its own. docs/run-folder.md describes them.

RunPaths  the paths; what killed processes left, or a whole run, is removed here
SUMS      the file of checksums
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SUMS = "checksums.xxh128"
_PER_FOLDER = 1000
_LATTICE = re.compile(r"(\d{6,})\.fst(\.gz)?")


class RunPaths:
    """The paths of a run; `is_flat` says that all lattices are in one folder, as earlier versions had them.

    `is_gzipped`, which the settings of the run say, is about its lattices.
    """

    def __init__(self, path: str | os.PathLike[str], *, is_flat: bool = False, is_gzipped: bool = False) -> None:
        self.path = Path(path)
        self.is_flat = is_flat
        self.is_gzipped = is_gzipped
        self.run, self.bags, self.words = self._names("run.json", "bags.jsonl", "words.syms")
        self.results, self.times, self.journal = self._names("results.jsonl", "times.jsonl", "journal")
        self.best, self.nbest_moses, self.nbest_jsonl = self._names("best.txt", "nbest.txt", "nbest.jsonl")
        self.lattices, self.references, self.lock = self._names("lattices", "references.txt", ".lock")
        self.given = self.path / "bags.jsonl.given"  # until it is known whose run the folder holds

    def _names(self, *names: str) -> Iterator[Path]:
        return (self.path / name for name in names)

    def lattice(self, number: int) -> Path:
        """The lattice of a bag; `number` counts from 0, the names from 1. Beyond 999, each thousand has a folder."""
        thousand = 0 if self.is_flat else (number + 1) // _PER_FOLDER
        folder = self.lattices / f"{thousand:03d}" if thousand else self.lattices
        return folder / f"{number + 1:06d}{'.fst.gz' if self.is_gzipped else '.fst'}"

    @property
    def is_finished(self) -> bool:
        """Whether the last start came to its end."""
        final = (self.bags, self.words, self.results, self.times, self.best, self.nbest_moses, self.nbest_jsonl)
        return all(path.exists() for path in final) and not self.journal.exists()

    def _own_names(self) -> list[str]:
        first = (self.run, self.bags, self.words, self.references)
        last = (self.results, self.times, self.best, self.nbest_moses, self.nbest_jsonl)
        # The last is the journal as earlier versions named it.
        return [*(path.name for path in (*first, self.journal, *last)), SUMS, "journal.jsonl"]

    def is_temporary(self, path: Path) -> bool:
        """Whether it is what a killed process left of one of the run's files."""
        if path == self.given:
            return True
        return path.name.endswith(".tmp") and path.name.startswith(tuple(f".{name}." for name in self._own_names()))

    def remove_temporaries(self) -> None:
        """Remove what killed processes left half written."""
        for path in list(self.path.glob(".*.tmp")):
            if self.is_temporary(path):
                path.unlink(missing_ok=True)
        for folder in self._lattice_folders():
            for path in list(folder.glob(".*.tmp")):
                if re.match(r"\.\d{6,}\.fst", path.name):
                    path.unlink(missing_ok=True)

    def _lattice_folders(self) -> Iterator[Path]:
        """The folders that lattices are in; what a link leads to is not the run's."""
        if not self.lattices.is_dir() or self.lattices.is_symlink():
            return
        yield self.lattices
        for path in sorted(self.lattices.iterdir()):
            if re.fullmatch(r"\d{3,}", path.name) and path.is_dir() and not path.is_symlink():
                yield path

    def clear(self, bags: int) -> None:
        """Remove what a run of so many bags has written, and nothing else; run.json stays for its successor."""
        for folder in reversed(list(self._lattice_folders())):
            for path in list(folder.iterdir()):
                match = _LATTICE.fullmatch(path.name)
                if match and 1 <= int(match[1]) <= bags and path.is_file() and not path.is_symlink():
                    path.unlink()
            if folder != self.lattices:
                with suppress(OSError):
                    folder.rmdir()  # unless there is something else in it
        self.remove_temporaries()
        for name in self._own_names():
            if name != self.run.name:
                (self.path / name).unlink(missing_ok=True)
