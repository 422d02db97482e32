"""``a[mask]`` and ``a[index]`` with one array as index: native copies of elements in C order, and stores.

Everything is checked natively; where NumPy raises, the code leaves. Arrays in another order than C are NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.numpy_convert import can_store, store_can_bail, store_convert, store_scalar
from ljit.ops.numpy_rules import element_of
from ljit.types import ArrayType, Type

__all__ = ["can_copy", "can_store_at", "copy_at", "infer_copy", "store_at"]


def infer_copy(a: ArrayType, index: Type) -> ArrayType | None:
    """The type of ``a[index]`` for a single mask over all axes, or a single array of ints."""
    if not isinstance(index, ArrayType) or not index.ndim or not a.ndim:
        return None
    if index.dtype.kind == "b":
        return ArrayType(a.dtype, (None,)) if index.ndim == a.ndim else None
    if index.dtype.kind not in "iu":
        return None
    shape = index.shape + a.shape[1:]
    return ArrayType(a.dtype, shape, "C" if _is_ordered(a, index) else "strided")


def _is_ordered(*arrays: ArrayType) -> bool:
    """Whether the elements lie in C order, evenly spaced."""
    return all(x.ndim == 1 or x.layout == "C" for x in arrays)


def can_copy(a: ArrayType, index: Type) -> bool:
    """Whether `copy_at` can do it."""
    if infer_copy(a, index) is None:
        return False
    assert isinstance(index, ArrayType)
    is_mask = index.dtype.kind == "b"
    return _is_ordered(a, index) and (index.layout == "C" or not is_mask)


def copy_at(e: Emitter, a: V, index: V) -> V:
    """Copy the elements that an array selects."""
    made = infer_copy(a.type, index.type)
    assert made is not None
    if index.type.dtype.kind == "b":
        check_sizes(e, e.array_sizes(a), e.array_sizes(index))
        result = e.array_new(made, [e.mask_count(index)], None)
        e.array_compress(a, index, result)
        return result
    result = e.array_new(made, [*e.array_sizes(index), *e.array_sizes(a)[1:]], None)
    e.bail_if(e.bit_not(e.array_gather(a, index, result)), "index out of bounds")
    return result


def can_store_at(a: ArrayType, index: Type, value: Type) -> bool:
    """Whether `store_at` can do it: a number, or a vector with an element for each place."""
    if not a.writeable or not can_copy(a, index) or not can_store(element_of(value), a.dtype):
        return False
    assert isinstance(index, ArrayType)
    if index.dtype.kind != "b" and (a.ndim != 1 or index.ndim != 1):
        return False
    return not isinstance(value, ArrayType) or value.ndim == 1


def store_at(e: Emitter, a: V, index: V, value: V) -> None:
    """``a[index] = value``: everything is checked before the first element is stored."""
    dtype = a.type.dtype
    is_mask = index.type.dtype.kind == "b"
    if is_mask:
        check_sizes(e, e.array_sizes(a), e.array_sizes(index))
        overlaps = e.array_overlap(a, index)
        if dtype == index.type.dtype:  # a block of a mask is looked at before elements change
            overlaps = e.bit_and(overlaps, e.bit_not(e.array_same(a, index)))
    else:
        overlaps = e.array_overlap(a, index)
    e.bail_if(overlaps, "an index in the array itself")
    if isinstance(value.type, ArrayType):
        (size,) = e.array_sizes(value)
        count = e.mask_count(index) if is_mask else e.array_sizes(index)[0]
        e.bail_if(e.compare("ne", size, count), "another number of values")
        e.bail_if(e.array_overlap(a, value), "values in the array itself")
        values = _as_elements(e, value, dtype)
    else:
        values = store_scalar(e, value, dtype)
    if is_mask:
        e.array_expand(a, index, values)
        return
    e.bail_if(e.bit_not(e.are_inside(a, index)), "index out of bounds")
    e.array_scatter(a, index, values)


def _as_elements(e: Emitter, values: V, dtype: np.dtype) -> V:
    """A vector of the dtype of the array."""
    if values.type.dtype == dtype:
        return values
    made = e.array_new(ArrayType(dtype, values.type.shape), e.array_sizes(values), None)
    may_bail = store_can_bail(values.type.element, dtype)
    e.array_assign(made, values, lambda x: store_convert(e, x, dtype), may_bail=may_bail)
    return made


def check_sizes(e: Emitter, sizes: Sequence[V], others: Sequence[V]) -> None:
    """Leave unless a mask has the sizes of the array."""
    bad = None
    for size, other in zip(sizes, others, strict=True):
        differs = e.compare("ne", size, other)
        bad = differs if bad is None else e.bit_or(bad, differs)
    e.bail_if(bad, "a mask of another shape")
