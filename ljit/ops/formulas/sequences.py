"""``ediff1d``, ``unwrap``, ``logspace``, ``geomspace``, ``vander`` and windows as other ops, in NumPy's order.

What does not fit stays a call of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.formulas.derived import difference_of
from ljit.types import ANY, FLOAT, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_FLOAT64 = np.dtype(np.float64)
_FLOATS = (np.dtype(np.float32), _FLOAT64)
_VECTOR = ArrayType(_FLOAT64, (None,))
_NUMBERS = (INT, FLOAT, ScalarType(_FLOAT64))
_FULL_TURN = 2 * pi


# -- differences -------------------------------------------------------------------------------------


def _infer_ediff1d(ary: Type) -> Type:
    if not isinstance(ary, ArrayType) or ary.ndim != 1 or ary.dtype.kind not in "iufc":
        return ANY
    return ArrayType(ary.dtype, (None,))


def _ediff1d_of(parts: Parts, ary: Value) -> Value | None:
    return difference_of(parts, ary) if _infer_ediff1d(ary.type) != ANY else None


declare_function(
    "ediff1d",
    "(ary)",
    _infer_ediff1d,
    np.ediff1d,
    decompose=_ediff1d_of,
    samples=((np.arange(4.0),), (np.array([3, 1, 7]),)),
)


def _infer_unwrap(p: Type, *, period: object = _FULL_TURN) -> Type:
    is_known = isinstance(p, ArrayType) and p.ndim == 1 and p.dtype in _FLOATS
    if not is_known or type(period) is not float or not 0 < period < np.inf:
        return ANY
    assert isinstance(p, ArrayType)
    return ArrayType(p.dtype, (None,))


def _unwrap_of(parts: Parts, p: Value, *, period: float = _FULL_TURN) -> Value | None:
    """Steps of half a period and more become what they are within one."""
    if _infer_unwrap(p.type, period=period) == ANY:
        return None
    step, half = difference_of(parts, p), parts.constant(period / 2)
    assert step is not None
    low, none = parts.constant(-period / 2), parts.constant(0.0)
    turned = parts.apply(
        "np::remainder", parts.apply("np::subtract", step, low), parts.constant(period)
    )
    turned = parts.apply("np::add", turned, low)
    is_low = parts.apply("np::equal", turned, low)
    is_half = parts.apply("np::logical_and", is_low, parts.apply("np::greater", step, none))
    change = parts.apply("np::subtract", parts.apply("np::where", is_half, half, turned), step)
    is_short = parts.apply("np::less", parts.apply("np::absolute", step), half)
    change = parts.apply("np::where", is_short, none, change)
    first, later = (parts.apply("np::getitem", p, parts.constant(x)) for x in _ENDS)
    rest = parts.apply("np::add", later, parts.apply("np::cumsum", change))
    return parts.apply("np::concatenate", parts.apply("prim::TupleConstruct", first, rest))


_ENDS = slice(None, 1), slice(1, None)

declare_function(
    "unwrap",
    "(p, *, period=6.283185307179586)",
    _infer_unwrap,
    np.unwrap,
    decompose=_unwrap_of,
    parameters=("p", "discont", "axis", "*", "period"),
    samples=((np.array([0.0, 1.0, 5.0, -2.0, 9.0]),),),
)


# -- numbers whose logarithms are evenly spaced -------------------------------------------------------


def _infer_logspace(start: Type, stop: Type, num: Type = INT, *, base: object = 10.0) -> Type:
    is_known = start in _NUMBERS and stop in _NUMBERS and num == INT
    return _VECTOR if is_known and type(base) in (int, float) else ANY


def _logspace_of(
    parts: Parts, start: Value, stop: Value, *num: Value, base: float = 10.0
) -> Value | None:
    if _infer_logspace(start.type, stop.type, *(x.type for x in num), base=base) == ANY:
        return None
    exponents = parts.apply("np::linspace", start, stop, *num)
    return parts.apply("np::power", parts.constant(np.float64(base)), exponents)


declare_function(
    "logspace",
    "(start, stop, num=50, *, base=10.0)",
    _infer_logspace,
    np.logspace,
    decompose=_logspace_of,
    parameters=("start", "stop", "num", "endpoint", "base"),
    samples=((0.0, 2.0, 5), (1, 3, 3)),
)


def _infer_geomspace(start: Type, stop: Type, num: Type = INT) -> Type:
    return _infer_logspace(start, stop, num)


def _geomspace_of(parts: Parts, start: Value, stop: Value, *num: Value) -> Value | None:
    """Powers of ten, the first and last of which are the numbers; of others than positive ones NumPy makes it."""
    if _infer_geomspace(start.type, stop.type, *(x.type for x in num)) == ANY:
        return None
    count = num[0] if num else parts.constant(50)
    zero, number = parts.constant(0.0), parts.constant(1.0)
    for x in (start, stop):
        is_positive = parts.apply("np::greater", x, zero)
        parts.apply("np::unless", number, parts.apply("np::logical_not", is_positive))
    parts.apply("np::unless", number, parts.apply("py::lt", count, parts.constant(2)))
    exponents = [parts.apply("np::log10", x) for x in (start, stop)]
    powers = parts.apply("np::logspace", *exponents, count)
    inside = parts.apply("np::getitem", powers, parts.constant(slice(1, -1)))
    ends = [
        parts.apply("np::array", parts.apply("prim::TupleConstruct", x), dtype=_FLOAT64)
        for x in (start, stop)
    ]
    joined = parts.apply("prim::TupleConstruct", ends[0], inside, ends[1])
    return parts.apply("np::concatenate", joined)


declare_function(
    "geomspace",
    "(start, stop, num=50)",
    _infer_geomspace,
    np.geomspace,
    decompose=_geomspace_of,
    parameters=("start", "stop", "num"),
    samples=((1.0, 1000.0, 4), (1, 256, 9)),
)


# -- powers in columns ---------------------------------------------------------------------------------


_MOST_COLUMNS = 8


def _infer_vander(x: Type, N: Type = NONE, *, increasing: object = False) -> Type:
    is_known = isinstance(x, ArrayType) and x.ndim == 1 and x.dtype.kind in "iuf"
    if not is_known or N not in (INT, NONE) or type(increasing) is not bool:
        return ANY
    return ArrayType(np.promote_types(x.dtype, int), (None, None))  # type: ignore[attr-defined]


def _vander_of(
    parts: Parts, x: Value, N: Value | None = None, *, increasing: bool = False
) -> Value | None:
    """A column of ones, the vector, and products of it and the column before."""
    count = N.constant if N is not None and N.is_constant else None
    if type(count) is not int or not 2 <= count <= _MOST_COLUMNS:
        return None
    if _infer_vander(x.type, INT, increasing=increasing) == ANY:
        return None
    assert isinstance(x.type, ArrayType)
    dtype = np.promote_types(x.type.dtype, int)
    if x.type.dtype != dtype:
        x = parts.apply("np::astype", x, dtype=dtype)
    columns = [parts.apply("np::ones_like", x), x]
    while len(columns) < count:
        columns.append(parts.apply("np::multiply", columns[-1], x))
    columns = columns if increasing else columns[::-1]
    return parts.apply("np::stack", parts.apply("prim::TupleConstruct", *columns), axis=1)


declare_function(
    "vander",
    "(x, N=None, *, increasing=False)",
    _infer_vander,
    np.vander,
    decompose=_vander_of,
    parameters=("x", "N", "increasing"),
    samples=((np.arange(1.0, 4.0), 3), (np.arange(3), 2)),
)


# -- windows -----------------------------------------------------------------------------------------


def _infer_window(M: Type) -> Type:
    return _VECTOR if M == INT else ANY


def _window_of(parts: Parts, M: Value, *, terms: tuple[float, ...]) -> Value | None:
    """A constant and multiples of cosines; of fewer than two elements NumPy makes it."""
    if M.type != INT:
        return None
    is_short = parts.apply("py::lt", M, parts.constant(2))
    parts.apply("np::unless", parts.constant(1.0), is_short)
    one = parts.constant(1)
    start = parts.apply("py::sub", one, M)
    k = parts.apply("np::arange", start, M, parts.constant(2))
    gaps = parts.apply("py::float", parts.apply("py::sub", M, one))
    result, *factors = (parts.constant(x) for x in terms)
    for turns, factor in enumerate(factors, start=1):
        angle = parts.apply("np::multiply", parts.constant(turns * pi), k)
        cosine = parts.apply("np::cos", parts.apply("np::divide", angle, gaps))
        result = parts.apply("np::add", result, parts.apply("np::multiply", factor, cosine))
    return result


def _declare_window(function: Callable[[int], np.ndarray], *terms: float) -> None:
    declare_function(
        function.__name__,
        "(M)",
        _infer_window,
        function,
        decompose=partial(_window_of, terms=terms),
        samples=((5,), (12,)),
    )


_declare_window(np.hanning, 0.5, 0.5)
_declare_window(np.hamming, 0.54, 0.46)
_declare_window(np.blackman, 0.42, 0.5, 0.08)
