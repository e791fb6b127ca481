"""Development data: bags with references, and how well a system orders them.

DevScore          BLEU, lengths, time-outs and time
choose_bags       a fixed sample of the sentences that can be used, as bags
score_orders      order bags, in several processes, and score the result
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple

import sacrebleu

from grammars.annotation import Annotation, TreebankSentence, sentence_to_bag
from gyro.errors import InputError
from gyro.pool import Failure, run_tasks
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.corpus import is_token

Categories = Sequence[tuple[str, ...]] | None


class DevScore(NamedTuple):
    """How a model does on development data; ratios are between 0 and 1."""

    bleu: float
    length_ratio: float
    timeout_ratio: float
    seconds: float


class Ordered(NamedTuple):
    """What became of one bag: the words of the output, whether its search ended without a result, its seconds."""

    words: Sequence[str]
    timed_out: bool
    seconds: float


def choose_bags(
    sentences: Iterable[tuple[TreebankSentence, Categories]],
    given: Annotation,
    *,
    sample: int,
    seed: int,
    path: str | PathLike[str] | None = None,
) -> list[AnnotatedBag]:
    """Bags of a fixed sample of the sentences, those that have something that is no token of ours left out.

    `path` names the file in the error when there are none.
    """
    bags = [
        sentence_to_bag(sentence, given, categories)
        for sentence, categories in sentences
        if all(map(is_token, sentence.words))
    ]
    if not bags:
        raise InputError("found no sentence that can be used", path=path)
    chosen = sorted(random.Random(seed).sample(range(len(bags)), min(sample, len(bags))))
    return [bags[i] for i in chosen]


def score_orders(bags: Sequence[Bag], order: Callable[[Bag], Ordered], jobs: int = 1) -> DevScore:
    """Order the bags and score the result; a bag that fails has an empty output."""

    def work(number: int) -> list[Any]:
        words, timed_out, seconds = order(bags[number])
        return [list(words), timed_out, seconds]

    outputs: list[list[Any]] = [[] for _ in bags]
    for ended in run_tasks(range(len(bags)), work, jobs=jobs):
        outputs[ended.task] = [[], True, ended.seconds] if isinstance(ended.result, Failure) else ended.result
    strings = [" ".join(words) for words, _, _ in outputs]
    references = [" ".join(bag.reference or ()) for bag in bags]
    bleu = sacrebleu.corpus_bleu(strings, [references], tokenize="none", force=True).score
    length = sum(len(words) for words, _, _ in outputs) / max(sum(map(len, bags)), 1)
    timeouts = sum(timed_out for _, timed_out, _ in outputs) / max(len(bags), 1)
    return DevScore(bleu, length, timeouts, sum(seconds for _, _, seconds in outputs))
