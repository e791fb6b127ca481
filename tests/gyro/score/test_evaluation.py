from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from gyro.errors import InputError
from gyro.score.evaluation import class_order, evaluate, measure, parse_sizes, read_outputs
from gyro.score.metric import METRICS, Floats, Metric, Sentences
from gyro.score.significance import compare


def shuffled_sentences(count: int, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """References of 1 to 30 tokens, and hypotheses in which some neighbours have changed places."""
    chance = random.Random(seed)
    references = [[chance.choice([*"abcdefg.,", "'s"]) for _ in range(n % 30 + 1)] for n in range(count)]
    hypotheses = []
    for reference in references:
        hypothesis = list(reference)
        for place in range(len(hypothesis) - 1):
            if chance.random() < 0.2:
                hypothesis[place : place + 2] = reversed(hypothesis[place : place + 2])
        hypotheses.append(hypothesis)
    return hypotheses, references


def corpus_bleu(hypotheses: list[list[str]], references: list[list[str]], tokenize: str = "none") -> float:
    texts = [" ".join(words) for words in hypotheses]
    score = sacrebleu.corpus_bleu(texts, [[" ".join(words) for words in references]], tokenize=tokenize, force=True)
    return float(score.score)


@pytest.mark.parametrize("tokenize", ["none", "13a"])
def test_bleu_is_that_of_sacrebleu(tokenize: str) -> None:
    hypotheses, references = shuffled_sentences(90)
    result = measure(hypotheses, references, tokenize=tokenize).evaluation()
    assert result["bleu"] == pytest.approx(corpus_bleu(hypotheses, references, tokenize))
    assert f"tok:{tokenize}" in result.signatures["bleu"]
    assert f"version:{sacrebleu.__version__}" in result.signatures["bleu"]


def test_size_classes() -> None:
    hypotheses, references = shuffled_sentences(90)
    result = evaluate(hypotheses, references)
    assert [row.sizes for row in result.by_size] == ["1-5", "6-10", "11-15", "16-20", "21-25", "26+"]
    assert [row.sentences for row in result.by_size] == [15] * 6
    pairs = [(h, r) for h, r in zip(hypotheses, references, strict=True) if 11 <= len(r) <= 15]
    chosen = result.by_size[2]
    assert chosen["bleu"] == pytest.approx(corpus_bleu([h for h, _ in pairs], [r for _, r in pairs]))
    assert chosen["exact_match"] == pytest.approx(100 * sum(h == r for h, r in pairs) / len(pairs))
    assert result["exact_match"] == pytest.approx(
        sum(row["exact_match"] * row.sentences for row in result.by_size) / result.sentences
    )


@pytest.mark.parametrize(
    ("sizes", "names"),
    [([0], ["1-5"]), ([5, 6], ["1-5", "6-10"]), ([25, 26], ["21-25", "26+"]), ([200], ["26+"]), ([20], ["16-20"])],
)
def test_edges_of_size_classes(sizes: list[int], names: list[str]) -> None:
    sentences = [["a"] * size for size in sizes]
    assert [row.sizes for row in evaluate(sentences, sentences).by_size] == names


def test_empty_and_foreign_hypotheses_are_counted() -> None:
    references = ["abcd"] * 5  # a string is a sequence of strings
    hypotheses = ["abcd", "", "dcba", "abc", "abcx"]
    result = measure(hypotheses, references).evaluation(["i", "j", "k", "l", "m"])
    assert result["exact_match"] == 20.0
    assert (result.empty, result.other_words) == (("j",), ("l", "m"))
    assert "empty outputs: 1 (ids j)" in result.text()
    assert "outputs with other words than the reference: 2 (ids l m)" in result.text()


def test_table_is_aligned() -> None:
    result = evaluate(*shuffled_sentences(90))
    rows = result.text().splitlines()
    assert rows[0].split()[:4] == ["tokens", "sentences", "BLEU", "BLEU"]
    assert rows[7].startswith("all")
    assert len({len(row) for row in rows[:8]}) == 1
    assert rows[8].startswith("% of words by distortion: 0 ")
    assert rows[9] == f"BLEU: {result.signatures['bleu']}"


def test_json_holds_everything() -> None:
    result = evaluate(*shuffled_sentences(12))
    value = json.loads(json.dumps(result.to_json()))
    assert value["bleu"] == result["bleu"]
    assert value["by_size"][0]["sizes"] == "1-5"
    others = ["distortions", "signature", "signatures", "by_size", "empty", "other_words"]
    assert list(value) == ["sentences", *METRICS, *others]
    assert value["signature"] == value["signatures"]["bleu"] == result.signatures["bleu"]
    assert list(value["by_size"][0]) == ["sentences", *METRICS, "distortions", "sizes"]


def test_a_metric_is_one_entry_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric that is put into the table is in the tables, the JSON and the comparison."""

    def statistics(outputs: Sentences, references: Sentences, _tokenize: str) -> Floats:
        return np.array([[len(output), len(reference)] for output, reference in zip(outputs, references, strict=True)])

    metric = Metric("length", "Length", 1, True, statistics, lambda sums: 100 * sums[:, 0] / sums[:, 1], lambda _: "L")
    monkeypatch.setitem(METRICS, "length", metric)
    references = [list("abcd"), list("efghijkl")]
    result = evaluate([list("abcd"), list("efgh")], references)
    assert result["length"] == pytest.approx(100 * 8 / 12)
    assert [row["length"] for row in result.by_size] == [100.0, 50.0]
    lines = result.text().splitlines()
    assert lines[0].split()[-1] == "Length"
    assert [line.split()[-1] for line in lines[1:4]] == ["100.0", "50.0", "66.7"]
    assert "Length: L" in lines
    assert list(result.to_json())[-7:-5] == ["length", "distortions"]
    comparison = compare({"whole": references, "half": [list("abcd"), list("efgh")]}, references)
    assert comparison.differences["half"]["length"].difference == pytest.approx(-100 / 3)
    assert comparison.text().splitlines()[0].split()[-1] == "Length"
    assert comparison.to_json()["evaluations"]["half"]["length"] == result["length"]


def test_distortions_are_shares() -> None:
    result = evaluate(*shuffled_sentences(60))
    for row in (result, *result.by_size):
        assert sum(row.distortions) == pytest.approx(1.0)


def test_chosen_sizes() -> None:
    result = measure(*shuffled_sentences(90)).evaluation(sizes=(8, 9))
    assert [row.sizes for row in result.by_size] == ["1-8", "9", "10+"]
    assert parse_sizes("8,9") == (8, 9)
    assert class_order(["26+", "6-10", "1-5"]) == ["1-5", "6-10", "26+"]
    for bad in ("", "5,5", "0", "x", "10,5"):
        with pytest.raises(InputError, match="rising whole numbers"):
            measure([["a"]], [["a"]]).evaluation(sizes=parse_sizes(bad))


def test_files(tmp_path: Path) -> None:
    hypotheses, references = shuffled_sentences(40)
    hypotheses[3] = []
    with gzip.open(tmp_path / "hyp.gz", "wt") as file:
        file.write("".join(" ".join(words) + "\n" for words in hypotheses))
    outputs = read_outputs(tmp_path / "hyp.gz", references, "ref")
    assert evaluate(outputs, references) == evaluate(hypotheses, references)
    assert evaluate(outputs, references).empty == ("4",)


@pytest.mark.parametrize(
    ("hyp_lines", "ref_lines", "what"), [(2, 3, "missing"), (3, 2, "one too many"), (0, 1, "missing")]
)
def test_files_of_different_length(tmp_path: Path, hyp_lines: int, ref_lines: int, what: str) -> None:
    hyp, ref = tmp_path / "hyp", tmp_path / "ref"
    hyp.write_text("a\n" * hyp_lines)
    with pytest.raises(InputError) as caught:
        read_outputs(hyp, [["a"]] * ref_lines, ref)
    line = min(hyp_lines, ref_lines) + 1
    assert str(caught.value) == f"{hyp}: line {line} is {what}: found {hyp_lines} lines; {ref} has {ref_lines}"


def test_a_line_that_is_missing_in_the_middle_is_named(tmp_path: Path) -> None:
    hyp = tmp_path / "hyp"
    hyp.write_text("b a\nf e\n")
    with pytest.raises(InputError, match="line 2 is the first with other words than its reference"):
        read_outputs(hyp, [["a", "b"], ["c", "d"], ["e", "f"]], "ref")


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no sentences to score"):
        evaluate([], [])
    with pytest.raises(InputError, match="found 1 outputs and 2 references"):
        evaluate([["a"]], [["a"], ["b"]])
    with pytest.raises(InputError, match="found 1 references and 2 ids"):
        measure([["a"]], [["a"]]).evaluation(["1", "2"])
    with pytest.raises(InputError, match="found the tokeniser 'xyz'; allowed are 13a, char"):
        measure([["a"]], [["a"]], tokenize="xyz")
    with pytest.raises(InputError, match="nothing: cannot read"):
        read_outputs(tmp_path / "nothing", [["a"]], "ref")
