"""What processes hold in memory.

private_memory  the bytes of a process apart from mapped files, which processes share
reset_peak      let the system count this process' highest memory from here on
peak_memory     the highest private memory of this process since then
"""

from __future__ import annotations

import os
from contextlib import suppress

import psutil

_COUNTS = (b"VmHWM:", b"RssFile:", b"RssShmem:")  # of /proc/self/status, in kilobytes


def private_memory(process: psutil.Process) -> int:
    """Resident bytes apart from mapped files, which all workers share."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def reset_peak() -> None:
    """Let Linux count the process' highest memory from here on."""
    with suppress(OSError):
        file = os.open("/proc/self/clear_refs", os.O_WRONLY)
        try:
            os.write(file, b"5")
        finally:
            os.close(file)


def peak_memory() -> int:
    """The highest private memory since `reset_peak`; where the system does not tell, the present one."""
    try:
        file = os.open("/proc/self/status", os.O_RDONLY)
        try:
            status = os.read(file, 1 << 16)
        finally:
            os.close(file)
        highest, *mapped = (int(status.split(name, 1)[1].split(None, 1)[0]) for name in _COUNTS)
        return (highest - sum(mapped)) * 1024
    except (OSError, IndexError):
        return private_memory(psutil.Process())
