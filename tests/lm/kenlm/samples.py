"""Words, models and KenLM's own scores, which several tests share.

KNOWN, UNKNOWN, SPECIAL  words that the models of the fixture `model_files` have, and have not, and marks
kenlm_log10              KenLM's own sum over a string
arpa_models              a strategy: ARPA files as other tools write them
OTHER_WORDS              words for strings over these models, known ones and others
"""

from __future__ import annotations

import math
from pathlib import Path

import kenlm
from hypothesis import strategies as st

KNOWN = (
    "the",
    "a",
    "some",
    "cat",
    "dog",
    "café",
    "straightforwardness",
    "house",
    "saw",
    "liked",
    "'s",
    "of",
    "near",
    ".",
)
UNKNOWN = ("zebra", "naïve", "an-unknown-word-of-three-blocks", "0")
SPECIAL = ("<s>", "</s>", "<unk>")
OTHER_WORDS = ("a", "b", "c", "unknown", "other")


def kenlm_log10(path: Path, tokens: list[str], *, start: bool, end: bool) -> float:
    """KenLM's own sum over a string, by its own way through the file."""
    return math.fsum(score for score, _, _ in kenlm.Model(str(path)).full_scores(" ".join(tokens), bos=start, eos=end))


@st.composite
def arpa_models(draw: st.DrawFn) -> str:
    """ARPA files as other tools write them: pruned (n-grams may lack their suffix), zero backoffs, <unk> in n-grams.

    Every n-gram's prefix is there, which KenLM demands; the numbers are no distribution, which it does not mind.
    """
    order = draw(st.integers(2, 5))
    number = st.sampled_from(["-0.1", "-0.25", "-1.5", "-2", "-3.125", "-7.0625"])
    backoff = st.sampled_from(["0", "0", "-0.5", "-0.3", "0.125"])
    levels: list[list[tuple[str, ...]]] = [[(word,) for word in (*SPECIAL, "a", "b", "c")]]
    for _ in range(2, order + 1):
        contexts = [gram for gram in levels[-1] if gram[-1] != "</s>"]
        longer = st.tuples(st.sampled_from(contexts), st.sampled_from(["a", "b", "c", "</s>", "<unk>"]))
        chosen = draw(st.lists(longer, unique=True, max_size=16)) if contexts else []
        levels.append([(*context, word) for context, word in chosen])
    while len(levels) > 2 and not levels[-1]:
        levels.pop()
    lines = ["\\data\\", *(f"ngram {n}={len(grams)}" for n, grams in enumerate(levels, 1)), ""]
    for n, grams in enumerate(levels, 1):
        lines.append(f"\\{n}-grams:")
        for gram in grams:
            tail = f"\t{draw(backoff)}" if n < len(levels) and gram[-1] != "</s>" else ""
            lines.append(f"{draw(number)}\t{' '.join(gram)}{tail}")
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])
