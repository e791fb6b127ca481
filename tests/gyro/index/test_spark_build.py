"""Indexes that Spark builds in executors, which are processes of their own here, against those of one machine."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard

from gyro.errors import InputError
from gyro.index.build import build_index, merge_indexes
from gyro.index.reader import open_index
from gyro.index.spark_build import build_in_spark
from gyro.spark.connection import Spark, open_spark
from gyro.text.corpus import Normalisation, read_sentences
from gyro.text.hadoop import list_files, local_files, read_in_spark
from tests.executor_processes import executors
from tests.gyro.index.small_text import SPLIT
from tests.gyro.index.test_distributed import folder_bytes
from tests.outside import needs_spark

SPACY = Normalisation("spacy-en", lowercase=True)
MOUNT = "spark.hadoop.fs.viewfs.mounttable.gyro.link./text"

pytestmark = [needs_spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with text of every kind of packing, line end and beginning."""
    folder = tmp_path_factory.mktemp("texts")
    random = np.random.default_rng(5)
    words = [f"word{number}" for number in random.zipf(1.3, 30_000) % 900]
    sentences = [" ".join(words[start : start + 11]) for start in range(0, len(words), 11)]
    plain = "\n".join(sentences[:700])
    (folder / "a plain*.txt").write_bytes(b"\xef\xbb\xbfShe didn't go.\r\n\r\n" + plain.encode() + "\né".encode())
    (folder / "b.txt.gz").write_bytes(gzip.compress("\n".join(sentences[700:1200]).encode()))
    (folder / "c.txt.bz2").write_bytes(bz2.compress("\n".join(sentences[1200:1700]).encode()))
    (folder / "d.txt.xz").write_bytes(lzma.compress("\n".join(sentences[1700:2200]).encode()))
    (folder / "e.txt.zst").write_bytes(zstandard.compress("\n".join(sentences[2200:]).encode()))
    (folder / "f.txt").write_bytes(b"one\rline\xe2\x80\xa8only\x0b.\n\n")
    (folder / "_SUCCESS").write_bytes(b"hidden")
    (folder / ".hidden.txt").write_bytes(b"hidden")
    return folder


@pytest.fixture(scope="module")
def spark(texts: Path) -> Iterator[Spark]:
    with open_spark("local-cluster[2,1,1024]", settings={MOUNT: texts.as_uri()}) as spark:
        yield spark


@pytest.fixture(scope="module")
def whole(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of one machine."""
    files = sorted(path for path in texts.iterdir() if path.name[0] not in "._")
    path = tmp_path_factory.mktemp("whole") / "index"
    build_index(read_sentences(files, SPACY), path, normalisation=SPACY)
    return path


def build(spark: Spark, text: str, path: Path, shards: int, how: Normalisation = SPACY, **options: str) -> None:
    sentences = read_in_spark(spark, list_files(spark, [text]), how, **options)  # type: ignore[arg-type]
    build_in_spark(spark, sentences, path, normalisation=how, shards=shards, tokens=2000)


@pytest.mark.parametrize("text", ["file", "viewfs"])
def test_one_shard_is_the_index_of_one_machine(
    spark: Spark, texts: Path, whole: Path, tmp_path: Path, text: str
) -> None:
    files = list_files(spark, [str(texts) if text == "file" else "viewfs://gyro/text"])
    assert [Path(file.path).name for file in files][1:] == [
        *("b.txt.gz", "c.txt.bz2", "d.txt.xz", "e.txt.zst", "f.txt")
    ]
    assert (local_files(files) != []) == (text == "file")
    build(spark, str(texts) if text == "file" else "viewfs://gyro/text", tmp_path / "index", 1)
    assert folder_bytes(tmp_path / "index") == folder_bytes(whole)


def test_an_executor_that_is_killed_changes_nothing(spark: Spark, texts: Path, whole: Path, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one() -> None:
        """Kill an executor when the first part of the vocabulary is written, and so blocks are kept."""
        while not list(tmp_path.glob(".index.building/work-*/words-*")):
            time.sleep(0.01)
        victim = executors()[0]
        victim.kill()
        killed.append(victim.pid)

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    build(spark, str(texts), tmp_path / "index", 3)
    thread.join()
    assert killed
    assert os.listdir(tmp_path) == ["index"]
    open_index(tmp_path / "index").verify()
    merge_indexes([tmp_path / "index"], tmp_path / "merged")
    assert folder_bytes(tmp_path / "merged") == folder_bytes(whole)


def test_a_field_of_json_lines(spark: Spark, tmp_path: Path) -> None:
    lines = [{"text": "a b\nc"}, {"text": "a b", "more": 1}]
    (tmp_path / "text.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    build(spark, str(tmp_path / "text.jsonl"), tmp_path / "index", 1, SPLIT, json_field="text")
    build_index([["a", "b", "c"], ["a", "b"]], tmp_path / "whole", normalisation=SPLIT)
    assert folder_bytes(tmp_path / "index") == folder_bytes(tmp_path / "whole")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "bad.txt",
            b"good\nb\xff d\n",
            r"bad\.txt: found the byte 0xff at column 2 of the line that begins 'b'; UTF-8",
        ),
        ("bad.xz", lzma.compress(b"good\n" * 999)[:-20], r"bad\.xz: damaged or truncated \.xz file"),
        ("bad.gz", gzip.compress(os.urandom(9999))[:-2000], r"bad\.gz"),
        ("empty.bz2", b"", r"empty\.bz2: damaged or truncated \.bz2 file: the file is empty"),
        ("empty.txt", b"\n\n", "no sentences"),
        ("nothing/there.txt", None, "no such file"),
    ],
)
def test_bad_text_is_told_in_one_line(
    spark: Spark, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        build(spark, str(tmp_path / name), tmp_path / "index", 2)
    assert "\n" not in str(error.value)
    assert sorted(os.listdir(tmp_path)) == ([name] if content is not None else [])


def test_what_a_killed_driver_left_is_no_index(texts: Path, whole: Path, tmp_path: Path) -> None:
    words = ["index", str(texts), "-o", str(tmp_path / "index"), "--lowercase", "--spark", "local[2]", "--shards", "1"]
    command = [sys.executable, "-m", "gyro", *words]
    process = subprocess.Popen(command)
    while not list(tmp_path.glob(".index.building/work-*/*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (tmp_path / "index").exists()
    with pytest.raises(InputError):
        open_index(tmp_path / ".index.building")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert os.listdir(tmp_path) == ["index"]
    assert folder_bytes(tmp_path / "index") == folder_bytes(whole)
