from __future__ import annotations

import gc
import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import GyroError, InputError, ResourceError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.outcome import Ordering, Outcome
from gyro.search.generator import Generator, order
from gyro.search.many import _pack, _unpack, order_many
from gyro.search.network import OutOfSteps
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from tests.conftest import World
from tests.gyro.lattice.samples import small_lattice

BAGS = ["we must keep our promises .", "the people of the world", "peace", "", "we we we will will"]


def bags_of(world: World, n: int = 30) -> list[Bag]:
    short = [s for s in world.held_out if len(s) <= 12][:n]
    return [Bag(tuple(sentence), id=f"s{k}", reference=tuple(sentence)) for k, sentence in enumerate(short)]


def facts(ordering: Ordering) -> tuple[Any, ...]:
    return (ordering.outcome.to_json(), ordering.lattice.words, [a.tolist() for a in ordering.lattice.to_arrays()])


def collect(orders: Iterator[Ordering], into: list[Ordering]) -> None:
    for ordering in orders:
        into.append(ordering)


Children = Callable[[], list[psutil.Process]]


@pytest.fixture
def children() -> Children:
    """The child processes that have come since the test began: other tests may have some that stay, like a Java."""
    before = set(psutil.Process().children())
    return lambda: [process for process in psutil.Process().children() if process not in before]


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "changes", [{}, {"beta": 2.0, "phrase_cost": "phrase=1"}, {"algorithm": "pruned-parsing"}, {"max_tokens": 5}]
)
def test_the_same_as_one_by_one(world: World, jobs: int, changes: dict[str, Any]) -> None:
    bags = bags_of(world, 12)
    one_by_one = [order(bag, index=world.index, model=world.model, **changes) for bag in bags]
    many = list(order_many(iter(bags), index=world.index, model=world.model, jobs=jobs, **changes))
    assert list(map(facts, many)) == list(map(facts, one_by_one))
    assert [o.outcome for o in many] == [o.outcome for o in one_by_one]
    assert [o.nbest(20) for o in many] == [o.nbest(20) for o in one_by_one]
    assert [o.lattice.to_bytes() for o in many] == [o.lattice.to_bytes() for o in one_by_one]


