"""A build in shards without Spark: the blocks are in this process, and what goes between processes goes through bytes.

InProcess  an engine of `gyro.index.distributed`
blocks_of  the blocks of sentences
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gyro.index.block import text_blocks
from gyro.index.distributed import Cut, Join


class InProcess:
    """Blocks in this process; the pieces of a part come in the reverse order, which must not matter."""

    def __init__(self, blocks: Iterable[bytes], parts: int = 2) -> None:
        self.blocks = list(blocks)
        self.parts = parts

    def check(self, folder: Path) -> None:
        assert folder.is_dir()

    def map(self, work: Callable[[bytes], bytes]) -> list[bytes]:
        return list(map(work, self.blocks))

    def shuffle(self, cut: Cut, join: Join, parts: int) -> list[bytes]:
        pieces: list[list[bytes]] = [[] for _ in range(parts)]
        for block in self.blocks:
            for part, piece in cut(block):
                pieces[part].insert(0, piece)
        return [join(part, iter(of_part)) for part, of_part in enumerate(pieces)]


def blocks_of(sentences: Iterable[Sequence[str]], tokens: int = 1 << 20) -> list[bytes]:
    return [block.to_bytes() for block in text_blocks(sentences, tokens)]
