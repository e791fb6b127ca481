"""The text index: building it and finding the phrases of 20-token bags, against plain Python counters in the same run.

python -m benchmarks.index [--text FILE…] [--bags 300] [--sample 1000000]

main  print both tables; the development text is tokenised once into runs/benchmarks unless tokenised files are given
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, permutations
from pathlib import Path

import numpy as np

from benchmarks.material import ORDER, REFERENCES, SPLIT, TEXT, is_missing, references, tokenised_text
from gyro.index.build import build_index, merge_indexes
from gyro.index.phrase import find_phrases
from gyro.index.reader import open_index
from gyro.text.bag import Bag
from gyro.text.corpus import read_sentences

TOKENS = 20
SLOW_BAGS = 3  # for the alternative that takes a second a bag

Ngrams = dict[tuple[str, ...], int]


def main(argv: list[str] | None = None) -> None:
    """Build, look up, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index", description="Time the text index.")
    parser.add_argument("--text", type=Path, nargs="+", help="tokenised files (default: the development text)")
    parser.add_argument("--bags", type=int, default=300, help="how many bags of 20 tokens (default 300)")
    parser.add_argument("--sample", type=int, default=1_000_000, help="tokens for the plain counters (default 1000000)")
    arguments = parser.parse_args(argv)
    if not arguments.text and is_missing(*TEXT, REFERENCES):
        return
    text = arguments.text or [tokenised_text()]
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder, "sample.txt")
        write_sample(text, sample, arguments.sample)
        compare_builds(text, sample, Path(folder))
        print()
        bags = reference_bags() if REFERENCES.exists() else text_bags(text)
        compare_look_ups(sample, Path(folder), list(islice(bags, arguments.bags)))


def write_sample(text: Sequence[Path], path: Path, tokens: int) -> None:
    """The first sentences, up to a number of tokens."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in read_sentences(text, SPLIT):
            tokens -= len(sentence)
            if tokens < 0:
                break
            file.write(" ".join(sentence) + "\n")


def reference_bags() -> Iterator[Bag]:
    """The first 20 tokens of each reference that has as many."""
    return (Bag(tuple(tokens[:TOKENS])) for tokens in references() if len(tokens) >= TOKENS)


def text_bags(text: Sequence[Path]) -> Iterator[Bag]:
    """The sentences of 20 tokens."""
    return (Bag(tuple(tokens)) for tokens in read_sentences(text, SPLIT) if len(tokens) == TOKENS)


def count_ngrams(sentences: Iterable[Sequence[str]]) -> Ngrams:
    """All n-grams in a Counter, as people write it."""
    counter: Counter[tuple[str, ...]] = Counter()
    for tokens in sentences:
        for n in range(1, ORDER + 1):
            counter.update(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    return counter


def compare_builds(text: Sequence[Path], sample: Path, folder: Path) -> None:
    """Print tokens a second and peak memory of building, spilling, merging and of the counter."""
    whole = folder / "whole"
    rows = [
        ("Counter of n-grams (sample)", in_new_process(run_counter, [sample])),
        ("index (sample)", in_new_process(run_build, [sample], folder / "small", 2 << 30)),
        ("index, --memory 2G", in_new_process(run_build, text, whole, 2 << 30)),
        ("index, --memory 256M (spills)", in_new_process(run_build, text, folder / "spilled", 256 << 20)),
        ("merging it with the sample's", in_new_process(run_merge, [whole, folder / "small"], folder / "merged")),
    ]
    print(f"{open_index(whole).num_tokens:,} tokens of tokenised text, reading included\n")
    print(f"{'':34}{'seconds':>10}{'tokens/s':>12}{'peak MB':>10}{'times as fast':>16}")
    alternative = rows[0][1][0] / rows[0][1][1]
    for name, (tokens, seconds, peak) in rows:
        speed = tokens / seconds
        print(f"{name:34}{seconds:10.1f}{speed:12,.0f}{peak:10,.0f}{speed / alternative:16.1f}")


Figures = tuple[int, float, float]  # tokens, seconds, megabytes


def in_new_process(work: Callable[..., int], *arguments: object) -> Figures:
    """Run a function in a process of its own, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(measured, (work, *arguments))


