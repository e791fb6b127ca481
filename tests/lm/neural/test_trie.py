from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lm.neural.trie import MASKED, Trie, make_blocks, make_trie

PIECES = st.lists(st.integers(0, 3), max_size=6)
STRINGS = st.lists(PIECES, min_size=1, max_size=12)
Beginning = tuple[int, ...]


def beginnings(trie: Trie, before: dict[int, Beginning]) -> dict[int, Beginning]:
    """What is read on the way from the start to each node; `before` is that of the kept ones."""
    found = dict(before)
    for node in range(trie.kept, len(trie.parent)):
        found[node] = (*found[int(trie.parent[node])], int(trie.piece[node - trie.kept]))
    return found


def check(trie: Trie, strings: list[list[int]], roots: list[int], before: dict[int, Beginning]) -> None:
    """Each beginning of a string is one node, and there are no others: the answer of a set of tuples."""
    read = beginnings(trie, before)
    wanted = {
        (root, tuple(string[:length]))
        for string, root in zip(strings, roots, strict=True)
        for length in range(1, len(string) + 1)
    }
    assert len(trie) == len(wanted)
    for number, (string, root) in enumerate(zip(strings, roots, strict=True)):
        path = trie.path(number).tolist()
        assert path[0] == root
        assert [read[node] for node in path] == [(*before[root], *string[:length]) for length in range(len(string) + 1)]
    assert all(trie.parent[node] < node for node in range(trie.kept, len(trie.parent)))
    assert trie.depth.tolist() == [len(read[node]) for node in range(trie.kept, len(trie.parent))]


@given(STRINGS)
def test_each_beginning_is_one_node(strings: list[list[int]]) -> None:
    check(make_trie(strings), strings, [0] * len(strings), {0: ()})


@given(STRINGS, st.data())
def test_kept_nodes_are_gone_on_from(kept: list[list[int]], data: st.DataObject) -> None:
    first = make_trie(kept)
    depth = np.concatenate([[0], first.depth])
    strings = data.draw(STRINGS)
    ends = st.integers(0, len(first.parent) - 1)
    roots = data.draw(st.lists(ends, min_size=len(strings), max_size=len(strings)))
    second = make_trie(strings, np.array(roots, np.int64), first.parent, depth)
    assert second.kept == len(first.parent)
    check(second, strings, roots, beginnings(first, {0: ()}))


def test_no_strings_and_empty_ones() -> None:
    assert len(make_trie([])) == 0
    assert make_trie([[], []]).path(1).tolist() == [0]
    assert make_blocks(make_trie([[]])).keys.shape[0] == 0


@given(STRINGS, STRINGS, st.integers(1, 5))
def test_a_row_looks_at_its_node_and_all_before_it(kept: list[list[int]], strings: list[list[int]], size: int) -> None:
    first = make_trie(kept)
    roots = np.array([first.path(i % len(kept))[-1] for i in range(len(strings))])
    for trie in (first, make_trie(strings, roots, first.parent, np.concatenate([[0], first.depth]))):
        blocks = make_blocks(trie, size)
        assert len(blocks.keys) * size >= len(trie) > (len(blocks.keys) - 1) * size
        assert set(np.unique(blocks.mask)) <= {0, MASKED}
        for block, row in np.ndindex(blocks.mask.shape[:2]):
            node = min(trie.kept + block * size + row, len(trie.parent) - 1)
            seen = blocks.keys[block][blocks.mask[block, row] == 0].tolist()
            assert sorted(seen) == ancestors(trie, node)


def ancestors(trie: Trie, node: int) -> list[int]:
    """The node and all before it, upwards."""
    found = []
    while node >= 0:
        found.append(node)
        node = int(trie.parent[node])
    return found[::-1]
