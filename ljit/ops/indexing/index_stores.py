"""``a[mask] = x`` and ``a[index] = x`` with arrays as index: stores of numbers, and of elements in C order.

What an index may be is said in `index_arrays.py`. All of it is checked before the first element is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.rules import element_of
from ljit.ops.indexing.index_arrays import (
    IndexKind,
    as_matrix,
    can_copy,
    check_sizes,
    checked_columns,
    converted,
    first_type,
    grid_places,
    index_kind,
    index_places,
    inside,
    is_ordered,
    places_of,
)
from ljit.types import ArrayType, TupleType, Type

__all__ = ["can_store_at", "check_apart", "store_at"]


def can_store_at(a: ArrayType, index: Type, value: Type) -> bool:
    """Whether `store_at` can do it: a number, or as many elements or rows as there are places; or one row for all."""
    if not a.writeable or not can_copy(a, index) or not can_store(element_of(value), a.dtype):
        return False
    kind = index_kind(a, index)
    if kind is IndexKind.COLUMNS:
        return not isinstance(value, ArrayType) or value.ndim in (1, a.ndim)
    if kind is IndexKind.GRID:
        return not isinstance(value, ArrayType) or value.ndim == a.ndim
    if kind is IndexKind.MASK and not (is_ordered(a) and first_type(index).layout == "C"):
        return False
    has_rows = kind is IndexKind.ROW_MASK or (kind is IndexKind.ROWS and a.ndim > 1)
    if kind is IndexKind.ROWS and not (is_ordered(a) and first_type(index).ndim == 1):
        return False
    if not isinstance(value, ArrayType):
        return True
    if has_rows:
        return value.ndim in (a.ndim, a.ndim - 1)
    return value.ndim == 1


def store_at(e: Emitter, a: V, index: V, value: V) -> None:
    """``a[index] = value``: everything is checked before the first element is stored."""
    kind = index_kind(a.type, index.type)
    items = e.tuple_items(index) if isinstance(index.type, TupleType) else [index]
    value = _apart(e, a, items, value)
    is_array = isinstance(value.type, ArrayType)
    if kind is IndexKind.PLACES:
        _store_places(e, a, index, value)
        return
    if kind is IndexKind.GRID:
        _store_grid(e, a, index, value)
        return
    if kind is IndexKind.COLUMNS:
        _store_columns(e, a, items[-1], value)
        return
    first = items[0]
    if kind is IndexKind.MASK:
        check_sizes(e, e.array_sizes(a), e.array_sizes(first))
        if is_array:
            value = _as_elements(e, value, a.type.dtype, e.mask_count(first))
        e.array_expand(a, first, value)
        return
    if kind is IndexKind.ROW_MASK:
        check_sizes(e, e.array_sizes(a)[:1], e.array_sizes(first))
        first = places_of(e, first)
    e.bail_if(e.bit_not(e.are_inside(a, first)), "index out of bounds")
    if a.type.ndim > 1:
        _store_rows(e, a, first, value)
        return
    if is_array:
        value = _as_elements(e, value, a.type.dtype, e.array_sizes(first)[0])
    e.array_scatter(a, first, value)


def _apart(e: Emitter, a: V, items: Sequence[V], value: V) -> V:
    """The values, which do not lie in the array, as the items of an index do not; a number has its dtype."""
    for item in items:
        if isinstance(item.type, ArrayType):
            check_apart(e, a, item)
    if not isinstance(value.type, ArrayType):
        return store_scalar(e, value, a.type.dtype)
    e.bail_if(e.array_overlap(a, value), "values in the array itself")
    return value


def check_apart(e: Emitter, a: V, index: V) -> None:
    """Leave if the index lies in the array; a mask may be the array itself, which is looked at before it changes."""
    overlaps = e.array_overlap(a, index)
    if a.type.dtype == index.type.dtype == np.bool and a.type.ndim == index.type.ndim:
        overlaps = e.bit_and(overlaps, e.bit_not(e.array_same(a, index)))
    e.bail_if(overlaps, "an index in the array itself")


def _store_places(e: Emitter, a: V, index: V, value: V) -> None:
    count, at = index_places(e, a, index)
    if isinstance(value.type, ArrayType):
        value = _as_elements(e, value, a.type.dtype, count)

    def store(k: V) -> None:
        x = e.array_load(value, [k]) if isinstance(value.type, ArrayType) else value
        e.array_store(a, at(k), x)

    def check(k: V) -> None:
        at(k)

    e.loop(count, check)
    e.loop(count, store)


def _store_grid(e: Emitter, a: V, index: V, value: V) -> None:
    sizes, each = grid_places(e, a, index)
    if not isinstance(value.type, ArrayType):
        each(lambda _, at: e.array_store(a, at, value))
        return
    check_sizes(e, e.array_sizes(value), sizes)
    values = converted(e, value, a.type.dtype) if value.type.element != a.type.element else value
    each(lambda to, at: e.array_store(a, at, e.array_load(values, to)))


def _store_rows(e: Emitter, a: V, index: V, value: V) -> None:
    """Store rows one by one, at places that are there."""
    (size, *sizes), (stride, *strides) = e.array_sizes(a), e.array_strides(a)
    (count,) = e.array_sizes(index)
    if isinstance(value.type, ArrayType):
        whole = [count, *sizes] if value.type.ndim == a.type.ndim else sizes
        check_sizes(e, e.array_sizes(value), whole)
        is_plain = value.type.dtype == a.type.dtype and value.type.layout == "C"
        e.array_scatter(a, index, value if is_plain else converted(e, value, a.type.dtype))
        return
    row = ArrayType(a.type.dtype, a.type.shape[1:])

    def store(k: V) -> None:
        i = inside(e, e.array_load(index, [k]), size, is_checked=True)
        target = e.array_view(a, row, e.mul(i, stride), sizes, strides)
        e.array_assign(target, value, lambda x: x, may_bail=False)

    e.loop(count, store)


def _store_columns(e: Emitter, a: V, column: V, value: V) -> None:
    """Store row by row: a number, a vector for each row, or as many elements."""
    sizes, a = e.array_sizes(a), as_matrix(e, a)
    column = checked_columns(e, a, column)
    (count,), (rows, width) = e.array_sizes(column), e.array_sizes(a)
    is_vector = False
    if isinstance(value.type, ArrayType):
        is_vector = value.type.ndim == 1
        whole = [count] if is_vector else [*sizes[:-1], count]
        check_sizes(e, e.array_sizes(value), whole)
        is_plain = value.type.dtype == a.type.dtype
        if not is_plain or (value.type.ndim > 2 and value.type.layout != "C"):
            value = converted(e, value, a.type.dtype)
        value = value if is_vector else as_matrix(e, value)

    def row(i: V) -> None:
        def store(j: V) -> None:
            x = value
            if isinstance(x.type, ArrayType):
                x = e.array_load(x, [j] if is_vector else [i, j])
            at = inside(e, e.array_load(column, [j]), width, is_checked=True)
            e.array_store(a, [i, at], x)

        e.loop(count, store)

    e.loop(rows, row)


def _as_elements(e: Emitter, values: V, dtype: np.dtype, count: V) -> V:
    """A vector of the dtype of the array; leaves if it has not so many elements."""
    (size,) = e.array_sizes(values)
    e.bail_if(e.compare("ne", size, count), "another number of values")
    return values if values.type.dtype == dtype else converted(e, values, dtype)
