"""The results of an experiment of the kind "text-size": tables in Markdown, and a figure for each set.

write_text_size_results  results.md, and text-size.svg of the last set, text-size-SET.svg of the others
make_text_size_markdown  the tables as text

What is not finished is left out, so that results can be written at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean

import numpy as np

from experiments.markdown import markdown_table
from experiments.text_size import TextSizeLaboratory
from experiments.text_size_curve import interval, wilson
from experiments.text_size_figure import Fit, Line, write_figure
from experiments.text_size_tables import SetResults
from gyro.errors import InputError
from gyro.files import write_text
from gyro.version import __version__, versions

_HARDLY_MORE = 1.5  # a fit is drawn to this many times the published size


def write_text_size_results(laboratory: TextSizeLaboratory) -> list[Path]:
    """Write all results into the experiment's folder and tell the files."""
    sets = {name: results for name in laboratory.experiment.sets if (results := SetResults(laboratory, name)).pieces}
    if not sets:
        raise InputError("found nothing measured to report on", path=laboratory.folder)
    written = []
    for name, results in sets.items():
        written.append(laboratory.folder / ("text-size.svg" if name == list(sets)[-1] else f"text-size-{name}.svg"))
        _draw(results, written[-1])
    write_text(laboratory.folder / "results.md", make_text_size_markdown(laboratory, sets))
    return [*written, laboratory.folder / "results.md"]


def make_text_size_markdown(laboratory: TextSizeLaboratory, sets: Mapping[str, SetResults]) -> str:
    """All tables and how everything was made."""
    parts = [f"# {laboratory.experiment.title}", f"{date.today().isoformat()}, gyro {__version__}."]
    parts += ["## Text", next(iter(sets.values())).text_table()]
    for name, results in sets.items():
        parts += [f"## Set {name}", *_set_parts(results)]
    parts += ["## How it was made", markdown_table(["what", "version"], versions())]
    return "\n\n".join(parts) + "\n"


def _set_parts(results: SetResults) -> Iterator[str]:
    most = results.experiment.max_tokens
    yield "### Bags that parse"
    yield (
        f"Sentences of more than {most} tokens are cut, and each piece is a bag. In brackets 95 % intervals (Wilson's; "
        "pieces of a sentence count as independent). A word that the index does not know is a rule of its own, as in "
        "a search; strict: it is not."
    )
    yield results.parse_table()
    yield "### Bags that parse, by size of the bag, %"
    yield results.parse_by_size()
    yield "### Phrases a bag, means"
    yield results.phrase_table()
    yield "### What the index holds of the references"
    yield results.reference_table()
    yield "### BLEU"
    yield "Own model: index and model are of the same text. Model of the whole: the index alone is of the part."
    yield results.bleu_table()
    yield results.rung_table()
    yield "### Beyond the text that there is"
    yield results.fit_text()
    yield results.fit_table()
    yield (
        "How far such a curve is to be trusted over a much shorter way: fitted without the largest text, and what was "
        "found there (of bags that are long enough, as a share of all)."
    )
    yield results.held_out_table()


def _draw(results: SetResults, path: Path) -> None:
    """The figure of a set."""
    sizes, rules = list(results.tokens.values()), results.experiment.rules
    parses = {}
    for r, each in enumerate(rules):
        parses[f"rules {each}"] = _share_line(
            results, [[p.parses[r] for p in some] for some in results.pieces.values()]
        )
    for r, each in enumerate(rules):
        cuts = [[p.reference_cuts[r] for p in some] for some in results.pieces.values()]
        parses[f"reference cut into {each}"] = _share_line(results, cuts)
    phrases = {
        f"{n} word{'s' * (n > 1)}": Line(
            sizes, [fmean(piece.phrases[n - 1] for piece in pieces) for pieces in results.pieces.values()]
        )
        for n in range(1, results.experiment.index.order + 1)
    }
    bleu = {}
    for name, curve in results.bleu_curves().items():
        values, intervals = [v for v, _ in curve.values()], [i for _, i in curve.values()]
        lows, highs = [each.low for each in intervals], [each.high for each in intervals]
        bleu[name] = Line([results.tokens[part] for part in curve], values, lows, highs, "whole" in name)
    write_figure(path, parses, _fit(results), phrases, bleu)


def _share_line(results: SetResults, holds: Sequence[Sequence[bool]]) -> Line:
    counts = [(sum(each), len(each)) for each in holds]
    lows, highs = zip(*(wilson(*each) for each in counts), strict=True)
    return Line(list(results.tokens.values()), [hits / total for hits, total in counts], lows, highs)


def _fit(results: SetResults) -> Fit | None:
    """The logistic curve of the published rules, up to the published size."""
    published = results.experiment.published
    if published is None:
        return None
    rules = results.experiment.rules.index(published.rules)
    found = results.fits.get((rules, False, "logistic"))
    if found is None:
        return None
    (curve, samples), ceiling = found, results.ceiling(rules)
    sizes = np.geomspace(min(results.tokens.values()), _HARDLY_MORE * published.words, 60).tolist()
    bands = [interval([ceiling * each.share(size) for each in samples]) for size in sizes]
    values = [ceiling * curve.share(size) for size in sizes]
    return Fit(sizes, values, [b[0] for b in bands], [b[1] for b in bands], (published.words, published.parse_rate))
