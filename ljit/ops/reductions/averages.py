"""Means, variances and the like as sums and elementwise ops, in the order in which NumPy does them.

Each function is the `OpDef.decompose` of a reduction in `reduce.py`. Elements of float16 are combined in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, Value, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of
from ljit.ops.arrays.rules import elementwise_result, is_integer_scalar
from ljit.ops.python.numbers import at_least
from ljit.types import ANY, BOOL, FLOAT, INT, ArrayType, ScalarType, Type

__all__ = [
    "count_of_nonzero",
    "extremum_of_halves",
    "extremum_of_numbers",
    "mean_of",
    "range_of",
    "std_of",
    "sum_of_numbers",
    "total_of_halves",
    "var_of",
]

_FLOAT64, _TRUTH = ScalarType(np.dtype(np.float64)), ScalarType(np.dtype(bool))
_FLOAT32 = np.dtype(np.float32)
_SHORT = 2  # bytes of ints, sums of which fit into 53 bits
_SUMMED = frozenset(map(np.dtype, ("f4", "f8", "c8", "c16")))


# -- ops that only these are made of -----------------------------------------------------------------


def _infer_count(a: Type, *, axis: object = None, ddof: object = 0) -> Type:
    is_known = isinstance(a, ArrayType) and axes_of(axis, a.ndim) is not None
    return INT if is_known and type(ddof) is int else ANY


def _count(a: np.ndarray, *, axis: object = None, ddof: int = 0) -> int:
    axes = axes_of(axis, a.ndim)
    assert axes is not None
    count = 1
    for x in axes:
        count *= a.shape[x]
    return max(count - ddof, 0)


def _lower_count(e: Emitter, a: V, *, axis: object = None, ddof: int = 0) -> V:
    assert isinstance(a.type, ArrayType)
    axes = axes_of(axis, a.type.ndim)
    assert axes is not None
    count, sizes = e.const(INT, 1), e.array_sizes(a)
    for x in axes:
        count = e.mul(count, sizes[x], fits=True)
    if not ddof:
        return count
    rest = e.sub(count, ddof)
    return at_least(e, rest, 0)


declare(
    OpDef(
        "np::reduced_size",
        Schema("(a, *, axis=None, ddof=0)"),
        "The number of elements that a reduction along `axis` combines to one, less `ddof`; at least 0.",
        infer=_infer_count,
        evaluate=_count,
        lower=_lower_count,
        can_lower=lambda a, **attrs: _infer_count(a, **attrs) == INT,
        effects=lambda a, **attrs: Effect.PURE if _infer_count(a, **attrs) == INT else Effect.CALL,
        reads_sizes=True,
        samples=((np.arange(6.0).reshape(2, 3),),),
    )
)


def _infer_average(total: Type, count: Type) -> Type:
    if not isinstance(total, ArrayType | ScalarType) or not is_integer_scalar(count):
        return ANY
    return elementwise_result((total,), total.dtype) if total.dtype in _SUMMED else ANY


def _average(total: Any, count: int) -> Any:
    return np.true_divide(total, np.intp(count)).astype(total.dtype)


def _lower_average(e: Emitter, total: V, count: V) -> V:
    """Divide in float64, as NumPy does, whose counts are no weak ints."""
    kind = total.type.dtype.kind
    wide = _FLOAT64 if kind == "f" else ScalarType(np.dtype(np.complex128))
    divide = get_op("np::divide").lower
    assert divide is not None
    return e.cast(divide(e, e.cast(total, wide), e.cast(count, wide)), total.type)


declare(
    OpDef(
        "np::divide_by_count",
        Schema("(total, count)"),
        "The quotient of a sum and a count, in the dtype of the sum.",
        infer=_infer_average,
        evaluate=_average,
        lower=_lower_average,
        effects=lambda total, count: (
            Effect.CALL
            if _infer_average(total, count) == ANY
            else (Effect.READ | Effect.ALLOC if isinstance(total, ArrayType) else Effect.PURE)
        ),
        elementwise=True,
        samples=((np.float64(3.0), 2), (np.arange(3.0), 2), (np.complex64(1 + 2j), 3)),
    )
)


def _infer_unless(value: Type, condition: Type) -> Type:
    return value if value == FLOAT and condition in (BOOL, _TRUTH) else ANY


def _unless(value: float, condition: object) -> float:
    if condition:
        raise ValueError("no result is known")
    return value


def _lower_unless(e: Emitter, value: V, condition: V) -> V:
    e.bail_if(e.retype(condition, BOOL), "no result is known")
    return value


declare(
    OpDef(
        "np::unless",
        Schema("(value, condition)"),
        "The number; where the condition holds native code is left.",
        infer=_infer_unless,
        evaluate=_unless,
        lower=_lower_unless,
        can_lower=lambda value, condition: _infer_unless(value, condition) == FLOAT,
        effects=lambda value, condition: (
            Effect.RAISE if _infer_unless(value, condition) == FLOAT else Effect.CALL
        ),
        samples=((1.5, False), (1.5, np.False_)),
    )
)

# -- decompositions ----------------------------------------------------------------------------------


def _is_array(a: Value, axis: object) -> bool:
    """Whether there are axes to reduce."""
    type_ = a.type
    return isinstance(type_, ArrayType) and bool(axes_of(axis, type_.ndim))


def _result(a: Value, axis: object, dtype: object) -> np.dtype | None:
    """Give the dtype of the mean, if it is taken apart."""
    if not _is_array(a, axis):
        return None
    type_ = get_op("np::mean").infer_types([a.type], {"axis": axis, "dtype": dtype})[0]
    is_plain = isinstance(type_, ArrayType | ScalarType) and type_.dtype in _SUMMED
    return type_.dtype if is_plain else None  # type: ignore[union-attr, attr-defined]


def _sum(parts: Parts, a: Value, axis: object, dtype: np.dtype, keepdims: object) -> Value:
    """The sum in a dtype, which is only named where it has to be."""
    attrs: dict[str, object] = {} if axis is None else {"axis": axis}
    if keepdims:
        attrs["keepdims"] = True
    (plain,) = get_op("np::sum").infer_types([a.type], attrs)
    if not isinstance(plain, ArrayType | ScalarType) or plain.dtype != dtype:
        attrs["dtype"] = dtype
    return parts.apply("np::sum", a, **attrs)


def _is_short(a: Value) -> bool:
    """Whether sums of the elements are exact as ints, vectors of which hold more of them, and as floats."""
    assert isinstance(a.type, ArrayType)
    return a.type.dtype.kind in "biu" and a.type.dtype.itemsize <= _SHORT


def _sum_dtype(a: Value) -> np.dtype:
    assert isinstance(a.type, ArrayType)
    return np.dtype(np.uint64 if a.type.dtype.kind == "u" else np.int64)


def _size(parts: Parts, a: Value, axis: object, ddof: int = 0) -> Value:
    assert isinstance(a.type, ArrayType)
    sizes = [a.type.shape[x] for x in axes_of(axis, a.type.ndim) or ()]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        return parts.constant(max(math.prod(known) - ddof, 0))
    attrs = {"axis": axis, **({"ddof": ddof} if ddof else {})}
    return parts.apply("np::reduced_size", a, **attrs)


def _is_half(a: Value) -> bool:
    return isinstance(a.type, ArrayType) and a.type.dtype == np.float16


def _rounded(parts: Parts, x: Value | None) -> Value | None:
    return None if x is None else parts.apply("np::astype", x, dtype=np.dtype(np.float16))


def total_of_halves(name: str) -> Callable[..., Value | None]:
    """The sum or product of elements of float16, made in float32 where NumPy makes it so.

    That is where its inner loop goes along all that is reduced; elsewhere it rounds each step.
    """

    def decompose(
        parts: Parts,
        a: Value,
        *,
        axis: object = None,
        dtype: object = None,
        keepdims: object = False,
    ) -> Value | None:
        if dtype is not None or not _is_half(a) or type(keepdims) is not bool:
            return None
        assert isinstance(a.type, ArrayType)
        axes = axes_of(axis, a.type.ndim)
        is_inner = axes is not None and set(axes) == set(range(a.type.ndim)[-len(axes) :])
        if not axes or not is_inner or a.type.layout != "C":
            return None
        attrs = {"axis": axis, "dtype": _FLOAT32, "keepdims": keepdims}
        return _rounded(parts, parts.apply(name, a, **attrs))

    return decompose


def extremum_of_halves(name: str) -> Callable[..., Value | None]:
    """The extremum of elements of float16, which vectors find in float32."""

    def decompose(
        parts: Parts, a: Value, *, axis: object = None, keepdims: object = False
    ) -> Value | None:
        if not _is_half(a) or not _is_array(a, axis) or type(keepdims) is not bool:
            return None
        wide = parts.apply("np::astype", a, dtype=_FLOAT32)
        return _rounded(parts, parts.apply(name, wide, axis=axis, keepdims=keepdims))

    return decompose


def mean_of(
    parts: Parts, a: Value, *, axis: object = None, dtype: object = None, keepdims: object = False
) -> Value | None:
    """The sum, divided by the number of elements."""
    if dtype is None and _is_half(a):
        return _rounded(parts, mean_of(parts, a, axis=axis, dtype=_FLOAT32, keepdims=keepdims))
    result = _result(a, axis, dtype)
    if result is None or type(keepdims) is not bool:
        return None
    if _is_short(a) and result == np.float64:
        whole = _sum(parts, a, axis, _sum_dtype(a), keepdims)
        total = parts.apply("np::astype", whole, dtype=result)
    else:
        total = _sum(parts, a, axis, result, keepdims)
    return parts.apply("np::divide_by_count", total, _size(parts, a, axis))


def var_of(
    parts: Parts,
    a: Value,
    *,
    axis: object = None,
    dtype: object = None,
    ddof: object = 0,
    keepdims: object = False,
) -> Value | None:
    """The mean of the squared distances from the mean: two passes."""
    if dtype is None and _is_half(a):
        attrs = {"axis": axis, "dtype": _FLOAT32, "ddof": ddof, "keepdims": keepdims}
        return _rounded(parts, var_of(parts, a, **attrs))  # type: ignore[arg-type]
    result = _result(a, axis, dtype)
    if result is None or result.kind != "f" or type(keepdims) is not bool or type(ddof) is not int:
        return None
    assert isinstance(a.type, ArrayType)
    if a.type.dtype.kind == "c":
        return None
    axes = axes_of(axis, a.type.ndim)
    is_whole = axes is not None and len(axes) == a.type.ndim
    mean = mean_of(parts, a, axis=axis, dtype=dtype, keepdims=not is_whole)
    assert mean is not None
    squared = parts.apply("np::square", parts.apply("np::subtract", a, mean))
    total = _sum(parts, squared, axis, result, keepdims)
    return parts.apply("np::divide_by_count", total, _size(parts, a, axis, ddof))


def std_of(parts: Parts, a: Value, **attrs: object) -> Value | None:
    """The square root of the variance."""
    variance = var_of(parts, a, **attrs)  # type: ignore[arg-type]
    return None if variance is None else parts.apply("np::sqrt", variance)


def range_of(
    parts: Parts, a: Value, *, axis: object = None, keepdims: object = False
) -> Value | None:
    """The distance of the maximum from the minimum."""
    if not _is_array(a, axis) or a.type.dtype.kind == "c":  # type: ignore[attr-defined]
        return None
    high, low = (parts.apply(op, a, axis=axis, keepdims=keepdims) for op in ("np::max", "np::min"))
    return parts.apply("np::subtract", high, low)


def count_of_nonzero(
    parts: Parts, a: Value, *, axis: object = None, keepdims: object = False
) -> Value | None:
    """The sum of the truth of the elements."""
    if not _is_array(a, axis) or type(keepdims) is not bool:
        return None
    is_bool = a.type.dtype.kind == "b"  # type: ignore[attr-defined]
    truth = a if is_bool else parts.apply("np::not_equal", a, parts.constant(0))
    count = _sum(parts, truth, axis, np.dtype(np.int64), keepdims)
    return parts.apply("py::int", count) if parts.type == INT else count


def sum_of_numbers(
    parts: Parts, a: Value, *, axis: object = None, dtype: object = None, keepdims: object = False
) -> Value | None:
    """The sum without NaNs."""
    if not _is_array(a, axis):
        return None
    if a.type.dtype.kind in "fc":  # type: ignore[attr-defined]
        zero = parts.constant(0.0)
        a = parts.apply("np::where", parts.apply("np::isnan", a), zero, a)
    return parts.apply("np::sum", a, axis=axis, dtype=dtype, keepdims=keepdims)


def extremum_of_numbers(name: str, pairwise: str, sign: int) -> Callable[..., Value | None]:
    """The extremum without NaNs, which become the finite number farthest from it; where this is found, NumPy decides.

    LLVM makes no vector code if they become an infinity: it skips them.
    """

    def decompose(
        parts: Parts, a: Value, *, axis: object = None, keepdims: object = False
    ) -> Value | None:
        if not _is_array(a, axis) or a.type.dtype.kind == "c":  # type: ignore[attr-defined]
            return None
        dtype, attrs = a.type.dtype, {"axis": axis, "keepdims": keepdims}  # type: ignore[attr-defined]
        if dtype.kind != "f":
            return parts.apply(name, a, **attrs)
        last = parts.constant(sign * float(np.finfo(dtype).max))
        numbers = parts.apply("np::where", parts.apply("np::isnan", a), last, a)
        found = parts.apply(name, numbers, **attrs)
        is_last = parts.apply("np::equal", found, last)
        if isinstance(found.type, ArrayType):
            is_last = parts.apply("np::any", is_last)
        infinite = parts.constant(sign * math.inf)
        return parts.apply(pairwise, found, parts.apply("np::unless", infinite, is_last))

    return decompose
