"""How NumPy converts one number: for the loop of a ufunc, and for storing it into an array.

Functions here emit code on one scalar. Where NumPy raises (a Python int that does not fit), or where
the result is not defined (NaN to an integer), the code bails.
"""

from __future__ import annotations

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.rules import is_scalar, kind_of
from ljit.types import BOOL, COMPLEX, FLOAT, INT, ScalarType, Type

__all__ = [
    "STORED",
    "as_condition",
    "as_numpy_bool",
    "can_store",
    "convert",
    "scalar_can_bail",
    "store_can_bail",
    "store_convert",
    "store_scalar",
]

_FLOAT64 = ScalarType(np.dtype(np.float64))


def dtype_kind(t: Type) -> str:
    """Give the dtype kind (``b i u f c``) of a scalar type."""
    kind = kind_of(t)
    if isinstance(kind, np.dtype):
        return kind.kind
    assert kind is not None
    return {int: "i", float: "f", complex: "c"}[kind]


def component(dtype: np.dtype) -> ScalarType:
    """Give the type of the real part of a complex dtype."""
    return ScalarType(np.empty(0, dtype).real.dtype)


def as_condition(e: Emitter, x: V) -> V:
    """Give the truth of a number as a condition."""
    if x.type == BOOL:
        return x
    if dtype_kind(x.type) == "b":
        return e.retype(x, BOOL)
    if dtype_kind(x.type) == "c":
        return e.bit_or(as_condition(e, e.real(x)), as_condition(e, e.imag(x)))
    return e.compare("ne", x, 0)


def as_numpy_bool(e: Emitter, condition: V) -> V:
    """Give a condition as ``np.bool``."""
    return e.retype(condition, ScalarType(np.dtype(bool)))


def convert(e: Emitter, x: V, dtype: np.dtype) -> V:
    """Convert a ufunc's operand to its loop's dtype; a Python int that does not fit bails."""
    if x.type == INT and dtype.kind in "iu":
        return _narrow(e, x, dtype)
    return _cast(e, x, dtype)


def _narrow(e: Emitter, x: V, dtype: np.dtype) -> V:
    """Convert an int to an integer dtype, bailing where NumPy raises OverflowError."""
    limits = np.iinfo(dtype)
    if limits.min > -(2**63):
        e.bail_if(e.compare("lt", x, int(limits.min)), f"int below {dtype}")
    if limits.max < 2**63 - 1:
        e.bail_if(e.compare("gt", x, int(limits.max)), f"int above {dtype}")
    return e.cast(x, ScalarType(dtype))


def _cast(e: Emitter, x: V, dtype: np.dtype) -> V:
    """Cast as C does; only for conversions that C defines."""
    target = ScalarType(dtype)
    if x.type == target:
        return x
    if dtype.kind == "b":
        return as_numpy_bool(e, as_condition(e, x))
    if dtype.kind == "c":
        part = component(dtype)
        if dtype_kind(x.type) != "c":
            return e.complex(_cast(e, x, part.dtype), e.const(part, 0.0), target)
        real, imag = (_cast(e, p, part.dtype) for p in (e.real(x), e.imag(x)))
        return e.complex(real, imag, target)
    if x.type == INT and dtype.kind == "f":  # NumPy goes through a C double
        x = e.cast(x, _FLOAT64)
        return x if target == _FLOAT64 else e.cast(x, target)
    return e.cast(x, target)


# -- storing ---------------------------------------------------------------------------------------


STORED = "stored"  # a store: the array's dtype has the int that is stored


def can_store(t: Type, dtype: np.dtype) -> bool:
    """Whether `store_convert` can convert a scalar of type `t` to `dtype`."""
    if t == ScalarType(dtype):
        return True
    if not is_scalar(t):
        return False
    return dtype_kind(t) != "c" or dtype.kind == "c"  # else TypeError or ComplexWarning


def scalar_can_bail(t: Type, dtype: np.dtype) -> bool:
    """Whether `store_scalar` may bail for some values."""
    is_refused = isinstance(t, ScalarType) and not _always_fits(t.dtype, dtype)
    return is_refused or store_can_bail(t, dtype)


def store_can_bail(t: Type, dtype: np.dtype) -> bool:
    """Whether `store_convert` may bail for some values."""
    if dtype.kind not in "iu":
        return False
    return dtype_kind(t) == "f" or (t == INT and dtype != np.int64)


def store_convert(e: Emitter, x: V, dtype: np.dtype) -> V:
    """Convert one element as ``array[...] = xs`` and ``astype`` do.

    NumPy integers wrap, Python ints must fit. A float is truncated; one that does not fit bails:
    NumPy raises for Python floats and leaves the result of others to the machine.
    """
    if dtype.kind in "iu" and dtype_kind(x.type) == "f":
        return _truncate(e, x, dtype)
    return convert(e, x, dtype)


def store_scalar(e: Emitter, x: V, dtype: np.dtype) -> V:
    """Convert one scalar operand as ``array[i] = x`` does.

    Of NumPy integers that do not fit, NumPy wraps some and refuses others: all bail.
    """
    if e.is_proven(STORED):
        return e.cast(x, ScalarType(dtype), fits=dtype_kind(x.type) == "f")
    result = store_convert(e, x, dtype)
    if isinstance(x.type, ScalarType) and not _always_fits(x.type.dtype, dtype):
        changed = e.compare("ne", e.cast(result, x.type), x)
        flipped = e.bit_xor(_is_negative(e, x), _is_negative(e, result))
        e.bail_if(e.bit_or(changed, flipped), f"integer outside of {dtype}")
    return result


def _always_fits(source: np.dtype, target: np.dtype) -> bool:
    return source.kind not in "iu" or target.kind not in "iu" or np.can_cast(source, target)


def _is_negative(e: Emitter, x: V) -> V:
    return e.compare("lt", x, 0)


def _truncate(e: Emitter, x: V, dtype: np.dtype) -> V:
    """The whole part of a float; bails if that does not fit."""
    limits = np.iinfo(dtype)
    float_: type[np.floating] = np.float64
    if isinstance(x.type, ScalarType) and x.type.dtype.itemsize < 8:
        x, float_ = _cast(e, x, np.dtype(np.float32)), np.float32
    low, high = int(limits.min) - 1, 2 ** (limits.bits - (dtype.kind == "i"))
    is_exact = int(float_(low)) == low  # else the least integer is, and nothing is between them
    least = e.const(x.type, float(low if is_exact else limits.min))
    inside = e.bit_and(
        e.compare("gt" if is_exact else "ge", x, least), e.compare("lt", x, float(high))
    )
    e.bail_if(e.bit_not(inside), f"float outside of {dtype}", may_wait=True)
    return e.cast(x, ScalarType(dtype), fits=True)


def to_python(e: Emitter, x: V) -> V:
    """Convert a NumPy scalar as ``x.item()`` does; a uint64 above int64 bails."""
    kind = dtype_kind(x.type)
    if kind == "u" and x.type.dtype.itemsize == 8:
        result = e.cast(x, INT)
        e.bail_if(e.compare("lt", result, 0), "uint64 above int64")
        return result
    if kind == "b":
        return e.retype(x, BOOL)
    if kind == "c":
        real, imag = (e.cast(p, FLOAT) for p in (e.real(x), e.imag(x)))
        return e.complex(real, imag, COMPLEX)
    return e.cast(x, INT if kind in "iu" else FLOAT)


def python_type(dtype: np.dtype) -> Type:
    """Give the type of ``x.item()`` of an element of `dtype` (a uint64 may be too large: bails)."""
    return {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[dtype.kind]
