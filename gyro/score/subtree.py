"""Recall of subtrees: how many of the phrases of a reference's dependency tree stand together in an output.

Tree            a reference with its heads, tags and relations
Subtree         a word with all below it that is one piece of the sentence: its span, head's tag, relation, length class
subtrees        those of a tree that count
find_subtrees   for each of them whether an output has it: strictly, loosely
Recall          how many subtrees there were and how many were found
subtree_recalls recall over many sentences: of all, by length, by the head's tag, by relation

Strictly found: the same words stand together in the same order. Loosely: the same words stand together in any order.
Words of equal form are interchangeable. Of several equal subtrees of a sentence as many are found as the output has
places for them that do not overlap; the leftmost ones count as found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gyro.text.corpus import ROOT

LENGTHS = (2, 3, 4, 7, 12)  # the last of the classes of length; longer ones are a class too
LENGTH_CLASSES = ("2", "3", "4", "5–7", "8–12", "13+")
UNKNOWN = "?"

Windows = Mapping[int, Sequence[tuple[str, ...]]]  # by length, from left to right


class Tree(NamedTuple):
    """A sentence with the place of each word's head (ROOT for the root, None: not known), tags and relations."""

    words: Sequence[str]
    heads: Sequence[int | None]
    tags: Sequence[str | None]
    relations: Sequence[str | None]


class Subtree(NamedTuple):
    """The words from `start` to before `end`: the subtree of a word with this tag and relation to its own head."""

    start: int
    end: int
    tag: str
    relation: str

    @property
    def length_class(self) -> str:
        """The class of its length.

        >>> [Subtree(0, end, "NN", "obj").length_class for end in (2, 5, 12, 13)]
        ['2', '5–7', '8–12', '13+']
        """
        return LENGTH_CLASSES[bisect_left(LENGTHS, self.end - self.start)]


class Recall(NamedTuple):
    """Counts of subtrees; the shares are between 0 and 1."""

    subtrees: int
    strict: int
    loose: int

    @property
    def strict_share(self) -> float:
        return self.strict / max(self.subtrees, 1)

    @property
    def loose_share(self) -> float:
        return self.loose / max(self.subtrees, 1)


def subtrees(tree: Tree) -> list[Subtree]:
    """The subtrees of at least two words, from left to right, shorter ones first.

    That of the whole sentence, which every order has, and those with gaps in them are left out.

    >>> tree = Tree("the old dog barks".split(), (2, 2, 3, ROOT), "DT JJ NN VBZ".split(), "det amod nsubj root".split())
    >>> subtrees(tree)
    [Subtree(start=0, end=3, tag='NN', relation='nsubj')]
    """
    size = len(tree.words)
    first, last, count = list(range(size)), list(range(size)), [1] * size
    for place in range(size):
        above, steps = tree.heads[place], 0
        while above is not None and above != ROOT and steps < size:
            first[above], last[above] = min(first[above], place), max(last[above], place)
            count[above] += 1
            above, steps = tree.heads[above], steps + 1
    whole = [p for p in range(size) if 2 <= count[p] < size and last[p] - first[p] + 1 == count[p]]
    found = [Subtree(first[p], last[p] + 1, tree.tags[p] or UNKNOWN, tree.relations[p] or UNKNOWN) for p in whole]
    return sorted(found)


def find_subtrees(output: Sequence[str], tree: Tree, spans: Sequence[Subtree]) -> list[tuple[bool, bool]]:
    """For each span of the tree whether it is found strictly, and loosely.

    >>> tree = Tree("the dog sees the cat".split(), (1, 2, ROOT, 4, 2), ("",) * 5, ("",) * 5)
    >>> find_subtrees("cat the sees the dog".split(), tree, subtrees(tree))
    [(True, True), (False, True)]
    """
    strings = [tuple(tree.words[span.start : span.end]) for span in spans]
    bags = [tuple(sorted(words)) for words in strings]
    windows = {
        length: [tuple(output[start : start + length]) for start in range(len(output) - length + 1)]
        for length in {len(words) for words in strings}
    }
    sorted_windows = {length: [tuple(sorted(window)) for window in some] for length, some in windows.items()}
    return list(zip(_found(strings, windows), _found(bags, sorted_windows), strict=True))


def _found(wanted: Sequence[tuple[str, ...]], windows: Windows) -> list[bool]:
    """Which of the wanted strings have a window of their own."""
    left = {words: _disjoint(windows[len(words)], words) for words in set(wanted)}
    found = []
    for words in wanted:
        found.append(left[words] > 0)
        left[words] -= 1
    return found


def _disjoint(windows: Sequence[tuple[str, ...]], words: tuple[str, ...]) -> int:
    """How many windows that do not overlap are these words; taken from the left, of equal lengths that is the most."""
    count = free = 0
    for start, window in enumerate(windows):
        if start >= free and window == words:
            count, free = count + 1, start + len(words)
    return count


def subtree_recalls(outputs: Iterable[Sequence[str]], trees: Iterable[Tree]) -> dict[str, dict[str, Recall]]:
    """Recall by "all", "length", "tag" and "relation", then by class; the classes with most subtrees come first.

    Relations go without their subtypes: nmod:poss counts as nmod.
    """
    counts: dict[str, defaultdict[str, Counter[str]]] = {
        kind: defaultdict(Counter) for kind in ("all", "length", "tag", "relation")
    }
    for output, tree in zip(outputs, trees, strict=True):
        spans = subtrees(tree)
        for span, (strict, loose) in zip(spans, find_subtrees(output, tree, spans), strict=True):
            relation = span.relation.partition(":")[0]
            classes = {"all": "all", "length": span.length_class, "tag": span.tag, "relation": relation}
            for kind, name in classes.items():
                counts[kind][name].update({"subtrees": 1, "strict": int(strict), "loose": int(loose)})
    return {kind: _ordered(kind, of_kind) for kind, of_kind in counts.items()}


def _ordered(kind: str, counts: Mapping[str, Counter[str]]) -> dict[str, Recall]:
    if kind == "length":
        names = [name for name in LENGTH_CLASSES if name in counts]
    else:
        names = sorted(counts, key=lambda name: (-counts[name]["subtrees"], name))
    return {name: Recall(*(counts[name][key] for key in ("subtrees", "strict", "loose"))) for name in names}
