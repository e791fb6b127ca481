"""GYRO: bags of words in, weighted lattices of fluent sentences out.

The whole of the short way:

    import gyro

    index = gyro.open_index("news.index")
    model = gyro.load_model("news.lm")
    orders = gyro.order("the dog saw the cat .".split(), index=index, model=model)
    print(orders.best(), orders.nbest(10))
    orders.write("bag.fst")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gyro.version import __version__

# Loaded on first use: a command that needs no lattice does not pay for OpenFst.
_API = {
    "open_index": "gyro.index",
    "load_model": "lm.kenlm_model",
    "order": "gyro.generation",
    "Settings": "gyro.settings",
    "Generator": "gyro.generation",
    "Bag": "gyro.bag",
    "read_bags": "gyro.bag_file",
    "Lattice": "gyro.lattice",
    "GyroError": "gyro.errors",
}

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    if name in _API:
        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module 'gyro' has no attribute {name!r}")
