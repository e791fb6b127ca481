"""What asked models say, against KenLM's own score of the same strings and a count by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gyro.errors import InputError
from gyro.report.data import Group, read_groups
from gyro.report.examples import examples
from gyro.report.opinion import AskedModel, Floats, ask_models, ngram_to_ask
from gyro.report.opinion_card import PARTS, _means_along, along, opinion_card, opinion_figures
from gyro.report.page import write_report
from gyro.score.outputs import Sentence
from tests.gyro.report.samples import NAME, REFERENCES, check, make_run

if TYPE_CHECKING:
    from tests.conftest import World

COLOURS = {"same": 0, NAME: 1, "failing": 2}


def costs_by_place(strings: Sequence[Sentence]) -> list[Floats]:
    """A model that likes words to be in the order of the alphabet: a word costs 1, and 2 more where it is out of it."""
    return [
        np.array([1.0 + 2.0 * (place > 0 and words[place - 1] > word) for place, word in enumerate(words)] + [0.5])
        for words in strings
    ]


ALPHABET = AskedModel("alphabet", "abcd1234", costs_by_place)


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Group:
    folder = tmp_path_factory.mktemp("asked")
    runs = [
        (make_run(folder / "same", 0, model="abcd1234"), "same"),
        (make_run(folder / "turned", 2), NAME),
        (make_run(folder / "failing", 1, fail=2), "failing"),
    ]
    [found] = read_groups(runs)
    return found


def test_words_cost_what_kenlm_says(world: World) -> None:
    strings = [tuple(sentence) for sentence in world.held_out[:5]] + [("unheard-of",)]
    model = ngram_to_ask(world.model, "3-gram")
    for string, costs in zip(strings, model.word_costs(strings), strict=True):
        expected = [-score * np.log(10) for score, _, _ in world.model._model.full_scores(" ".join(string))]
        assert costs.tolist() == pytest.approx(expected, abs=1e-4)
        assert costs.sum() == pytest.approx(world.model.score(string))


def test_each_string_is_asked_for_once(group: Group) -> None:
    asked: list[Sentence] = []

    def costs(strings: Sequence[Sentence]) -> list[Floats]:
        asked.extend(strings)
        return costs_by_place(strings)

    opinions = ask_models([AskedModel("a", "", costs)], [group, group])
    assert len(asked) == len({*asked})
    wanted = {*group.references, *(o for member in group.members for o in member.outputs if o)}  # type: ignore[misc]
    assert {*asked} == wanted
    assert opinions.of(opinions.models[0], ("one", "two", "three")).tolist() == [1.0, 1.0, 3.0, 0.5]
    with pytest.raises(InputError, match="found the model 'a' twice"):
        ask_models([AskedModel("a", "", costs)] * 2, [group])


def test_who_errs(group: Group) -> None:
    """The reference, an output that costs less, as much, more; and a bag without an order."""
    opinions = ask_models([ALPHABET], [group])
    counts = {}
    for member in group.members:
        verdicts = [bag.verdict() if bag else "" for bag in opinions.bag_costs(ALPHABET, group, member)]
        counts[member.name] = verdicts
    assert set(counts["same"]) == {"the same"}

    def cost(words: Sequence[str]) -> float:
        return sum(2.0 for a, b in pairwise(words) if a > b)

    for name, shift in ((NAME, 2), ("failing", 1)):
        for n, (line, found) in enumerate(zip(REFERENCES, counts[name], strict=True)):
            words = line.split()
            apart = cost(words[shift:] + words[:shift]) - cost(words)
            expected = "output costs less" if apart < 0 else "reference costs less" if apart > 0 else "the same"
            assert found == ("" if name == "failing" and n == 2 else expected)
    errors, sentence = opinion_figures(group, opinions, COLOURS)
    assert errors.title == "Who errs, by alphabet"
    assert {each.name: [point.y for point in each.points] for each in errors.series}["the same"][0] == 5
    assert [each.name for each in sentence.series] == ["reference", "same", NAME, "failing"]
    assert {entry.name: entry.key.style for entry in sentence.legend()} == {
        "reference": "ink",
        "same": "s0",
        NAME: "s1",
        "failing": "s2",
    }


def test_the_card(group: Group) -> None:
    html = opinion_card(group, ask_models([ALPHABET], [group]), COLOURS)
    rows = html.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")
    assert "alphabet" in rows[0]
    assert "uses it" in rows[1]
    assert "uses it" not in rows[2]
    assert "<td>0 (0 %)</td><td>5 (100 %)</td><td>0 (0 %)</td>" in rows[1]
    counts = [int(n) for n in re.findall(r"<td>(\d+) \(", rows[3])]
    assert sum(counts) == 4
    assert NAME not in html


def test_means_along_the_sentence() -> None:
    """Ten words fill each fifth with two; three words are in the first, second and fourth."""
    ten, three = np.array([*range(10), 7.0]), np.array([1.0, 2.0, 3.0, 9.0])
    assert _means_along([ten]) == [0.5, 2.5, 4.5, 6.5, 8.5, 7.0]
    assert _means_along([three]) == [1.0, 2.0, None, 3.0, None, 9.0]
    assert _means_along([]) == [None] * len(PARTS)


def test_an_example_has_its_costs(group: Group) -> None:
    opinions = ask_models([ALPHABET, AskedModel(NAME, "", costs_by_place)], [group])
    html = along(group, opinions, 4, COLOURS)
    assert html.count("data-costs=") == 3  # the reference, which one system gave, and two others
    assert 'data-costs="[[1.0, 3.0, 1.0, 3.0, 0.5], [1.0, 3.0, 1.0, 3.0, 0.5]]">it is so .</p>' in html
    assert "alphabet 8.5 · &lt;b&gt;" in html
    assert html.count("<span><i class=") == 2
    assert along(group, ask_models([], [group]), 4, COLOURS) == ""
    assert group.references is not None
    empty = replace(group, references=(*group.references[:4], ()))
    assert along(empty, ask_models([ALPHABET], [empty]), 4, COLOURS) == ""
    shown = examples(group, 1, 10, (5,), COLOURS, opinions)
    assert shown.count("Costs along the sentence") == 5


def test_a_report_with_asked_models(group: Group, tmp_path: Path) -> None:
    named = [(member.path, member.name) for member in group.members]
    write_report(named, tmp_path / "r.html", models=[ALPHABET], figures=tmp_path / "figures")
    words = "".join(check(tmp_path / "r.html").text)
    assert "Models asked: output or reference" in words
    assert (tmp_path / "figures" / "who-errs-by-alphabet.svg").exists()
    assert (tmp_path / "figures" / "costs-along-the-sentence-by-alphabet.svg").exists()
    write_report(named, tmp_path / "r.html")
    assert "Models asked" not in "".join(check(tmp_path / "r.html").text)
