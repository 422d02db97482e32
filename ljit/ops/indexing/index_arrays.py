"""``a[mask]`` and ``a[index]`` with arrays as index: native copies of elements in C order.

An index is one of

- a *mask* with the array's axes: ``a[a > 0]``;
- *rows*: an array of ints, or a mask, for the first axis, and all of the others: ``x[index]``, ``x[mask, :]``;
- *places*: vectors of ints and ints for all axes: ``m[rows, columns]``;
- a *grid*: arrays of ints for all axes, each longer than one along its own axis alone: ``m[np.ix_(rows, columns)]``;
- *columns*: a vector of ints, or a mask, for the last axis behind full slices: ``m[:, columns]``.

Everything is checked natively; where NumPy raises, the code leaves. Rows of arrays in another order than C are NumPy's.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.convert import store_can_bail, store_convert
from ljit.ops.arrays.flat import product_of, viewed
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.types import INT, NONE, ArrayType, ObjectType, ScalarType, SliceType, TupleType, Type
from ljit.unique import forgets_classes

__all__ = [
    "IndexKind",
    "as_matrix",
    "can_copy",
    "check_inside",
    "check_sizes",
    "checked_columns",
    "converted",
    "copy_at",
    "first_type",
    "gathered",
    "grid_places",
    "index_kind",
    "index_places",
    "infer_copy",
    "inside",
    "is_ordered",
    "places_of",
    "rows_type",
]

_ALL = (SliceType(NONE, NONE, NONE), ObjectType(types.EllipsisType))
_BOOL, _BYTE = np.dtype(bool), np.dtype(np.uint8)
_INT64, _UINT64 = np.dtype(np.int64), ScalarType(np.dtype(np.uint64))

_VECTOR = ArrayType(_INT64, (None,))


class IndexKind(enum.Enum):
    """What an index with arrays names, as above."""

    MASK = enum.auto()
    ROWS = enum.auto()
    ROW_MASK = enum.auto()
    PLACES = enum.auto()
    GRID = enum.auto()
    COLUMNS = enum.auto()


@forgets_classes
@lru_cache(maxsize=4096)
def index_kind(a: ArrayType, index: Type) -> IndexKind | None:
    """What kind of index it is; None for others."""
    items = index.items if isinstance(index, TupleType) else (index,)
    arrays = [t for t in items if isinstance(t, ArrayType)]
    if not a.ndim or not arrays or not all(x.ndim and x.dtype.kind in "biu" for x in arrays):
        return None
    first, *rest = items
    if isinstance(first, ArrayType) and all(t in _ALL for t in rest):
        is_mask = first.dtype.kind == "b"
        used = len(rest) - rest.count(_ALL[1]) + (first.ndim if is_mask else 1)
        if used > a.ndim or rest.count(_ALL[1]) > 1:
            return None
        if not is_mask:
            return IndexKind.ROWS
        if first.ndim == a.ndim:
            return IndexKind.MASK
        return IndexKind.ROW_MASK if first.ndim == 1 and a.layout == "C" else None
    if _is_of_columns(a, items):
        return IndexKind.COLUMNS
    if _is_grid(a, items):
        return IndexKind.GRID
    are_ints = all(x.ndim == 1 and x.dtype.kind != "b" for x in arrays)
    if len(items) != a.ndim or not are_ints or _common_size(arrays) == 0:
        return None
    others = [t for t in items if not isinstance(t, ArrayType)]
    return IndexKind.PLACES if all(is_integer_scalar(t) and t != _UINT64 for t in others) else None


def _is_grid(a: ArrayType, items: Sequence[Type]) -> bool:
    if not len(items) == a.ndim > 1:
        return False
    for axis, t in enumerate(items):
        if not isinstance(t, ArrayType) or t.ndim != a.ndim or t.dtype.kind == "b":
            return False
        if any(size != 1 for k, size in enumerate(t.shape) if k != axis):
            return False
    return True


def _is_of_columns(a: ArrayType, items: Sequence[Type]) -> bool:
    *others, last = items
    has_all = _ALL[1] in others or len(items) == a.ndim
    is_whole = all(t in _ALL for t in others) and others.count(_ALL[1]) < 2 and has_all
    is_vector = isinstance(last, ArrayType) and last.ndim == 1
    used = len(items) - others.count(_ALL[1])
    return is_whole and is_vector and 1 < a.ndim >= used and (a.ndim == 2 or a.layout == "C")


def _common_size(arrays: Sequence[ArrayType]) -> int | None:
    """The size of vectors, if it is known; 0 if they differ."""
    known = {x.shape[0] for x in arrays} - {None}
    if len(known) > 1:
        return 0
    return known.pop() if known else None


def infer_copy(a: ArrayType, index: Type) -> ArrayType | None:
    """The type of ``a[index]``; None for an index that is none of these."""
    kind = index_kind(a, index)
    if kind is None:
        return None
    if kind is IndexKind.PLACES:
        assert isinstance(index, TupleType)
        arrays = [t for t in index.items if isinstance(t, ArrayType)]
        return ArrayType(a.dtype, (_common_size(arrays),))
    if kind is IndexKind.GRID:
        assert isinstance(index, TupleType)
        sizes = [t.shape[axis] for axis, t in enumerate(index.items)]  # type: ignore[attr-defined]
        return ArrayType(a.dtype, tuple(sizes))
    if kind is IndexKind.COLUMNS:
        last = _last_type(index)
        count = None if last.dtype.kind == "b" else last.shape[0]
        return ArrayType(a.dtype, (*a.shape[:-1], count), "strided")
    if kind is IndexKind.MASK:
        return ArrayType(a.dtype, (None,))
    if kind is IndexKind.ROW_MASK:
        return ArrayType(a.dtype, (None, *a.shape[1:]))
    return rows_type(a, first_type(index))


def rows_type(a: ArrayType, index: ArrayType) -> ArrayType:
    """The type of the rows that an array of ints names."""
    layout = "C" if _has_ordered_rows(a, index) else "strided"
    return ArrayType(a.dtype, index.shape + a.shape[1:], layout)


def _has_ordered_rows(a: ArrayType, index: ArrayType) -> bool:
    """Whether the rows are put in C order: those of any matrix are."""
    return is_ordered(index) and (a.ndim == 2 or is_ordered(a))


def first_type(index: Type) -> ArrayType:
    first = index.items[0] if isinstance(index, TupleType) else index
    assert isinstance(first, ArrayType)
    return first


def _last_type(index: Type) -> ArrayType:
    assert isinstance(index, TupleType)
    last = index.items[-1]
    assert isinstance(last, ArrayType)
    return last


def _first(e: Emitter, index: V) -> V:
    """The array that selects along the first axis."""
    return e.tuple_items(index)[0] if isinstance(index.type, TupleType) else index


def is_ordered(*arrays: ArrayType) -> bool:
    """Whether the elements lie in C order, evenly spaced."""
    return all(x.ndim == 1 or x.layout == "C" for x in arrays)


def can_copy(a: ArrayType, index: Type) -> bool:
    """Whether `copy_at` can do it."""
    kind = index_kind(a, index)
    if kind in (None, IndexKind.PLACES, IndexKind.GRID, IndexKind.MASK):
        return kind is not None
    if kind is IndexKind.COLUMNS:
        last = _last_type(index)
        return last.dtype.kind != "b" or last.layout == "C"
    first = first_type(index)
    return _has_ordered_rows(a, first) and (first.layout == "C" or kind is IndexKind.ROWS)


# -- copies ----------------------------------------------------------------------------------------


def copy_at(e: Emitter, a: V, index: V) -> V:
    """Copy the elements that an index selects."""
    kind, made = index_kind(a.type, index.type), infer_copy(a.type, index.type)
    assert made is not None
    if kind is IndexKind.PLACES:
        return _copy_places(e, a, index, made)
    if kind is IndexKind.GRID:
        sizes, each = grid_places(e, a, index)
        result = e.array_new(made, sizes, None)
        each(lambda to, at: e.array_store(result, to, e.array_load(a, at)))
        return result
    if kind is IndexKind.COLUMNS:
        return _copy_columns(e, a, index, made)
    first = _first(e, index)
    if kind is IndexKind.MASK:
        check_sizes(e, e.array_sizes(a), e.array_sizes(first))
        a, first = (
            _ordered(e, a),
            first if first.type.layout == "C" else converted(e, first, _BOOL),
        )
        result = e.array_new(made, [e.mask_count(first)], None)
        e.array_compress(a, first, result)
        return result
    if kind is IndexKind.ROW_MASK:
        check_sizes(e, e.array_sizes(a)[:1], e.array_sizes(first))
        first = places_of(e, first)
    return gathered(e, a, first, made)


def _ordered(e: Emitter, a: V) -> V:
    return a if is_ordered(a.type) else converted(e, a, a.type.dtype)


def _copy_columns(e: Emitter, a: V, index: V, made: ArrayType) -> V:
    """As NumPy does, a row for each column, transposed."""
    lead = e.array_sizes(a)[:-1]
    *_, column = e.tuple_items(index)
    a = as_matrix(e, a)
    (rows, width), (row, item) = e.array_sizes(a), e.array_strides(a)
    column = _numbers_of_columns(e, width, column)
    (count,) = e.array_sizes(column)
    any_matrix = ArrayType(made.dtype, (None,) * 2, "strided")
    turned = e.array_view(a, any_matrix, e.const(INT, 0), [width, rows], [item, row])
    result = gathered(e, turned, column, ArrayType(made.dtype, (None,) * 2))
    is_empty = e.compare("eq", e.mul(rows, count), 0)
    size = e.const(INT, made.dtype.itemsize)
    strides = [e.select(is_empty, 0, size)]
    for size in lead[:0:-1]:
        strides.insert(0, e.mul(strides[0], size))
    strides.append(e.mul(rows, strides[-1]))
    return e.array_view(result, made, e.const(INT, 0), [*lead, count], strides)


def as_matrix(e: Emitter, a: V) -> V:
    """The rows along the last axis; more than two axes are in C order."""
    *lead, width = e.array_sizes(a)
    if len(lead) == 1:
        return a
    return viewed(e, a, [product_of(e, lead), width])


def checked_columns(e: Emitter, a: V, column: V) -> V:
    """The numbers of columns of a matrix; leaves if there is one that it does not have."""
    _, width = e.array_sizes(a)
    column = _numbers_of_columns(e, width, column)
    is_there = check_inside(e, a, width, column)
    e.bail_if(e.bit_not(is_there), "index out of bounds")
    return column


def _numbers_of_columns(e: Emitter, width: V, column: V) -> V:
    """The array of ints, or the places where a mask holds."""
    if column.type.dtype.kind != "b":
        return column
    check_sizes(e, [width], e.array_sizes(column))
    return places_of(e, column)


def check_inside(e: Emitter, a: V, size: V, index: V) -> V:
    """Whether an axis of a size has all the elements that an array of ints names."""
    one = e.const(INT, a.type.dtype.itemsize)
    axis = e.array_view(a, ArrayType(a.type.dtype, (None,)), e.const(INT, 0), [size], [one])
    return e.are_inside(axis, index)


def gathered(e: Emitter, a: V, index: V, made: ArrayType) -> V:
    """The rows of an array that an array of ints names."""
    result = e.array_new(made, [*e.array_sizes(index), *e.array_sizes(a)[1:]], None)
    e.bail_if(e.bit_not(e.array_gather(a, index, result)), "index out of bounds")
    return result


def places_of(e: Emitter, mask: V, made: ArrayType = _VECTOR) -> V:
    """The places where a mask holds, in C order."""
    result = e.array_new(made, [e.mask_count(mask)], None)
    e.mask_places(mask, result)
    return result


def _copy_places(e: Emitter, a: V, index: V, made: ArrayType) -> V:
    count, at = index_places(e, a, index)
    result = e.array_new(made, [count], None)
    e.loop(count, lambda k: e.array_store(result, [k], e.array_load(a, at(k))))
    return result


def index_places(e: Emitter, a: V, index: V) -> tuple[V, Callable[[V], list[V]]]:
    """How many places there are, and a function that gives the checked indices of one."""
    items, sizes = e.tuple_items(index), e.array_sizes(a)
    counts = [e.array_sizes(x)[0] for x in items if isinstance(x.type, ArrayType)]
    check_sizes(e, counts[1:], counts[:1] * (len(counts) - 1))
    pairs = list(zip(items, sizes, strict=True))
    fixed = {
        axis: inside(e, i, n)
        for axis, (i, n) in enumerate(pairs)
        if not isinstance(i.type, ArrayType)
    }

    def at(k: V) -> list[V]:
        return [
            fixed[axis] if axis in fixed else inside(e, e.array_load(i, [k]), n)
            for axis, (i, n) in enumerate(pairs)
        ]

    return counts[0], at


_PutAt = Callable[[list[V], list[V]], None]


def grid_places(e: Emitter, a: V, index: V) -> tuple[list[V], Callable[[_PutAt], None]]:
    """The sizes of a grid, of which all places exist, and what runs a function of each place in the grid and in `a`."""
    vectors = []
    for axis, x in enumerate(e.tuple_items(index)):
        size, stride = e.array_sizes(x)[axis], e.array_strides(x)[axis]
        type_ = ArrayType(x.type.dtype, (None,), "strided", x.type.writeable)
        vectors.append(e.array_view(x, type_, e.const(INT, 0), [size], [stride]))
    lengths, sizes = e.array_sizes(a), [e.array_sizes(x)[0] for x in vectors]
    is_empty = e.compare("eq", product_of(e, sizes), 0)
    for x, size, length in zip(vectors, sizes, lengths, strict=True):
        count = e.select(
            is_empty, 0, size
        )  # NumPy looks at none then, and may complain all the same
        e.bail_if(e.bit_and(is_empty, e.compare("gt", size, 0)), "an empty grid")
        e.loop(count, lambda k, x=x, n=length: _look(e, x, k, n))  # type: ignore[misc]

    def each(put: _PutAt) -> None:
        def along(to: list[V], at: list[V]) -> None:
            axis = len(to)
            if axis == len(vectors):
                put(to, at)
                return

            def one(k: V) -> None:
                i = inside(e, e.array_load(vectors[axis], [k]), lengths[axis], is_checked=True)
                along([*to, k], [*at, i])

            e.loop(sizes[axis], one)

        along([], [])

    return sizes, each


def _look(e: Emitter, vector: V, k: V, size: V) -> None:
    inside(e, e.array_load(vector, [k]), size)


def inside(e: Emitter, index: V, size: V, *, is_checked: bool = False) -> V:
    """An index from the start; leaves if there is no such element."""
    i = e.cast(index, INT)
    i = e.select(e.compare("lt", i, 0), e.add(i, size), i)
    if not is_checked:
        outside = e.bit_or(e.compare("lt", i, 0), e.compare("ge", i, size))
        e.bail_if(outside, "index out of bounds")
    return i


def check_sizes(e: Emitter, sizes: Sequence[V], others: Sequence[V]) -> None:
    """Leave unless sizes are as they must be."""
    for size, other in zip(sizes, others, strict=True):
        e.bail_if(e.compare("ne", size, other), "an index of another shape")


def converted(e: Emitter, values: V, dtype: np.dtype) -> V:
    """The elements as those of a C-contiguous array of a dtype."""
    made = e.array_new(ArrayType(dtype, values.type.shape), e.array_sizes(values), None)
    may_bail = store_can_bail(values.type.element, dtype)
    convert = partial(store_convert, e, dtype=dtype)
    e.array_assign(made, values, convert, may_bail=may_bail, is_apart=True)
    return made
