"""``np.median``, ``np.percentile`` and ``np.quantile`` of arrays of ints and floats: of all elements, or along an axis.

NumPy's formulas, of elements that native code looks for. Sorting itself is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from ljit.ir import get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.reductions.ranked import Wanted, of_each_row, scratch_of, whole_vector
from ljit.types import ANY, FLOAT, INT, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_T = TypeVar("_T")
_DOUBLE = ScalarType(np.dtype(np.float64))
_MATRIX = np.array([[3.0, 1.0, 2.0, 8.0], [0.5, 7.0, -1.0, 4.0]])
_MOST = 9  # numbers of which each is looked for by itself
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
    """Whether it is of all elements, along an axis in C order, or along one or two last axes of any array."""

    def can_lower(a: Type, *q: Type, axis: object = None, keepdims: object = False) -> bool:
        if not isinstance(a, ArrayType) or a.dtype not in _DTYPES or keepdims is not False:
            return False
        is_plain = (axis is None or type(axis) is int) and (a.ndim == 1 or a.layout == "C")
        return (is_plain or _are_last(axis, a.ndim)) and infer(a, *q, axis=axis) != ANY

    return can_lower


def _are_last(axis: object, ndim: int) -> bool:
    """Whether these are one or two last axes, but not all: NumPy makes one axis of them."""
    last = [tuple(range(ndim))[-n:] for n in (1, 2) if n < ndim]
    return isinstance(axis, tuple) and axes_of(axis, ndim) in last


# -- native code -----------------------------------------------------------------------------------


def _each(
    e: Emitter, a: V, type_: Type, axis: int | tuple[int, ...] | None, wanted: Callable[[V], Wanted]
) -> V:
    """What is `wanted` of all elements, or of each row."""
    if isinstance(type_, ArrayType):
        assert axis is not None
        return of_each_row(e, a, type_, axis, wanted)
    want, order = _whole(e, a, wanted)
    return want.value(*order(want.place))


def _whole(e: Emitter, a: V, wanted: Callable[[V], _T]) -> tuple[_T, Callable[[V], tuple[V, V]]]:
    """What is wanted of all elements, and the function that looks for one and the one behind it."""
    row = whole_vector(e, a)
    (length,) = e.array_sizes(row)
    e.bail_if(e.compare("eq", length, 0), "no elements")
    scratch = scratch_of(e, a, length)
    return wanted(length), lambda place: e.array_order(row, place, scratch)


def _lower_median(e: Emitter, a: V, *, axis: int | tuple[int, ...] | None = None, **_: object) -> V:
    """The middle element, or the mean of both."""
    type_ = _infer_median(a.type, axis=axis)
    number = ScalarType(type_.dtype)  # type: ignore[attr-defined]

    def wanted(size: V) -> Wanted:
        is_odd = e.compare("eq", e.bit_and(size, 1), 1)

        def value(low: V, high: V) -> V:
            first, second = e.cast(low, number), e.cast(high, number)
            middle = e.select(is_odd, first, e.div(e.add(first, second), 2.0))
            return e.add(middle, 0.0)  # NumPy takes a mean, which never is -0.0

        return Wanted(e.shr(e.sub(size, 1), 1), value)

    return _each(e, a, type_, axis, wanted)


def _lower_quantile(
    e: Emitter, a: V, q: V, *, axis: int | tuple[int, ...] | None = None, parts: float = 1.0
) -> V:
    def part(x: V) -> V:
        return e.div(e.cast(x, _DOUBLE), parts)

    is_float = a.type.dtype.kind == "f"
    if not isinstance(q.type, TupleType):
        type_ = _infer_quantile(a.type, FLOAT, axis=axis)
        return _each(e, a, type_, axis, partial(_quantile, e, part(q), is_float))
    items = e.tuple_items(q)
    made = e.array_new(ArrayType(_DOUBLE.dtype, (len(items),)), [e.const(INT, len(items))], None)
    wants, order = _whole(e, a, lambda size: [_quantile(e, part(x), is_float, size) for x in items])
    for k, want in enumerate(wants):
        e.array_store(made, [e.const(INT, k)], want.value(*order(want.place)))
    return made


def _quantile(e: Emitter, q: V, is_float: bool, size: V) -> Wanted:
    """Between the elements in front of the place and behind it, from the nearer one."""
    is_inside = e.bit_and(e.compare("ge", q, 0.0), e.compare("le", q, 1.0))
    e.bail_if(e.bit_not(is_inside), "a quantile that there is not")
    place = e.mul(e.cast(e.sub(size, 1), _DOUBLE), q)
    below = e.intrinsic("floor", place)
    weight = e.sub(place, below)
    is_lower = e.compare("lt", weight, 0.5)

    def value(low: V, high: V) -> V:
        difference = e.sub(high, low)  # NumPy's of ints wraps, too
        if is_float:
            is_finite = e.compare("eq", e.sub(difference, difference), 0.0)
            is_known = e.bit_or(is_finite, e.compare("ne", low, low))
            e.bail_if(e.bit_not(is_known), "an infinite element")
        low, high, difference = (e.cast(x, _DOUBLE) for x in (low, high, difference))
        upwards = e.add(low, e.mul(difference, weight))
        downwards = e.sub(high, e.mul(difference, e.sub(1.0, weight)))
        return e.select(is_lower, upwards, downwards)

    return Wanted(e.cast(below, INT, fits=True), value)


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
