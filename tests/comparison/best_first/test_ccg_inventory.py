from __future__ import annotations

import json

import pytest

from comparison.best_first.ccg_inventory import CcgInventory
from grammars.ccg.derivation import leaves
from grammars.ccg.grammar import BinaryRule, UnaryRule, rule_instances
from gyro.errors import InputError
from tests.comparison.best_first.treebank import derivations

INVENTORY = CcgInventory.from_derivations(derivations(), cutoff=0, unit_categories=("NP", "xyzzy"))


def test_numbers_and_names_agree() -> None:
    assert INVENTORY.categories[0] == "<none>"
    assert {leaf.category for tree in derivations() for leaf in leaves(tree)} < set(INVENTORY.categories)
    assert all(INVENTORY.category_number[name] == number for number, name in enumerate(INVENTORY.categories))
    assert set(INVENTORY.rules) == {rule for tree in derivations() for rule in rule_instances(tree)}
    assert all(INVENTORY.rule_number[rule] == number for number, rule in enumerate(INVENTORY.rules))
    assert INVENTORY.unit_categories == ("NP",)  # others are not in the grammar


def test_tables_have_each_rule_under_its_categories() -> None:
    """Every pair of categories has its rules, and no others."""
    tables, names = INVENTORY.tables, INVENTORY.categories
    for left in range(len(names)):
        unary = tables.unary_rules[tables.unary_start[left] : tables.unary_start[left + 1]]
        wanted = {rule for rule in INVENTORY.rules if isinstance(rule, UnaryRule) and rule.child == names[left]}
        assert {INVENTORY.rules[int(i)] for i in unary} == wanted
        for right in range(len(names)):
            pair = int(tables.pair_of[left, right])
            span = slice(tables.pair_start[pair], tables.pair_start[pair + 1]) if pair >= 0 else slice(0)
            found = [INVENTORY.rules[int(i)] for i in tables.pair_rules[span]]
            assert set(found) == {
                rule
                for rule in INVENTORY.rules
                if isinstance(rule, BinaryRule) and rule[:2] == (names[left], names[right])
            }
            assert len(found) <= INVENTORY.most_rules
    for number, rule in enumerate(INVENTORY.rules):
        assert names[tables.result[number]] == rule.result
        assert tables.head[number] == getattr(rule, "head", 0)


@pytest.mark.parametrize(
    ("words", "given", "wanted"),
    [
        (("she",), None, ["NP"]),
        (("saw",), None, ["(S[dcl]\\NP)/NP", "N"]),
        (("saw",), ("N", "xyzzy"), ["N"]),
        (("saw",), ("xyzzy",), ["(S[dcl]\\NP)/NP", "N"]),
        (("the", "dog"), None, ["NP"]),
        (("the", "dog"), ("N",), ["N"]),
    ],
)
def test_leaves_of_words(words: tuple[str, ...], given: tuple[str, ...] | None, wanted: list[str]) -> None:
    tags = [INVENTORY.tag_numbers(word, None)[0] for word in words]
    rows = INVENTORY.own_columns(words, tags, len(words) - 1, given)
    assert sorted(INVENTORY.categories[row[0]] for row in rows) == sorted(wanted)
    assert all(row == [row[0], row[0], 0, 0, row[0]] for row in rows)


def test_tags_of_words() -> None:
    assert [INVENTORY.tags[n] for n in INVENTORY.tag_numbers("saw", None)] == ["NN"]
    assert [INVENTORY.tags[n] for n in INVENTORY.tag_numbers("saw", "VBD")] == ["VBD"]
    assert [INVENTORY.tags[n] for n in INVENTORY.tag_numbers("saw", "XYZZY")] == ["<unknown>"]


def test_json_and_back() -> None:
    again = CcgInventory.from_json(json.loads(json.dumps(INVENTORY.to_json())))
    assert again == INVENTORY
    for ours, theirs in zip(again.tables, INVENTORY.tables, strict=True):
        assert (ours == theirs).all() if hasattr(ours, "all") else ours == theirs


@pytest.mark.parametrize("name", ["grammar", "dictionary", "unit_categories", "dp"])
def test_damaged_json_is_refused(name: str) -> None:
    value = INVENTORY.to_json()
    del value[name]
    with pytest.raises(InputError, match=f"found a CCG model without {name}"):
        CcgInventory.from_json(value)
