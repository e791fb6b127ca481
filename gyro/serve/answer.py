"""What the server answers.

Answer     the orders of a bag with their costs, how they were found, and the lattice if it was asked for
Order      one order, with its cost under each model
Reference  the order that was hoped for, with its costs
Tokens     a text split into tokens
About      what the server has open, and its limits
Fault      why there is no answer, in one line
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from gyro.serve.drawing import Drawing


class Order(BaseModel):
    """An order; costs are natural-log costs, lower is better."""

    tokens: list[str]
    text: str = Field(description="The tokens as people write them.")
    cost: float = Field(description="The cost by which the system ranks: of gyro, the model's and λ times the neural.")
    costs: dict[str, float] = Field(description="The cost under each model, by its name.")
    words: dict[str, list[float]] | None = Field(
        None, description="By model, what each token costs, and last the end of the sentence."
    )


class Reference(BaseModel):
    """The order that was hoped for; `rank` is its place among the orders, from 1, if it is among them."""

    tokens: list[str]
    text: str
    cost: float | None = Field(description="The cost by which the system ranks, where that is known.")
    costs: dict[str, float]
    rank: int | None


class Answer(BaseModel):
    """The orders of a bag, the best first."""

    id: str
    system: str
    settings: dict[str, Any] = Field(description="How they were found; empty for systems other than gyro.")
    orders: list[Order]
    reference: Reference | None
    outcome: dict[str, Any] = Field(
        description="How the search went, as in results.jsonl of a run: proved, cost, lower_bound, nodes, arcs …"
    )
    lattice: Drawing | None
    seconds: float = Field(description="What the work on this bag took.")


class StreamedAnswer(Answer):
    """A line of the answer to many bags: what POST /order answers, and the line that it answers."""

    line: int


class StreamedFault(BaseModel):
    """The same for a bag without an answer; `status` is the one that POST /order would have."""

    line: int
    status: int
    error: str


class Tokens(BaseModel):
    """The tokens of a text."""

    tokens: list[str]


class SystemFacts(BaseModel):
    """A system that is open."""

    name: str
    kind: str


class ModelFacts(BaseModel):
    """A model that is open; n-gram models have an order."""

    name: str
    kind: str
    order: int | None
    signature: str


class LimitFacts(BaseModel):
    """What a request may ask."""

    tokens: int
    seconds: float
    memory: int
    request: int
    stream: int
    orders: int
    paths: int


class About(BaseModel):
    """What the server has open."""

    version: str
    systems: list[SystemFacts]
    models: list[ModelFacts]
    neural: str | None = Field(description="The name of the neural model, if one is open.")
    neural_use: str
    neural_weight: float
    budget: int
    index: dict[str, Any]
    algorithms: list[str]
    settings: dict[str, Any]
    limits: LimitFacts


class Fault(BaseModel):
    """Why there is no answer, in one line."""

    error: str
