"""Building an index with Spark: text that executors read becomes blocks, and blocks become shards.

build_in_spark  index the sentences of an RDD
SparkBlocks     the engine: blocks that the executors keep on their disks
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gyro.index.block import text_blocks
from gyro.index.distributed import Cut, Join, build_shards
from gyro.index.folder import AnyPath
from gyro.spark.connection import Spark
from gyro.text.corpus import Normalisation

TOKENS_PER_BLOCK = 1 << 22  # what a task sorts at once: about 150 MB


class SparkBlocks:
    """Blocks in Spark. One that is lost with its executor is made again of the text."""

    def __init__(self, spark: Spark, sentences: Any, tokens: int = TOKENS_PER_BLOCK) -> None:
        self.spark = spark
        self.parts = 2 * spark.cores
        self.blocks = spark.keep(sentences.mapPartitions(partial(_blocks, tokens=tokens)))

    def check(self, folder: Path) -> None:
        self.spark.check_output(folder)

    def map(self, work: Callable[[bytes], bytes]) -> list[bytes]:
        with self.spark.told():
            return list(self.blocks.map(work).collect())

    def shuffle(self, cut: Cut, join: Join, parts: int) -> list[bytes]:
        with self.spark.told():
            pieces = self.blocks.flatMap(cut).partitionBy(parts)
            return list(pieces.mapPartitionsWithIndex(partial(_joined, join)).collect())


def build_in_spark(
    spark: Spark,
    sentences: Any,
    path: AnyPath,
    *,
    order: int = 5,
    normalisation: Normalisation,
    shards: int | None = None,
    least: Sequence[int] | None = None,
    memory: int = 2 << 30,
    tokens: int = TOKENS_PER_BLOCK,
) -> None:
    """Index the sentences; the options are those of `build_shards`, and `tokens` those of a block."""
    build_shards(
        SparkBlocks(spark, sentences, tokens),
        path,
        order=order,
        normalisation=normalisation,
        shards=shards,
        least=least,
        memory=memory,
    )


def _blocks(sentences: Iterable[Sequence[str]], tokens: int) -> Iterator[bytes]:
    return (block.to_bytes() for block in text_blocks(sentences, tokens))


def _joined(join: Join, part: int, pieces: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    yield join(part, (piece for _, piece in pieces))
