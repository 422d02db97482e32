"""Twins: decorated functions in the place of plain ones that decorated functions call.

A plain function that is not inlined (it is large, or calls itself) is called through its twin: it is profiled,
compiled and called natively as if it had been decorated. Its name, and callers that are not decorated, keep
the plain function. Functions that functions make have one twin together, which gets what is in their cells in front
of its arguments.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable

from ljit.held import MadeFunctions
from ljit.runtime.options import TWIN_OPTIONS, Options

__all__ = ["function_made", "twin_of"]

#: by the function's address, which is its own as long as the twin lives
_twins: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()


def twin_of(
    fn: types.FunctionType, make: Callable[[types.FunctionType, Options], object]
) -> object:
    """Give the twin of a plain function: there is one at a time."""
    twin = _twins.get(id(fn))
    if twin is None:
        twin = _twins[id(fn)] = make(fn, TWIN_OPTIONS)
    return twin


def function_made(made: MadeFunctions) -> types.FunctionType | None:
    """Give the function in the place of those that functions make: with what is in their cells in front; None: none."""
    from ljit.frontend.lifting.made_functions import with_cells_as_parameters

    return with_cells_as_parameters(made.code, made.variables)
