"""`gyro mbr` as a user types it; on lattices of others see tests/rescoring/test_mbr.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.lattice.nbest import read_moses


def test_mbr_with_what_mt_systems_say(
    ordered: Path, tmp_path: Path, bleu: Callable[[Path], float], capsys: pytest.CaptureFixture[str]
) -> None:
    first = str(ordered / "first")
    assert main(["mbr", first, "-o", str(tmp_path / "mbr"), "--alpha", "1"]) == 0
    mt = ["--mt", str(ordered / "mt.jsonl"), "--mt-by", "id", "--mt-tokenized"]
    assert main(["mbr", first, "-o", str(tmp_path / "mbr-mt"), "--alpha", "0.1", *mt]) == 0
    assert {name for entry in read_moses(tmp_path / "mbr-mt" / "nbest.txt") for name in entry.features} == {"MBR"}
    # Half of the systems say the reference: their posteriors must help.
    assert bleu(tmp_path / "mbr-mt") > max(bleu(ordered / "first"), bleu(tmp_path / "mbr"))
    assert main(["mbr", first, "--alpha", "0.1", *mt]) == 0
    assert capsys.readouterr().out == (tmp_path / "mbr-mt" / "best.txt").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{ordered}/first", "--scale", "-1"], "scale = -1"),
        (["{ordered}/first", "--mt", "{ordered}/bags.jsonl"], "bags.jsonl:1"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["mbr", *words], message)
