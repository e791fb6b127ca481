"""What goes wrong with Spark, told in one line.

told      a context manager: what pyspark and Java raise within is raised as a GyroError
open_log  a file for what the Java of this process has to say; it stays behind only if an error names it
"""

from __future__ import annotations

import atexit
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gyro import errors
from gyro.errors import GyroError, InputError, ResourceError

_log: list[Path] = []  # the file, if there is one, to which the Java of this process writes what it has to say
_named: set[Path] = set()  # what an error has named stays
_GYRO_ERROR = re.compile(r"gyro\.errors\.(\w+): (.*)")
# What the Java side says → what to do about it; {0} is the master, {1} the line that says it, {2} our Python.
_KNOWN: tuple[tuple[str, str], ...] = (
    ("UnsupportedClassVersionError", "the Java that was found is too old; Spark needs 17 or later: set JAVA_HOME"),
    ("Could not parse Master URL", "found the Spark master {0!r}; spark://HOST:PORT, yarn or local[N] is allowed"),
    ("All masters are unresponsive", "the Spark master {0} does not answer; is it running, and is this its address?"),
    ("No FileSystem for scheme", "Spark has no such file system ({1}); give its package in spark.jars.packages"),
    ("Encountered error while reading file", "a file of the text is damaged or cannot be read ({1})"),
    ("ClassNotFoundException: Class org.apache.hadoop.fs", "Spark lacks a file system's classes ({1})"),
    ("different minor version", "the executors have another Python than {2}; set PYSPARK_PYTHON to the same"),
    ("python worker exited unexpectedly", "a Python process of an executor died, perhaps for lack of memory"),
)  # fmt: skip


@contextmanager
def told(master: str) -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except ConnectionError as error:
        raise GyroError(f"the Java process of Spark has ended{_kept_log()}") from error
    except (Py4JError, Py4JNetworkError, PySparkException) as error:
        raise _to_error(error, master) from error


def open_log() -> BinaryIO:
    """A new log; that of a Java before is removed, unless an error has named it."""
    _remove_log()
    descriptor, name = tempfile.mkstemp(prefix="gyro-spark-", suffix=".log")
    _log.append(Path(name))
    atexit.register(_remove_log)
    return open(descriptor, "wb")


def _remove_log() -> None:
    atexit.unregister(_remove_log)
    for path in _log:
        if path not in _named:
            path.unlink(missing_ok=True)
    _log.clear()


def _kept_log() -> str:
    """Where the log is, which from now on stays."""
    _named.update(_log)
    return "".join(f"; its log is {path}" for path in _log)


def _to_error(error: Exception, master: str) -> GyroError:
    """What to say of an error of Spark: the GyroError that a task raised, a known fault, or Spark's own words."""
    text = str(error)
    for path in _log:
        text += "\n" + path.read_text(encoding="utf-8", errors="replace")[-20_000:]
    if raised := _GYRO_ERROR.search(str(error)):
        kind = getattr(errors, raised[1], InputError)
        if kind in (InputError, ResourceError, errors.MachineError, GyroError):
            return _with_message(kind, raised[2])
    for mark, message in _KNOWN:
        if at := text.lower().find(mark.lower()) + 1:
            line = text[max(text.rfind("\n", 0, at), 0) : len(text) if text.find("\n", at) < 0 else text.find("\n", at)]
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            return InputError(message.format(master, line.strip()[-200:], version))
    return InputError(f"Spark ended the work: {_reason(str(error))}{_kept_log()}")


def _with_message(kind: type[GyroError], message: str) -> GyroError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error


def _reason(text: str) -> str:
    """The line of Spark's many that says most: the last cause, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: )?[\w.$]*(Error|Exception)\b.*:", line)]
    said = [line for line in lines if not line.startswith(("An error occurred while calling", "at "))]
    return ((causes or said or ["it did not say why"])[-1 if causes else 0])[:400]
