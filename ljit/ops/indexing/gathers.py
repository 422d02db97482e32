"""Elements at places inside of loop nests: what `fuse` makes of ``a[index]`` where a nest needs its elements.

``a[index]`` of a vector, or ``m[rows, columns]`` with an array of ints for each axis, is a check of all places, in
front, and `np::elements_at`, of which a nest takes one element at a time (`np::element_at`): the only op in nests with
an operand that is an array. So are rows of a matrix, ``m[rows]``: their columns are a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.rules import broadcast_shapes
from ljit.ops.indexing.index_arrays import can_copy, check_inside
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, SliceType, TupleType, Type

__all__ = ["can_gather", "infer_places", "is_of_columns"]

_SAMPLES = ((np.arange(6.0), np.array([1, -3])),)
_FULL = SliceType(NONE, NONE, NONE)


def can_gather(a: Type, index: Type) -> bool:
    """Whether nests can take the elements of ``a[index]`` one by one."""
    if not isinstance(a, ArrayType):
        return False
    if isinstance(index, TupleType):
        return is_of_columns(a, index) or infer_places(a, index) is not None
    if a.ndim == 1:
        return _is_index(index)
    return _is_index(index) and a.ndim == 2 and a.layout == "C" and can_copy(a, index)


def is_of_columns(a: ArrayType, index: Type) -> bool:
    """Whether it is ``m[:, columns]`` of a matrix, with a vector of ints."""
    items = index.items if isinstance(index, TupleType) else ()
    if a.ndim != 2 or len(items) != 2 or items[0] != _FULL:
        return False
    last = items[1]
    return isinstance(last, ArrayType) and last.ndim == 1 and _is_index(last)


def infer_places(a: ArrayType, index: Type) -> ArrayType | None:
    """The type of ``m[rows, columns]``: arrays of ints that broadcast. None for other indices."""
    items = index.items if isinstance(index, TupleType) else ()
    if not len(items) == a.ndim > 1 or not all(map(_is_index, items)):
        return None
    return _broadcast(a, items)


def _broadcast(a: ArrayType, index: Sequence[Type]) -> ArrayType | None:
    shape = broadcast_shapes(tuple(_shape_of(t) for t in index))
    return None if shape is None else ArrayType(a.dtype, shape)


def _shape_of(t: Type) -> tuple[int | None, ...]:
    return t.shape if isinstance(t, ArrayType) else (None,)


def _is_index(t: Type) -> bool:
    """Whether it is an array of ints whose elements lie at even distances."""
    if not isinstance(t, ArrayType) or not t.ndim or (t.ndim > 1 and t.layout != "C"):
        return False
    return t.dtype.kind in "iu" and t.dtype != np.uint64


def _lower_check(e: Emitter, index: V, a: V, *, axis: int) -> V:
    is_there = check_inside(e, a, e.array_sizes(a)[axis], index)
    e.bail_if(e.bit_not(is_there), "index out of bounds")
    sizes, strides = e.array_sizes(index), e.array_strides(index)
    return e.array_view(index, index.type, e.const(INT, 0), sizes, strides)


declare(
    OpDef(
        "np::checked_places",
        Schema("(index, a, *, axis)"),
        "The indices, as a view; leaves native code unless the axis of the array `a` has all these places.",
        infer=lambda index, _a, *, axis: index,
        evaluate=lambda index, _a, *, axis: index,  # taking the elements raises
        lower=_lower_check,
        keeps_shape=True,
        effects=Effect.READ | Effect.RAISE,
    )
)


def _is_array(a: Type, *_index: Type) -> bool:
    return isinstance(a, ArrayType)


def _infer_elements(a: Type, *index: Type) -> Type:
    found = _broadcast(a, index) if isinstance(a, ArrayType) else None
    return ANY if found is None else found


def _elements(a: Any, *index: Any) -> Any:
    return a[index]


for _name, _element_op, _doc in (
    ("elements_at", "element_at", "at places that were checked (`np::checked_places`)"),
    ("elements_inside", "element_inside", "of a `np::nonempty` array, whose places they check"),
):
    declare(
        OpDef(
            f"np::{_name}",
            Schema("(a, *index)"),
            f"Elements for nests {_doc}; an index for each axis.",
            infer=_infer_elements,
            evaluate=_elements,
            element_op=f"np::{_element_op}",
            effects=Effect.READ | Effect.RAISE | Effect.ALLOC,
            samples=_SAMPLES,
        )
    )


def _lower_nonempty(e: Emitter, a: V) -> V:
    zero, sizes = e.const(INT, 0), e.array_sizes(a)
    for size in sizes:
        e.bail_if(e.compare("eq", size, zero), "no elements")
    return e.array_view(a, a.type, zero, sizes, e.array_strides(a))


declare(
    OpDef(
        "np::nonempty",
        Schema("(a)"),
        "The array, as a view; leaves native code if it has no elements.",
        infer=lambda a: a,
        evaluate=lambda a: a,
        lower=_lower_nonempty,
        keeps_shape=True,
        effects=Effect.READ | Effect.RAISE,
    )
)


def _lower_element(e: Emitter, a: V, *index: V) -> V:
    return e.array_load(a, [_inside(e, i, n) for i, n in zip(index, e.array_sizes(a), strict=True)])


def _inside(e: Emitter, index: V, size: V) -> V:
    """The place from the start."""
    if index.type == INT:  # of a range
        return index
    i = e.cast(index, INT)
    if index.type.dtype.kind == "i":
        i = e.select(e.compare("lt", i, 0), e.add(i, size), i)
    return i


def _lower_element_inside(e: Emitter, a: V, *index: V) -> V:
    """Places outside are found for many elements together; until then the first element stands for those there."""
    places = []
    for i, size in zip(index, e.array_sizes(a), strict=True):
        place = _inside(e, i, size)
        outside = e.bit_or(e.compare("lt", place, 0), e.compare("ge", place, size))
        e.bail_if(outside, "index out of bounds", may_wait=True)
        places.append(e.select(outside, 0, place))
    return e.array_load(a, places)


def _infer_element(a: Type, *_index: Type) -> Type:
    return ScalarType(a.dtype) if isinstance(a, ArrayType) else ANY


declare(
    OpDef(
        "np::element_at",
        Schema("(a, *index)"),
        "The element of an array at a place that was checked: in nests.",
        infer=_infer_element,
        evaluate=_elements,
        lower=_lower_element,
        can_lower=_is_array,
        effects=Effect.READ,
        samples=((np.arange(6.0), np.int64(-2)),),
    )
)
declare(
    OpDef(
        "np::element_inside",
        Schema("(a, *index)"),
        "The element of an array, which has some, at a place that is checked here: in nests.",
        infer=_infer_element,
        evaluate=_elements,
        lower=_lower_element_inside,
        can_lower=_is_array,
        effects=Effect.READ | Effect.RAISE,
        samples=((np.arange(6.0), np.int64(-2)),),
    )
)
