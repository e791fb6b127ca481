from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments.syntax_results import lexical_precision
from grammars.ccg.derivation import leaves, parse_auto


def test_precision_counts_words_with_their_categories(tmp_path: Path) -> None:
    first = parse_auto("(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L N NN NN cat N>) )")
    line = "(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L NP NN NN cat NP>) )"
    other = "(<T NP 0 1> (<L N NN NN cat N>) )"
    (tmp_path / "nbest.auto").write_text(f"ID=a.b.1.1 SCORE=1\n{line}\nID=a.b.2.1 SCORE=0\n{other}\nID=c.1.1\n{line}\n")
    gold = {"a.b": Counter((leaf.word, leaf.category) for leaf in leaves(first))}
    assert lexical_precision(tmp_path / "nbest.auto", gold) == 0.5  # the second hypothesis and bag c do not count
    assert lexical_precision(tmp_path / "nbest.auto", {}) is None
