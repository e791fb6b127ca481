"""Where commands write.

open_output  standard output, or a file that takes its name when it is whole
write_line   one line of JSON Lines
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import IO, Any

from gyro.files import write_atomically


def open_output(path: str) -> Any:
    """Standard output for "-", else a file that takes its name when it is whole."""
    return nullcontext(sys.stdout) if path == "-" else write_atomically(path, "w")


def write_line(file: IO[str], value: object) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")
