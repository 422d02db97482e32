"""``np.searchsorted`` and ``np.interp``: native for one number, boxed for arrays of them."""

from __future__ import annotations

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.numpy_boxed import declare_function
from ljit.ops.numpy_rules import array_of, dtype_of, is_scalar
from ljit.types import ANY, FLOAT, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_VECTOR = np.arange(3.0)
_DOUBLE = ScalarType(_FLOAT64)


def _is_vector(t: Type, dtype: np.dtype) -> bool:
    return isinstance(t, ArrayType) and t.ndim == 1 and t.dtype == dtype


# -- np.searchsorted ---------------------------------------------------------------------------------


def _infer_searchsorted(a: Type, v: Type, *, side: object = "left") -> Type:
    if not isinstance(a, ArrayType) or side not in ("left", "right"):
        return ANY
    if is_scalar(v):
        return ScalarType(_INT64)
    return array_of(_INT64, v.shape, "C") if isinstance(v, ArrayType) and v.ndim else ANY


def _can_search(a: Type, v: Type, *, side: object = "left") -> bool:
    if side not in ("left", "right"):
        return False
    if _is_vector(a, _INT64):
        return v in (INT, ScalarType(_INT64))
    return _is_vector(a, _FLOAT64) and v in (FLOAT, _DOUBLE, INT, ScalarType(_INT64))


def _lower_searchsorted(e: Emitter, a: V, v: V, *, side: str = "left") -> V:
    assert isinstance(a.type, ArrayType)
    key = e.cast(v, ScalarType(a.type.dtype))
    return e.cast(e.array_position(a, key, after=side == "right"), ScalarType(_INT64))


declare_function(
    "searchsorted",
    "(a, v, *, side='left')",
    _infer_searchsorted,
    np.searchsorted,
    lower=_lower_searchsorted,
    can_lower=_can_search,
    methods=("ndarray.searchsorted",),
    samples=((_VECTOR, 1.5), (_VECTOR, _VECTOR), (np.arange(4), 2)),
)

# -- np.interp ---------------------------------------------------------------------------------------


def _infer_interp(x: Type, xp: Type, fp: Type) -> Type:
    if not isinstance(xp, ArrayType) or not isinstance(fp, ArrayType) or dtype_of(x) is None:
        return ANY
    if fp.dtype.kind == "c" or (dtype_of(x) or xp.dtype).kind == "c":
        return ANY
    if is_scalar(x):
        return _DOUBLE
    return array_of(_FLOAT64, x.shape) if isinstance(x, ArrayType) and x.ndim else ANY


def _can_interpolate(x: Type, xp: Type, fp: Type) -> bool:
    points = _is_vector(xp, _FLOAT64) and _is_vector(fp, _FLOAT64)
    return points and x in (FLOAT, INT, _DOUBLE, ScalarType(_INT64)) and not _FUSES


def _fuses() -> bool:
    """Whether NumPy was compiled with fused multiply-add: it would round once less."""
    x = 0.1
    return float(np.interp(x, [0.0, 1.0], [x, x + x])) != x * x + x


_FUSES = _fuses()


def _lower_interp(e: Emitter, x: V, xp: V, fp: V) -> V:
    """Between two points; at one of them, or beyond all, its value. NumPy's formula, and its ways around NaN."""
    x = e.cast(x, _DOUBLE)
    zero, one = e.const(INT, 0), e.const(INT, 1)
    (size,), (values,) = e.array_sizes(xp), e.array_sizes(fp)
    e.bail_if(e.compare("eq", size, zero), "no points")
    e.bail_if(e.compare("ne", size, values), "other numbers of points and values")
    found = e.array_interval(xp, x)
    last = e.sub(size, one)
    is_outside = e.bit_or(e.compare("lt", found, zero), e.compare("ge", found, last))
    first = e.select(e.compare("lt", found, zero), zero, found)
    first = e.select(e.compare("gt", first, last), last, first)
    second = e.select(e.compare("lt", first, last), e.add(first, one), last)
    x0, x1 = (e.array_load(xp, (k,)) for k in (first, second))
    y0, y1 = (e.array_load(fp, (k,)) for k in (first, second))
    slope = e.div(e.sub(y1, y0), e.sub(x1, x0))
    result = e.add(e.mul(slope, e.sub(x, x0)), y0)
    other = e.add(e.mul(slope, e.sub(x, x1)), y1)
    other = e.select(e.bit_and(_is_nan(e, other), e.compare("eq", y0, y1)), y0, other)
    result = e.select(_is_nan(e, result), other, result)
    result = e.select(e.bit_or(is_outside, e.compare("eq", x0, x)), y0, result)
    is_nan = e.bit_and(_is_nan(e, x), e.compare("gt", size, one))  # one point has one value
    return e.select(is_nan, x, result)


def _is_nan(e: Emitter, x: V) -> V:
    return e.compare("ne", x, x)


declare_function(
    "interp",
    "(x, xp, fp)",
    _infer_interp,
    np.interp,
    lower=_lower_interp,
    can_lower=_can_interpolate,
    samples=(
        (1.5, _VECTOR, _VECTOR),
        (np.float64(-1), _VECTOR, _VECTOR),
        (_VECTOR, _VECTOR, _VECTOR),
    ),
)
