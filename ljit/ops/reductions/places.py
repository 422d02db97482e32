"""`argmin` and `argmax`: native for real numbers, boxed where an array is flattened that is not in C order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function, is_flag
from ljit.ops.arrays.rules import is_scalar
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_INT64 = ScalarType(np.dtype(np.int64))
_MATRIX = np.arange(6.0).reshape(2, 3)


def _infer_place(a: Type, *, axis: object = None, keepdims: object = False) -> Type:
    if not (isinstance(a, ArrayType) or is_scalar(a)) or not is_flag(keepdims):
        return ANY
    shape = a.shape if isinstance(a, ArrayType) else ()
    axes = axes_of(axis, len(shape))
    if axes is None or not (axis is None or type(axis) is int):
        return ANY
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes)
    return ArrayType(_INT64.dtype, kept, "C") if kept else _INT64


def _can_lower(a: Type, *, axis: object = None, keepdims: object = False) -> bool:
    if not isinstance(a, ArrayType) or not a.ndim or a.dtype.kind not in "biuf":
        return False
    is_known = _infer_place(a, axis=axis, keepdims=keepdims) != ANY
    return is_known and not keepdims and (axis is not None or a.ndim == 1 or a.layout == "C")


def _lower_place(e: Emitter, a: V, *, axis: int | None, greatest: bool) -> V:
    type_, sizes, strides = a.type, [*e.array_sizes(a)], [*e.array_strides(a)]
    zero = e.const(INT, 0)
    if axis is None:
        sizes, strides = [reduce(e.mul, sizes)], strides[-1:]
    place = 0 if axis is None else axis % type_.ndim
    size, stride = sizes.pop(place), strides.pop(place)
    e.bail_if(e.compare("eq", size, zero), "extremum of nothing")
    if not sizes:
        vector = ArrayType(type_.dtype, (None,), "strided")
        view = e.array_view(a, vector, zero, [size], [stride])
        return e.cast(e.array_place(view, greatest=greatest), _INT64)
    made = e.array_new(_infer_place(type_, axis=axis), sizes, None)
    matrix, row = ArrayType(type_.dtype, (None, None), "strided"), ArrayType(_INT64.dtype, (None,))
    into_strides = e.array_strides(made)

    def nest(level: int, offset: V, into_offset: V) -> None:
        """Loops over all axes but the last of the result."""
        if level < len(sizes) - 1:

            def inside(k: V) -> None:
                at = e.add(offset, e.mul(k, strides[level]))
                nest(level + 1, at, e.add(into_offset, e.mul(k, into_strides[level])))

            e.loop(sizes[level], inside)
            return
        columns = e.array_view(a, matrix, offset, [size, sizes[-1]], [stride, strides[-1]])
        into = e.array_view(made, row, into_offset, [sizes[-1]], [e.const(INT, 8)])
        e.array_places(columns, into, greatest=greatest)

    nest(0, zero, zero)
    return made


def _declare(name: str, *, greatest: bool) -> None:
    def lower(e: Emitter, a: V, *, axis: Any = None, keepdims: bool = False) -> V:
        return _lower_place(e, a, axis=axis, greatest=greatest)

    declare_function(
        name,
        "(a, *, axis=None, keepdims=False)",
        _infer_place,
        getattr(np, name),
        lower=lower,
        can_lower=_can_lower,
        parameters=("a", "axis", "out", "*", "keepdims"),
        methods=(f"ndarray.{name}", f"generic.{name}"),
        samples=((_MATRIX,), (np.arange(4),)),
    )


# -- among NaNs --------------------------------------------------------------------------------------


def _infer_nan_place(a: Type, *, axis: object = None) -> Type:
    is_known = isinstance(a, ArrayType) and a.ndim > 0 and a.dtype.kind == "f"
    return _infer_place(a, axis=axis) if is_known else ANY


def _nan_place_of(
    parts: Parts, a: Value, *, axis: object = None, name: str, other: float
) -> Value | None:
    """The place in an array that has another number for each NaN; NumPy raises where there is nothing else."""
    if _infer_nan_place(a.type, axis=axis) == ANY:
        return None
    assert isinstance(a.type, ArrayType)
    is_nan = parts.apply("np::isnan", a)
    number = parts.constant(a.type.dtype.type(other))
    place = parts.apply(name, parts.apply("np::where", is_nan, number, a), axis=axis)
    are_nan = parts.apply("np::all", is_nan, axis=axis)
    if isinstance(are_nan.type, ArrayType):
        are_nan = parts.apply("np::any", are_nan)
    parts.apply("np::unless", parts.constant(1.0), are_nan)
    return place


def _declare_nan_place(function: Callable[..., Any], name: str, other: float) -> None:
    declare_function(
        function.__name__,
        "(a, *, axis=None)",
        _infer_nan_place,
        function,
        decompose=partial(_nan_place_of, name=name, other=other),
        samples=((np.array([3.0, np.nan, 1.0]),),),
    )


_declare_nan_place(np.nanargmin, "np::argmin", np.inf)
_declare_nan_place(np.nanargmax, "np::argmax", -np.inf)
_declare("argmin", greatest=False)
_declare("argmax", greatest=True)
