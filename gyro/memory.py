"""What processes hold in memory.

private_memory  the bytes of a process apart from mapped files, which processes share
reset_peak      let the system count this process' highest memory from here on
peak_memory     the highest private memory of this process since then
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil


def private_memory(process: psutil.Process) -> int:
    """Resident bytes apart from mapped files, which all workers share."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def reset_peak() -> None:
    """Let Linux count the process' highest memory from here on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """The highest private memory since `reset_peak`; where the system does not tell, the present one."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return (kilobytes["VmHWM"] - kilobytes["RssFile"] - kilobytes["RssShmem"]) * 1024
    except (OSError, KeyError):
        return private_memory(psutil.Process())
