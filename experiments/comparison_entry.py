"""The tables of an experiment of the kind "comparison", as its TOML file has them.

SourceTable         [text]: files, the sentences that are held out of them, the order of GYRO's index
SetTable            [sets.NAME]: a set of bags of text, parsed and tagged by spaCy
TrainingTable       [training]: what all trainings have in common
LanguageModelTable  [[language_models]]: of the text, of treebanks, or of both
TreebankTable       [[treebanks]]: what models are trained on, made of the sentences of train
ModelTable          [[models]]: a model, or one for each condition
RunTable            [[runs]]: a system on sets of bags under conditions
StageTable          [[stages]]: `gyro rescore` on the lattices of a run
DetailTable         [[details]]: runs that are looked at closely: by length, distortion, subtrees
CurveTable          [[curves]]: runs in one figure over the size of the training, its time, or the trees' quality
PublishedTable      [[published]]: a figure of a paper, and the run that stands beside it
Condition           what bags are given
parse_condition     "pos+units" → Condition
to_arguments        a table of options → what one would type
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grammars.annotation import Annotation
from gyro.errors import InputError
from gyro.notation import parse_size, parse_span
from gyro.score.metric import METRICS

WORDS = "words"
GIVEN = ("pos", "units", "heads", "labels")
ALL = "all"  # the sentences of all files of train
PARSERS = ("", "spacy")
OVER = ("sentences", "seconds", "uas")


@dataclass(frozen=True)
class Condition:
    """What bags are given besides their words."""

    pos: bool = False
    units: bool = False
    heads: bool = False
    labels: bool = False

    def annotation(self, seed: int) -> Annotation:
        """The same for bags of treebanks."""
        return Annotation(float(self.pos), float(self.heads), self.labels, units=self.units, seed=seed)

    def training_options(self) -> dict[str, Any]:
        """What trained systems call it."""
        options: dict[str, Any] = {"pos": "given" if self.pos else "none", "heads": self.heads, "labels": self.labels}
        return options | ({"units": "base-np"} if self.units else {})


def parse_condition(text: str) -> Condition:
    """Read a condition.

    >>> parse_condition("pos+units")
    Condition(pos=True, units=True, heads=False, labels=False)
    """
    parts = [] if text == WORDS else text.split("+")
    if not set(parts) <= set(GIVEN) or len(set(parts)) < len(parts):
        raise InputError(f"found {text!r} as what is given; {WORDS}, or some of {', '.join(GIVEN)} with + between")
    return Condition(**dict.fromkeys(parts, True))


def to_arguments(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options as one would type them.

    >>> list(to_arguments({"iterations": 10, "by_size": True, "heads": False, "dev": ["a", "b"]}))
    ['--iterations', '10', '--by-size', '--dev', 'a', 'b']
    """
    for name, value in options.items():
        if value is False:
            continue
        yield "--" + name.replace("_", "-")
        if value is not True:
            yield from map(str, value if isinstance(value, list) else [value])


@dataclass(frozen=True)
class SourceTable:
    """Some sentences of the first file are a set of bags; no model or index has seen them or any equal to them."""

    files: list[str] = field(default_factory=list)
    held_out: int = 0
    held_out_name: str = "held-out"
    held_out_tokens: str = "4-60"
    index_order: int = 5
    memory: str = "2G"

    def __post_init__(self) -> None:
        parse_size(self.memory)
        low, high = parse_span(self.held_out_tokens)
        if self.held_out < 0 or not 1 <= low <= high:
            raise InputError(f"found {self.held_out} sentences held out, of {low} to {high} tokens")
        if self.held_out and not self.files:
            raise InputError("found sentences held out of no files")


@dataclass(frozen=True)
class SetTable:
    """Sentences of text; of JSON Lines the field `json_field`."""

    references: list[str]
    json_field: str = ""


@dataclass(frozen=True)
class TrainingTable:
    """`options` are given to each training that knows them; those of a model go before them."""

    dev_sample: int = 100
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dev_sample < 1:
            raise InputError(f"found dev_sample = {self.dev_sample}; at least 1 is allowed")


