"""``np.convolve`` and ``np.correlate`` of vectors of ints and floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ljit.ir import Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.types import ANY, INT, ArrayType, Type

__all__: list[str] = []

_VECTOR, _TAPS = np.arange(5.0), np.array([0.5, 2.0, -1.0])
_DTYPES = frozenset(map(np.dtype, "bBhHiIlLfd"))
_MODES = ("full", "same", "valid")


def _infer(a: Type, v: Type, *, mode: object) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(v, ArrayType) or mode not in _MODES:
        return ANY
    dtype = np.result_type(a.dtype, v.dtype)
    is_known = (a.ndim, v.ndim) == (1, 1) and dtype in _DTYPES
    return ArrayType(dtype, (None,)) if is_known else ANY


def _infer_convolve(a: Type, v: Type, *, mode: object = "full") -> Type:
    return _infer(a, v, mode=mode)


def _infer_correlate(a: Type, v: Type, *, mode: object = "valid") -> Type:
    return _infer(a, v, mode=mode)


def _can_lower(a: Type, v: Type, *, mode: object = "full") -> bool:
    is_known = isinstance(a, ArrayType) and isinstance(v, ArrayType) and a.dtype == v.dtype
    return is_known and _infer(a, v, mode=mode) != ANY


def _of_one_dtype(op: str) -> Callable[..., Value | None]:
    """Vectors of other dtypes than the result's are converted first, as NumPy does it."""

    def decompose(parts: Parts, a: Value, v: Value, **attrs: object) -> Value | None:
        dtype = getattr(_infer(a.type, v.type, **{"mode": "full", **attrs}), "dtype", None)
        operands = [
            x if _is_of(x, dtype) else parts.apply("np::astype", x, dtype=dtype) for x in (a, v)
        ]
        is_same = dtype is None or operands == [a, v]
        return None if is_same else parts.apply(op, *operands, **attrs)

    return decompose


def _is_of(x: Value, dtype: np.dtype | None) -> bool:
    return dtype is None or (isinstance(x.type, ArrayType) and x.type.dtype == dtype)


def _lower_convolve(e: Emitter, a: V, v: V, *, mode: str = "full") -> V:
    """The taps are the shorter vector, turned around."""
    dtype, item = a.type.dtype, e.const(INT, a.type.dtype.itemsize)
    a, v = _side_by_side(e, a), _side_by_side(e, v)
    is_shorter = e.compare("lt", *(e.array_sizes(x)[0] for x in (a, v)))
    a, v = e.select(is_shorter, v, a), e.select(is_shorter, a, v)
    (count,) = e.array_sizes(v)
    end = e.mul(e.sub(count, 1), item)
    turned = e.array_view(v, ArrayType(dtype, (None,), "strided"), end, [count], [e.neg(item)])
    return _correlated(e, a, _copied(e, turned), mode)


def _lower_correlate(e: Emitter, a: V, v: V, *, mode: str = "valid") -> V:
    a, v = _side_by_side(e, a), _side_by_side(e, v)
    is_shorter = e.compare("lt", *(e.array_sizes(x)[0] for x in (a, v)))
    e.bail_if(is_shorter, "more taps than elements")
    return _correlated(e, a, v, mode)


def _side_by_side(e: Emitter, a: V) -> V:
    """The elements, of a type that does not know their number."""
    if a.type.layout != "C":
        return _copied(e, a)
    type_ = ArrayType(a.type.dtype, (None,))
    return e.array_view(a, type_, e.const(INT, 0), e.array_sizes(a), e.array_strides(a))


def _copied(e: Emitter, a: V) -> V:
    made = e.array_new(ArrayType(a.type.dtype, (None,)), e.array_sizes(a), None)
    e.array_assign(made, a, lambda x: x, may_bail=False, is_apart=True)
    return made


def _correlated(e: Emitter, a: V, taps: V, mode: str) -> V:
    """`a` has as many elements as there are taps, or more."""
    zero = e.const(INT, 0)
    (size,), (count,) = e.array_sizes(a), e.array_sizes(taps)
    e.bail_if(e.compare("eq", count, zero), "no elements")
    others = e.sub(count, 1)
    left = {"full": others, "same": e.shr(count, 1), "valid": zero}[mode]
    right = {"full": others, "same": e.sub(others, left), "valid": zero}[mode]
    length = e.add(e.add(e.sub(size, others), left), right)
    made = e.array_new(ArrayType(a.type.dtype, (None,)), [length], None)
    e.array_correlate(a, taps, made, (left, right))
    return made


declare_function(
    "convolve",
    "(a, v, *, mode='full')",
    _infer_convolve,
    np.convolve,
    lower=_lower_convolve,
    can_lower=_can_lower,
    decompose=_of_one_dtype("np::convolve"),
    parameters=("a", "v", "mode"),
    takes_lists=True,
    samples=((_VECTOR, _TAPS), (_VECTOR, np.arange(2)), (np.arange(3), np.arange(4))),
)
declare_function(
    "correlate",
    "(a, v, *, mode='valid')",
    _infer_correlate,
    np.correlate,
    lower=_lower_correlate,
    can_lower=_can_lower,
    decompose=_of_one_dtype("np::correlate"),
    parameters=("a", "v", "mode"),
    takes_lists=True,
    samples=((_VECTOR, _TAPS), (np.arange(3), np.arange(3)), (np.arange(4), np.arange(3))),
)
