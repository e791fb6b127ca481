"""Many bags in memory, in worker processes, their orders as they come.

order_many     the orderings of a stream of bags, in its order
stream_orders  the same of any system

Bags and what was found go between the processes as JSON, a lattice as the bytes of OpenFst. Batches on the disk, with
limits for each bag and a place to go on from, are Generator.run.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Unpack

from gyro.errors import GyroError, InputError, MachineError, ResourceError, machine_fault
from gyro.index.reader import TextIndex
from gyro.lattice.lattice import Lattice
from gyro.pool import stream_tasks
from gyro.run.outcome import Ordering, Outcome
from gyro.run.system import System
from gyro.search.generator import Generator
from gyro.search.network import OutOfSteps
from gyro.search.settings import Changes, Settings, changed
from gyro.text.bag import Bag, as_bag
from gyro.text.bag_file import bag_to_record, record_to_bag
from lm.model import LanguageModel

# What an order may raise, by name: it is raised anew where the order was asked for.
ERRORS: dict[str, type[GyroError]] = {
    kind.__name__: kind for kind in (GyroError, InputError, ResourceError, OutOfSteps)
}


def order_many(
    bags: Iterable[Bag | Iterable[str]],
    *,
    index: TextIndex,
    model: LanguageModel,
    jobs: int = 1,
    settings: Settings | None = None,
    **changes: Unpack[Changes],
) -> Iterator[Ordering]:
    """Order bags in so many processes: `for orders in order_many(bags, index=index, model=model, jobs=2)`.

    What comes is what `order` gives for each bag, in their order and as soon as it is there. Bags are taken as they are
    needed, two a process ahead, so that they may come from a generator without an end. An error, of a bag or in
    reading them, is raised in its place and ends the work, as does closing the iterator or leaving it behind.
    """
    return stream_orders(Generator(index, model, changed(settings, changes)), bags, jobs=jobs)


def stream_orders(system: System, bags: Iterable[Bag | Iterable[str]], *, jobs: int = 1) -> Iterator[Ordering]:
    """The same of any system, as one with a neural model: `stream_orders(NeuralGenerator(…), bags, jobs=2)`."""
    if jobs < 1:
        raise InputError(f"found {jobs} jobs; 1 or more are allowed")
    if isinstance(bags, str | Bag):
        raise InputError(f"found {bags!r:.60} as bags; a list of bags is allowed, or of lists of tokens")
    if jobs == 1:
        return (system.order(as_bag(bag)) for bag in bags)
    return _in_processes(system, bags, jobs)


def _in_processes(system: System, bags: Iterable[Bag | Iterable[str]], jobs: int) -> Iterator[Ordering]:
    failures: list[Exception] = []

    def records() -> Iterator[dict[str, Any]]:
        """An error in reading the bags ends them; it is raised when what was read before has been given."""
        try:
            for bag in bags:
                yield bag_to_record(as_bag(bag))
        except Exception as error:
            failures.append(error)

    def work(record: dict[str, Any]) -> list[Any]:
        try:
            return _pack(system.order(record_to_bag(record, 0)))
        except GyroError as error:
            if isinstance(error, MachineError) or machine_fault(error):
                raise  # the pool tells such
            return [type(error).__name__, str(error)]

    # Compiled code and models are loaded here, and not in every process. Systems tell outcomes of a kind of their own.
    kind = type(system.order(Bag(("a",))).outcome)
    for packed in stream_tasks(records(), work, jobs=jobs):
        yield _unpack(packed, kind)
    for failure in failures:
        raise failure


def _pack(ordering: Ordering) -> list[Any]:
    """The JSON value of an ordering."""
    lattice = ordering.lattice
    return [ordering.outcome.to_json(), lattice.words, b64encode(lattice.to_bytes()).decode()]


def _unpack(packed: list[Any], outcome: type[Outcome] = Outcome) -> Ordering:
    """The ordering of a value of _pack, or the error that is told in its place."""
    if len(packed) == 2:
        kind, message = packed
        raise ERRORS.get(kind, GyroError)(message)
    facts, words, data = packed
    return Ordering(Lattice.from_bytes(words, b64decode(data)), outcome.from_json(facts, "a worker process", 1))
