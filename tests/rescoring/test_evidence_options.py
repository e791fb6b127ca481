"""The options of evidence."""

from __future__ import annotations

import argparse

from gyro.text.corpus import Normalisation
from rescoring.evidence_options import add_evidence_arguments, evidence_of_arguments


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_evidence_arguments(parser)
    return parser.parse_args(words)


def test_no_file_is_no_evidence() -> None:
    assert evidence_of_arguments(parse()) is None


def test_every_option_is_in_the_evidence() -> None:
    plain = evidence_of_arguments(parse("--mt", "a.jsonl"))
    assert plain is not None
    assert (plain.files, plain.format, plain.field, plain.by) == (("a.jsonl",), "outputs", "outputs", "id")
    assert (plain.scale, plain.weights, plain.normalisation) == (None, {}, Normalisation("spacy-en", False))
    words = ["--mt", "a", "b", "--mt-format", "text", "--mt-field", "f", "--mt-by", "order", "--mt-scale", "0.5"]
    full = evidence_of_arguments(parse(*words, "--mt-tokenized", "--mt-lowercase", "--weights", "a=2"))
    assert full is not None
    assert (full.files, full.format, full.field, full.by) == (("a", "b"), "text", "f", "order")
    assert (full.scale, full.weights, full.normalisation) == (0.5, {"a": 2.0}, Normalisation("none", True))
