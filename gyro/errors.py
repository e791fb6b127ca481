"""The errors that a user can cause, and nothing else.

GyroError      the root: one line that says what was found and what is allowed
InputError     a file or value that cannot be used, with its place
ResourceError  a time or memory limit that was reached
MachineError   a fault of the machine: a full disk, a permission, too many open files
machine_fault  the fault of the machine that an error comes from, if there is one
printable      text of others as it may be shown: no escape sequence reaches a terminal, no line break splits a line
exit_code      run a program's work and turn what it raises into one line and an exit code: the one place for that
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from typing import IO

OUT_OF_MEMORY = 3
# What the loader of shared libraries says when there is no room for one.
_NO_ROOM_FOR_LIBRARY = ("annot allocate memory", "failed to map segment", "cannot apply additional memory protection")
NO_MEMORY = "the memory did not suffice"

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


def printable(text: str) -> str:
    r"""The text with everything escaped that is not seen as a character of its own.

    >>> printable("bag\x1b[2J\n7")
    'bag\\x1b[2J\\n7'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def exit_code(program: str, work: Callable[[], int]) -> int:
    """The exit code of the work: its own, 2 for a mistake of the user's or a file that cannot be read or written,
    3 for lack of memory, 130 when it was stopped by hand.
    """

    def end(message: str, code: int) -> int:
        with suppress(OSError, ValueError):  # standard error may be full or closed as well
            print(f"{program}: {printable(message)}", file=sys.stderr)
        return code

    try:
        code = work()
        _flush_output()
    except GyroError as error:
        return end(str(error), 2)
    except KeyboardInterrupt:
        return end("stopped; the same command goes on where this one was", 130)
    except BrokenPipeError:
        _silence(sys.stdout)  # its reader is gone, as with `| head`: nothing is left to say
        return 141
    except MemoryError:
        return end(NO_MEMORY, OUT_OF_MEMORY)
    except ImportError as error:
        if not _lacks_memory(error):
            raise
        return end(NO_MEMORY, OUT_OF_MEMORY)
    except OSError as error:
        if _lacks_memory(error):
            return end(NO_MEMORY, OUT_OF_MEMORY)
        # Files are read and written with their names told in InputError; what is left is standard output, as a rule.
        place = f"{error.filename}: " if error.filename else ""
        return end(f"{place}cannot read or write: {error.strerror or error}", 2)
    finally:
        _leave_output_clean()
    return code


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether the error, or one that it came from, is that of a library that found no room."""
    while error is not None:
        if getattr(error, "errno", None) == errno.ENOMEM or any(words in str(error) for words in _NO_ROOM_FOR_LIBRARY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _flush_output() -> None:
    if sys.stdout is not None:  # it is None when the program was started with it closed
        sys.stdout.flush()


def _leave_output_clean() -> None:
    """What standard output cannot take is dropped here: else Python complains of it once more at shutdown."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                _silence(stream)


def _silence(stream: IO[str] | None) -> None:
    with suppress(OSError, ValueError):
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
