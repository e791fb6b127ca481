"""GYRO: bags of words in, weighted lattices of fluent sentences out.

The whole of the short way:

    import gyro

    index = gyro.open_index("news.index")
    model = gyro.load_model("news.lm")
    orders = gyro.order("the dog saw the cat .".split(), index=index, model=model)
    print(orders.best(), orders.nbest(10))
    orders.write("bag.fst")

The rooms, from what all stand on to what people see: text; index, lattice and score; run; search and report; pipeline
and cli. Beside them stand the packages grammars, lm, rescoring and comparison. At the root are

errors      mistakes of the user's and what commands make of them
files       files that are written whole or not at all; JSON of others
checksum    checksums of whole files; array_file reads NumPy's
notation    sizes, spans and tables as people write them
notice      what is said on standard error, and how much of it
pool        tasks in worker processes, each a worker; memory is what they may take
row_table   the hash table of compiled code
version     the version, in one place
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gyro.version import __version__

# Loaded on first use: a command that needs no lattice does not pay for OpenFst.
_API = {
    "open_index": "gyro.index.reader",
    "load_model": "lm.kenlm.model",
    "order": "gyro.search.generator",
    "Settings": "gyro.search.settings",
    "Generator": "gyro.search.generator",
    "Bag": "gyro.text.bag",
    "read_bags": "gyro.text.bag_file",
    "Lattice": "gyro.lattice.lattice",
    "GyroError": "gyro.errors",
}

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    if name in _API:
        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module 'gyro' has no attribute {name!r}")
