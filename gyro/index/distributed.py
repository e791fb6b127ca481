"""Building an index on many machines: blocks of text go to them, shards come back.

build_shards  build an index of blocks of text that an engine holds
Engine        what a build asks of whoever holds the blocks

The way of a build: (1) the blocks send their words, with counts, to the parts of the vocabulary, which the driver
merges and writes; (2) from a sample of what starts at each position it is chosen where shards begin; (3) the blocks
send each shard its slice, sorted; each shard sorts what it got in chunks, with the code of a build on one machine,
merges these, and is written; (4) the driver writes the header. Nothing depends on how the text was divided into blocks:
the same text, order and number of shards give the same bytes, and one shard those of `gyro.index.build`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import merge as merge_sorted
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gyro.errors import InputError
from gyro.index.build import check_memory, check_order
from gyro.index.cut import Plan, Rows, choose_starts, cut_block, sample_rows
from gyro.index.folder import AnyPath, new_folder, write_header
from gyro.index.pruning import check_least
from gyro.index.reader import shard_name
from gyro.index.shard import count_words, join_words, read_words, write_shard
from gyro.index.vocabulary import WORDS_AT_ONCE, WordWriter, count_type
from gyro.text.corpus import Normalisation

TOKENS_PER_SHARD = 50_000_000
ROWS_PER_SHARD = 2000  # of the sample

Cut = Callable[[bytes], Iterable[tuple[int, bytes]]]
Join = Callable[[int, Iterable[bytes]], bytes]


class Engine(Protocol):
    """Whoever holds the blocks; functions given to it are those of modules or partials of them."""

    parts: int  # into how many the vocabulary is divided

    def check(self, folder: Path) -> None:
        """Raise InputError unless all that take part can write into this folder."""

    def map(self, work: Callable[[bytes], bytes]) -> list[bytes]:
        """What a function makes of each block."""

    def shuffle(self, cut: Cut, join: Join, parts: int) -> list[bytes]:
        """Cut each block into pieces with the numbers of their parts, and join the pieces of each part, in any order;
        what was made of each part."""


def build_shards(
    engine: Engine,
    path: AnyPath,
    *,
    order: int = 5,
    normalisation: Normalisation,
    shards: int | None = None,
    least: Sequence[int] | None = None,
    memory: int = 2 << 30,
    chunk: int | None = None,
) -> None:
    """Index all n-grams of up to `order` words of the blocks of an engine; an index that is at `path` is replaced.

    Without a number of shards there is one for each 50 million tokens. `memory` is what each task may use, `least` the
    counts below which n-grams of 1, 2 … words are left out; `chunk` sets how many rows are sorted at once, for tests.
    """
    check_order(order)
    check_memory(memory)
    least_counts = check_least(least, order)
    if shards is not None and not 1 <= shards <= 10_000:
        raise InputError(f"found {shards} shards; 1 to 10000 are allowed")
    with new_folder(path) as folder:
        engine.check(folder)
        work = folder / f"work-{os.urandom(8).hex()}"  # what a killed build's executors still write finds no place
        work.mkdir()
        facts = _write_vocabulary(engine, folder, work, least_counts[0])
        if not facts["sentences"]:
            raise InputError("the text has no sentences", path=path)
        kind = count_type(facts["most"])
        plan = Plan(str(folder), str(work), order, facts["words"], kind, least_counts, memory, chunk=chunk)
        number = shards or -(-facts["tokens"] // TOKENS_PER_SHARD)
        if number > 1 and order > 1:
            plan = _with_shards(engine, plan, number, facts["tokens"])
        made = engine.shuffle(partial(cut_block, plan=plan), partial(write_shard, plan=plan), plan.shards)
        entries = [json.loads(record) for record in made]
        files = _take_over(folder, work, plan, entries)
        shutil.rmtree(work)
        header = _shard_entries(plan, entries)
        sizes = [plan.num_words]
        for n in range(2, order + 1):
            sizes.append(sum(entry["ngrams"][n - 2] - (entry["shared"] >= n) for entry in header))
        is_sharded = plan.shards > 1
        write_header(
            folder,
            order,
            normalisation,
            facts["tokens"],
            facts["sentences"],
            least=least_counts,
            shards=header if is_sharded else None,
            num_ngrams=sizes,
            files=files,
        )


def _write_vocabulary(engine: Engine, folder: Path, work: Path, least: int) -> dict[str, int]:
    """Write the words of all blocks; how many tokens, sentences and words there are, and the greatest count."""
    cut, join = partial(count_words, parts=engine.parts), partial(join_words, folder=str(work), least=least)
    parts: list[dict[str, Any]] = [json.loads(facts) for facts in engine.shuffle(cut, join, engine.parts)]
    facts = {name: sum(part[name] for part in parts) for name in ("tokens", "sentences", "words")}
    facts["most"] = max(part["most"] for part in parts)
    with WordWriter(folder, count_type(facts["most"])) as file:
        words = merge_sorted(*(read_words(part["path"]) for part in parts))
        while piece := list(islice(words, WORDS_AT_ONCE)):
            file.append([word for word, _ in piece], np.array([count for _, count in piece], np.int64))
    return facts


def _with_shards(engine: Engine, plan: Plan, shards: int, tokens: int) -> Plan:
    """The plan with so many shards, by a sample of the rows."""
    share = min(1.0, ROWS_PER_SHARD * shards / tokens)
    found = b"".join(engine.map(partial(sample_rows, plan=plan, share=share)))
    rows: Rows = np.unique(np.frombuffer(found, np.int32).reshape(-1, plan.order), axis=0)
    changed = {"shards": shards, "starts": choose_starts(rows, shards)}
    return Plan(**(vars(plan) | changed))


def _take_over(folder: Path, work: Path, plan: Plan, entries: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Move the shards to their place, one alone into the folder of the index itself; the facts of all their files."""
    files = {}
    for shard, entry in enumerate(entries):
        made = work / shard_name(shard)
        if plan.shards > 1:
            made.rename(folder / shard_name(shard))
        for name, facts in entry["files"].items():
            if plan.shards == 1:
                (made / name).rename(folder / name)
            files[name if plan.shards == 1 else f"{shard_name(shard)}/{name}"] = facts
    return files


def _shard_entries(plan: Plan, made: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the header says of the shards. Of what a shard begins with, only what was not left out counts."""
    entries = []
    for shard, facts in enumerate(made):
        start = plan.start(shard)
        kept = next((n for n in range(len(start) - 1) if facts["totals"][n] < plan.least[n]), len(start) - 1)
        before = tuple(made[shard - 1]["last"]) if shard else ()
        shared = next((n for n in range(kept) if before[n : n + 1] != start[n : n + 1]), max(kept, 0))
        words = [word - 1 for word in start[: kept + 1]] if start else [0] * (shard == 0)
        entries.append({"start": words, "ngrams": facts["ngrams"], "shared": shared})
    return entries
