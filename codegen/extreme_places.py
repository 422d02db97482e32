"""``np.argmin`` and ``np.argmax``: functions that are compiled once in a process (`extreme_search.py`)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ljit.codegen.arrays import strides_of
from ljit.codegen.builder import address
from ljit.codegen.engine import CompiledModule, compile_ir, keep_forever
from ljit.codegen.extreme_search import MANY, ONE, PLACE_ATTRIBUTES, Search
from ljit.codegen.forms import Native, array_parts
from ljit.types import INT, ArrayType

if TYPE_CHECKING:
    import numpy as np

    from ljit.codegen.emitter import Emitter

__all__ = ["array_place", "array_places"]


def array_place(e: Emitter, a: Native, *, greatest: bool) -> Native:
    """Where the first extremum of a vector is that is not empty; NaN is more extreme than all numbers."""
    assert isinstance(a.type, ArrayType)
    parts = array_parts(a)
    (stride,) = strides_of(e.f, a.type, parts)
    function = address(_compiled(a.type.dtype, greatest=greatest).address)
    operands = (parts.data, parts.sizes[0], stride)
    return Native(INT, (e.f.call("i64", function.text, operands, PLACE_ATTRIBUTES),))


def array_places(e: Emitter, a: Native, into: Native, *, greatest: bool) -> None:
    """Store the places of the extrema along the first of two axes in a vector."""
    assert isinstance(a.type, ArrayType)
    parts = array_parts(a)
    operands = (parts.data, *parts.sizes, *strides_of(e.f, a.type, parts), array_parts(into).data)
    function = address(_compiled(a.type.dtype, greatest=greatest).symbol(MANY))
    e.f.call("void", function.text, operands, "nounwind")


@cache
def _compiled(dtype: np.dtype, *, greatest: bool) -> CompiledModule:
    """The functions for one dtype, compiled once in a process."""
    compiled = compile_ir(Search(dtype, greatest=greatest).source(), ONE, exports=[MANY])
    keep_forever(compiled)
    return compiled
