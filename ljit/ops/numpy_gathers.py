"""Elements at places inside of loop nests: what `fuse` makes of ``a[index]`` where a nest needs its elements.

``a[index]`` of a vector, or ``m[rows, columns]`` with a vector for each axis, is a check of all places, in front, and
`np::elements_at`, of which a nest takes one element at a time (`np::element_at`): the only op in nests with an operand
that is an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.numpy_index_arrays import can_copy, check_inside, copy_at, infer_copy
from ljit.types import ANY, INT, ArrayType, ScalarType, TupleType, Type

__all__ = ["can_gather"]

_SAMPLES = ((np.arange(6.0), np.array([1, -3])),)


def can_gather(a: Type, index: Type) -> bool:
    """Whether nests can take the elements of ``a[index]`` one by one."""
    if not isinstance(a, ArrayType) or not can_copy(a, index):
        return False
    if isinstance(index, TupleType):
        return len(index.items) == a.ndim > 1 and all(map(_is_index, index.items))
    return _is_index(index) and a.ndim == 1


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
    all_axes = index[0] if len(index) == 1 else TupleType(index)
    found = infer_copy(a, all_axes) if isinstance(a, ArrayType) else None
    return ANY if found is None else found


def _lower_elements(e: Emitter, a: V, *index: V) -> V:
    return copy_at(e, a, index[0] if len(index) == 1 else e.tuple_make(index))


def _elements(a: Any, *index: Any) -> Any:
    return a[index]


declare(
    OpDef(
        "np::elements_at",
        Schema("(a, *index)"),
        "The elements of an array at places that were checked (`np::checked_places`), with an index for each axis.",
        infer=_infer_elements,
        evaluate=_elements,
        lower=_lower_elements,
        can_lower=_is_array,
        element_op="np::element_at",
        effects=Effect.READ | Effect.RAISE | Effect.ALLOC,
        samples=_SAMPLES,
    )
)


def _lower_element(e: Emitter, a: V, *index: V) -> V:
    return e.array_load(a, [_inside(e, i, n) for i, n in zip(index, e.array_sizes(a), strict=True)])


def _inside(e: Emitter, index: V, size: V) -> V:
    """The place from the start."""
    i = e.cast(index, INT)
    if index.type.dtype.kind == "i":
        i = e.select(e.compare("lt", i, e.const(INT, 0)), e.add(i, size), i)
    return i


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
