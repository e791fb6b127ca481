"""Indexes built with Spark: the same bytes, what Spark costs, and how time and bytes grow with the text.

python -m benchmarks.spark_index [--words 1 4] [--all] [--master 'local-cluster[2,1,1024]'] [--text FILE…]

main  print the tables; --all: 1, 4, 13 and 50 million words, the last by repeating the text with renamed words

Seconds on a machine that does other things as well say little: beside them stand those of the processors, of all
processes together. Spark's start is told apart. Text is tokenised before, so that none of this is spaCy's time.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from benchmarks.index import in_new_process, reference_bags, timed
from benchmarks.material import NORMALISATION, ORDER, REFERENCES, SPLIT, TEXT, is_missing, tokenised_text
from gyro.index.build import build_index
from gyro.index.phrase import find_phrases
from gyro.index.reader import open_index
from gyro.index.spark_build import build_in_spark
from gyro.spark.connection import Spark, open_spark
from gyro.text.corpus import read_sentences
from gyro.text.hadoop import list_files, read_in_spark

MILLION = 1_000_000
SIZES = (1, 4, 13, 50)
SHARDS_OF_LOOK_UPS = 16

Figures = dict[str, float]


def main(argv: list[str] | None = None) -> None:
    """Build, compare, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_index", description="Time indexes of Spark.")
    parser.add_argument("--words", type=int, nargs="+", default=[1, 4], help="million words (default 1 4)")
    parser.add_argument("--all", action="store_true", help="1, 4, 13 and 50 million words")
    parser.add_argument("--master", default="local-cluster[2,1,1024]", help="default local-cluster[2,1,1024]")
    parser.add_argument("--text", type=Path, help="a tokenised file (default: the development text)")
    parser.add_argument("--no-wikinews", action="store_true", help="leave out the comparison on untokenised Wikinews")
    arguments = parser.parse_args(argv)
    if not arguments.text and is_missing(*TEXT):
        return
    text = arguments.text or tokenised_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        with open_spark(arguments.master, name="gyro benchmark") as spark:
            print(f"{arguments.master}: Spark's start took {time.perf_counter() - start:.1f} s\n")
            warm_up(spark, text, folder)
            compare_sizes(spark, text, SIZES if arguments.all else arguments.words, folder)
            if TEXT[0].exists() and not arguments.no_wikinews:
                compare_wikinews(spark, folder)
            if REFERENCES.exists():
                compare_look_ups(spark, folder)


def warm_up(spark: Spark, text: Path, folder: Path) -> None:
    """Start the executors' Python and load its compiled code, which is part of Spark's start."""
    sample = write_words(text, folder / "sample.tok", 20_000)
    build_one(spark, sample, folder / "warm", 2)


def compare_sizes(spark: Spark, text: Path, sizes: Sequence[int], folder: Path) -> None:
    """One process, Spark with one shard and with two: time, processors' time, and what was shuffled."""
    print(f"{'':24}{'seconds':>9}{'CPU s':>8}{'µs/word':>9}{'B/word':>8}{'times':>7}{'CPU times':>11}  same bytes")
    for size in sizes:
        sample = write_words(text, folder / "sample.tok", size * MILLION)
        with measured() as alone:
            words, alone["seconds"], _ = in_new_process(run_alone, sample, folder / "whole")
        print(f"{words / MILLION:.1f} million words")
        print_row("  one process", alone, words, alone)
        for shards in (1, 2):
            before = shuffled_bytes(spark)
            with measured() as figures:
                build_one(spark, sample, folder / "spark", shards)
            figures["bytes"] = shuffled_bytes(spark) - before
            same = str(equal(folder / "spark", folder / "whole")) if shards == 1 else ""
            print_row(f"  Spark, {shards} shard{'s' * (shards > 1)}", figures, words, alone, same)


def print_row(name: str, figures: Figures, words: int, alone: Figures, same: str = "") -> None:
    """A row of the table."""
    seconds, cpu = figures["seconds"], figures["cpu"]
    print(
        f"{name:24}{seconds:9.1f}{cpu:8.1f}{seconds / words * 1e6:9.2f}{figures.get('bytes', 0) / words:8.1f}", end=""
    )
    print(f"{seconds / alone['seconds']:7.1f}{cpu / alone['cpu']:11.1f}  {same}", flush=True)