def measured(work: Callable[..., int], *arguments: object) -> Figures:
    """The tokens that a function handled, its time, and the peak memory of the process in MB."""
    start = time.perf_counter()
    tokens = work(*arguments)
    seconds = time.perf_counter() - start
    return tokens, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_counter(text: Sequence[Path]) -> int:
    """Count with a Counter; return the number of tokens."""
    return sum(count for ngram, count in count_ngrams(read_sentences(text, SPLIT)).items() if len(ngram) == 1)


def run_build(text: Sequence[Path], path: Path, memory: int) -> int:
    """Build an index; return its number of tokens."""
    build_index(read_sentences(text, SPLIT), path, order=ORDER, memory=memory, normalisation=SPLIT)
    return open_index(path).num_tokens


def run_merge(paths: Sequence[Path], path: Path) -> int:
    """Merge indexes; return the number of tokens."""
    merge_indexes(paths, path)
    return open_index(path).num_tokens


def look_up_permutations(ngrams: Ngrams, bag: Bag) -> Ngrams:
    """Every order of up to five tokens, looked up."""
    orders = (order for n in range(1, ORDER + 1) for order in permutations(bag.tokens, n))
    return {order: ngrams[order] for order in orders if order in ngrams}


def look_up_prefixes(ngrams: Ngrams, bag: Bag) -> Ngrams:
    """The same, growing only those that are there."""
    found: Ngrams = {}
    level: list[tuple[str, ...]] = [()]
    for _ in range(ORDER):
        longer = [(*ngram, word) for ngram in level for word, n in zip(bag.words, bag.counts, strict=True)
                  if ngram.count(word) < n]  # fmt: skip
        level = [ngram for ngram in longer if ngram in ngrams]
        found |= {ngram: ngrams[ngram] for ngram in level}
    return found


def compare_look_ups(sample: Path, folder: Path, bags: Sequence[Bag]) -> None:
    """Print the time of finding a bag's phrases in the indexes and in the counter of the sample."""
    start = time.perf_counter()
    whole = open_index(folder / "whole")
    opening = time.perf_counter() - start
    small = open_index(folder / "small")
    ngrams = count_ngrams(read_sentences([sample], SPLIT))

    def from_small(bag: Bag) -> Ngrams:
        return {phrase.words: phrase.count for phrase in find_phrases(small, bag, ORDER)}

    equal = sum(look_up_prefixes(ngrams, bag) == from_small(bag) for bag in bags)
    equal_slow = sum(look_up_permutations(ngrams, bag) == from_small(bag) for bag in bags[:SLOW_BAGS])
    rows = [
        (
            f"Counter, permutations ({SLOW_BAGS} bags)",
            timed(lambda b: look_up_permutations(ngrams, b), bags[:SLOW_BAGS]),
        ),
        ("Counter, growing prefixes (sample)", timed(lambda b: look_up_prefixes(ngrams, b), bags)),
        ("index of the sample", timed(lambda b: find_phrases(small, b, ORDER), bags)),
        ("index of the whole text, first", timed(lambda b: find_phrases(whole, b, ORDER), bags)),
        ("index of the whole text, warm", timed(lambda b: find_phrases(whole, b, ORDER), bags)),
    ]
    phrases = np.median([len(find_phrases(whole, bag, ORDER)) for bag in bags])
    print(f"phrases of {len(bags)} bags of {TOKENS} tokens; {phrases:.0f} in the whole text (median)")
    print(f"equal to the Counter's: {equal} of {len(bags)} and {equal_slow} of {len(bags[:SLOW_BAGS])}")
    print(f"opening the index: {opening * 1e3:.1f} ms\n")
    print(f"{'':36}{'median ms':>12}{'95 % ms':>12}{'× permutations':>16}{'× prefixes':>12}")
    by_permutations, by_prefixes = (float(np.median(times)) for _, times in rows[:2])
    for name, times in rows:
        median, high = float(np.median(times)), float(np.percentile(times, 95))
        print(f"{name:36}{median:12.2f}{high:12.2f}{by_permutations / median:16,.0f}{by_prefixes / median:12,.2f}")


def timed(work: Callable[[Bag], object], bags: Sequence[Bag]) -> list[float]:
    """Milliseconds for each bag."""
    times = []
    for bag in bags:
        start = time.perf_counter()
        work(bag)
        times.append((time.perf_counter() - start) * 1e3)
    return times


if __name__ == "__main__":
    main()