@dataclass(frozen=True)
class LanguageModelTable:
    """`treebank` is the name of one of [[treebanks]], "all" for the whole of train, or empty."""

    name: str
    order: int = 4
    text: bool = True
    treebank: str = ALL

    def __post_init__(self) -> None:
        if not 1 <= self.order <= 6:
            raise InputError(f"found the order {self.order} of {self.name!r}; 1 to 6 is allowed")
        if not (self.text or self.treebank):
            raise InputError(f"{self.name!r} needs text or a treebank")


@dataclass(frozen=True)
class TreebankTable:
    """A random choice of the projective sentences (0: all), perhaps with a parser's heads, some of them moved."""

    name: str
    sentences: int = 0
    parser: str = ""
    moved: float = 0.0

    def __post_init__(self) -> None:
        if self.parser not in PARSERS:
            raise InputError(f"found the parser {self.parser!r} of {self.name!r}; allowed is spacy, or none")
        if self.sentences < 0 or not 0 <= self.moved <= 1:
            raise InputError(f"found {self.sentences} sentences, {self.moved} moved, in {self.name!r}")


@dataclass(frozen=True)
class ModelTable:
    """Without `given` it is trained once. With `text` it learns from the text too, that of the language models."""

    name: str
    system: str
    treebank: str
    lm: str = ""
    text: bool = False
    given: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for given in self.given:
            parse_condition(given)


@dataclass(frozen=True)
class RunTable:
    """All its sets, conditions and choices of what varies are run. A smaller number of bags (0: all) is the first ones
    of a larger; `trained` is the condition that the model was trained under, if that is another.
    """

    name: str
    system: str
    model: str = ""
    trained: str = ""
    lm: str = ""
    given: list[str] = field(default_factory=lambda: [WORDS])
    sets: list[str] = field(default_factory=lambda: ["test"])
    bags: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    vary: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for given in self.given:
            parse_condition(given)
        if self.bags < 0 or not (self.given and self.sets and all(self.vary.values())):
            raise InputError(f"found bags below 0, or an empty list, in {self.name!r}")


@dataclass(frozen=True)
class StageTable:
    """It is run wherever its source is, on the first `bags` of it (0: all); `lm` is one of [[language_models]]."""

    name: str
    source: str
    lm: str = ""
    bags: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.bags < 0:
            raise InputError(f"found bags below 0 in {self.name!r}")


@dataclass(frozen=True)
class DetailTable:
    """Runs on one set under one condition; without names all of them."""

    set: str = "test"
    given: str = WORDS
    runs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CurveTable:
    """Runs with models whose trainings differ; `line` is what they have in common."""

    title: str
    line: str
    runs: list[str]
    over: list[str] = field(default_factory=lambda: ["sentences"])
    sets: list[str] = field(default_factory=lambda: ["test"])
    given: str = WORDS

    def __post_init__(self) -> None:
        if not self.over or not set(self.over) <= set(OVER):
            raise InputError(f"found over = {self.over} of {self.title!r}; allowed are {', '.join(OVER)}")


@dataclass(frozen=True)
class PublishedTable:
    """Figures of a table in a paper: rows of [name, value, our run or ""].

    `metric` is that of ours which is nearest; "rate" is bags a second. `given` and `set` are those of our runs.
    """

    paper: str
    table: str
    rows: list[list[Any]]
    metric: str = "bleu_lc"
    given: str = WORDS
    set: str = "test"

    def __post_init__(self) -> None:
        place = f"table {self.table} of {self.paper!r}"
        if self.metric not in (*METRICS, "rate"):
            allowed = ", ".join([*METRICS, "rate"])
            raise InputError(f"found the metric {self.metric!r} in {place}; allowed are {allowed}")
        for row in self.rows:
            if [*map(type, row)] not in ([str, float, str], [str, int, str]):
                raise InputError(f"found the row {row!r:.60} in {place}; [name, value, our run] is allowed")
