"""``nonzero``, ``take``, ``take_along_axis``, ``compress`` and their like: native for arrays in C order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.flat import product_of, viewed
from ljit.ops.indexing.index_arrays import (
    can_copy,
    check_inside,
    gathered,
    inside,
    places_of,
    rows_type,
)
from ljit.ops.python.numbers import at_most
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__ = ["places_along"]

_INT64 = np.dtype(np.int64)
_NARROW, _ROWS = 16, 64
_VECTOR, _MATRIX = np.arange(3.0), np.arange(9.0).reshape(3, 3)


# -- where a mask holds ----------------------------------------------------------------------------


def _infer_nonzero(a: Type) -> Type:
    if not isinstance(a, ArrayType) or not a.ndim:
        return ANY
    return TupleType((ArrayType(_INT64, (None,), "strided"),) * a.ndim)


def _infer_flat_index(a: Type) -> Type:
    return ArrayType(_INT64, (None,)) if isinstance(a, ArrayType) else ANY


def _can_find(a: Type) -> bool:
    is_mask = isinstance(a, ArrayType) and a.dtype.kind == "b" and a.layout == "C"
    return is_mask and a.ndim > 0  # type: ignore[attr-defined]


def _truth_of(parts: Parts, a: Value) -> Value | None:
    """Whether the elements are other than 0: of an array with axes, since it would be a number."""
    if not isinstance(a.type, ArrayType) or not a.type.ndim or a.type.dtype.kind not in "iufc":
        return None
    return parts.apply("np::not_equal", a, parts.constant(0))


def _nonzero_of(parts: Parts, a: Value) -> Value | None:
    """Of other dtypes where a mask holds; of more axes columns of an array, as NumPy has them."""
    truth = _truth_of(parts, a)
    if truth is not None:
        return parts.apply("np::nonzero", truth)
    places = places_along(parts, a)
    if places is None or len(places) == 1:
        return None
    rows = parts.apply("np::stack", parts.apply("prim::TupleConstruct", *places), axis=1)
    columns = [parts.constant((slice(None), i)) for i in range(len(places))]
    vectors = [parts.apply("np::getitem", rows, column) for column in columns]
    return parts.apply("prim::TupleConstruct", *vectors)


def places_along(parts: Parts, a: Value) -> list[Value] | None:
    """Where a mask in C order holds: the places among all elements, taken apart into those along each axis."""
    if not _can_find(a.type):
        return None
    shape, rest, found = parts.apply("np::shape", a), parts.apply("np::flatnonzero", a), []
    assert isinstance(shape.type, TupleType)
    for i in reversed(range(1, len(shape.type.items))):
        size = parts.apply("prim::TupleIndex", shape, index=i)
        whole = parts.apply("np::floor_divide", rest, size)
        found.append(parts.apply("np::subtract", rest, parts.apply("np::multiply", whole, size)))
        rest = whole
    return [rest, *reversed(found)]


def _flat_nonzero_of(parts: Parts, a: Value) -> Value | None:
    truth = _truth_of(parts, a)
    return None if truth is None else parts.apply("np::flatnonzero", truth)


def _declare_nonzero(
    name: str, schema: str, function: Callable[..., Any], methods: tuple[str, ...]
) -> None:
    declare_function(
        name,
        schema,
        _infer_nonzero,
        function,
        lower=lambda e, a: e.tuple_make([places_of(e, a, ArrayType(_INT64, (None,), "strided"))]),
        can_lower=lambda a: _can_find(a) and a.ndim == 1,
        decompose=_nonzero_of,
        doc=f"``np.{function.__name__}(a)``.",
        methods=methods,
        samples=((_MATRIX,), (np.arange(4) > 1,)),
    )


_declare_nonzero("nonzero", "(a)", np.nonzero, ("ndarray.nonzero",))
_declare_nonzero("where_nonzero", "(condition, /)", np.where, ())
declare_function(
    "flatnonzero",
    "(a)",
    _infer_flat_index,
    np.flatnonzero,
    lower=lambda e, a: places_of(e, a),
    can_lower=_can_find,
    decompose=_flat_nonzero_of,
    samples=((_MATRIX,), (np.arange(4) > 1,)),
)


# -- take ------------------------------------------------------------------------------------------


def _infer_take(a: Type, indices: Type, *, axis: object = None) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(indices, ArrayType) or not indices.ndim:
        return ANY
    taken = _axis_of(a, axis)
    if taken is None or indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        return ANY
    return ArrayType(a.dtype, a.shape[:taken] + indices.shape + a.shape[taken + 1 :])


def _axis_of(a: ArrayType, axis: object) -> int | None:
    """The axis from the start; None if it is none of one array."""
    if axis is None:
        return 0 if a.ndim == 1 else None
    is_axis = type(axis) is int and -a.ndim <= axis < a.ndim
    return axis % a.ndim if is_axis else None  # type: ignore[operator]


def _can_take(a: Type, indices: Type, *, axis: object = None) -> bool:
    if _infer_take(a, indices, axis=axis) == ANY:
        return False
    assert isinstance(a, ArrayType)
    assert isinstance(indices, ArrayType)
    if _axis_of(a, axis) == 0:
        return can_copy(a, indices)
    return a.layout == "C" and indices.layout == "C"


def _lower_take(e: Emitter, a: V, indices: V, *, axis: object = None) -> V:
    assert isinstance(a.type, ArrayType)
    taken = _axis_of(a.type, axis)
    if not taken:
        return gathered(e, a, indices, rows_type(a.type, indices.type))
    sizes, places = e.array_sizes(a), e.array_sizes(indices)
    times, width, count = product_of(e, sizes[:taken]), sizes[taken], product_of(e, places)
    made = _infer_take(a.type, indices.type, axis=axis)
    result = e.array_new(made, [*sizes[:taken], *places, *sizes[taken + 1 :]], None)
    is_there = check_inside(e, a, width, indices)
    e.bail_if(e.bit_not(is_there), "index out of bounds")
    if taken == a.type.ndim - 1:
        flat = viewed(e, indices, [count])

        def place(_k: V, j: V) -> V:
            return inside(e, e.array_load(flat, [j]), width, is_checked=True)

        target, source = viewed(e, result, [times, count]), viewed(e, a, [times, width])
        is_narrow = e.compare("lt", count, _NARROW)
        _fill_rows(e, target, source, place, e.select(is_narrow, 0, times))
        _fill_columns(e, target, source, place, e.select(is_narrow, times, 0))
        return result
    inner = sizes[taken + 1 :]
    row, size = product_of(e, inner), e.const(INT, a.type.dtype.itemsize)

    def part(whole: V, k: V, length: V) -> V:
        """Some rows of an array, as an array of rows."""
        offset = e.mul(e.mul(k, e.mul(length, row)), size)
        type_ = ArrayType(whole.type.dtype, (None, None))
        return e.array_view(whole, type_, offset, [length, row], [e.mul(row, size), size])

    e.loop(
        times, lambda k: ignore(e.array_gather(part(a, k, width), indices, part(result, k, count)))
    )
    return result


def _rows_of(parts: Parts, a: Value, indices: Value, *, axis: object = None) -> Value | None:
    """Along the first axis ``a[indices]``, of which nests take single elements."""
    made = _infer_take(a.type, indices.type, axis=axis)
    if made == ANY or not _can_take(a.type, indices.type, axis=axis):
        return None
    assert isinstance(a.type, ArrayType)
    assert isinstance(indices.type, ArrayType)
    is_first = _axis_of(a.type, axis) == 0 and made == rows_type(a.type, indices.type)
    return parts.apply("np::getitem", a, indices) if is_first else None


def ignore(_x: V) -> None:
    """All is there."""


def _fill_rows(
    e: Emitter, made: V, source: V, place: Callable[[V, V], V], times: V | None = None
) -> None:
    """Fill rows with the elements of the same rows at other places."""
    rows, count = e.array_sizes(made)
    times = rows if times is None else times

    def row(k: V) -> None:
        def copy(j: V) -> None:
            e.array_store(made, [k, j], e.array_load(source, [k, place(k, j)]))

        e.loop(count, copy)

    e.loop(times, row)


declare_function(
    "take",
    "(a, indices, *, axis=None)",
    _infer_take,
    np.take,
    lower=_lower_take,
    can_lower=_can_take,
    decompose=_rows_of,
    parameters=("a", "indices", "axis"),
    methods=("ndarray.take",),
    takes_lists=True,
    samples=((_VECTOR, np.array([1, -1])), (_MATRIX, np.array([[1, -1], [0, 2]]))),
)


def _fill_columns(e: Emitter, made: V, source: V, place: Callable[[V, V], V], times: V) -> None:
    """The same column by column, some rows at a time, where rows are short."""
    (_, count) = e.array_sizes(made)

    def block(b: V) -> None:
        start = e.mul(b, _ROWS)
        rest = e.sub(times, start)
        size = at_most(e, rest, _ROWS)

        def column(j: V) -> None:
            at = place(start, j)

            def copy(i: V) -> None:
                k = e.add(start, i)
                e.array_store(made, [k, j], e.array_load(source, [k, at]))

            e.loop(size, copy)

        e.loop(count, column)

    e.loop(e.div(e.add(times, _ROWS - 1), _ROWS), block)


# -- take_along_axis -------------------------------------------------------------------------------


def _infer_along(a: Type, indices: Type, *, axis: object = -1) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(indices, ArrayType) or not a.ndim:
        return ANY
    taken = None if axis is None else _axis_of(a, axis)
    is_index = indices.dtype.kind in "iu" and indices.dtype != np.uint64
    if taken is None or not is_index or indices.ndim != a.ndim:
        return ANY
    if a.ndim > 1 and not a.layout == indices.layout == "C":
        return ANY
    return ArrayType(a.dtype, (*a.shape[:taken], indices.shape[taken], *a.shape[taken + 1 :]))


def _can_take_along(a: Type, indices: Type, *, axis: object = -1) -> bool:
    is_known = _infer_along(a, indices, axis=axis) != ANY
    return is_known and (_axis_of(a, axis) == a.ndim - 1 or a.ndim == 2)  # type: ignore[arg-type, attr-defined]


def _lower_along(e: Emitter, a: V, indices: V, *, axis: object = -1) -> V:
    """Along the last axis, or along the columns of a matrix."""
    if a.type.ndim == 1:
        return gathered(e, a, indices, rows_type(a.type, indices.type))
    taken = _axis_of(a.type, axis)
    assert taken is not None
    sizes, places = e.array_sizes(a), e.array_sizes(indices)
    pairs = [pair for k, pair in enumerate(zip(sizes, places, strict=True)) if k != taken]
    for size, other in pairs:
        e.bail_if(e.compare("ne", size, other), "an index of another shape")
    width, count = sizes[taken], places[taken]
    is_there = check_inside(e, a, width, indices)
    e.bail_if(e.bit_not(is_there), "index out of bounds")
    result = e.array_new(_infer_along(a.type, indices.type, axis=axis), places, None)
    times = product_of(e, sizes[:-1])
    if taken == a.type.ndim - 1:
        flat = viewed(e, indices, [times, count])

        def place(k: V, j: V) -> V:
            return inside(e, e.array_load(flat, [k, j]), width, is_checked=True)

        _fill_rows(e, viewed(e, result, [times, count]), viewed(e, a, [times, width]), place)
        return result

    def row(i: V) -> None:
        def copy(j: V) -> None:
            at = inside(e, e.array_load(indices, [i, j]), width, is_checked=True)
            e.array_store(result, [i, j], e.array_load(a, [at, j]))

        e.loop(places[1], copy)

    e.loop(count, row)
    return result


declare_function(
    "take_along_axis",
    "(arr, indices, *, axis=-1)",
    _infer_along,
    np.take_along_axis,
    evaluate=lambda a, i, *, axis=-1: np.take_along_axis(a, i, axis),
    lower=_lower_along,
    can_lower=_can_take_along,
    parameters=("arr", "indices", "axis"),
    samples=((_MATRIX, np.array([[1, -1], [0, 2], [2, 0]])), (_VECTOR, np.array([1, -1]))),
)


# -- compress and extract --------------------------------------------------------------------------


def _is_mask_of(condition: Type, a: Type) -> bool:
    is_vector = isinstance(a, ArrayType) and a.ndim == 1
    is_mask = isinstance(condition, ArrayType) and condition.dtype.kind == "b"
    return is_vector and is_mask and condition.ndim == 1  # type: ignore[attr-defined]


def _infer_compress(condition: Type, a: Type) -> Type:
    return ArrayType(a.dtype, (None,)) if _is_mask_of(condition, a) else ANY  # type: ignore[attr-defined]


def _compress_of(parts: Parts, condition: Value, a: Value) -> Value | None:
    """The elements where the mask holds, if it is as long."""
    if not _is_mask_of(condition.type, a.type):
        return None
    return parts.apply("np::getitem", a, condition)


for _function, _array in ((np.compress, "a"), (np.extract, "arr")):
    declare_function(
        _function.__name__,
        f"(condition, {_array})",
        _infer_compress,
        _function,
        decompose=_compress_of,
        samples=((np.array([True, False, True]), _VECTOR),),
    )
