"""What became of dependency trees in the conversion to CCG.

ConversionReport  counts of trees, reasons, categories and rule instances, with a text
convert_all       the derivations of sentences, counted in a report on the way
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from grammars.ccg.category import combinator, parse_category
from grammars.ccg.conversion import convert
from grammars.ccg.derivation import AutoEntry, Derivation, Leaf, postorder
from grammars.ccg.step import ConversionError
from grammars.conllu import ConlluSentence

TYPE_CHANGE = "type change"
SHOWN_REASONS = 10

Unary = tuple[str, str]  # child, result
Binary = tuple[str, str, str, int]  # left, right, result, place of the head


@dataclass
class ConversionReport:
    """Counts over trees: categories of words and of whole sentences, rule instances, uses of each combinator.

    >>> report = ConversionReport()
    >>> report.refuse("the tree is not projective")
    >>> print(report.text())
    1 trees, 0 converted (0.0 %)
         1  the tree is not projective
    0 lexical categories, 0 unary and 0 binary rule instances
    """

    trees: int = 0
    converted: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)
    unary: Counter[Unary] = field(default_factory=Counter)
    binary: Counter[Binary] = field(default_factory=Counter)

    def add(self, derivation: Derivation) -> None:
        """Count a derivation."""
        self.trees += 1
        self.converted += 1
        self.roots[derivation.category] += 1
        for part in postorder(derivation):
            if isinstance(part, Leaf):
                self.categories[part.category] += 1
            elif len(part.children) == 1:
                self.unary[part.children[0].category, part.category] += 1
            else:
                left, right = part.children
                self.binary[left.category, right.category, part.category, part.head] += 1

    def refuse(self, reason: str) -> None:
        """Count a tree that has no derivation."""
        self.trees += 1
        self.reasons[reason] += 1

    @property
    def combinators(self) -> Counter[str]:
        """How often each combinator was used."""
        uses = Counter({TYPE_CHANGE: self.unary.total()} if self.unary else {})
        for (left, right, result, _), count in self.binary.items():
            uses[combinator(parse_category(left), parse_category(right), parse_category(result))] += count
        return uses

    def text(self) -> str:
        """The counts in a few lines."""
        share = self.converted / self.trees if self.trees else 0.0
        lines = [f"{self.trees} trees, {self.converted} converted ({share:.1%})".replace("%)", " %)")]
        lines += [f"{count:6}  {reason}" for reason, count in self.reasons.most_common(SHOWN_REASONS)]
        if len(self.reasons) > SHOWN_REASONS:
            lines.append(f"{sum(self.reasons.values()):6}  in all, for {len(self.reasons)} reasons")
        lines.append(
            f"{len(self.categories)} lexical categories, "
            f"{len(self.unary)} unary and {len(self.binary)} binary rule instances"
        )
        lines += [f"{count:6}  {name}" for name, count in self.combinators.most_common()]
        return "\n".join(lines)


def convert_all(sentences: Iterable[ConlluSentence], report: ConversionReport, scheme: str = "") -> Iterator[AutoEntry]:
    """Yield the derivation of each sentence that has one, under its name or number; the report counts them all."""
    for number, sentence in enumerate(sentences, 1):
        try:
            derivation = convert(sentence, scheme)
        except ConversionError as error:
            report.refuse(str(error))
            continue
        report.add(derivation)
        name = sentence.sent_id or str(number)
        yield AutoEntry(f"ID={name} PARSER=gyro NUMPARSE=1", derivation)
