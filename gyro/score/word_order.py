"""How the words of an output stand to those of its reference: matches, chunks, Kendall's τ, distortion, METEOR.

match            the place in the reference of each word of the output, repeated words in their order
kendall          Kendall's τ of the two orders
distortions      how far each word stands from its place, as a share of the sentence
count_chunks     how many words match, and the fewest runs they fall into that stand alike in both
meteor           METEOR of one sentence from those two counts
common_sequence  the words that stand in the same order in both (a longest common subsequence)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

# Banerjee and Lavie (2005): recall weighs nine times as much as precision; the penalty is at most a half.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
_MOST_STATES = 256  # METEOR itself keeps 40
_NOWHERE = -2


def match(output: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The place in the reference of each word of the output, -1 for a word that is not there.

    >>> match("the dog saw the cat".split(), "the cat saw the dog".split())
    [0, 4, 2, 3, 1]

    The k-th copy of a repeated word goes to its k-th copy: of all ways to match copies this crosses least.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place in range(len(reference) - 1, -1, -1):
        places[reference[place]].append(place)
    return [places[word].pop() if places.get(word) else -1 for word in output]


def kendall(output: Sequence[str], reference: Sequence[str]) -> float:
    """Kendall's τ: 1 for the same order, -1 for the reversed one.

    >>> round(kendall("b a c".split(), "a b c".split()), 4)
    0.3333

    Words without a match are passed over. Where fewer than two are left it is 1 for the reference itself, else 0.
    """
    places = np.array([place for place in match(output, reference) if place >= 0])
    pairs = len(places) * (len(places) - 1) // 2
    if not pairs:
        return 1.0 if tuple(output) == tuple(reference) else 0.0
    crossed = np.count_nonzero(np.triu(places[:, None] > places[None, :]))
    return float(1.0 - 2.0 * crossed / pairs)


def distortions(output: Sequence[str], reference: Sequence[str]) -> list[float]:
    """|i − i′| / length for each word of the output that is in the reference (Liu and Zhang 2015, section 6.2).

    >>> distortions("b a c d".split(), "a b c d".split())
    [0.25, 0.25, 0.0, 0.0]

    An output that lacks words is measured by the reference's length, so that no value is above 1.
    """
    length = max(len(output), len(reference))
    places = enumerate(match(output, reference))
    return [abs(here - there) / length for here, there in places if there >= 0]


def count_chunks(output: Sequence[str], reference: Sequence[str]) -> tuple[int, int]:
    """The number of matching words, and the fewest runs of them that are contiguous and in the same order in both.

    >>> count_chunks("the dog saw the cat".split(), "the cat saw the dog".split())
    (5, 3)

    Repeated words are matched so that the runs are fewest. The search is over (copies used, last place) word by word,
    and exact unless a sentence has so many repetitions that hundreds of these are open at once.
    """
    if tuple(output) == tuple(reference):
        return len(output), min(1, len(output))
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(reference):
        places[word].append(place)
    left = Counter(word for word in output if word in places)
    matches = sum(min(count, len(places[word])) for word, count in left.items())
    states = {(0, _NOWHERE): 0}
    for word in output:
        if word not in places:
            states = _merged(((used, _NOWHERE), chunks) for (used, _), chunks in states.items())
            continue
        left[word] -= 1
        states = _step(states, places[word], left[word])
    return matches, min(states.values())


def _step(states: dict[tuple[int, int], int], places: list[int], left: int) -> dict[tuple[int, int], int]:
    """Match one word of the output with each free place; leave it out only where enough copies come later."""
    after = []
    for (used, last), chunks in states.items():
        free = [place for place in places if not used >> place & 1]
        after += [((used | 1 << place, place), chunks + (place != last + 1)) for place in free]
        if left >= len(free):
            after.append(((used, _NOWHERE), chunks))
    return _merged(after)


def _merged(states: Iterable[tuple[tuple[int, int], int]]) -> dict[tuple[int, int], int]:
    best: dict[tuple[int, int], int] = {}
    for state, chunks in states:
        if chunks < best.get(state, chunks + 1):
            best[state] = chunks
    if len(best) > _MOST_STATES:
        best = dict(sorted(best.items(), key=lambda item: item[1])[:_MOST_STATES])
    return best


def meteor(output: Sequence[str], reference: Sequence[str]) -> float:
    """METEOR with exact matches alone, from 0 to 1: F · (1 − γ · (chunks / matches)^β), F = P·R / (α·P + (1 − α)·R).

    >>> round(meteor("the dog saw the cat".split(), "the cat saw the dog".split()), 4)  # 1 − 0.5 · (3/5)³
    0.892

    The reference itself scores 1, without the penalty of its one chunk, as in METEOR's own program.
    """
    if tuple(output) == tuple(reference):
        return 1.0
    matches, chunks = count_chunks(output, reference)
    if not matches:
        return 0.0
    precision, recall = matches / len(output), matches / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float(mean * (1 - GAMMA * (chunks / matches) ** BETA))


def common_sequence(output: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int]]:
    """A longest sequence of (place in the output, place in the reference) that rises in both.

    >>> common_sequence("b a c".split(), "a b c".split())
    [(1, 0), (2, 2)]
    """
    rows, columns = len(output), len(reference)
    longest = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            same = output[i] == reference[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    found, i, j = [], 0, 0
    while i < rows and j < columns:
        if output[i] == reference[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
