"""``np.argmin`` and ``np.argmax``: functions that are compiled once in a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import strides_of
from ljit.codegen.kernels.extreme_columns import ColumnSearch
from ljit.codegen.kernels.extreme_search import PLACE_ATTRIBUTES, Search
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.llvm.shared_code import shared_function
from ljit.types import INT, ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_place", "array_places"]


def array_place(e: Emitter, a: Native, *, greatest: bool) -> Native:
    """Where the first extremum of a vector is that is not empty; NaN is more extreme than all numbers."""
    assert isinstance(a.type, ArrayType)
    parts = array_parts(a)
    (stride,) = strides_of(e.f, a.type, parts)
    search = Search(a.type.dtype, greatest=greatest)
    function = shared_function(search.name, search.define)
    operands = (parts.data, parts.sizes[0], stride)
    return Native(INT, (e.f.call("i64", function, operands, PLACE_ATTRIBUTES),))


def array_places(e: Emitter, a: Native, into: Native, *, greatest: bool) -> None:
    """Store the places of the extrema along the first of two axes in a vector."""
    assert isinstance(a.type, ArrayType)
    parts = array_parts(a)
    operands = (parts.data, *parts.sizes, *strides_of(e.f, a.type, parts), array_parts(into).data)
    search = ColumnSearch(Search(a.type.dtype, greatest=greatest))
    function = shared_function(search.name, search.define)
    e.f.call("void", function, operands, "nounwind")
