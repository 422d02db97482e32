"""Making arrays of a shape: ``zeros``, ``full_like`` and their relatives.

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
from ljit.ops.arrays.boxed import chosen_dtype, declare_function, is_flag, shape_rank
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.rules import array_of, dtype_of, is_scalar, layout_like
from ljit.ops.ranges.array_ranges import LIKE_FIRST, OF_SHAPE
from ljit.sizes import MAX_ELEMENTS
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__ = ["if_small"]

_FLOAT64 = np.dtype(np.float64)
_FRESH = Effect.ALLOC | Effect.RAISE


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
        ranges=OF_SHAPE,
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
    ranges=OF_SHAPE,
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
    if order not in ("K", "C") or shape is not None or not is_flag(subok) or dtype_of(a) is None:
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
    (np.empty_like, "prototype, /", None),
    (np.zeros_like, "a", 0),
    (np.ones_like, "a", 1),
)
for _function, _array, _fill in _LIKE_FILLS:
    declare_function(
        _function.__name__,
        f"({_array}, *, dtype=None, order='K', subok=True, shape=None)",
        _infer_like,
        _function,
        lower=_lower_like(_fill),
        ranges=LIKE_FIRST,
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
    ranges=LIKE_FIRST,
    can_lower=_can_lower_full_like,
    effect=_FRESH,
    samples=((np.arange(3), 2.5),),
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
