"""What a process holds, against blocks of known size."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import psutil

from gyro.memory import peak_memory, private_memory, reset_peak

MEGABYTE = 2**20
NOISE = 15 * MEGABYTE  # what the interpreter and other tests' leftovers may take and give back meanwhile


def test_own_blocks_count_and_mapped_files_do_not(tmp_path: Path) -> None:
    path, process = tmp_path / "file", psutil.Process()
    path.write_bytes(b"x" * (64 * MEGABYTE))
    before, resident = private_memory(process), process.memory_info().rss
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[:: mmap.PAGESIZE]) == ord("x") * 64 * MEGABYTE // mmap.PAGESIZE  # touch every page
        assert process.memory_info().rss - resident > 64 * MEGABYTE - NOISE
        assert abs(private_memory(process) - before) < NOISE
    block = b"x" * (64 * MEGABYTE)
    assert abs(private_memory(process) - before - len(block)) < NOISE


def test_the_peak_remembers_what_was_given_back_until_it_is_reset() -> None:
    reset_peak()
    before = peak_memory()
    assert abs(before - private_memory(psutil.Process())) < NOISE
    block = b"x" * (96 * MEGABYTE)
    size = len(block)
    del block
    assert abs(private_memory(psutil.Process()) - before) < NOISE
    assert abs(peak_memory() - before - size) < NOISE
    reset_peak()
    assert abs(peak_memory() - before) < NOISE


def test_another_process_is_looked_at_from_outside() -> None:
    script = "block = b'x' * (64 << 20); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert 64 * MEGABYTE <= private_memory(psutil.Process(process.pid)) < 64 * MEGABYTE + 2 * NOISE
        process.stdin.write(b"\n")
