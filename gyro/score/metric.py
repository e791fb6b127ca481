"""The metrics: each turns sentences into numbers that can be summed, and sums into a score.

METRICS         all of them by name, in the order in which tables show them
Metric          one: its label, which way is better, its statistics a sentence and the score of their sums
DISTORTION_BINS, DISTORTION_LABELS  the upper ends of the classes of the distortion distribution, and their names
distortion_counts  how many words of each sentence fall into each class

Because every score comes from sums over sentences, the score of a class of sentences or of a bootstrap sample costs one
matrix product and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.score.bleu import COLUMNS, bleu_scores, bleu_statistics
from gyro.score.word_order import ALPHA, BETA, GAMMA, distortions, kendall, meteor

Floats = NDArray[np.float64]
Sentences = Sequence[Sequence[str]]

# A word in its place is a class of its own; the others are ten classes of equal width, upper end included.
DISTORTION_BINS = tuple(round(0.1 * k, 1) for k in range(11))
DISTORTION_LABELS = ("0", *(f"≤{end}" for end in DISTORTION_BINS[1:]))


@dataclass(frozen=True)
class Metric:
    """A metric whose score is a function of sums over sentences.

    `key` is its name in JSON and in `Scores`; tables show its `label` and its scores with so many `digits`.
    `statistics(outputs, references, tokenize)` gives a row of numbers for each sentence, `scores(sums)` a score for
    each row of sums, and `signature(tokenize)` says how it was counted.
    """

    key: str
    label: str
    digits: int
    higher_is_better: bool
    statistics: Callable[[Sentences, Sentences, str], Floats]
    scores: Callable[[Floats], Floats]
    signature: Callable[[str], str]

    @property
    def width(self) -> int:
        """The width of its column in a table."""
        return max(len(self.label), 6) + 3


def _texts(sentences: Sentences) -> list[str]:
    return [" ".join(sentence) for sentence in sentences]


def _bleu_metric(tokenize: str, lowercase: bool = False) -> Any:
    from sacrebleu.metrics.bleu import BLEU  # it takes long to import

    if tokenize not in BLEU.TOKENIZERS:
        raise InputError(f"found the tokeniser {tokenize!r}; allowed are {', '.join(sorted(BLEU.TOKENIZERS))}")
    # force: that the text is tokenised already is meant
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def _chrf_metric() -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def _signature(metric: Any) -> str:
    metric.num_refs = 1  # sacreBLEU learns it only from a corpus
    return str(metric.get_signature())


def _bleu_statistics(outputs: Sentences, references: Sentences, tokenize: str) -> Floats:
    split = _bleu_metric(tokenize).tokenizer
    pairs = zip(_texts(outputs), _texts(references), strict=True)
    rows = [bleu_statistics(split(output).split(), split(reference).split()) for output, reference in pairs]
    return np.array(rows, np.float64).reshape(-1, COLUMNS)


def _lowercase_bleu_statistics(outputs: Sentences, references: Sentences, tokenize: str) -> Floats:
    """Lowercased before they are tokenised, as sacreBLEU does it."""
    return _bleu_statistics(_lowered(outputs), _lowered(references), tokenize)


def _lowered(sentences: Sentences) -> Sentences:
    return [[word.lower() for word in sentence] for sentence in sentences]


def _chrf_statistics(outputs: Sentences, references: Sentences, _tokenize: str) -> Floats:
    # Not public, but what sacreBLEU's own significance tests are made of; the public functions give scores alone.
    rows = _chrf_metric()._extract_corpus_statistics(_texts(outputs), [_texts(references)])
    return np.array(rows, np.float64)


def _chrf_scores(sums: Floats) -> Floats:
    """chrF: the F₂ of the mean precision and recall over the orders that both sides have."""
    output, reference, matches = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
    known = (output > 0) & (reference > 0)
    orders = np.maximum(known.sum(axis=1), 1)
    precision = (matches / np.where(known, output, np.inf)).sum(axis=1) / orders
    recall = (matches / np.where(known, reference, np.inf)).sum(axis=1) / orders
    below = 4 * precision + recall
    scores: Floats = 100.0 * 5 * precision * recall / np.where(below > 0, below, 1.0)
    return scores


def _ter_statistics(outputs: Sentences, references: Sentences, _tokenize: str) -> Floats:
    from gyro.score.ter import count_edits  # compiled code: who counts nothing does not pay for it

    edits = count_edits(outputs, references)
    lengths = [len(sentence) for sentence in references]
    return np.column_stack([edits, lengths]).astype(np.float64)


def _ter_scores(sums: Floats) -> Floats:
    edits, lengths = sums[:, 0], sums[:, 1]
    return 100.0 * np.where(lengths > 0, edits / np.where(lengths > 0, lengths, 1.0), edits > 0)


def _ter_signature(_tokenize: str) -> str:
    from sacrebleu.metrics.ter import TER

    return _signature(TER())


def _of_sentences(value: Callable[[Sequence[str], Sequence[str]], float]) -> Callable[..., Floats]:
    """The statistics of a metric that is the mean of its values of the sentences."""

    def statistics(outputs: Sentences, references: Sentences, _tokenize: str) -> Floats:
        values = [value(output, reference) for output, reference in zip(outputs, references, strict=True)]
        return np.column_stack([values, np.ones(len(values))])

    return statistics


def _means(sums: Floats) -> Floats:
    return sums[:, 0] / np.maximum(sums[:, 1], 1.0)


def _percents(sums: Floats) -> Floats:
    return 100.0 * _means(sums)


def _is_exact(output: Sequence[str], reference: Sequence[str]) -> float:
    return float(tuple(output) == tuple(reference))


def _distortion_statistics(outputs: Sentences, references: Sentences, _tokenize: str) -> Floats:
    found = [distortions(output, reference) for output, reference in zip(outputs, references, strict=True)]
    return np.array([[sum(values), len(values)] for values in found], np.float64)


def distortion_counts(outputs: Sentences, references: Sentences) -> NDArray[np.int64]:
    """For each sentence the number of its words in each class of `DISTORTION_BINS`.

    >>> distortion_counts(["b a c d".split()], ["a b c d".split()]).tolist()
    [[2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]]
    """
    counts = np.zeros((len(outputs), len(DISTORTION_BINS)), np.int64)
    for row, output, reference in zip(counts, outputs, references, strict=True):
        values = np.array(distortions(output, reference))
        # Half a part in a million: 3/10 in floating point must not fall into the class above.
        np.add.at(row, np.searchsorted(DISTORTION_BINS, values - 5e-7), 1)
    return counts


def _own(text: str) -> Callable[[str], str]:
    return lambda _tokenize: text


METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("bleu", "BLEU", 2, True, _bleu_statistics, bleu_scores, lambda tok: _signature(_bleu_metric(tok))),
        Metric(
            "bleu_lc",
            "BLEU lc",
            2,
            True,
            _lowercase_bleu_statistics,
            bleu_scores,
            lambda tok: _signature(_bleu_metric(tok, lowercase=True)),
        ),
        Metric("chrf", "chrF", 2, True, _chrf_statistics, _chrf_scores, lambda _: _signature(_chrf_metric())),
        Metric("ter", "TER", 2, False, _ter_statistics, _ter_scores, _ter_signature),
        Metric(
            "meteor",
            "METEOR",
            2,
            True,
            _of_sentences(meteor),
            _percents,
            _own(f"exact matches|alpha:{ALPHA}|beta:{BETA}|gamma:{GAMMA}|chunks:fewest|mean over sentences"),
        ),
        Metric(
            "kendall",
            "Kendall's τ",
            3,
            True,
            _of_sentences(kendall),
            _means,
            _own("copies of a word matched in order|mean over sentences"),
        ),
        Metric(
            "distortion",
            "distortion",
            3,
            False,
            _distortion_statistics,
            _means,
            _own("|i-i'|/length|copies of a word matched in order|mean over words"),
        ),
        Metric(
            "exact_match",
            "exact match",
            2,
            True,
            _of_sentences(_is_exact),
            _percents,
            _own("equal tokens|% of sentences"),
        ),
    )
}
