"""The command that opens the page, for those who have just made an index and models.

serve_command  as it can be typed where the program was started
"""

from __future__ import annotations

import os
import shlex
import sys
from os import PathLike
from pathlib import Path


def serve_command(index: str | PathLike[str], lm: str | PathLike[str], neural: str = "") -> str:
    """The command for an index, an n-gram model and a neural model, if there is one.

    >>> serve_command("runs/demo/index", "runs/demo/model.lm", "default").partition(" ")[2]
    'serve --index runs/demo/index --lm runs/demo/model.lm --neural default'
    """
    program = Path(os.path.relpath(Path(sys.executable).with_name("gyro")))
    words = [str(program) if program.exists() else "gyro", "serve", "--index", str(index), "--lm", str(lm)]
    return shlex.join([*words, *(["--neural", neural] if neural else [])])
