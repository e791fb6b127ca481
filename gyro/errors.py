"""The errors that a user can cause, and nothing else.

GyroError      the root: one line that says what was found and what is allowed
InputError     a file or value that cannot be used, with its place
ResourceError  a time or memory limit that was reached
MachineError   a fault of the machine: a full disk, a permission, too many open files
machine_fault  the fault of the machine that an error comes from, if there is one
exit_code      run a program's work and turn what it raises into one line and an exit code: the one place for that
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from os import PathLike

# Disks, permissions, open files and memory: an OSError with one of these says nothing about the input.
_FAULTS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENODEV, errno.ESTALE}
    | {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
)


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


class MachineError(GyroError):
    """A fault of the machine: the same work may well be done once it is mended."""


def machine_fault(error: BaseException | None) -> OSError | None:
    """The fault of the machine that an error comes from; None when it is about something else.

    >>> machine_fault(OSError(errno.ENOSPC, "No space left on device"))
    OSError(28, 'No space left on device')
    >>> machine_fault(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FAULTS:
            return error
        error = error.__cause__
    return None


def exit_code(program: str, work: Callable[[], int]) -> int:
    """The exit code of the work: its own, 2 for a mistake of the user's, 130 when it was stopped by hand."""
    try:
        code = work()
        sys.stdout.flush()
    except GyroError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: stopped; the same command goes on where this one was", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output is gone, as with `| head`: nothing is left to say, not even at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code
