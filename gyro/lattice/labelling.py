"""Lattices as other tools want them: with labels of a word map, between sentence marks, under numbered names.

Labelling       which labels words get and what else is in a file; `write` writes a lattice
numbered_name   the name of the nth file of a pattern like lats/%d.fst.gz
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from os import PathLike

from gyro.errors import InputError
from gyro.lattice.file_format import LARGEST_LABEL, is_label, read_wordmap
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.openfst_format import STANDARD

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


@dataclass(frozen=True)
class Labelling:
    """Without a word map, words that are numbers are their labels; others are numbered from 1, which needs symbols.

    `marks` are the labels that each string is put between; `oov` is that of all words that are not in the word map.
    """

    wordmap: str | None = None
    marks: tuple[int, ...] = ()
    oov: int | None = None
    symbols: bool = True
    arc_type: str = STANDARD

    def __post_init__(self) -> None:
        if self.oov is not None and self.wordmap is None:
            raise InputError("found a label for words that are not in the word map, and no word map")
        for label in (*self.marks, *(() if self.oov is None else (self.oov,))):
            if not 1 <= label <= LARGEST_LABEL:
                raise InputError(f"found the label {label}; labels are from 1 to {LARGEST_LABEL}")
        if len(set(self.marks)) != len(self.marks):
            raise InputError(f"found the label {self.marks[0]} for both sentence marks; they need two")

    def write(self, lattice: Lattice, path: str | PathLike[str]) -> None:
        """Write an OpenFst file, gzipped when its name ends in .gz."""
        labels = self._labels(lattice)
        if self.oov is not None:
            unknown = self._words_of_map.get(self.oov, UNKNOWN)
            lattice = _renamed(lattice, {word: unknown for word in lattice.words if labels[word] == self.oov})
            labels[unknown] = self.oov
        if self.marks:
            start, end = (Lattice.from_strings((mark,), [Hypothesis((mark,), 0.0)]) for mark in (START, END))
            lattice = Lattice.join([start, lattice, end])
            labels |= {START: self.marks[0], END: self.marks[1]}
        lattice.write(path, labels, symbols=self.symbols, arc_type=self.arc_type)

    def _labels(self, lattice: Lattice) -> dict[str, int]:
        """The label of each word."""
        if self.wordmap is not None:
            labels = {word: self._label_in_map(word) for word in lattice.words}
        elif all(map(_is_number, lattice.words)):
            labels = {word: int(word) for word in lattice.words}
        elif self.symbols:
            free = (label for label in count(1) if label not in self.marks)
            labels = dict(zip(sorted(lattice.words), free, strict=False))
        else:
            word = next(word for word in lattice.words if not _is_number(word))
            raise InputError(f"found the word {word!r}; without symbols, labels come from a word map (--wordmap)")
        for word, label in labels.items():
            if label in self.marks:
                raise InputError(f"found the word {word!r}, whose label {label} is that of a sentence mark")
        return labels

    def _label_in_map(self, word: str) -> int:
        label = self._labels_of_map.get(word, self.oov)
        if label is None:
            found = f"found the word {word!r}, which is not in the word map"
            raise InputError(f"{found}; --oov LABEL gives such words a label", path=self.wordmap)
        return label

    @cached_property
    def _words_of_map(self) -> dict[int, str]:
        assert self.wordmap is not None
        return dict(read_wordmap(self.wordmap))

    @cached_property
    def _labels_of_map(self) -> dict[str, int]:
        """Of a word with several labels, the least; 0 is epsilon, and no word's."""
        descending = sorted(self._words_of_map.items(), reverse=True)
        return {word: label for label, word in descending if label > 0}


def numbered_name(pattern: str, number: int) -> str:
    """The name for a number.

    >>> numbered_name("lats/%d.fst.gz", 12)
    'lats/12.fst.gz'
    """
    if pattern.count("%") != 1 or "%d" not in pattern:
        raise InputError(f"found the name {pattern!r:.80}; one %d is needed in it, and no other %")
    if not pattern.endswith((".fst", ".fst.gz")):
        raise InputError(f"found the name {pattern!r:.80}; the name of a lattice ends in .fst or .fst.gz")
    return pattern.replace("%d", str(number))


def _is_number(word: str) -> bool:
    """Whether a word is a label as it is written: without zeros before it."""
    return is_label(word) and word[0] != "0"


def _renamed(lattice: Lattice, names: dict[str, str]) -> Lattice:
    """The lattice with other words in the place of some."""
    words = tuple(sorted({names.get(word, word) for word in lattice.words}))
    return lattice.over_words(words, {word: words.index(names.get(word, word)) for word in lattice.words})
