"""Making arrays: ``zeros``, ``full_like``, ``arange``, ``array`` and their relatives.

A ``dtype=`` argument must be a constant, as the result type depends on it. A shape is an int or a tuple of
ints; sizes are run-time values.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.numpy_boxed import chosen_dtype, declare_function, shape_rank
from ljit.ops.numpy_convert import can_store, store_scalar
from ljit.ops.numpy_rules import (
    array_of,
    dtype_of,
    is_integer_scalar,
    is_scalar,
    kinds_of,
    layout_like,
    result_dtype,
)
from ljit.sizes import MAX_ELEMENTS
from ljit.types import (
    ANY,
    FLOAT,
    INT,
    NONE,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
)

__all__ = ["if_small"]

_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
_FRESH = Effect.ALLOC | Effect.RAISE
_LARGE = 2**50


def if_small(function: Callable[..., Any]) -> Callable[..., Any]:
    """`OpDef.symbolic` of a function of a shape: for few elements only."""

    def symbolic(shape: Any, *others: Any, **attrs: Any) -> Any:
        sizes = shape if isinstance(shape, tuple) else (shape,)
        if prod(sizes) > MAX_ELEMENTS:
            raise ValueError(shape)
        return function(shape, *others, **attrs)

    return symbolic


# -- of a shape ------------------------------------------------------------------------------------


def _of_shape(shape: Type, dtype: np.dtype | None, order: object) -> Type:
    rank = shape_rank(shape)
    if rank is None or order not in ("C", "F"):
        return ANY
    return array_of(dtype, (None,) * rank, "C" if order == "C" or rank < 2 else "strided")


def _infer_shape(shape: Type, *, dtype: object = None, order: object = "C") -> Type:
    return _of_shape(shape, chosen_dtype(dtype, _FLOAT64), order)


def _infer_full(
    shape: Type, fill_value: Type, *, dtype: object = None, order: object = "C"
) -> Type:
    default = dtype_of(fill_value) if is_scalar(fill_value) else None
    return _of_shape(shape, chosen_dtype(dtype, default), order)


def _is_c(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.layout == "C"


def _sizes(e: Emitter, shape: V) -> list[V]:
    items = e.tuple_items(shape) if isinstance(shape.type, TupleType) else (shape,)
    return [e.cast(n, INT) for n in items]


def _lower_shape(fill: float | None) -> Callable[..., V]:
    def lower(e: Emitter, shape: V, **attrs: Any) -> V:
        type_ = _infer_shape(shape.type, **attrs)
        value = None if fill is None else _fill_constant(e, type_, fill)
        return e.array_new(type_, _sizes(e, shape), value)

    return lower


def _fill_constant(e: Emitter, type_: Type, fill: float) -> V:
    assert isinstance(type_, ArrayType)
    return e.const(type_.element, type_.dtype.type(fill))


def _lower_full(e: Emitter, shape: V, fill_value: V, **attrs: Any) -> V:
    type_ = _infer_full(shape.type, fill_value.type, **attrs)
    assert isinstance(type_, ArrayType)
    value = store_scalar(e, fill_value, type_.dtype)
    return e.array_new(type_, _sizes(e, shape), value)


def _can_lower_full(shape: Type, fill_value: Type, **attrs: Any) -> bool:
    type_ = _infer_full(shape, fill_value, **attrs)
    return _is_c(type_) and isinstance(type_, ArrayType) and can_store(fill_value, type_.dtype)


_SHAPE_FILLS: tuple[tuple[Callable[..., Any], float | None], ...] = (
    (np.empty, None),
    (np.zeros, 0),
    (np.ones, 1),
)
for _function, _fill in _SHAPE_FILLS:
    declare_function(
        _function.__name__,
        "(shape, *, dtype=None, order='C')",
        _infer_shape,
        _function,
        lower=_lower_shape(_fill),
        can_lower=lambda *types, **attrs: _is_c(_infer_shape(*types, **attrs)),
        effect=_FRESH,
        fill=_fill,
        symbolic=if_small(np.zeros if _fill is None else _function),
        samples=((3,), ((2, 3),)) if _fill is not None else ((0,), ((2, 0),)),
    )
declare_function(
    "full",
    "(shape, fill_value, *, dtype=None, order='C')",
    _infer_full,
    np.full,
    lower=_lower_full,
    can_lower=_can_lower_full,
    effect=_FRESH,
    symbolic=if_small(np.full),
    samples=((3, 1.5), ((2, 3), 7)),
)


# -- like another array ----------------------------------------------------------------------------


def _infer_like(
    a: Type,
    *,
    dtype: object = None,
    order: object = "K",
    subok: object = True,
    shape: object = None,
) -> Type:
    chosen = chosen_dtype(dtype, dtype_of(a))
    if order not in ("K", "C") or shape is not None or dtype_of(a) is None:
        return ANY
    if not isinstance(a, ArrayType):
        return array_of(chosen, ())
    return array_of(chosen, a.shape, "C" if order == "C" else layout_like((a,), a.ndim))


def _lower_like(fill: float | None) -> Callable[..., V]:
    def lower(e: Emitter, a: V, **attrs: Any) -> V:
        type_ = _infer_like(a.type, **attrs)
        value = None if fill is None else _fill_constant(e, type_, fill)
        return e.array_new(type_, e.array_sizes(a), value)

    return lower


def _can_lower_like(a: Type, **attrs: Any) -> bool:
    return isinstance(a, ArrayType) and _is_c(_infer_like(a, **attrs))


def _infer_full_like(a: Type, fill_value: Type, **attrs: Any) -> Type:
    return _infer_like(a, **attrs) if is_scalar(fill_value) else ANY


def _lower_full_like(e: Emitter, a: V, fill_value: V, **attrs: Any) -> V:
    type_ = _infer_like(a.type, **attrs)
    assert isinstance(type_, ArrayType)
    value = store_scalar(e, fill_value, type_.dtype)
    return e.array_new(type_, e.array_sizes(a), value)


def _can_lower_full_like(a: Type, fill_value: Type, **attrs: Any) -> bool:
    type_ = _infer_like(a, **attrs)
    fits = isinstance(type_, ArrayType) and can_store(fill_value, type_.dtype)
    return fits and _can_lower_like(a, **attrs)


_LIKE_FILLS: tuple[tuple[Callable[..., Any], str, float | None], ...] = (
    (np.empty_like, "prototype", None),
    (np.zeros_like, "a", 0),
    (np.ones_like, "a", 1),
)
for _function, _name, _fill in _LIKE_FILLS:
    declare_function(
        _function.__name__,
        f"({_name}, *, dtype=None, order='K', subok=True, shape=None)",
        _infer_like,
        _function,
        lower=_lower_like(_fill),
        can_lower=_can_lower_like,
        effect=_FRESH,
        fill=_fill,
        symbolic=np.zeros_like if _fill is None else True,
        samples=((np.arange(3 if _fill is not None else 0),),),
    )
declare_function(
    "full_like",
    "(a, fill_value, *, dtype=None, order='K', subok=True, shape=None)",
    _infer_full_like,
    np.full_like,
    lower=_lower_full_like,
    can_lower=_can_lower_full_like,
    effect=_FRESH,
    samples=((np.arange(3), 2.5),),
)


# -- sequences of numbers --------------------------------------------------------------------------


def _infer_arange(
    start: Type, stop: Type = NONE, step: Type = NONE, *, dtype: object = None
) -> Type:
    given = [t for t in (start, stop, step) if t != NONE]
    if start == NONE or not all(_is_real(t) for t in given):
        return ANY
    default = result_dtype((_INT64, *(dtype_of(t) or _INT64 for t in given)))
    return array_of(chosen_dtype(dtype, default), (None,))


def _is_real(t: Type) -> bool:
    return t in (INT, FLOAT) or (isinstance(t, ScalarType) and t.dtype.kind in "iuf")


def _can_lower_arange(*types: Type, **attrs: Any) -> bool:
    result = _infer_arange(*types, **attrs)
    given = {t for t in types if t != NONE}
    if not isinstance(result, ArrayType) or not given <= {INT, FLOAT}:
        return False
    return result.dtype == (_FLOAT64 if FLOAT in given else _INT64)


def _lower_arange(
    e: Emitter, start: V, stop: V | None = None, step: V | None = None, **attrs: Any
) -> V:
    values = (start, stop, step)
    types = [NONE if x is None else x.type for x in values]
    result = _infer_arange(*types, **attrs)
    assert isinstance(result, ArrayType)
    if types[1] == NONE:
        values = (None, start, step)
    number = FLOAT if result.dtype == _FLOAT64 else INT
    numbers = [
        e.const(number, default) if x is None or x.type == NONE else e.cast(x, number)
        for x, default in zip(values, (0, 0, 1), strict=True)
    ]
    count, difference = (_float_steps if number == FLOAT else _int_steps)(e, *numbers)
    second = e.add(numbers[0], numbers[2])
    array = e.array_new(result, [count], None)

    def store(k: V) -> None:
        item = e.add(numbers[0], e.mul(e.cast(k, number), difference))
        item = e.select(e.compare("eq", k, e.const(INT, 1)), second, item)
        e.array_store(array, [k], e.retype(item, result.element))

    e.loop(count, store)
    return array


def _int_steps(e: Emitter, start: V, stop: V, step: V) -> tuple[V, V]:
    """Number of items and their difference; bails where NumPy's floating-point count could be off."""
    zero, one = e.const(INT, 0), e.const(INT, 1)
    e.bail_if(e.compare("eq", step, zero), "arange with step 0")
    distance, overflow = e.sub_overflow(stop, start)
    e.bail_if(overflow, "arange too long")
    is_down = e.compare("lt", step, zero)
    distance = e.select(is_down, e.neg(distance), distance)
    e.bail_if(e.compare("gt", distance, e.const(INT, _LARGE)), "arange too long")
    stride = e.select(is_down, e.neg(step), step)
    e.bail_if(e.compare("lt", stride, one), "arange step too large")
    count = e.add(e.div(e.sub(distance, one), stride), one)
    return e.select(e.compare("le", distance, zero), zero, count), step


