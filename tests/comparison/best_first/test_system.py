"""Bags through the whole system: what is given is kept, whether the search ends with a goal or not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.model import BestFirstModel, ModelSettings
from comparison.best_first.output import dependency_tree
from comparison.best_first.system import BestFirstSystem, GenerationSettings, Output, SyntaxTotals, dev_scorer
from comparison.best_first.treebank import development_bags
from grammars.conllu import ConlluSentence, is_projective, read_conllu
from gyro.errors import InputError
from gyro.run.folder import RunFolder
from gyro.text.annotated_bag import AnnotatedBag, as_annotated
from gyro.text.bag import Bag
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first.twin import arcs, canonical, leaves, words

Weights = Callable[[int], NDArray[np.float32]]
Models = Callable[[int], KenlmModel]
ROOT = -1
WORDS = ["the", "dog", "sees", "old", "cat", "saw", "."]


def system(grammar: DependencyGrammar | CcgInventory, weights: NDArray[np.float32], **changes: Any) -> BestFirstSystem:
    model = BestFirstModel(grammar, weights, ModelSettings(grammar=grammar.name, bits=14, beam=16), "x")
    return BestFirstSystem(model, GenerationSettings(**{"time_limit": 1e6, **changes}))


@st.composite
def annotated_bags(draw: st.DrawFn) -> AnnotatedBag:
    size = draw(st.integers(1, 7))
    places = range(size)
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))
    rank = draw(st.permutations(places))  # heads have lower ranks, chains go upward: no circles
    chain = tuple(sorted(draw(st.sets(st.sampled_from(places), max_size=4)), key=rank.__getitem__))
    rest = [place for place in draw(st.permutations(places)) if place not in chain]
    unit, others = tuple(rest[:2]), rest[2:]
    facts: dict[str, Any] = {}
    if draw(st.booleans()):
        allowed = [[None, ROOT, *(h for h in places if rank[h] < rank[i] and i not in unit)] for i in places]
        heads = [draw(st.sampled_from(choice)) for choice in allowed]
        facts["heads"] = tuple(None if h in unit[:-1] else h for h in heads)  # on the heads of units
    else:
        facts["optional"] = tuple(place for place in others if draw(st.booleans()))
        facts["count_limits"] = tuple(draw(st.integers(1, 2)) if place in others else 1 for place in places)
    facts["pos"] = tuple(draw(st.sampled_from([None, "NN", "VBZ"])) for _ in places)
    return AnnotatedBag(tuple(tokens), units=(unit,) if len(unit) == 2 else (), order=(chain,), **facts)


def check_output(output: Output, bag: AnnotatedBag, grammar: DependencyGrammar) -> None:
    """Every hypothesis keeps to what is given."""
    decoded = output.decoded
    for _, parts in decoded.hypotheses:
        trees = [canonical(part, grammar, decoded.prepared) for part in parts]
        used = [leaf for tree in trees for leaf in leaves(tree)]
        string = [word for tree in trees for word in words(tree)]
        whole_sentence = decoded.how in ("goal", "joined")
        _check_words(used, bag, is_goal=whole_sentence)
        for leaf in used:
            assert leaf.words == tuple(bag.tokens[place] for place in leaf.places)
            assert len(leaf.places) == 1 or leaf.places in bag.units
            for place, tag in zip(leaf.places, leaf.tags, strict=True):
                assert (bag.pos or [None] * len(bag))[place] in (None, tag)
        for chain in bag.order:
            found = [chain.index(place) for leaf in used for place in leaf.places if place in chain]
            assert found == sorted(found)
        for tree in trees:
            _check_heads(tree, bag, is_goal=whole_sentence)
        whole = dependency_tree(parts, grammar, bag, decoded.prepared, "xpos")
        assert whole.forms == tuple(string)
        heads = [head for head in whole.heads if head is not None]
        assert len(heads) == len(string)
        assert heads.count(ROOT) == 1
        assert is_projective(heads)


def _check_words(used: list[Any], bag: AnnotatedBag, is_goal: bool) -> None:
    kind = Counter(leaf.words for leaf in used)
    limits: Counter[tuple[str, ...]] = Counter()
    least: Counter[tuple[str, ...]] = Counter()
    inside = {place for unit in bag.units for place in unit}
    for group in [*bag.units, *((place,) for place in range(len(bag)) if place not in inside)]:
        name = tuple(bag.tokens[place] for place in group)
        limits[name] += 1 if bag.count_limits is None else bag.count_limits[group[0]]
        least[name] += group[0] not in bag.optional
    assert all(count <= limits[name] for name, count in kind.items())
    if is_goal:
        assert all(kind[name] >= count for name, count in least.items())


def _check_heads(tree: Any, bag: AnnotatedBag, is_goal: bool) -> None:
    if bag.heads is None:
        return
    at = [leaf for leaf in leaves(tree) for _ in leaf.words]
    above = {dependent: head for head, dependent, _ in arcs(tree)}
    start = 0
    for leaf in leaves(tree):
        wanted, head = bag.heads[leaf.places[leaf.head]], above.get(start + leaf.head)
        start += len(leaf.words)
        if wanted is None or (head is None and not is_goal):
            continue
        assert (head is None) == (wanted == ROOT)
        assert head is None or wanted in at[head].places


@settings(max_examples=150)
@given(
    bag=annotated_bags(),
    seed=st.integers(0, 50),
    limit=st.sampled_from([0, 20, 60, 300]),
    way=st.sampled_from(["joined", "pair", "greedy"]),
)
def test_what_is_given_is_kept(
    bag: AnnotatedBag, seed: int, limit: int, way: str, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    changes = {"edge_limit": limit or 20_000, "goals": 3, "default_output": way}
    output = system(dependency, random_weights(seed), **changes).decode(bag)
    check_output(output, bag, dependency)
    assert output.words == output.decoded.words
    assert bool(output.missing) <= (output.decoded.how != "goal")
    # Only what no tree of one root can obey is left in parts.
    several_roots = (bag.heads or ()).count(ROOT) > 1
    if way == "joined" and not (bag.is_selection or bag.order or several_roots):
        assert output.decoded.how in ("goal", "joined")


def test_all_words_come_even_without_a_search(dependency: DependencyGrammar, random_weights: Weights) -> None:
    bag = AnnotatedBag(("the", "dog", "sees", "the", "cat"), heads=(1, 2, None, 4, None), units=((3, 4),))
    output = system(dependency, random_weights(1), edge_limit=1).decode(bag)
    assert (output.decoded.how, output.decoded.timed_out, output.missing) == ("joined", True, ())
    check_output(output, bag, dependency)


@settings(max_examples=60)
@given(
    tokens=st.lists(st.sampled_from(WORDS), min_size=1, max_size=7),
    optional=st.sets(st.integers(0, 6)),
    limit=st.sampled_from([8, 20, 60, 20_000]),
)
def test_a_completed_output_has_every_word(
    tokens: list[str], optional: set[int], limit: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    bag = AnnotatedBag(tuple(tokens), optional=tuple(place for place in optional if place < len(tokens)))
    changes = {"edge_limit": limit, "default_output": "pair"}
    plain = system(dependency, random_weights(1), **changes).decode(bag)
    output = system(dependency, random_weights(1), **changes, complete=True).decode(bag)
    required = Counter(word for place, word in enumerate(bag.tokens) if place not in bag.optional)
    assert not required - Counter(output.words)
    assert not Counter(output.words) - Counter(bag.tokens)
    assert output.words[: len(plain.words)] == plain.words
    assert Counter(plain.words) + Counter(plain.missing) == Counter(output.words)
    assert output.missing == ()


COMPLETED = {
    "unit": AnnotatedBag(("the", "zebra", "cat", "sees", "."), units=((1, 2),)),
    "order": AnnotatedBag(("the", "zebra", "cat", "sees", "."), order=((1, 2, 0, 3, 4),)),
}


@pytest.mark.parametrize("name", COMPLETED)
@pytest.mark.parametrize("limit", [6, 7, 8, 10])
def test_a_completed_output_keeps_units_and_order(
    name: str, limit: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    bag = COMPLETED[name]
    for seed in range(20):
        changes = {"edge_limit": limit, "default_output": "pair", "complete": True}
        found = system(dependency, random_weights(seed), **changes).decode(bag).words
        if name == "unit":
            assert found.index("cat") == found.index("zebra") + 1
        else:
            assert found == ("zebra", "cat", "the", "sees", ".")


def test_a_learned_model_orders_what_it_has_seen(learned: BestFirstModel, tree_bank: list[ConlluSentence]) -> None:
    decoder = BestFirstSystem(learned)
    for tree in tree_bank:
        output = decoder.decode(AnnotatedBag(tree.forms, pos=tuple(token.xpos for token in tree.tokens)))
        assert output.words == tree.forms
        assert output.decoded.how == "goal"


def test_a_run_has_derivations_of_all_goals(learned: BestFirstModel, tmp_path: Path) -> None:
    bags = [
        AnnotatedBag(("the", "dog", "barks", "."), id="a", reference=("the", "dog", "barks", ".")),
        AnnotatedBag(("she", "sees", "the", "cat"), id="b"),
        Bag(("dog",), id="c"),
    ]
    decoder = BestFirstSystem(learned, GenerationSettings(goals=4))
    summary = decoder.run(bags, tmp_path / "run")
    assert (summary.ok, summary.failures) == (3, ())
    results = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert [(r["id"], r["rung"], r["tokens"], r["words"], r["timed_out"]) for r in results] == [
        ("a", "goal", 4, 4, False),
        ("b", "goal", 4, 4, False),
        ("c", "goal", 1, 1, False),
    ]
    trees = list(read_conllu(tmp_path / "run" / "nbest.conllu"))
    assert [tree.sent_id for tree in trees] == ["a"] * 4 + ["b"] * 4 + ["c"]
    best = (tmp_path / "run" / "best.txt").read_text().splitlines()
    assert best == [" ".join(trees[i].forms) for i in (0, 4, 8)]
    totals = SyntaxTotals(tmp_path / "run")
    assert (totals.length_ratio, totals.timeout_ratio) == (1.0, 0.0)
    assert RunFolder(tmp_path / "run").is_finished
    again = decoder.run(bags, tmp_path / "run")  # nothing is left to do
    assert again.ok == 3


def test_words_that_are_missing_are_told(learned: BestFirstModel, tmp_path: Path) -> None:
    decoder = BestFirstSystem(learned, GenerationSettings(edge_limit=6, default_output="pair"))
    decoder.run([Bag(("the", "old", "cat", "sees", "the", "dog", "."), id="a")], tmp_path / "run")
    (result,) = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert result["timed_out"]
    assert result["rung"] in ("two edges", "greedy")
    assert result["words"] + len(result["missing"]) == 7
    totals = SyntaxTotals(tmp_path / "run")
    assert totals.timeout_ratio == 1.0
    assert totals.length_ratio == pytest.approx(result["words"] / 7)
    assert totals.text().splitlines()[1] == "time-outs     100.0%"


def test_trees_are_searched_by_agenda_on_demand(learned: BestFirstModel, tree_bank: list[ConlluSentence]) -> None:
    tree = tree_bank[2]
    heads = tuple(head for head in tree.heads if head is not None)
    bag = AnnotatedBag(tree.forms, pos=tuple(token.xpos for token in tree.tokens), heads=heads)
    upwards, by_agenda = (
        BestFirstSystem(learned, GenerationSettings(tree_beam=size)).decode(bag).decoded for size in (200, 0)
    )
    assert (upwards.how, by_agenda.how) == ("goal", "goal")
    assert upwards.words == tree.forms
    assert upwards.hypotheses[0][0] >= by_agenda.hypotheses[0][0] - 1e-9
    assert upwards.scored != by_agenda.scored


def test_scores_on_development_data(learned: BestFirstModel, conllu_file: Path) -> None:
    bags = development_bags([conllu_file], learned.settings, sample=100)
    score = dev_scorer(bags, GenerationSettings())(learned)
    assert (score.bleu, score.length_ratio, score.timeout_ratio) == (pytest.approx(100.0), 1.0, 0.0)
    nothing = replace(learned, weights=np.zeros_like(learned.weights))
    assert dev_scorer(bags, GenerationSettings(edge_limit=30))(nothing).bleu < 100.0


def test_a_language_model_must_be_that_of_the_training(learned: BestFirstModel, language_models: Models) -> None:
    with_lm = replace(learned, settings=replace(learned.settings, lm=language_models(3).signature, lm_weight=0.2))
    for other, found in ((None, "none"), (language_models(2), language_models(2).signature)):
        with pytest.raises(InputError, match=f"was trained with the language model .*; found {found}"):
            BestFirstSystem(with_lm, language_model=other)
    output = BestFirstSystem(with_lm, language_model=language_models(3)).decode(Bag(("dog", "the", "barks")))
    assert sorted(output.words) == ["barks", "dog", "the"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_limit": 0.0}, "found the time limit 0.0; a number of seconds over 0 is allowed"),
        ({"goals": 0}, "found goals 0; at least 1 is allowed"),
        ({"edge_limit": -1}, "found edge_limit -1"),
        ({"beam": -1}, "found beam -1"),
        ({"tree_beam": -1}, "found tree_beam -1"),
        ({"tree_best": 0}, "found tree_best 0; at least 1 is allowed"),
        ({"default_output": "x"}, "found the default output 'x'; joined or pair or greedy is allowed"),
    ],
)
def test_settings_that_are_not_allowed(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GenerationSettings(**change)


def test_forms_that_were_chosen_start_with_a_capital(tree_bank: list[ConlluSentence], random_weights: Weights) -> None:
    grammar = DependencyGrammar.from_trees(tree_bank, labelled=True, tag_kind="upos")
    bag = AnnotatedBag(("dog", "bark"), pos=("NOUN", "VERB"), heads=(1, ROOT), inflect=True)
    output = system(grammar, random_weights(1)).decode(as_annotated(bag))
    assert output.words[0][0].isupper()
    assert output.decoded.words[0] == output.words[0].lower()
