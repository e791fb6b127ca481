"""The open index, models and systems, and the work on one request.

Desk    what is open; `do` does a task in a worker process and gives a reply
Neural  the neural model with what it is used for where a request does not say
Reply   the status of HTTP and the body

All is opened once, before the workers are forked, so that they share it. What a request changes is only how a search
is done.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import BaseModel

from gyro.errors import GyroError, InputError, MachineError, ResourceError, printable
from gyro.index.reader import TextIndex
from gyro.lattice.lattice import Hypothesis
from gyro.pipeline.neural_generator import NeuralGenerator
from gyro.run.outcome import Ordering
from gyro.run.system import System
from gyro.search.generator import Generator
from gyro.search.network import OutOfSteps
from gyro.search.settings import ALGORITHMS, Settings
from gyro.serve.answer import About, Answer, LimitFacts, ModelFacts, Order, Reference, SystemFacts, Tokens
from gyro.serve.drawing import MOST_PATHS, Drawing, draw_lattice, draw_orders
from gyro.serve.foreman import Task
from gyro.serve.limit import Limits
from gyro.serve.request import MOST_ORDERS, NEURAL_USES, DrawRequest, OrderRequest, to_bag
from gyro.serve.scorer import DIGITS, Scorer
from gyro.text.bag import Bag
from gyro.text.corpus import tokenize
from gyro.text.detokenise import detokenise
from gyro.version import __version__
from lm.model import LanguageModel
from rescoring.neural import NeuralRescorer, NeuralSearcher
from rescoring.neural_options import PIECES_A_WORD, WEIGHT

if TYPE_CHECKING:
    from lm.neural.model import NeuralModel

GYRO = "gyro"
_RULES = ("rules", "overlap", "phrase_cost", "grammar", "cell_start")
CHANGES = ("algorithm", *_RULES, "beta", "first_row", "beam", "max_arcs", "steps")  # of Settings, by a request
STEPS_BEFORE_NEURAL = 1000  # millions: then the first pass is only where the neural model begins
MAX_ARCS = 20_000
_MOST_KEPT = 8
_RULES_TO_WARM: tuple[dict[str, Any], ...] = (
    {"units": [[0, 1]], "order": [[1, 2]], "positions": [[6, -1]], "optional": [3]},
    {"counts": [1, 1, 1, 1, 1, 2, 1], "choices": [[[0, 1], 1]], "algorithm": "beam"},
)


class Reply(TypedDict):
    """What a worker sends back."""

    status: int
    body: dict[str, Any]


@dataclass(frozen=True)
class Neural:
    """The neural model with what it is used for where a request does not say."""

    model: NeuralModel
    name: str
    use: str = "lists"
    weight: float = WEIGHT
    budget: int = PIECES_A_WORD


@dataclass(frozen=True)
class Desk:
    """The first of the n-gram models is the one of the search where a request does not say."""

    index: TextIndex
    models: Mapping[str, LanguageModel]
    limits: Limits
    settings: Settings
    neural: Neural | None = None
    systems: Mapping[str, tuple[str, System]] | None = None  # by name: the kind, and the system itself

    @staticmethod
    def settings_for(limits: Limits, steps: int) -> Settings:
        """The settings where a request does not say: bags are ordered whole."""
        memory = f"{limits.memory >> 20}M"
        return Settings(max_tokens=0, max_arcs=MAX_ARCS, steps=steps, time_limit=limits.seconds, memory_limit=memory)

    def do(self, task: Task) -> Reply:
        """In the worker: what a request asks for, or in one line why not."""
        body: BaseModel
        try:
            if task["kind"] == "order":
                body = self.order(OrderRequest.model_validate(task["request"]), task["number"])
            elif task["kind"] == "lattice":
                body = self.draw(DrawRequest.model_validate(task["request"]))
            else:
                body = self.tokenize(task["text"])
        except (ResourceError, OutOfSteps) as error:
            return {"status": 503, "body": {"error": printable(str(error))}}
        except MachineError:
            raise
        except GyroError as error:
            return {"status": 422, "body": {"error": printable(str(error))}}
        except MemoryError:
            return {"status": 503, "body": {"error": "the work on it took more memory than there is"}}
        return {"status": 200, "body": body.model_dump()}

    def tokenize(self, text: str) -> Tokens:
        """Split a text as the index was."""
        tokens = tokenize(text, self.index.normalisation)
        self._check_size(len(tokens))
        return Tokens(tokens=tokens)

    def draw(self, request: DrawRequest) -> Drawing:
        """Lay out orders as a lattice."""
        self._check_size(max(len(order.tokens) for order in request.orders))
        return draw_orders(request.orders)

    def order(self, request: OrderRequest, number: int = 1) -> Answer:
        """Order a bag, and tell all that was asked of its orders."""
        bag = to_bag(request, number)
        if not len(bag):
            raise InputError("found a bag without tokens; one or more are allowed")
        self._check_size(len(bag))
        models = self._models_told(request)
        ordering, settings = self._ordering(request, bag)
        if ordering.lattice.empty():
            raise InputError(ordering.outcome.reason or "no order was found")
        found = ordering.nbest(request.nbest)
        return Answer(
            id=bag.id,
            system=request.system,
            settings=settings,
            orders=self._orders(found, models, with_words=request.words),
            reference=self._reference(bag, found, models, settings),
            outcome=ordering.outcome.to_json(),
            lattice=draw_lattice(ordering.lattice, request.lattice) if request.lattice else None,
            seconds=0.0,
        )

    def about(self) -> About:
        """What is open."""
        index, limits, neural = self.index, self.limits, self.neural
        others = [SystemFacts(name=name, kind=kind) for name, (kind, _) in (self.systems or {}).items()]
        models = [
            ModelFacts(name=name, kind=f"{model.order}-gram model", order=model.order, signature=model.signature)
            for name, model in self.models.items()
        ]
        if neural:
            signature = neural.model.signature
            models.append(ModelFacts(name=neural.name, kind="neural model", order=None, signature=signature))
        return About(
            version=__version__,
            systems=[SystemFacts(name=GYRO, kind=GYRO), *others],
            models=models,
            neural=neural.name if neural else None,
            neural_use=neural.use if neural else "off",
            neural_weight=neural.weight if neural else WEIGHT,
            budget=neural.budget if neural else PIECES_A_WORD,
            index={
                "order": index.order,
                "tokens": index.num_tokens,
                "sentences": index.num_sentences,
                "signature": index.signature,
                **index.normalisation.to_json(),
            },
            algorithms=list(ALGORITHMS),
            settings={name: value for name, value in self.settings.to_json().items() if name in CHANGES},
            limits=LimitFacts(
                tokens=limits.tokens,
                seconds=limits.seconds,
                memory=limits.memory,
                request=limits.request,
                stream=limits.stream,
                orders=MOST_ORDERS,
                paths=MOST_PATHS,
            ),
        )

    def warm(self) -> None:
        """Load what is loaded at its first use, compiled code too: once, for all workers."""
        tokens = ["the", "cat", "sat"]
        self.tokenize("The cat sat.")
        uses = NEURAL_USES if self.neural else ("off",)
        for use in uses:
            request = {"tokens": tokens, "reference": tokens, "neural": use, "words": True, "lattice": 2}
            self.order(OrderRequest.model_validate(request))
        for rules in _RULES_TO_WARM:  # what is refused of them needs no warmth
            self.do({"kind": "order", "request": {"tokens": "the cat sat on the mat .", **rules}, "number": 1})
        for name in self.systems or ():
            self.order(OrderRequest.model_validate({"tokens": tokens, "system": name}))

    # ---- parts

    def _check_size(self, count: int) -> None:
        if count > self.limits.tokens:
            raise InputError(f"found a bag of {count} tokens; at most {self.limits.tokens} are allowed (--longest)")

    def _ordering(self, request: OrderRequest, bag: Bag) -> tuple[Ordering, dict[str, Any]]:
        """The orders, and the settings that they were found with."""
        if request.system != GYRO:
            systems = self.systems or {}
            if request.system not in systems:
                raise InputError(f"found the system {request.system!r}; open are {', '.join([GYRO, *systems])}")
            return systems[request.system][1].order(bag), {}
        changes = {name: value for name in CHANGES if (value := getattr(request, name)) is not None}
        if changes.get("steps", 0) > self.settings.steps:
            raise InputError(f"found {changes['steps']} steps; at most {self.settings.steps} are allowed")
        if "beta" in changes:  # which is not looked at where the number of arcs is what counts
            changes.setdefault("max_arcs", 0)
        settings = replace(self.settings, **changes)
        name, guide = self._guide(request)
        told = {key: value for key, value in settings.to_json().items() if key in CHANGES} | {"model": name}
        neural, use = self._neural(request)
        if neural is None:
            return Generator(self.index, guide, settings).order(bag), told | {"neural": "off"}
        settings = replace(settings, steps=min(settings.steps, STEPS_BEFORE_NEURAL))
        weight = neural.weight if request.neural_weight is None else request.neural_weight
        told |= {"neural": use, "neural_weight": weight}
        budget = (request.budget or neural.budget) if use == "search" else 0
        told |= {"budget": budget} if budget else {}
        rescorer = self._rescorer(neural.model, weight, name, budget)
        return NeuralGenerator(Generator(self.index, guide, settings), rescorer).order(bag), told

    def _rescorer(self, model: NeuralModel, weight: float, guide: str, budget: int) -> NeuralRescorer:
        """What goes on from the first pass, a search where there is a budget; the last few are kept."""
        key = (weight, guide, budget)
        if key not in self._rescorers:
            if len(self._rescorers) >= _MOST_KEPT:
                self._rescorers.clear()
            made = (
                NeuralSearcher(model, weight, self.models[guide], budget) if budget else NeuralRescorer(model, weight)
            )
            self._rescorers[key] = made
        return self._rescorers[key]

    @cached_property
    def _rescorers(self) -> dict[tuple[float, str, int], NeuralRescorer]:
        return {}

    def _guide(self, request: OrderRequest) -> tuple[str, LanguageModel]:
        """The n-gram model of the search."""
        name = request.model or next(iter(self.models))
        if name not in self.models:
            raise InputError(f"found the n-gram model {name!r}; open are {', '.join(self.models)}")
        return name, self.models[name]

    def _neural(self, request: OrderRequest) -> tuple[Neural | None, str]:
        """The neural model if it is to be used, and for what."""
        use = request.neural or (self.neural.use if self.neural else "off")
        if use == "off":
            return None, use
        if self.neural is None:
            raise InputError(f"found neural {use!r}; the server was started without --neural MODEL")
        return self.neural, use

    def _models_told(self, request: OrderRequest) -> list[str]:
        """The models whose costs are told."""
        known = [*self.models, *([self.neural.name] if self.neural else [])]
        if request.costs is None:
            is_used = request.system == GYRO and self._neural(request)[0] is not None
            return known if is_used else list(self.models)
        for name in request.costs:
            if name not in known:
                raise InputError(f"found {name!r} in costs; open are {', '.join(known)}")
        return request.costs

    @cached_property
    def _scorer(self) -> Scorer:
        neural = self.neural
        return Scorer(self.models, neural.name if neural else "", neural.model if neural else None)

    def _orders(self, found: Sequence[Hypothesis], models: Sequence[str], *, with_words: bool) -> list[Order]:
        costs = self._scorer.costs([each.tokens for each in found], models)
        ngram = [name for name in models if name in self.models] if with_words else []
        return [
            Order(
                tokens=list(each.tokens),
                text=detokenise(each.tokens),
                cost=round(each.cost, DIGITS),
                costs=under,
                words={name: self._scorer.word_costs(name, each.tokens) for name in ngram} or None,
            )
            for each, under in zip(found, costs, strict=True)
        ]

    def _reference(
        self, bag: Bag, found: Sequence[Hypothesis], models: Sequence[str], settings: Mapping[str, Any]
    ) -> Reference | None:
        """The order that was hoped for; of what gyro found, its cost is known too."""
        tokens = bag.reference
        if tokens is None:
            return None
        rank = next((rank for rank, each in enumerate(found, 1) if each.tokens == tokens), None)
        costs = self._scorer.costs([tokens], models)[0]
        cost = found[rank - 1].cost if rank else None
        if settings and not settings["phrase_cost"]:
            cost = self.models[settings["model"]].score(tokens)
            if settings["neural"] != "off" and self.neural:
                cost += settings["neural_weight"] * float(self.neural.model.costs([tokens])[0])
        if cost is not None and not math.isfinite(cost):
            cost = None
        told = None if cost is None else round(cost, DIGITS)
        return Reference(tokens=list(tokens), text=detokenise(tokens), cost=told, costs=costs, rank=rank)
