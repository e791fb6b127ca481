"""GYRO: bags of words in, weighted lattices of fluent sentences out.

The whole of the short way:

    import gyro

    index = gyro.open_index("news.index")
    model = gyro.load_model("news.lm")
    orders = gyro.order("the dog saw the cat .".split(), index=index, model=model)
    print(orders.best().text, orders.nbest(10))
    orders.write("bag.fst")

and `order_many(bags, index=index, model=model, jobs=2)` for many bags; docs/python.md goes on from here.

The rooms, from what all stand on to what people see: text; index, lattice and score; run; search and report; pipeline
and cli. Beside them stand the packages grammars, lm, rescoring and comparison. At the root are

errors      mistakes of the user's and what commands make of them
files       files that are written whole or not at all; JSON of others
checksum    checksums of whole files; array_file reads NumPy's
notation    sizes, spans and tables as people write them
notice      what is said on standard error, and how much of it; bar how far the work is
pool        tasks in worker processes, each a worker; memory is what they may take
row_table   the hash table of compiled code
version     the version, in one place
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gyro.version import __version__

if TYPE_CHECKING:  # what type checkers and editors see; the same names as in _API
    from gyro.errors import GyroError, InputError
    from gyro.index.build import build_index
    from gyro.index.reader import TextIndex, open_index
    from gyro.lattice.lattice import Hypothesis, Lattice
    from gyro.run.outcome import Ordering, Outcome
    from gyro.search.generator import Generator, order
    from gyro.search.many import order_many
    from gyro.search.settings import Settings
    from gyro.text.annotated_bag import AnnotatedBag
    from gyro.text.bag import Bag
    from gyro.text.bag_file import read_bags
    from gyro.text.constrained_bag import constrain
    from gyro.text.corpus import Normalisation, read_sentences
    from lm.kenlm.estimate import estimate_model
    from lm.kenlm.model import KenlmModel, load_model

# Loaded on first use: a command that needs no lattice does not pay for OpenFst.
_API = {
    "AnnotatedBag": "gyro.text.annotated_bag",
    "Bag": "gyro.text.bag",
    "Generator": "gyro.search.generator",
    "GyroError": "gyro.errors",
    "Hypothesis": "gyro.lattice.strings",
    "InputError": "gyro.errors",
    "KenlmModel": "lm.kenlm.model",
    "Lattice": "gyro.lattice.lattice",
    "Normalisation": "gyro.text.corpus",
    "Ordering": "gyro.run.outcome",
    "Outcome": "gyro.run.outcome",
    "Settings": "gyro.search.settings",
    "TextIndex": "gyro.index.reader",
    "build_index": "gyro.index.build",
    "constrain": "gyro.text.constrained_bag",
    "estimate_model": "lm.kenlm.estimate",
    "load_model": "lm.kenlm.model",
    "open_index": "gyro.index.reader",
    "order": "gyro.search.generator",
    "order_many": "gyro.search.many",
    "read_bags": "gyro.text.bag_file",
    "read_sentences": "gyro.text.corpus",
}

# Written out, for type checkers and editors do not compute it.
__all__ = [
    "AnnotatedBag",
    "Bag",
    "Generator",
    "GyroError",
    "Hypothesis",
    "InputError",
    "KenlmModel",
    "Lattice",
    "Normalisation",
    "Ordering",
    "Outcome",
    "Settings",
    "TextIndex",
    "__version__",
    "build_index",
    "constrain",
    "estimate_model",
    "load_model",
    "open_index",
    "order",
    "order_many",
    "read_bags",
    "read_sentences",
]


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _API:
            raise AttributeError(f"module 'gyro' has no attribute {name!r}")
        globals()[name] = value = getattr(import_module(_API[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__} - {"Any", "TYPE_CHECKING", "annotations", "import_module"})
