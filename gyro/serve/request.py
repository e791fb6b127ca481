"""What may be asked of the server.

Options       how a bag is to be ordered, and what is to be told of it
OrderRequest  a bag, as a line of a file of bags has it, and its options
TextRequest   a text that is to be split into tokens
DrawRequest   orders that are to be laid out as a lattice
to_bag        the bag of a request, by the reader of files of bags
one_line      what pydantic has against a request, in one line
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gyro.serve.drawing import MOST_PATHS, Weighted
from gyro.text.bag import Bag
from gyro.text.bag_file import record_to_bag

MOST_ORDERS = 100
NEURAL_USES = ("off", "lists", "search")

Name = Annotated[str, Field(max_length=200)]
Texts = list[str | None]
Chains = list[list[int]]


def _number(description: str, **limits: Any) -> Any:
    return Field(None, description=description, **limits)


class Options(BaseModel):
    """How a bag is to be ordered. What is not given is as the server was started."""

    model_config = ConfigDict(extra="forbid")

    system: Name = Field("gyro", description="One of the systems that the server has open: GET /about tells them.")
    model: Name | None = Field(None, description="gyro: the n-gram model of the search, by its name.")
    algorithm: Name | None = Field(
        None, description="gyro: exact, beam, pruned-parsing, pruned-expansion or full.", examples=["exact"]
    )
    rules: Name | None = Field(None, description="gyro: lengths of phrase rules.", examples=["1-5"])
    phrase_cost: Name | None = Field(None, description="gyro: soft costs of rules.", examples=["phrase=1.0"])
    grammar: Name | None = Field(None, description="pruned and full: right-linear or binary.")
    cell_start: Name | None = Field(None, description="binary: sentence or anywhere.")
    overlap: int | None = _number("gyro: words that a phrase may share with what stands before it.", ge=0, le=8)
    beta: float | None = _number("gyro: orders within so many nats of the best.", ge=0, le=1000, allow_inf_nan=False)
    beam: int | None = _number("beam, and the upper bound of exact: nodes a row.", ge=1, le=100_000)
    first_row: int | None = _number("pruned: the first row that is pruned.", ge=1, le=1000)
    max_arcs: int | None = _number("gyro: the largest β with this many arcs; not with beta.", ge=1, le=1_000_000)
    steps: int | None = _number("gyro: work a bag, in millions of steps.", ge=1, le=1_000_000)
    neural: Literal["off", "lists", "search"] | None = Field(
        None, description="gyro: the neural model is not used, orders the best strings, or searches on from them."
    )
    neural_weight: float | None = _number("gyro: λ of the neural cost.", gt=0, le=1000, allow_inf_nan=False)
    budget: int | None = _number("neural search: pieces a word of the bag.", ge=1, le=5000)
    nbest: int = Field(10, ge=1, le=MOST_ORDERS, description="The most orders to tell.")
    costs: list[Name] | None = Field(
        None, description="The models whose costs are told; without it all n-gram models, and the neural one if used."
    )
    words: bool = Field(False, description="Tell what each word of each order costs under the n-gram models.")
    lattice: int = Field(0, ge=0, le=MOST_PATHS, description="Lay out so many of the best orders as a lattice.")


class OrderRequest(Options):
    """A bag, as a line of a file of bags has it, and how it is to be ordered. Places of tokens count from 0."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Name | int | None = None
    tokens: str | list[str] | None = Field(
        None, description="The tokens in any order; a string is split at its blanks.", examples=["the cat sat ."]
    )
    reference: str | list[str] | None = Field(None, description="The tokens in the order that is hoped for.")
    order: Chains | None = Field(None, description="Places that come in that order, others may be between.")
    units: Chains | None = Field(None, description="Phrases that stay as they are: their places.")
    positions: Chains | None = Field(
        None, description="[place, n]: this token is the nth, from 1 on, or from the end, −1 and so on."
    )
    optional: list[int] | None = Field(None, description="Places of tokens that may be left out.")
    counts: list[int] | None = Field(None, description="For each token, how often it may be used.")
    prefix: list[int] | None = Field(None, description="Places of the first words.")
    suffix: list[int] | None = Field(None, description="Places of the last words.")
    choices: list[list[Any]] | None = Field(
        None, description="[places, n]: of these tokens so many are used; with 1, one of several forms."
    )
    pos: str | Texts | None = Field(None, description="A part of speech for each token, or null.")
    heads: list[int | None] | None = Field(None, description="For each token the place of its head; −1: the root.")
    labels: str | Texts | None = Field(None, description="For each token its relation to the head.")
    lemmas: str | Texts | None = Field(None, description="For each token its lemma.")
    feats: str | Texts | None = Field(None, description="For each token its attributes.")
    categories: list[list[str] | None] | None = Field(None, description="For each token its lexical categories (CCG).")


class TextRequest(BaseModel):
    """A sentence."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(description="A sentence as people write it.", examples=["The cat didn't sit on the mat."])


class DrawRequest(BaseModel):
    """Orders, as an answer has them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    orders: list[Weighted] = Field(min_length=1, max_length=MOST_PATHS)


def to_bag(request: OrderRequest, number: int = 1) -> Bag:
    """The bag of a request, as a line of a file of bags would have it."""
    return record_to_bag(request.model_dump(exclude=set(Options.model_fields), exclude_none=True), number)


def one_line(faults: Sequence[Any]) -> str:
    """The first fault, with its place.

    >>> one_line([{"loc": ("body", "nbest"), "msg": "Input should be less than 100", "type": "less_than"}])
    'nbest: Input should be less than 100'
    """
    fault = faults[0]
    if fault["type"] == "json_invalid":
        return f"found a request that is not JSON: {fault.get('ctx', {}).get('error', fault['msg'])}"
    if fault["type"] == "extra_forbidden":
        return f"found the key {fault['loc'][-1]!r:.60}, which is not known; /openapi.json tells the keys"
    place = [str(part) for part in fault["loc"] if part not in ("body", "query")]
    at = len(fault["loc"]) - len(place)
    # A value of which several types are allowed has a fault for each of them, with the type behind the key.
    alike = [each for each in faults if each["loc"][at : at + 1] == fault["loc"][at : at + 1]]
    has_types = len({each["loc"][at + 1 : at + 2] for each in alike}) > 1 and isinstance(fault["loc"][at + 1], str)
    told = alike if has_types else [fault]
    message = "; or: ".join(dict.fromkeys(str(each["msg"]) for each in told))
    name = place[0] if has_types else ".".join(place)
    return " ".join((f"{name}: {message}" if name else message).split())
