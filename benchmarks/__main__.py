"""All benchmarks, one after the other: `python -m benchmarks`, or some by name: `python -m benchmarks index search`."""

from __future__ import annotations

import argparse
from importlib import import_module

NAMES = (
    "index",
    "acceptor",
    "rtn",
    "search",
    "batch",
    "rescoring",
    "dependency",
    "mbr",
    "best_first",
    "ngram_beam",
    "neural",
    "transition",
    "wan",
    "spark_index",
    "spark_batch",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*NAMES, []], metavar="NAME", help=f"default: all of {', '.join(NAMES)}"
    )
    for name in parser.parse_args().names or NAMES:
        print(f"\n== {name}\n", flush=True)
        import_module(f"benchmarks.{name}").main([])


if __name__ == "__main__":
    main()