def _float_steps(e: Emitter, start: V, stop: V, step: V) -> tuple[V, V]:
    """Number of items, and the difference of the first two: NumPy adds multiples of that."""
    zero = e.const(FLOAT, 0.0)
    distance = e.sub(stop, start)
    steps = e.div(distance, step)
    vanished = e.bit_and(e.compare("eq", steps, zero), e.compare("ne", distance, zero))
    e.bail_if(vanished, "arange step too large")
    length = e.intrinsic("ceil", steps)
    fits = e.compare("lt", e.intrinsic("fabs", length), e.const(FLOAT, float(_LARGE)))
    e.bail_if(e.bit_not(fits), "arange of unknown length")
    count = e.cast(e.select(e.compare("gt", length, zero), length, zero), INT)
    return count, e.sub(e.add(start, step), start)


declare_function(
    "arange",
    "(start, stop=None, step=None, *, dtype=None)",
    _infer_arange,
    np.arange,
    lower=_lower_arange,
    can_lower=_can_lower_arange,
    effect=_FRESH,
    samples=((5,), (2, 9, 3), (0.0, 1.0, 0.25)),
)


def _infer_linspace(
    start: Type,
    stop: Type,
    num: Type = INT,
    *,
    endpoint: object = True,
    retstep: object = False,
    dtype: object = None,
) -> Type:
    kinds = kinds_of((start, stop))
    is_known = is_scalar(start) and is_scalar(stop) and is_integer_scalar(num)
    if kinds is None or not is_known or retstep is not False:
        return ANY
    default = result_dtype((*kinds, float))
    return array_of(chosen_dtype(dtype, default), (None,))


