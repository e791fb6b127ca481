"""What runs in an executor of Spark: the work is opened once a process, and each task is done under limits.

WORKS      what can be done there: the modules that open it
do_tasks   do some of the tasks that a message names, and tell how each ended
relocated  a path of the driver's, or the copy of what is there that Spark has sent

A head, a JSON file that Spark copies to every node, says which work it is, how it is opened and what its limits are.
The work runs in a child of the executor's Python process, like that of `gyro.pool` on one machine: what takes too much
time or memory, or ends its process, fails alone. The child stays for the tasks that come after.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gyro.errors import GyroError, MachineError
from gyro.pool import Failure, LastingPool
from gyro.spark.connection import shipped
from gyro.version import __version__

# Each has `open_work(arguments, copies)`, which gives a function from a JSON value to a JSON value; `relocated` takes
# the copies.
WORKS = {"batch": "gyro.run.executor", "parse": "gyro.text.parsing"}
_MOST_BYTES = 16 << 20  # of results that are held back until a message's tasks are done


class _Opened(NamedTuple):
    head: str
    pool: LastingPool[Any, Any]


_opened: list[_Opened] = []  # the one work that this process has open


def do_tasks(message: bytes) -> bytes:
    """Do the tasks of a message until its seconds are over; a line of JSON tells each end, the first line the host.

    What keeps the executor from its work is a line too: Spark would try it again, and tell it in a hundred lines.
    """
    request = json.loads(message)
    lines = [json.dumps(socket.gethostname())]
    try:
        pool = _open(request["head"])
        end = time.monotonic() + request["seconds"]

        def goes_on() -> bool:
            return time.monotonic() < end and sum(map(len, lines)) < _MOST_BYTES

        for ended in pool.run_while(list(enumerate(request["tasks"])), goes_on):
            is_failed = isinstance(ended.result, Failure)
            result = {"failure": ended.result.reason} if is_failed else {"result": ended.result}
            facts = {"task": ended.task[0], "seconds": ended.seconds, "memory": ended.memory}
            lines.append(json.dumps(facts | result))
    except MachineError as error:
        _close()
        lines.append(json.dumps({"fault": str(error)}))
    except (GyroError, OSError, ImportError, SystemExit) as error:
        _close()
        lines.append(json.dumps({"unopened": " ".join(str(error).split())}))
    return "\n".join(lines).encode()


def _open(name: str) -> LastingPool[Any, Any]:
    """The work that a head describes; the last one stays open."""
    if not _opened or _opened[0].head != name:
        _close()
        _opened.append(_Opened(name, _new_pool(json.loads(shipped(name).read_bytes()))))
    return _opened[0].pool


def _close() -> None:
    while _opened:
        _opened.pop().pool.kill()


def _new_pool(head: Mapping[str, Any]) -> LastingPool[Any, Any]:
    if head["gyro"] != __version__:
        raise GyroError(f"found gyro {__version__}; the driver has {head['gyro']}, and both must have the same")
    # Where Spark puts files is, for it, relative to the folder that this process was started in.
    copies = {
        place: [(name, str(shipped(sent).absolute())) for name, sent in files]
        for place, files in head["copies"].items()
    }
    os.environ.update({name: relocated(value, copies) for name, value in head["environment"].items()})
    with _within(head["folder"]):
        work: Callable[[Any], Any] = import_module(WORKS[head["work"]]).open_work(head["arguments"], copies)

    def do(task: tuple[int, Any]) -> Any:
        """In the child: a task comes with its place in the message, which its end is told by."""
        with _within(head["folder"]):
            return work(task[1])

    return LastingPool(do, time_limit=head["time_limit"], memory_limit=head["memory_limit"])


@contextmanager
def _within(folder: str) -> Iterator[None]:
    """In the driver's folder; where there is none, relative paths lead nowhere, and that is told by who opens them."""
    with chdir(folder) if os.path.isdir(folder) else nullcontext():
        yield


def relocated(path: str, copies: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The path with the copy of what it names in its place, if there is one: `kenlm:PATH`, `PATH/index` and so on.

    `copies` has, for what was sent, the pairs of the names of its files and the places that they were sent to.
    """
    for place in copies:
        if match := re.search(rf"(?<![^:=]){re.escape(place)}(?![^:/])", path):
            return f"{path[: match.start()]}{_assembled(place, copies[place])}{path[match.end() :]}"
    return path


def _assembled(place: str, files: Sequence[Sequence[str]]) -> Path:
    """The copy of a file or a folder, whose files Spark has sent one by one."""
    if len(files) == 1 and not files[0][0]:
        return Path(files[0][1])
    first = Path(files[0][1])
    folder = first.with_name(f"{first.name}.folder") / Path(place).name
    if not folder.exists():
        making = first.with_name(f"{first.name}.{os.getpid()}") / folder.name
        for name, sent in files:
            file = making / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to(sent)
        with suppress(OSError):  # another process of this node was first
            os.rename(making.parent, folder.parent)
    return folder
