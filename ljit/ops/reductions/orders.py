"""``np.median``, ``np.percentile`` and ``np.quantile`` of arrays of ints and floats: of all elements, or along an axis.

NumPy's formulas, of elements that native code looks for. Sorting itself is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ljit.ir import get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.flat import product_of, viewed
from ljit.types import ANY, FLOAT, INT, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_DOUBLE = ScalarType(np.dtype(np.float64))
_MATRIX = np.array([[3.0, 1.0, 2.0, 8.0], [0.5, 7.0, -1.0, 4.0]])
_MOST = 3  # numbers of which each is looked for by itself
_DTYPES = frozenset(map(np.dtype, "bBhHiIlLfd"))


# -- types -----------------------------------------------------------------------------------------


def _infer_median(a: Type, *, axis: object = None, keepdims: object = False) -> Type:
    """As of means."""
    attrs = {"axis": axis, "keepdims": keepdims}
    (result,) = get_op("np::mean").infer_types([a], attrs)
    return ANY if keepdims and isinstance(result, ScalarType) else result


def _infer_quantile(a: Type, q: Type, *, axis: object = None) -> Type:
    """Those of float64 and ints are float64 in all versions of NumPy; of several numbers, of all elements."""
    is_known = isinstance(a, ArrayType) and (a.dtype.kind in "iu" or a.dtype == np.float64)
    if not is_known:
        return ANY
    if q in (FLOAT, _DOUBLE):
        return _infer_median(a, axis=axis)
    items = q.items if isinstance(q, TupleType) else ()
    is_float = any(t in (FLOAT, _DOUBLE) for t in items)
    if not is_float or axis is not None or not all(t in (FLOAT, _DOUBLE, INT) for t in items):
        return ANY
    return ArrayType(_DOUBLE.dtype, (len(items),)) if len(items) <= _MOST else ANY


def _infer_percentile(a: Type, q: Type, *, axis: object = None) -> Type:
    if isinstance(q, TupleType):
        q = TupleType(tuple(FLOAT if t == INT else t for t in q.items))
    return _infer_quantile(a, FLOAT if q == INT else q, axis=axis)


def _can_lower(infer: Callable[..., Type]) -> Callable[..., bool]:
    """Whether there is one axis, or all of them, of an array whose rows can be put side by side."""

    def can_lower(a: Type, *q: Type, axis: object = None, keepdims: object = False) -> bool:
        if not isinstance(a, ArrayType) or a.dtype not in _DTYPES or keepdims is not False:
            return False
        is_plain = (axis is None or type(axis) is int) and (a.ndim == 1 or a.layout == "C")
        return is_plain and infer(a, *q, axis=axis) != ANY

    return can_lower


# -- native code -----------------------------------------------------------------------------------


def _each(e: Emitter, a: V, type_: Type, axis: int | None, find: Callable[[V, V], V]) -> V:
    """What `find` gives for each row, and scratch memory."""
    rows, length = _rows(e, a, axis)
    e.bail_if(e.compare("eq", length, 0), "no elements")
    vector = ArrayType(a.type.dtype, (None,))
    scratch = e.array_new(vector, [e.add(length, length)], None)
    if isinstance(type_, ScalarType):
        return find(rows, scratch)
    assert isinstance(axis, int)
    kept = [size for i, size in enumerate(e.array_sizes(a)) if i != axis % a.type.ndim]
    made, count = e.array_new(type_, kept, None), product_of(e, kept)
    item, results = e.const(INT, a.type.dtype.itemsize), viewed(e, made, [count])

    def row(k: V) -> None:
        start = e.mul(e.mul(k, length), item)
        elements = e.array_view(rows, vector, start, [length], [item])
        e.array_store(results, [k], find(elements, scratch))

    e.loop(count, row)
    return made


def _rows(e: Emitter, a: V, axis: int | None) -> tuple[V, V]:
    """The elements, row behind row, and how many are in one."""
    sizes, strides = list(e.array_sizes(a)), list(e.array_strides(a))
    total = product_of(e, sizes)
    along = None if axis is None else axis % len(sizes)
    length = total if along is None else sizes[along]
    if along is not None:
        for parts in (sizes, strides):
            parts.append(parts.pop(along))
    if a.type.layout == "C" and along in (None, len(sizes) - 1):
        return viewed(e, a, [total]), length
    turned = ArrayType(a.type.dtype, (None,) * len(sizes), "strided")
    source = e.array_view(a, turned, e.const(INT, 0), sizes, strides)
    made = e.array_new(ArrayType(a.type.dtype, turned.shape), sizes, None)
    e.array_assign(made, source, lambda x: x, may_bail=False, is_apart=True)
    return viewed(e, made, [total]), length


def _lower_median(e: Emitter, a: V, *, axis: int | None = None, **_: object) -> V:
    """The middle element, or the mean of both."""
    type_ = _infer_median(a.type, axis=axis)
    number = ScalarType(type_.dtype)  # type: ignore[attr-defined]

    def find(row: V, scratch: V) -> V:
        (size,) = e.array_sizes(row)
        place = e.shr(e.sub(size, 1), 1)
        found = [e.cast(x, number) for x in e.array_order(row, place, scratch)]
        mean = e.div(e.add(*found), 2.0)
        is_odd = e.compare("eq", e.bit_and(size, 1), 1)
        return e.select(is_odd, found[0], mean)

    return _each(e, a, type_, axis, find)


def _lower_quantile(e: Emitter, a: V, q: V, *, axis: int | None = None, parts: float = 1.0) -> V:
    def part(x: V) -> V:
        return e.div(e.cast(x, _DOUBLE), parts)

    if not isinstance(q.type, TupleType):
        type_ = _infer_quantile(a.type, FLOAT, axis=axis)
        return _each(e, a, type_, axis, partial(_quantile, e, part(q)))
    items = e.tuple_items(q)
    made = e.array_new(ArrayType(_DOUBLE.dtype, (len(items),)), [e.const(INT, len(items))], None)

    def find(row: V, scratch: V) -> V:
        for k, x in enumerate(items):
            e.array_store(made, [e.const(INT, k)], _quantile(e, part(x), row, scratch))
        return made

    return _each(e, a, _DOUBLE, None, find)


def _quantile(e: Emitter, q: V, row: V, scratch: V) -> V:
    """Between the elements in front of the place and behind it, from the nearer one."""
    is_inside = e.bit_and(e.compare("ge", q, 0.0), e.compare("le", q, 1.0))
    e.bail_if(e.bit_not(is_inside), "a quantile that there is not")
    (size,) = e.array_sizes(row)
    place = e.mul(e.cast(e.sub(size, 1), _DOUBLE), q)
    below = e.intrinsic("floor", place)
    low, high = e.array_order(row, e.cast(below, INT, fits=True), scratch)
    difference = e.sub(high, low)  # NumPy's of ints wraps, too
    if row.type.dtype.kind == "f":
        is_finite = e.compare("eq", e.sub(difference, difference), 0.0)
        is_known = e.bit_or(is_finite, e.compare("ne", low, low))
        e.bail_if(e.bit_not(is_known), "an infinite element")
    low, high, difference = (e.cast(x, _DOUBLE) for x in (low, high, difference))
    weight = e.sub(place, below)
    upwards = e.add(low, e.mul(difference, weight))
    downwards = e.sub(high, e.mul(difference, e.sub(1.0, weight)))
    return e.select(e.compare("lt", weight, 0.5), upwards, downwards)


declare_function(
    "median",
    "(a, *, axis=None, keepdims=False)",
    _infer_median,
    np.median,
    lower=_lower_median,
    can_lower=_can_lower(_infer_median),
    parameters=("a", "axis", "out", "overwrite_input", "keepdims"),
    samples=((_MATRIX,), (np.arange(4),)),
)
declare_function(
    "quantile",
    "(a, q, *, axis=None)",
    _infer_quantile,
    np.quantile,
    lower=_lower_quantile,
    can_lower=_can_lower(_infer_quantile),
    reads_items=True,
    parameters=("a", "q", "axis"),
    samples=((_MATRIX, 0.3), (np.arange(4), np.float64(1.0)), (_MATRIX, (0.3, 0.8))),
)
declare_function(
    "percentile",
    "(a, q, *, axis=None)",
    _infer_percentile,
    np.percentile,
    lower=partial(_lower_quantile, parts=100.0),
    can_lower=_can_lower(_infer_percentile),
    reads_items=True,
    parameters=("a", "q", "axis"),
    samples=((_MATRIX, 30), (np.arange(4), 99.5), (_MATRIX, (25, 75))),
)
