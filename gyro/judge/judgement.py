"""What a judge said of a pair: a line of the JSON Lines files that the page saves.

Judgement        one line
VERDICTS         what may be said: the first shown is better, they are equal, the second is better
read_judgements  files → the judgements, each once
is_name          whether a judge or a system may be called so
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from gyro.errors import InputError
from gyro.files import check_type, parse_object
from gyro.text.corpus import read_lines

VERDICTS = FIRST, EQUAL, SECOND = ("first", "equal", "second")


LONGEST_NAME = 200
NAME_RULE = f"a line of 1 to {LONGEST_NAME} characters is allowed"


def is_name(text: str) -> bool:
    """Whether a judge or a system may be called so: a name stands in one line of a table."""
    breaks = any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text)
    return 1 <= len(text) <= LONGEST_NAME and not breaks


def _check_name(text: str) -> str:
    if not is_name(text):
        raise ValueError(NAME_RULE)
    return text


Name = Annotated[str, AfterValidator(_check_name)]


class Judgement(BaseModel):
    """What one judge says of one pair.

    `orders` are those of `systems`, in the same order; `sides` are the systems as they were shown, and the verdict is
    about these. `page`, `seed` and `gyro` tell where the pair was shown. Fields of others' own are passed over.
    """

    model_config = ConfigDict(frozen=True)

    judge: Name
    bag: str
    systems: tuple[Name, Name]
    sides: tuple[Name, Name]
    orders: tuple[str, str]
    verdict: Literal["first", "equal", "second"]
    reference: bool
    seed: int
    page: str
    gyro: str

    @model_validator(mode="after")
    def _check_sides(self) -> Judgement:
        if self.systems[0] == self.systems[1] or sorted(self.systems) != sorted(self.sides):
            raise ValueError("sides are two systems, the same as in systems")
        return self

    @property
    def winner(self) -> str | None:
        """The system that was preferred; None when they are equal."""
        return {FIRST: self.sides[0], SECOND: self.sides[1]}.get(self.verdict)

    @property
    def pair(self) -> tuple[str, str]:
        """The two systems, sorted: the same whichever was named first."""
        one, other = sorted(self.systems)
        return one, other

    @property
    def item(self) -> tuple[str, tuple[str, str]]:
        """What was judged: the bag and the two systems."""
        return self.bag, self.pair

    def order_of(self, system: str) -> str:
        """The order of one of the two systems."""
        return self.orders[self.systems.index(system)]


def read_judgements(paths: Iterable[Path]) -> list[Judgement]:
    """Read files of judgements. A line that is there twice, as after saving twice, counts once.

    It is an error when a judge says two things of a pair, or when two lines on a bag have other orders of a system.
    """
    found: dict[tuple[str, str, tuple[str, str]], tuple[Judgement, str]] = {}
    orders: dict[tuple[str, str], tuple[str, str]] = {}
    for path in paths:
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip():
                continue
            judgement = check_type(Judgement, parse_object(line, path, number), "judgement", path, number)
            place = f"{path}:{number}"
            for system in judgement.systems:
                order = judgement.order_of(system)
                known, where = orders.setdefault((judgement.bag, system), (order, place))
                if known != order:
                    message = f"found another order of bag {judgement.bag!r} by {system!r} than in {where}"
                    raise InputError(message, path=path, line=number)
            before, where = found.setdefault((judgement.judge, *judgement.item), (judgement, place))
            if before.winner != judgement.winner:
                message = f"found another verdict of {judgement.judge!r} on bag {judgement.bag!r} than in {where}"
                raise InputError(message, path=path, line=number)
    if not found:
        raise InputError("found no judgement in " + ", ".join(map(str, paths)))
    return [judgement for judgement, _ in found.values()]
