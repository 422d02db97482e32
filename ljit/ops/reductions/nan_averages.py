"""``nanmean``, ``nanvar`` and ``nanstd`` as sums and elementwise ops, in the order in which NumPy does them.

Each function is an `OpDef.decompose` of `reduce.py`. Where nothing is left to average native code
leaves: NumPy warns.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of
from ljit.types import ArrayType

__all__ = ["divided", "mean_of_numbers", "std_of_numbers", "var_of_numbers"]

_SUMMED = (np.dtype(np.float32), np.dtype(np.float64))


def _dtype_of(a: Value, axis: object, dtype: object, keepdims: object) -> np.dtype | None:
    """The dtype of an array of floats with axes to reduce; None for others."""
    t = a.type
    if not isinstance(t, ArrayType) or dtype is not None or type(keepdims) is not bool:
        return None
    return t.dtype if t.dtype in _SUMMED and axes_of(axis, t.ndim) else None


def divided(parts: Parts, total: Value, count: Value, dtype: np.dtype) -> Value:
    """The quotient in the dtype of the sum; native code is left unless all counts are positive."""
    is_bad = parts.apply("np::less_equal", count, parts.constant(0))
    if isinstance(is_bad.type, ArrayType):
        is_bad = parts.apply("np::any", is_bad)
    quotient = parts.apply("np::divide", total, count)
    if dtype != np.float64:
        quotient = parts.apply("np::astype", quotient, dtype=dtype)
    return parts.apply(
        "np::multiply", quotient, parts.apply("np::unless", parts.constant(1.0), is_bad)
    )


def _numbers(parts: Parts, a: Value) -> tuple[Value, Value]:
    """Where there are NaNs, and the array with zeros there."""
    is_nan = parts.apply("np::isnan", a)
    return is_nan, parts.apply("np::where", is_nan, parts.constant(0.0), a)


def mean_of_numbers(
    parts: Parts, a: Value, *, axis: object = None, dtype: object = None, keepdims: object = False
) -> Value | None:
    own = _dtype_of(a, axis, dtype, keepdims)
    if own is None:
        return None
    is_nan, numbers = _numbers(parts, a)
    attrs = {"axis": axis, "keepdims": keepdims}
    total = parts.apply("np::sum", numbers, **attrs)
    return divided(parts, total, _count(parts, is_nan, axis, keepdims), own)


def _count(parts: Parts, is_nan: Value, axis: object, keepdims: object) -> Value:
    return parts.apply(
        "np::sum", parts.apply("np::logical_not", is_nan), axis=axis, keepdims=keepdims
    )


def var_of_numbers(
    parts: Parts,
    a: Value,
    *,
    axis: object = None,
    dtype: object = None,
    ddof: object = 0,
    keepdims: object = False,
) -> Value | None:
    own = _dtype_of(a, axis, dtype, keepdims)
    if own is None or type(ddof) is not int:
        return None
    assert isinstance(a.type, ArrayType)
    is_whole = len(axes_of(axis, a.type.ndim) or ()) == a.type.ndim
    mean = mean_of_numbers(parts, a, axis=axis, keepdims=not is_whole)
    assert mean is not None
    is_nan, numbers = _numbers(parts, a)
    distance = parts.apply("np::subtract", numbers, mean)
    distance = parts.apply("np::where", is_nan, parts.constant(0.0), distance)
    total = parts.apply(
        "np::sum", parts.apply("np::square", distance), axis=axis, keepdims=keepdims
    )
    count = _count(parts, is_nan, axis, keepdims)
    if ddof:
        count = parts.apply("np::subtract", count, parts.constant(ddof))
    return divided(parts, total, count, own)


def std_of_numbers(parts: Parts, a: Value, **attrs: object) -> Value | None:
    """The square root of the variance."""
    variance = var_of_numbers(parts, a, **attrs)  # type: ignore[arg-type]
    return None if variance is None else parts.apply("np::sqrt", variance)
