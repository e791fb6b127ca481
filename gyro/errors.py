"""The errors that a user can cause, and nothing else.

GyroError      the root: one line that says what was found and what is allowed
InputError     a file or value that cannot be used, with its place
ResourceError  a time or memory limit that was reached

They are caught in one place, the command line's `main`, which prints the line and exits with 2.
"""

from __future__ import annotations

from os import PathLike


class GyroError(Exception):
    """The root of all errors that the user, not the program, has to mend."""


class InputError(GyroError):
    """Something given to us cannot be used.

    >>> str(InputError("found 'x'; a number is allowed", path="bags.txt", line=3))
    "bags.txt:3: found 'x'; a number is allowed"
    """

    def __init__(self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + " ".join(message.split()))


class ResourceError(GyroError):
    """A limit on time or memory was reached; the work can be tried again with a higher one."""