@pytest.mark.parametrize("jobs", [1, 2])
def test_bags_may_be_lists_of_tokens(world: World, jobs: int) -> None:
    given = [text.split() for text in BAGS]
    many = order_many((iter(tokens) for tokens in given), index=world.index, model=world.model, jobs=jobs)
    one_by_one = [order(tokens, index=world.index, model=world.model) for tokens in given]
    assert [o.best() for o in many] == [o.best() for o in one_by_one]
    assert list(order_many([], index=world.index, model=world.model, jobs=jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_bags_are_taken_as_they_are_needed(world: World, jobs: int, children: Children) -> None:
    """From a generator without an end; no more than two bags a process are read ahead."""
    taken: list[int] = []

    def bags() -> Iterator[list[str]]:
        while True:
            taken.append(len(taken))
            yield BAGS[len(taken) % len(BAGS)].split()

    orders = order_many(bags(), index=world.index, model=world.model, jobs=jobs)
    assert taken == []
    for asked in range(1, 8):
        next(orders)
        assert asked <= len(taken) <= asked - 1 + 2 * jobs
    orders.close()  # type: ignore[attr-defined]
    assert children() == []


@pytest.mark.parametrize("how", ["break", "close", "forget", "raise", "interrupt"])
def test_no_process_is_left_when_the_caller_stops(world: World, how: str, children: Children) -> None:
    orders = order_many(iter(bags_of(world)), index=world.index, model=world.model, jobs=2)
    next(orders)
    assert len(children()) == 2
    if how == "break":
        for _ in orders:
            break
        del orders, _
    elif how == "close":
        orders.close()  # type: ignore[attr-defined]
    elif how == "forget":
        del orders
    else:
        kind = ValueError if how == "raise" else KeyboardInterrupt
        with pytest.raises(kind):
            raise_from(orders, kind)
        del orders
    gc.collect()
    assert children() == []


def raise_from(orders: Iterator[Ordering], kind: type[BaseException]) -> None:
    for _ in orders:
        if kind is KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C reaches the parent alone
        raise kind


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_comes_in_its_place(world: World, jobs: int, children: Children) -> None:
    bad = AnnotatedBag(("a", "b"), id="bad", heads=(1, -1))
    bags: list[Bag] = [*bags_of(world, 5), bad, *bags_of(world, 20)]
    with pytest.raises(InputError) as alone:
        order(bad, index=world.index, model=world.model)
    got: list[Ordering] = []
    with pytest.raises(InputError) as raised:
        collect(order_many(bags, index=world.index, model=world.model, jobs=jobs), got)
    assert [ordering.outcome.id for ordering in got] == [bag.id for bag in bags[:5]]
    assert (type(raised.value), str(raised.value)) == (type(alone.value), str(alone.value))
    assert children() == []


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("failing", [0, 1, 9])
def test_an_error_in_reading_comes_after_what_was_read(
    world: World,
    jobs: int,
    failing: int,
    children: Children,
) -> None:
    def bags() -> Iterator[Iterable[str]]:
        yield from bags_of_tokens[:failing]
        raise KeyError("in the caller's own code")

    bags_of_tokens = [bag.tokens for bag in bags_of(world, 10)]
    got: list[Ordering] = []
    with pytest.raises(KeyError, match="in the caller's own code"):
        collect(order_many(bags(), index=world.index, model=world.model, jobs=jobs), got)
    assert [tuple(sorted(ordering.best().tokens)) for ordering in got] == bags_of_tokens[:failing]
    with pytest.raises(InputError, match="found the string 'a bag'"):
        list(order_many([["b", "a"], "a bag"], index=world.index, model=world.model, jobs=jobs))
    assert children() == []


@pytest.mark.parametrize("kind", [GyroError, InputError, ResourceError, OutOfSteps])
def test_errors_keep_their_kind(kind: type[GyroError], world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Generator, bag: Bag) -> Ordering:
        raise kind("found x; y is allowed")

    ordered = Generator.order
    monkeypatch.setattr(Generator, "order", lambda self, bag: (ordered if bag.tokens == ("a",) else refuse)(self, bag))
    with pytest.raises(kind) as raised:
        list(order_many([["b"]], index=world.index, model=world.model, jobs=2))
    assert type(raised.value) is kind
    assert str(raised.value) == "found x; y is allowed"


def test_a_process_that_is_killed_ends_the_work_in_a_line(world: World, children: Children) -> None:
    orders = order_many(iter(bags_of(world)), index=world.index, model=world.model, jobs=2)
    next(orders)
    for child in children():
        child.kill()
    with pytest.raises(ResourceError, match="a process was killed"):
        list(orders)
    assert children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_mistakes_are_told_at_once(world: World, jobs: int) -> None:
    with pytest.raises(InputError, match="found 'we must' as bags; a list of bags is allowed"):
        order_many("we must", index=world.index, model=world.model, jobs=jobs)
    with pytest.raises(InputError, match="found 0 jobs"):
        order_many([], index=world.index, model=world.model, jobs=0)
    with pytest.raises(InputError, match="found the algorithm 'fast'"):
        order_many([], index=world.index, model=world.model, jobs=jobs, algorithm="fast")


def test_several_streams_at_once_and_in_threads_do_not_mix(world: World, children: Children) -> None:
    bags = bags_of(world, 12)
    expected = [order(bag, index=world.index, model=world.model).best() for bag in bags]
    streams = [order_many(bags, index=world.index, model=world.model, jobs=2) for _ in range(3)]
    together = list(zip(*streams, strict=True))
    assert [[o.best() for o in some] for some in together] == [[best] * 3 for best in expected]

    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        found[number] = [o.best() for o in order_many(bags, index=world.index, model=world.model, jobs=2)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(3), expected)
    assert children() == []


def test_a_stream_may_be_begun_in_a_thread_that_ends(world: World, children: Children) -> None:
    bags = bags_of(world, 12)
    orders = order_many(bags, index=world.index, model=world.model, jobs=2)
    found: list[Ordering] = []
    thread = threading.Thread(target=lambda: found.append(next(orders)))
    thread.start()
    thread.join()
    found.extend(orders)
    assert [o.best() for o in found] == [order(bag, index=world.index, model=world.model).best() for bag in bags]
    assert children() == []


STRINGS = st.dictionaries(st.text("ab日", max_size=4), st.floats(0, 50, width=32), max_size=5)


def lattice_of(strings: dict[str, float]) -> Lattice:
    return Lattice.from_strings(("a", "b", "日"), [Hypothesis(tuple(text), cost) for text, cost in strings.items()])


@settings(max_examples=40)
@given(lattice=STRINGS.map(lattice_of) | st.just(small_lattice()), cost=st.floats(allow_nan=False) | st.none())
def test_orderings_survive_the_way_between_processes(lattice: Lattice, cost: float | None) -> None:
    outcome = Outcome.ordered(Bag(lattice.words, id="ä\n7"), 1.25, lower_bound=cost, proved=True)
    before = Ordering(lattice, outcome)
    after = _unpack(json.loads(json.dumps(_pack(before))))
    assert after.outcome == before.outcome
    assert after.lattice.words == lattice.words
    assert after.lattice.to_bytes() == lattice.to_bytes()
    for ours, theirs in zip(after.lattice.to_arrays(), lattice.to_arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
