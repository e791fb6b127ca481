from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import sacrebleu

from experiments.neural_lists import ScoredString, choose_strings, length_table, lists_of, weight_table
from gyro.lattice.lattice import Hypothesis
from gyro.report.data import Group, read_groups
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.source import open_lattices
from tests.experiments.tables import read_table
from tests.orders import failed, ordered

A, B, C = (tuple(text.split()) for text in ("a b c d e", "b a c d e", "e d c b a"))
# The costs of the three strings before the neural model, and those of the model, in the order of the first pass.
LIST = [ScoredString(C, 1.0, 9.0), ScoredString(B, 1.0, 6.0), ScoredString(A, 4.0, 5.0)]


@pytest.mark.parametrize(
    ("weight", "most", "chosen"),
    [
        (0.0, None, C),  # of equal strings the first, whatever the model says
        (0.1, None, B),
        (2.0, None, B),
        (4.0, None, A),
        (math.inf, None, A),
        (math.inf, 2, B),
        (4.0, 1, C),
    ],
)
def test_the_best_string_of_a_list(weight: float, most: int | None, chosen: tuple[str, ...]) -> None:
    assert choose_strings([LIST, []], weight, most) == [chosen, ()]


def bleu(*strings: tuple[str, ...]) -> str:
    """Of outputs for two bags whose reference is A."""
    texts = [" ".join(string) for string in strings]
    found = sacrebleu.corpus_bleu(texts, [[" ".join(A)] * 2], tokenize="none", force=True)
    return f"{found.score:.2f}"


def test_tables() -> None:
    """Eleven strings, of which the last is the best: a list of ten does not have it."""
    long = [ScoredString(B, float(n), 5.0) for n in range(10)] + [ScoredString(A, 10.0, 0.0)]
    lists = {"run": ([long, LIST], 4.0)}
    longer = [ScoredString(B, 0.0, 5.0)] * 29 + [ScoredString(A, 0.0, 0.0)]
    rows = read_table(length_table({**lists, "longer": ([longer, LIST], 4.0)}, [A, A]))
    assert rows == [
        {"system": "run", "λ": "4", "first 10": bleu(B, A), "first 30": ""},
        {"system": "longer", "λ": "4", "first 10": bleu(B, A), "first 30": "100.00"},
    ]
    [row] = read_table(weight_table(lists, [A, A]))
    assert row["λ 0"] == bleu(B, C)
    assert row["λ 1.5"] == bleu(B, B)
    assert row["λ 2.5"] == bleu(A, B)
    assert row["λ ∞"] == "100.00"
    assert row["its own"] == "4: 100.00"


def make(folder: Path, strings: Sequence[ScoredString], weight: float | None, **settings: object) -> Path:
    """A run of two bags, of which the second fails; with a weight, it has NEURAL columns."""

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        costs = [Hypothesis(s.tokens, s.before + (weight or 0.0) * s.neural) for s in strings]
        return failed(bag) if number else ordered(bag, costs)

    def columns(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        known = {string.tokens: string for string in strings}
        scores = [{"LM": -known[h.tokens].before, "NEURAL": -known[h.tokens].neural} for h in hypotheses]
        return scores if weight is not None else [{"LM": each["LM"]} for each in scores]

    if weight is not None:
        settings |= {"neural_model": "of tests", "weight": weight}
    bags = [Bag(A, id=str(n), reference=A) for n in range(2)]
    run_batch(bags, folder, work, settings=settings, features=columns, log=io.StringIO())
    return folder


@pytest.fixture
def group(tmp_path: Path) -> Group:
    """A first pass, its list rescored, a search from there, and a run that was made from neither."""
    spread = [ScoredString(C, 1.0, 9.0), ScoredString(B, 2.0, 6.0), ScoredString(A, 4.0, 5.0)]
    first = make(tmp_path / "first", spread, None)
    source = open_lattices(first).signature
    make(tmp_path / "rescored", spread, 4.0, lattices=source)
    make(tmp_path / "search", spread, 4.0, lattices=source, budget=100)
    make(tmp_path / "alone", spread, 4.0, lattices="another")
    named = [(tmp_path / name, None) for name in ("first", "rescored", "search", "alone")]
    [found] = read_groups(named, signature=lambda path: open_lattices(path).signature)
    return found


def test_lists_are_those_of_rescored_runs_in_the_order_of_the_first_pass(group: Group) -> None:
    lists = lists_of(group)
    assert [*lists] == ["rescored"]
    (strings, empty), weight = lists["rescored"]
    assert weight == 4.0
    assert strings == [ScoredString(C, 1.0, 9.0), ScoredString(B, 2.0, 6.0), ScoredString(A, 4.0, 5.0)]
    assert empty == []
    assert choose_strings([strings, empty], weight) == [*group.member("rescored").outputs]
    assert choose_strings([strings, empty], 0.0) == [*group.member("first").outputs]


def test_without_the_lattices_of_the_first_pass_there_are_no_lists(group: Group) -> None:
    run = group.member("first").run
    assert run is not None
    run.folder.lattice(0).unlink()
    assert lists_of(group) == {}
