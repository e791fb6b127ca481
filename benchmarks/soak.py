"""A long batch: many short bags through `gyro generate --jobs 2`, killed in the middle and started again.

python -m benchmarks.soak [--bags 100000] [--nbest 10] [--jobs 2] [--algorithm exact] [--keep DIR]

main  print bags a second and memory over time, the time to resume, and the time from the last bag to the end

It takes some minutes on two cores, and is not part of `python -m benchmarks`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import IO, NamedTuple

import psutil

from benchmarks.material import SPLIT, TEXT, is_missing, made_index, made_model, tokenised_text
from gyro.memory import private_memory
from gyro.text.corpus import read_sentences

SHORTEST, LONGEST = 8, 12
ROWS = 20  # of the table, about


class Sample(NamedTuple):
    """A look at the run: seconds since its start, bags done, private bytes of the parent and of its largest worker."""

    seconds: float
    done: int
    parent: int
    worker: int


class Watched:
    """A start of the command, with what is seen of it: when its first and last bag ended, and looks at its memory."""

    def __init__(self, command: list[str], every: int) -> None:
        self.begin = time.monotonic()
        self.every = every
        self.done = 0
        self.first = self.last = 0.0
        self.samples: list[Sample] = []
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._status = psutil.Process(self.process.pid)
        assert self.process.stderr is not None
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            number, slash, _ = line.partition("/")
            if not slash or not number.isdecimal():
                continue
            self.last = time.monotonic() - self.begin
            self.first = self.first or self.last
            self.done = int(number)
            if not self.samples or self.done >= self.samples[-1].done + self.every:
                self._look()

    def _look(self) -> None:
        try:
            workers = [private_memory(child) for child in self._status.children()]
            memory = private_memory(self._status), max(workers, default=0)
        except psutil.Error:
            return
        self.samples.append(Sample(time.monotonic() - self.begin, self.done, *memory))

    def kill_at(self, done: int) -> None:
        while self.done < done and self.process.poll() is None:
            time.sleep(0.05)
        self.process.kill()
        self.wait()

    def wait(self) -> float:
        """Wait for the end; give the seconds since the start."""
        self.process.wait()
        end = time.monotonic() - self.begin
        self._reader.join()
        return end


def main(argv: list[str] | None = None) -> None:
    """Make the bags, run, kill, resume, and print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Time a long batch.")
    parser.add_argument("--bags", type=int, default=100_000, help="how many (default 100000)")
    parser.add_argument("--nbest", type=int, default=10, help="length of n-best lists (default 10)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--algorithm", default="exact", help="of gyro generate (default exact)")
    parser.add_argument("--keep", type=Path, help="a folder for bags and run (default: one that is removed)")
    arguments = parser.parse_args(argv)
    if is_missing(*TEXT):
        return
    with tempfile.TemporaryDirectory(prefix="gyro-soak-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        write_bags(folder / "bags.jsonl", arguments.bags)
        words = ["generate", str(folder / "bags.jsonl"), "-o", str(folder / "run"), "-n", str(arguments.nbest)]
        words += ["--jobs", str(arguments.jobs), "--algorithm", arguments.algorithm]
        words += ["--index", str(made_index()), "--lm", str(made_model(4))]
        soak([sys.executable, "-m", "gyro", *words], arguments.bags)


def soak(command: list[str], bags: int) -> None:
    first = Watched(command, max(1, bags // ROWS))
    first.kill_at(bags // 2)
    print(f"killed after {first.done} of {bags} bags and {first.last:.1f} s", flush=True)
    second = Watched(command, max(1, bags // ROWS))
    end = second.wait()
    print_samples("first start", first.samples)
    print_samples("second start", second.samples)
    begin = first.first  # of a start without anything to resume
    print(f"time to the first new bag: {begin:.1f} s at the first start, {second.first:.1f} s when resumed")
    print(f"from the last bag to the end: {end - second.last:.1f} s; exit code {second.process.returncode}")


def print_samples(title: str, samples: list[Sample]) -> None:
    print(f"\n{title}\n{'seconds':>9}{'bags':>9}{'bags a second':>15}{'parent':>10}{'worker':>10}")
    for before, now in pairwise(samples):
        speed = (now.done - before.done) / max(now.seconds - before.seconds, 1e-9)
        sizes = "".join(f"{size / 2**20:>7.1f} MB" for size in (now.parent, now.worker))
        print(f"{now.seconds:>9.1f}{now.done:>9}{speed:>15.1f}{sizes}")


def write_bags(path: Path, count: int) -> None:
    """Sentences of the development text with 8 to 12 tokens; they begin again where there are too few."""
    with path.open("w", encoding="utf-8") as file:
        for number, tokens in enumerate(islice(cycle(_sentences()), count), 1):
            file.write(json.dumps({"id": str(number), "tokens": tokens}, ensure_ascii=False) + "\n")


def _sentences() -> Iterator[list[str]]:
    return (s for s in read_sentences([tokenised_text()], SPLIT) if SHORTEST <= len(s) <= LONGEST)


if __name__ == "__main__":
    main()
