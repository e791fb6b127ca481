"""Scoring orders against references.

evaluate     hypotheses and references → Evaluation
score_files  the same for two files, one sentence a line
Evaluation   sacreBLEU with its signature, exact-match rate, and both by bag size
SizeClass    the scores of the bags of one range of sizes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from os import PathLike
from typing import Any

from gyro.corpus import read_lines
from gyro.errors import InputError

_LAST_SIZES = (5, 10, 15, 20, 25)


@dataclass(frozen=True)
class SizeClass:
    """The scores of the sentences whose references have so many tokens; both scores go from 0 to 100."""

    sizes: str
    sentences: int
    bleu: float
    exact_match: float


@dataclass(frozen=True)
class Evaluation:
    """How near hypotheses come to their references.

    `exact_match` is the share of hypotheses equal to their reference, in percent (the papers' sentence precision rate);
    `empty` are the ids of hypotheses without a word, as failed bags leave them; `other_words` the ids of those that are
    not empty and do not have exactly the words of the reference.
    """

    sentences: int
    bleu: float
    signature: str
    exact_match: float
    by_size: tuple[SizeClass, ...]
    empty: tuple[str, ...]
    other_words: tuple[str, ...]

    def text(self) -> str:
        """A table for people.

        tokens   sentences    BLEU   exact match
        1-5              2  100.00      100.00 %
        all              2  100.00      100.00 %
        """
        everything = SizeClass("all", self.sentences, self.bleu, self.exact_match)
        lines = [f"{'tokens':<7}{'sentences':>11}{'BLEU':>8}{'exact match':>14}"]
        lines += [
            f"{row.sizes:<7}{row.sentences:>11}{row.bleu:>8.2f}{row.exact_match:>12.2f} %"
            for row in (*self.by_size, everything)
        ]
        lines.append(f"BLEU: {self.signature}")
        if self.empty:
            lines.append(f"empty hypotheses: {_list(self.empty)}")
        if self.other_words:
            lines.append(f"hypotheses with other words than the reference: {_list(self.other_words)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON value."""
        return asdict(self)


def evaluate(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    ids: Sequence[str] | None = None,
    tokenize: str = "none",
) -> Evaluation:
    """Score tokenised sentences; `ids` name them (otherwise they count from 1).

    >>> evaluate(["a b c d".split()], ["a b c d".split()]).exact_match
    100.0

    `tokenize` is sacreBLEU's; the default takes the tokens as they are.
    """
    names = [str(number) for number in range(1, len(references) + 1)] if ids is None else ids
    if not len(hypotheses) == len(references) == len(names):
        raise InputError(f"found {len(hypotheses)} hypotheses, {len(references)} references and {len(names)} ids")
    if not references:
        raise InputError("found no sentences to score")
    pairs = [(tuple(hyp), tuple(ref)) for hyp, ref in zip(hypotheses, references, strict=True)]
    bleu, signature = _bleu(pairs, tokenize)
    return Evaluation(
        sentences=len(pairs),
        bleu=bleu,
        signature=signature,
        exact_match=_exact_match(pairs),
        by_size=tuple(_by_size(pairs, tokenize)),
        empty=tuple(name for name, (hyp, _) in zip(names, pairs, strict=True) if not hyp),
        other_words=tuple(n for n, (hyp, ref) in zip(names, pairs, strict=True) if hyp and sorted(hyp) != sorted(ref)),
    )


def score_files(hyp_path: str | PathLike[str], ref_path: str | PathLike[str], *, tokenize: str = "none") -> Evaluation:
    """Score a file of sentences, one a line, against a file of references."""
    hypotheses = [line.split() for line in read_lines(hyp_path)]
    references = [line.split() for line in read_lines(ref_path)]
    if len(hypotheses) != len(references):
        shorter = min(len(hypotheses), len(references))
        missing = hyp_path if len(hypotheses) == shorter else ref_path
        raise InputError(
            f"line {shorter + 1} is missing: {hyp_path} has {len(hypotheses)} lines, {ref_path} {len(references)}",
            path=missing,
        )
    return evaluate(hypotheses, references, tokenize=tokenize)


Pairs = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]


def _bleu(pairs: Pairs, tokenize: str) -> tuple[float, str]:
    from sacrebleu.metrics.bleu import BLEU  # it takes long to import

    if tokenize not in BLEU.TOKENIZERS:
        raise InputError(f"found the tokeniser {tokenize!r}; allowed are {', '.join(sorted(BLEU.TOKENIZERS))}")
    metric = BLEU(tokenize=tokenize, force=True)  # force: that the text is tokenised already is meant
    score = metric.corpus_score([" ".join(hyp) for hyp, _ in pairs], [[" ".join(ref) for _, ref in pairs]])
    return float(score.score), str(metric.get_signature())


def _exact_match(pairs: Pairs) -> float:
    return 100.0 * sum(hyp == ref for hyp, ref in pairs) / len(pairs)


def _by_size(pairs: Pairs, tokenize: str) -> list[SizeClass]:
    """The size classes that have sentences; an empty reference falls in the first."""
    ends = (-1, *_LAST_SIZES, max(len(ref) for _, ref in pairs) + _LAST_SIZES[-1])
    classes = []
    for before, last in pairwise(ends):
        chosen = [pair for pair in pairs if before < len(pair[1]) <= last]
        if chosen:
            name = f"{_LAST_SIZES[-1] + 1}+" if last == ends[-1] else f"{max(before, 0) + 1}-{last}"
            classes.append(SizeClass(name, len(chosen), _bleu(chosen, tokenize)[0], _exact_match(chosen)))
    return classes


def _list(ids: Sequence[str], most: int = 10) -> str:
    shown = " ".join(ids[:most])
    return f"{len(ids)} (ids {shown}{' …' if len(ids) > most else ''})"
