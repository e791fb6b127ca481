"""How the functions of the search are compiled: lean, and each once.

outer           compile a function that Python calls too
inner           let compiled code call a function
inline          the same, for what is done for every edge that is scored
INNER, INLINE   the options of these, for the functions that a grammar gives

Python calls an inner function as it stands. In compiled code it has no way in from Python and is not in numba's cache:
both take most of the time of compiling a small function, and the outer ones have all inner ones in them. A call with
hundreds of arrays takes longer than what a short function does: inline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.core.typing.templates import infer_global
from numba.extending import models, register_model

from gyro.compilation import compiled

Function = TypeVar("Function", bound=Callable[..., Any])

# The functions make no arrays, so they need not count who refers to one: counting took most of the search's time.
_LEAN: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}
INNER: Any = {**_LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINE: Any = {**INNER, "forceinline": True}

_KEPT: list[Any] = []  # compiled functions, of which numba keeps only weak references


class _Compiled(types.Dispatcher):
    """The type of a compiled function, which is not compiled anew for each constant that it is called with."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return super().get_call_type(context, tuple(map(types.unliteral, args)), kws)


register_model(_Compiled)(models.OpaqueModel)


def inner(function: Function) -> Function:
    """Let compiled code call a function."""
    return _register(function, INNER)


def inline(function: Function) -> Function:
    """Let compiled code call a function, by putting it into the place of the call."""
    return _register(function, INLINE)


def _register(function: Function, options: Any) -> Function:
    _KEPT.append(njit(**options)(function))
    infer_global(function, _Compiled(_KEPT[-1]))  # type: ignore[no-untyped-call]
    return function


def outer(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls too."""
    # What a grammar overloads goes in although nobody imports it.
    return compiled(rooms=("comparison.best_first",), **_LEAN)(function)
