"""Elements at places inside of loop nests: what `fuse` makes of ``a[index]`` where a nest needs its elements.

``a[index]`` of a vector is a check of all places, in front, and `np::elements_at`, of which a nest takes one element at
a time (`np::element_at`): the only op in nests with an operand that is an array.
"""

from __future__ import annotations

import operator

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.numpy_index_arrays import can_copy, copy_at, infer_copy
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__ = ["can_gather"]

_SAMPLES = ((np.arange(6.0), np.array([1, -3])),)


def can_gather(a: Type, index: Type) -> bool:
    """Whether nests can take the elements of ``a[index]`` one by one."""
    if not isinstance(a, ArrayType) or not isinstance(index, ArrayType) or a.ndim != 1:
        return False
    is_plain = index.ndim > 0 and (index.ndim == 1 or index.layout == "C")
    are_ints = index.dtype.kind in "iu" and index.dtype != np.uint64
    return is_plain and are_ints and can_copy(a, index)


def _lower_check(e: Emitter, index: V, a: V) -> V:
    e.bail_if(e.bit_not(e.are_inside(a, index)), "index out of bounds")
    sizes, strides = e.array_sizes(index), e.array_strides(index)
    return e.array_view(index, index.type, e.const(INT, 0), sizes, strides)


declare(
    OpDef(
        "np::checked_places",
        Schema("(index, a)"),
        "The indices, as a view; leaves native code unless the vector `a` has all these places.",
        infer=lambda index, _a: index,
        evaluate=lambda index, _a: index,  # taking the elements raises
        lower=_lower_check,
        keeps_shape=True,
        effects=Effect.READ | Effect.RAISE,
    )
)


def _is_array(a: Type, _index: Type) -> bool:
    return isinstance(a, ArrayType)


def _infer_elements(a: Type, index: Type) -> Type:
    found = infer_copy(a, index) if isinstance(a, ArrayType) else None
    return ANY if found is None else found


declare(
    OpDef(
        "np::elements_at",
        Schema("(a, index)"),
        "The elements of a vector at places that were checked (`np::checked_places`).",
        infer=_infer_elements,
        evaluate=operator.getitem,
        lower=copy_at,
        can_lower=_is_array,
        element_op="np::element_at",
        effects=Effect.READ | Effect.RAISE | Effect.ALLOC,
        samples=_SAMPLES,
    )
)


def _lower_element(e: Emitter, a: V, index: V) -> V:
    (size,), i = e.array_sizes(a), e.cast(index, INT)
    if index.type.dtype.kind == "i":
        i = e.select(e.compare("lt", i, e.const(INT, 0)), e.add(i, size), i)
    return e.array_load(a, [i])


def _infer_element(a: Type, _index: Type) -> Type:
    return ScalarType(a.dtype) if isinstance(a, ArrayType) else ANY


declare(
    OpDef(
        "np::element_at",
        Schema("(a, index)"),
        "The element of a vector at a place that was checked: in nests.",
        infer=_infer_element,
        evaluate=operator.getitem,
        lower=_lower_element,
        can_lower=_is_array,
        effects=Effect.READ,
        samples=((np.arange(6.0), np.int64(-2)),),
    )
)
