"""From a bag to its lattice: phrases, grammar or search, fallback rungs, and long sentences piece by piece.

order      one bag, in one call
Generator  an index, a model and settings, checked once and used for many bags: GYRO as a system
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from os import PathLike
from typing import Any, NamedTuple, Unpack

from grammars.phrase.closure import GRAIN, PhraseCosts, parse_phrase_costs, phrase_closure
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet, find_phrases
from gyro.index.reader import TextIndex
from gyro.lattice.automaton import WordAutomaton, intersect
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.batch import Summary, run_batch
from gyro.run.outcome import EMPTY, RUNGS, Ordering, Outcome, Search
from gyro.search import rtn
from gyro.search.constraint import checked_plan, known_bag, no_order
from gyro.search.exact import NBest, search, search_nbest
from gyro.search.network import Network, OutOfSteps, RtnResult
from gyro.search.piece import MOST_ARCS, cut, thin, without_model
from gyro.search.plan import Plan, make_plan
from gyro.search.rung import Rung, find_rungs, grammar_of
from gyro.search.settings import Changes, Settings, changed
from gyro.search.work import MILLION, Work
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag, as_bag
from gyro.text.corpus import check_normalisation
from lm.model import LanguageModel


class Allowance(NamedTuple):
    """What a bag may take, and how many arcs its lattice may have (0: as many as β asks for)."""

    work: Work
    most_arcs: int


class Searched(NamedTuple):
    """What a try found, and how."""

    lattice: Lattice
    search: Search


class Generator:
    """Orders bags with one index, one model and one choice of settings.

    Rules of one word need no index. `vouched` says that index and model are of text that was split alike, where this
    is not recorded.
    """

    def __init__(
        self, index: TextIndex | None, model: LanguageModel, settings: Settings | None = None, *, vouched: bool = False
    ) -> None:
        self.index = index
        self.model = model
        self.settings = settings or Settings()
        self._costs: PhraseCosts = parse_phrase_costs(self.settings.phrase_cost)
        longest = self.settings.rule_lengths[1]
        if index is None:
            if longest > 1 or self._costs.count_weight:
                what = f"rules of up to {longest} words" if longest > 1 else "phrase costs that go by counts"
                raise InputError(f"{what} need an index (--index DIR); rules of one word need none (--rules 1)")
            return
        check_normalisation(index.normalisation, "the index", model.normalisation, "the model", vouched=vouched)
        if longest > index.order:
            raise InputError(f"rules of up to {longest} words need an index of that order; found order {index.order}")

    def __repr__(self) -> str:
        return f"Generator({self.index!r}, {self.model!r}, {self.settings!r})"

    def signature(self) -> dict[str, Any]:
        """How the results are made: all that decides them, but for the limits that stand behind."""
        limits = ("time_limit", "memory_limit")
        normalisation = self.model.normalisation if self.index is None else self.index.normalisation
        return {
            **{name: value for name, value in self.settings.to_json().items() if name not in limits},
            "normalisation": None if normalisation is None else normalisation.to_json(),
            "index": None if self.index is None else self.index.signature,
            "model": self.model.signature,
            "model_order": self.model.order,
        }

    def run(self, bags: Iterable[Bag], folder: str | PathLike[str], **options: Any) -> Summary:
        """Order many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""
        return run_batch(
            self.checked(bags),
            folder,
            lambda _number, bag: self.order(bag),
            settings=self.signature(),
            features=self.features,
            verify=self.verify,
            **self.limits(),
            **options,
        )

    def checked(self, bags: Iterable[Bag]) -> Iterator[Bag]:
        """The same bags, whose constraints are known; compiled code is loaded here, so that no worker pays for it."""
        rest = (known_bag(bag, self.settings) for bag in bags)
        first = list(islice(rest, 1))
        for bag in first:
            self.order(Bag(bag.tokens[:3]))
            if make_plan(bag) is not None:
                self.order(AnnotatedBag(bag.tokens[:1], optional=(0,)))
        return chain(first, rest)

    def limits(self) -> dict[str, Any]:
        """What a worker may take: the search keeps its own limit of time, and then gives the best order so far."""
        settings = self.settings
        behind = settings.time_limit * 1.5 + 5 if settings.is_search else settings.time_limit
        return {"time_limit": behind, "memory_limit": settings.memory_bytes}

    def verify(self) -> None:
        """Compare index and model with the checksums of their making."""
        if self.index is not None:
            self.index.verify()
        self.model.verify()

    def run_text(self, folder: str | PathLike[str]) -> str:
        """The summary of a run says all there is."""
        return ""

    def features(self, _number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        """The columns of n-best lists: what the model says and, where phrases cost something, what these cost."""
        if self._costs.is_zero:
            return [{"LM": 0.0 - hypothesis.cost} for hypothesis in hypotheses]
        costs = [self.model.score(hypothesis.tokens) for hypothesis in hypotheses]
        return [
            {"LM": 0.0 - cost, "PHRASES": 0.0 - round(max(0.0, hypothesis.cost - cost), 3)}
            for hypothesis, cost in zip(hypotheses, costs, strict=True)
        ]

    def order(self, bag: Bag) -> Ordering:
        """Order one bag; a long one that has a reference is cut into pieces, ordered one by one and joined.

        One with constraints is never cut, for they may reach from piece to piece.
        """
        plan = checked_plan(bag, self.settings)
        settings, limit = self.settings, self.settings.max_tokens
        if limit and len(bag) > limit and bag.reference is not None and plan is None:
            return self._order_pieces(bag, cut(bag.reference, limit))
        if limit and len(bag) > limit and not settings.is_search:
            raise InputError(
                f"bag {bag.id!r} has {len(bag)} tokens and no reference to cut it by; "
                f"{settings.algorithm} takes at most {limit} (--max-tokens)"
            )
        allowance = Allowance(self._work(), settings.max_arcs)
        lattice, search = self._order_whole(bag, self.model.acceptor(bag.words), allowance, plan)
        if not len(bag):
            search = search.model_copy(update={"rung": EMPTY})
        return Ordering(lattice, Outcome.ordered(bag, **search.to_json()))

    def _work(self, parts: int = 1) -> Work:
        """What a bag may take from now on, or one of the parts that it was cut into."""
        return Work(self.settings.steps * MILLION / parts, self.settings.time_limit / parts)

    def _order_whole(
        self, bag: Bag, acceptor: WordAutomaton, allowance: Allowance, plan: Plan | None = None
    ) -> Searched:
        phrases = self.phrases(bag if plan is None else plan.uses())
        rungs = list(find_rungs(bag, phrases, self.settings))
        for number, rung in enumerate(rungs, 1):
            if self.settings.is_search:
                found = self._search(bag, rung, acceptor, allowance, plan)
            else:
                # Others can follow: one that is too much for its share of the steps is left.
                is_last = number == len(rungs)
                work = allowance.work.share(1.0 if is_last else rung.share)
                try:
                    found = self._expand(bag, rung, acceptor, work)
                except OutOfSteps as error:
                    if is_last:
                        steps = allowance.work.steps / MILLION
                        raise OutOfSteps(f"more than {steps:.0f} million steps (--steps)") from error
                    found = None
                allowance.work.take(work.taken)
            if found is not None:
                return Searched(found.lattice, found.search.model_copy(update={"phrases": len(phrases)}))
        raise no_order(bag, plan)

    def phrases(self, bag: Bag) -> PhraseSet:
        """The phrases of the bag, as long as its rules may be; without an index its words."""
        if self.index is None:
            return PhraseSet.from_phrases(bag.words, {(word,): 0 for word in bag.words})
        return find_phrases(self.index, bag, self.settings.rule_lengths[1])

    def nbest(self, bag: Bag, n: int) -> NBest:
        """The n cheapest orders of a whole bag, however far from the best, and whether that is proved."""
        plan = checked_plan(bag, self.settings)
        settings = self.settings
        acceptor = self.model.acceptor(bag.words)
        phrases = self.phrases(bag if plan is None else plan.uses())
        work = self._work()
        for rung in find_rungs(bag, phrases, settings):
            found = search_nbest(
                self._automaton(bag, rung, acceptor),
                bag.counts,
                n,
                beam=settings.beam,
                work=work,
                memory_limit=settings.memory_bytes * 3 // 4,
                plan=plan,
            )
            if found.hypotheses:
                return found
        raise no_order(bag, plan)

    def _automaton(self, bag: Bag, rung: Rung, acceptor: WordAutomaton) -> WordAutomaton:
        """P* ∩ G_Ω; G_Ω alone where every word is a rule and rules are free."""
        if self._costs.is_zero and len(rung.phrases.grams[0]) == len(bag.words):
            return acceptor
        return intersect(phrase_closure(rung.phrases, costs=self._costs, overlap=self.settings.overlap), acceptor)

    def _search(
        self, bag: Bag, rung: Rung, acceptor: WordAutomaton, allowance: Allowance, plan: Plan | None
    ) -> Searched | None:
        settings = self.settings
        automaton = self._automaton(bag, rung, acceptor)
        result = search(
            automaton,
            bag.counts,
            beta=rung.beta,
            max_arcs=allowance.most_arcs or None,
            beam=settings.beam,
            work=allowance.work,
            memory_limit=settings.memory_bytes * 3 // 4,
            exact=settings.algorithm == "exact",
            plan=plan,
        )
        lattice = result.lattice()
        if lattice is None:
            return None
        if allowance.most_arcs and lattice.num_arcs > allowance.most_arcs:
            lattice = thin(lattice, result.beta, allowance.most_arcs)
        told: dict[str, Any] = {}
        if not self._costs.is_zero:
            told["grain"] = GRAIN if automaton.is_deterministic else 0.0
        if result.timed_out:
            told["timed_out"] = True
        facts = Search(
            rung=rung.name,
            proved=result.proved,
            tokens=len(bag),
            cost=round(result.cost, 4),
            lower_bound=round(result.lower_bound, 4),
            beta=round(result.beta, 4),
            nodes=lattice.num_states,
            arcs=lattice.num_arcs,
            **told,
        )
        return Searched(lattice, facts)

    def network(self, bag: Bag) -> Network:
        """The RTN of a bag by the first rules that cover it; that of `full` where the settings ask for no other."""
        if isinstance(bag, AnnotatedBag) and bag.constraints:
            raise InputError(f"found the constraint {bag.constraints[0]}, which the network of a bag does not know")
        phrases = self.phrases(bag)
        rung = next(find_rungs(bag, phrases, self.settings))
        return self._run_rtn(bag, rung, self.model.acceptor(bag.words), self._work()).rtn

    def _run_rtn(self, bag: Bag, rung: Rung, acceptor: WordAutomaton, work: Work) -> RtnResult:
        settings = self.settings
        algorithm = rtn.ALGORITHMS[settings.grammar]["full" if settings.is_search else settings.algorithm]
        return algorithm(
            grammar_of(bag, rung.phrases, settings, self._costs),
            acceptor,
            inner=self.model.acceptor(bag.words, start=False) if settings.cell_start == "anywhere" else None,
            first_row=settings.first_row,
            beta=rung.beta,
            work=work,
        )

    def _expand(self, bag: Bag, rung: Rung, acceptor: WordAutomaton, work: Work) -> Searched | None:
        result = self._run_rtn(bag, rung, acceptor, work)
        if result.lattice is None:
            return None
        facts = Search(
            rung=rung.name,
            # Full expansion looks at every string of the grammar, so its best is the grammar's best.
            proved=self.settings.algorithm == "full",
            tokens=len(bag),
            cost=round(result.lattice.best().cost, 4),
            arcs=result.lattice.num_arcs,
            cells=result.cells,
            rules=result.rules,
            grain=None if self._costs.is_zero else GRAIN,
        )
        return Searched(result.lattice, facts)

    def _order_pieces(self, bag: Bag, pieces: list[tuple[str, ...]]) -> Ordering:
        """Order each piece by itself, join the lattices, and apply the model anew, so that it sees over the joints.

        With `joints` none, the pieces keep their costs, and the model sees no joint.
        """
        settings = self.settings
        most_arcs = min(settings.max_arcs or MOST_ARCS, MOST_ARCS)
        searches, parts = [], []
        for number, piece in enumerate(pieces):
            allowance = Allowance(self._work(len(pieces)), most_arcs)
            part = Bag(piece, id=f"{bag.id}.{number + 1}")
            acceptor = self.model.acceptor(part.words, start=number == 0, end=number == len(pieces) - 1)
            lattice, search = self._order_whole(part, acceptor, allowance)
            searches.append(search)
            parts.append(thin(lattice, settings.beta, most_arcs))
            if settings.joints == "model":
                parts[-1] = without_model(parts[-1], acceptor, has_other_costs=not self._costs.is_zero)
        joined = Lattice.join(parts)
        if settings.joints == "model":
            joined = joined.apply(self.model.acceptor(bag.words))
        joined = joined.prune(settings.beta).minimal()
        outcome = Outcome.ordered(
            bag,
            cost=round(joined.best().cost, 4),
            rung=max((str(search.rung) for search in searches), key=RUNGS.index),
            proved=False,
            tokens=len(bag),
            arcs=joined.num_arcs,
            pieces=searches,
        )
        return Ordering(joined, outcome)


def order(
    bag: Bag | Iterable[str],
    *,
    index: TextIndex,
    model: LanguageModel,
    settings: Settings | None = None,
    **changes: Unpack[Changes],
) -> Ordering:
    """Order one bag: `order("a b c".split(), index=index, model=model, algorithm="beam")`.

    `changes` are fields of Settings by name, here and in `settings`.
    """
    return Generator(index, model, changed(settings, changes)).order(as_bag(bag))
