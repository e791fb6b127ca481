"""What executors are asked before they have this code: functions within functions, which Spark sends whole.

digest_function   a function that computes the checksum of the code that they have under the names of our packages
writing_function  a function that looks for a mark of the driver's, and writes another beside it
missing_function  a function that looks for paths of the driver's
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gyro.source_digest import PACKAGES


def digest_function() -> Callable[[Any], str]:
    """A function that computes the checksum of the code that Python finds under the names of our packages."""
    packages: Sequence[str] = PACKAGES

    def digest(_: Any) -> str:
        import hashlib
        from importlib.util import find_spec
        from pathlib import Path

        found = hashlib.sha256()
        for name in packages:
            spec = find_spec(name)
            for root in (spec.submodule_search_locations or []) if spec else []:
                for path in sorted(Path(root).rglob("*.py")):
                    found.update(f"{name}/{path.relative_to(root)}\n".encode() + path.read_bytes())
        return found.hexdigest()

    return digest


def writing_function(mark: str) -> Callable[[Any], tuple[str, str]]:
    """A function that looks for a mark and writes another beside it; it returns the host and what is wrong."""

    def write(_: Any) -> tuple[str, str]:
        import os
        import socket

        host = socket.gethostname()
        if not os.path.exists(mark):
            return host, "it is not there"
        try:
            with open(f"{mark}.{host}", "wb"):
                return host, ""
        except OSError as error:
            return host, f"cannot write: {error.strerror}"

    return write


def missing_function(paths: Sequence[str]) -> Callable[[Any], tuple[str, str]]:
    """A function that returns the host and the first of the paths that is not there."""

    def missing(_: Any) -> tuple[str, str]:
        import os
        import socket

        return socket.gethostname(), next((path for path in paths if not os.path.exists(path)), "")

    return missing
