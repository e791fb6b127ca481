"""Where commands write.

open_output  standard output, or a file that takes its name when it is whole
write_line   one line of JSON Lines
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import IO, Any

from gyro.errors import InputError
from gyro.files import write_atomically


def open_output(path: str) -> Any:
    """Standard output for "-", else a file that takes its name when it is whole."""
    if path != "-":
        return write_atomically(path, "w")
    if sys.stdout is None:
        raise InputError("standard output is closed; give a file")
    return nullcontext(sys.stdout)


def write_line(file: IO[str], value: object) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")