def _can_lower_linspace(start: Type, stop: Type, num: Type = INT, **attrs: object) -> bool:
    """Whether both ends are doubles, or become such, and the result has them."""
    result = _infer_linspace(start, stop, num, **attrs)
    wide = (INT, FLOAT, ScalarType(_FLOAT64), ScalarType(_INT64))
    is_double = isinstance(result, ArrayType) and result.dtype == _FLOAT64
    return (
        is_double and start in wide and stop in wide and type(attrs.get("endpoint", True)) is bool
    )


def _lower_linspace(
    e: Emitter, start: V, stop: V, num: V | None = None, *, endpoint: bool = True, **_: object
) -> V:
    double, one, zero = ScalarType(_FLOAT64), e.const(INT, 1), e.const(INT, 0)
    first, last = e.cast(start, double), e.cast(stop, double)
    count = e.const(INT, 50) if num is None else e.cast(num, INT)
    made = e.array_new(ArrayType(_FLOAT64, (None,)), [count], None)
    gaps = e.sub(count, one) if endpoint else count
    distance = e.sub(last, first)
    has_gaps = e.compare("gt", gaps, zero)
    step = e.div(distance, e.cast(e.select(has_gaps, gaps, one), double))
    step = e.select(has_gaps, step, distance)
    none = e.const(double, 0.0)
    lost = e.bit_and(e.compare("eq", step, none), e.compare("ne", distance, none))
    e.bail_if(lost, "steps that are too small")

    def store(k: V) -> None:
        e.array_store(made, [k], e.add(e.mul(e.cast(k, double), step), first))

    e.loop(count, store)
    if endpoint:
        ends = e.select(e.compare("gt", count, one), one, zero)
        e.loop(ends, lambda k: e.array_store(made, [e.sub(count, one)], last))
    return made


declare_function(
    "linspace",
    "(start, stop, num=50, *, endpoint=True, retstep=False, dtype=None)",
    _infer_linspace,
    np.linspace,
    effect=_FRESH,
    lower=_lower_linspace,
    can_lower=_can_lower_linspace,
    parameters=("start", "stop", "num", "endpoint", "retstep", "dtype"),
    samples=((0.0, 1.0), (0, 3, 7), (1.5, 1.5, 3), (2.0, 3.0, 1), (0.1, 0.7, 0)),
)


declare(
    OpDef(
        "prim::new_array",
        Schema("(*sizes, type)"),
        "A fresh array of the type: its elements are whatever was there before.",
        infer=lambda *_sizes, type: type,
        evaluate=lambda *sizes, type: np.empty(sizes, type.dtype),
        lower=lambda e, *sizes, type: e.array_new(type, sizes),
        effects=_FRESH,
    )
)