def compare_wikinews(spark: Spark, folder: Path) -> None:
    """Wikinews as it comes, tokenised in the executors."""
    with measured() as alone:
        build_index(read_sentences(TEXT[:1], NORMALISATION), folder / "whole", normalisation=NORMALISATION)
    with measured() as figures:
        sentences = read_in_spark(spark, list_files(spark, [str(TEXT[0])]), NORMALISATION)
        build_in_spark(spark, sentences, folder / "spark", normalisation=NORMALISATION, shards=1)
    same = equal(folder / "spark", folder / "whole")
    print(f"\n{TEXT[0].name}, tokenised by spaCy: {alone['seconds']:.0f} s by one process, ", end="")
    print(f"{figures['seconds']:.0f} s by Spark (one file, so one task tokenises); same bytes: {same}")


def compare_look_ups(spark: Spark, folder: Path) -> None:
    """The phrases of 20-token bags in the last whole index and in shards of the same text."""
    build_index(read_sentences([folder / "sample.tok"], SPLIT), folder / "whole", normalisation=SPLIT)
    build_one(spark, folder / "sample.tok", folder / "shards", SHARDS_OF_LOOK_UPS)
    whole, shards = open_index(folder / "whole"), open_index(folder / "shards")
    bags = [bag for bag, _ in zip(reference_bags(), range(300), strict=False)]
    same = all(list(find_phrases(shards, bag)) == list(find_phrases(whole, bag)) for bag in bags)
    medians = [
        float(np.median(timed(partial(find_phrases, index, max_order=ORDER), bags))) for index in (whole, shards)
    ]
    print(f"\nphrases of {len(bags)} bags of 20 tokens: {medians[0]:.2f} ms in the whole index (median), ", end="")
    print(f"{medians[1]:.2f} ms in {SHARDS_OF_LOOK_UPS} shards, {medians[1] / medians[0]:.2f} times; the same: {same}")


def build_one(spark: Spark, text: Path, path: Path, shards: int) -> None:
    """Build the index of a tokenised file."""
    sentences = read_in_spark(spark, list_files(spark, [str(text)]), SPLIT)
    build_in_spark(spark, sentences, path, normalisation=SPLIT, shards=shards)


def run_alone(text: Path, path: Path) -> int:
    """Build it with one process; the words."""
    build_index(read_sentences([text], SPLIT), path, normalisation=SPLIT)
    return open_index(path).num_tokens


def write_words(text: Path, path: Path, words: int) -> Path:
    """So many words of the text; when it is at its end it begins anew with all its words renamed."""
    turn = 0
    with open(path, "w", encoding="utf-8") as file:
        while words > 0:
            for sentence in read_sentences([text], SPLIT):
                words -= len(sentence)
                if words < 0:
                    return path
                file.write(" ".join(f"{word}~{turn}" for word in sentence) if turn else " ".join(sentence))
                file.write("\n")
            turn += 1
    return path


def equal(one: Path, other: Path) -> bool:
    """Are the files of two folders the same to the byte?"""
    names = sorted(os.listdir(one))
    return names == sorted(os.listdir(other)) and not any(filecmp.cmpfiles(one, other, names, shallow=False)[1:])


@contextmanager
def measured() -> Iterator[Figures]:
    """The seconds of the block, and those of the processors, of this process and all that it has started."""
    figures: Figures = {}
    start, cpu = time.perf_counter(), cpu_seconds()
    yield figures
    figures["cpu"] = cpu_seconds() - cpu
    figures.setdefault("seconds", time.perf_counter() - start)


def cpu_seconds() -> float:
    """Of this process and its children, those that have ended too."""
    ours = psutil.Process()
    return float(sum(sum(one.cpu_times()[:4]) for one in [ours, *ours.children(recursive=True)]))


def shuffled_bytes(spark: Spark) -> int:
    """What the executors have written for each other since Spark's start, as packed for the way."""
    executors = spark.context._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


if __name__ == "__main__":
    main()
