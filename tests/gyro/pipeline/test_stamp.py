"""Stages are done once, and again when what they depend on has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.pipeline.stamp import fingerprint, make_once


def test_a_stage_is_skipped_while_its_facts_stay(tmp_path: Path) -> None:
    target, made = tmp_path / "out" / "file", []

    def make() -> None:
        made.append(1)
        target.write_text("x")

    for facts, times in (({"a": 1}, 1), ({"a": 1}, 1), ({"a": 2}, 2)):
        make_once("stage", target, facts, make)
        assert len(made) == times
    target.unlink()
    make_once("stage", target, {"a": 2}, make)
    assert len(made) == 3


def test_a_stage_that_fails_is_done_again(tmp_path: Path) -> None:
    target, tries = tmp_path / "file", []

    def make() -> None:
        tries.append(1)
        target.write_text("half")
        if len(tries) == 1:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        make_once("stage", target, {}, make)
    make_once("stage", target, {}, make)
    assert len(tries) == 2


def test_a_fingerprint_changes_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    before = fingerprint(file)
    assert fingerprint(file) == before
    file.write_text("other")
    assert fingerprint(file) != before
