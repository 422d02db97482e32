"""Facts and lowerings that Python's number types share: ranks, conversions, complex arithmetic.

bool < int < float < complex. Lowerings get operands of these types in any mix and convert first, as
CPython does. Each is exact: where native code cannot be, it bails out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter
from ljit.ir.emitter import V
from ljit.types import (
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    is_number,
)

__all__ = [
    "EXACT_FLOAT",
    "MIXED_COMPLEX",
    "UINT64",
    "all_numbers",
    "are_python_operands",
    "arithmetic_type",
    "at_least",
    "at_most",
    "bail_if_inexact",
    "c_abs",
    "c_mul",
    "c_quot",
    "check_result",
    "complex_product",
    "condition_and",
    "condition_not",
    "condition_or",
    "float_rem",
    "is_finite",
    "is_held_by",
    "is_infinite",
    "is_nan",
    "is_plain",
    "is_real_scalar",
    "of_any_width",
    "of_either_class",
    "of_floats",
    "plain_effect",
    "rem_of_few_bits",
    "shift_of",
    "to_common_type",
    "to_float",
    "to_int",
    "to_type",
]

EXACT_FLOAT = 2**53  # ints up to here are floats exactly

#: Python 3.14 stopped to convert the real operand of mixed complex arithmetic, which then stays boxed
MIXED_COMPLEX = sys.version_info < (3, 14)

_FLOAT64 = ScalarType(np.dtype(np.float64))
_CLASSES = {
    BOOL: ScalarType(np.dtype(np.bool)),
    INT: ScalarType(np.dtype(np.int64)),
    FLOAT: _FLOAT64,
}
_RANKS: dict[Type, int] = {BOOL: 0, INT: 1, FLOAT: 2, _FLOAT64: 2, COMPLEX: 3}


def all_numbers(*types: Type) -> bool:
    """Whether all are Python's number types."""
    return all(map(is_number, types))


def are_python_operands(*types: Type) -> bool:
    """Whether Python's numbers do the arithmetic: a `complex` takes a `np.float64` on its right as a float."""
    return all_numbers(*types) or types == (COMPLEX, _FLOAT64)


def arithmetic_type(*types: Type) -> Type:
    """Give the type that arithmetic on these number types has; bools count as ints."""
    return max((INT, *types), key=_RANKS.__getitem__)


def is_plain(t: Type) -> bool:
    """Whether no operator on values of type `t` alone can run user code or see memory change."""
    if isinstance(t, TupleType):
        return all(map(is_plain, t.items))
    return is_number(t) or t in (NONE, STR, CHARACTER) or isinstance(t, RangeType | SliceType)


def plain_effect(*types: Type, **_attrs: object) -> Effect:
    """Effect rule of operators that may raise at most, except on objects of unknown classes."""
    is_known = all(map(is_plain, types)) or are_python_operands(*types)
    return Effect.RAISE if is_known else Effect.CALL


def is_real_scalar(t: Type) -> bool:
    """Whether `t` is a bool, int or float of Python or NumPy."""
    if isinstance(t, ScalarType):
        return t.dtype.kind in "biuf"
    return t in (BOOL, INT, FLOAT)


def of_either_class(*types: Type) -> ScalarType | None:
    """Give the type as which an op takes a number that is Python's or NumPy's, where it gives the same of both.

    >>> of_either_class(UnionType((FLOAT, _FLOAT64))) == _FLOAT64
    True
    """
    union = next((t for t in types if isinstance(t, UnionType)), None)
    members = set(union.members) if union is not None else set()
    return next((t for plain, t in _CLASSES.items() if members == {plain, t}), None)


def of_any_width(*types: Type) -> ScalarType | None:
    """The same, where one of NumPy's of fewer bits gives what Python's of the same value gives.

    >>> of_any_width(UnionType((FLOAT, ScalarType(np.dtype(np.float32))))) == _FLOAT64
    True
    """
    union = next((t for t in types if isinstance(t, UnionType)), None)
    members = set(union.members) if union is not None else set()
    for plain in (INT, FLOAT):
        others = members - {plain}
        if plain in members and len(others) == 1 and _is_held(_CLASSES[plain], others.pop()):
            return _CLASSES[plain]
    return of_either_class(*types)


def _is_held(number: ScalarType, x: Type) -> bool:
    return isinstance(x, ScalarType) and is_held_by(number.dtype, x.dtype)


def is_held_by(wanted: np.dtype, dtype: np.dtype) -> bool:
    """Whether the numbers of a dtype are such of another one, of at most as many bits: integers, or floats."""
    is_like = wanted.kind == "f" if dtype.kind == "f" else wanted.kind == "i" and dtype.kind in "iu"
    return dtype == wanted or (is_like and np.can_cast(dtype, wanted))


def of_floats(*types: Type) -> ScalarType | None:
    """The same, where this holds for floats alone."""
    found = of_either_class(*types)
    return found if found == _FLOAT64 else None


# -- conversions -----------------------------------------------------------------------------------


def to_common_type(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """Convert two numbers to the type that an operator computes in."""
    type_ = arithmetic_type(x.type, y.type)
    return to_type(e, x, type_), to_type(e, y, type_)


def to_type(e: Emitter, x: V, type_: Type) -> V:
    """Convert a number upwards."""
    if x.type == type_:
        return x
    if type_ == COMPLEX:
        return e.complex(to_type(e, x, FLOAT), e.const(FLOAT, 0.0), COMPLEX)
    return e.cast(x, type_)


def to_int(x: Any = 0) -> int:
    """Give ``int(x)``."""
    return int(x)


def to_float(e: Emitter, x: V) -> V:
    """Convert a real number to float, rounding as ``float(x)`` does."""
    return to_type(e, x, FLOAT)


def bail_if_inexact(e: Emitter, x: V) -> None:
    """Bail out if the int `x` may not be a float exactly."""
    shifted = e.cast(e.add(x, EXACT_FLOAT), UINT64)
    e.bail_if(e.compare("gt", shifted, 2 * EXACT_FLOAT), "int beyond 2**53")


# -- conditions ------------------------------------------------------------------------------------


def condition_and(e: Emitter, *conditions: V) -> V:
    """Give the conjunction of conditions."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = e.bit_and(result, condition)
    return result


def at_least(e: Emitter, x: V, low: V) -> V:
    """The greater one of two numbers that are not NaN."""
    return e.select(e.compare("lt", x, low), low, x)


def at_most(e: Emitter, x: V, high: V) -> V:
    """The smaller one of two numbers that are not NaN."""
    return e.select(e.compare("gt", x, high), high, x)


def condition_or(e: Emitter, *conditions: V) -> V:
    """Give the disjunction of conditions."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = e.bit_or(result, condition)
    return result


def condition_not(e: Emitter, condition: V) -> V:
    """Give the opposite condition."""
    return e.bit_xor(condition, True)


def is_nan(e: Emitter, x: V) -> V:
    """Whether the float is NaN."""
    return e.compare("ne", x, x)


def is_infinite(e: Emitter, x: V) -> V:
    """Whether the float is infinite."""
    return e.compare("eq", e.intrinsic("fabs", x), float("inf"))


def is_finite(e: Emitter, x: V) -> V:
    """Whether the float is neither NaN nor infinite."""
    return e.compare("lt", e.intrinsic("fabs", x), float("inf"))


# -- floats ----------------------------------------------------------------------------------------


def check_result(e: Emitter, result: V, operands: Sequence[V], reason: str) -> V:
    """Bail out if NaN came from no NaN, or an infinity from finite operands: CPython raises there.

    Mostly the result is finite, which is one comparison; only where it is not the operands are looked at.
    """

    def has_failed() -> V:
        number = condition_not(e, condition_or(e, *(is_nan(e, x) for x in operands)))
        finite = condition_and(e, *(is_finite(e, x) for x in operands))
        invalid = e.bit_and(is_nan(e, result), number)
        return e.bit_or(invalid, e.bit_and(is_infinite(e, result), finite))

    e.bail_if(condition_not(e, is_finite(e, result)), reason, also=has_failed)
    return result


def float_rem(e: Emitter, x: V, y: V) -> V:
    """C's fmod. Quotients below 2**52 are computed at once; fmod takes a loop for what it does.

    The truncated quotient of the rounded division is right or one too large; x - q * y is a float
    exactly, so that a fused multiply-add gives it and one addition of y corrects it.
    """
    ratio = e.div(x, y)
    if _is_power_of_two(e.float_constant_of(y)):  # then all of it is exact
        return _small_rem(e, x, y, ratio)
    if e.has_vectors:
        return e.elementary("fmod", x, y)
    is_small = e.compare("lt", e.intrinsic("fabs", ratio), 2.0**52)
    is_small = e.bit_and(is_small, is_finite(e, y))
    return e.branch(is_small, lambda: _small_rem(e, x, y, ratio), lambda: e.rem(x, y))


def rem_of_few_bits(e: Emitter, x: V, y: V) -> V:
    """C's fmod for floats whose quotients are all below 2**52, unless they divide by 0: without a branch."""
    rest = _small_rem(e, x, y, e.div(x, y))
    is_whole = e.bit_and(is_finite(e, x), e.bit_not(is_finite(e, y)))
    return e.select(e.bit_and(is_whole, e.compare("eq", y, y)), x, rest)


def _is_power_of_two(x: float | None) -> bool:
    """Whether it is 1, 2, 4 or so, of either sign."""
    return x is not None and 1.0 <= abs(x) < math.inf and abs(math.frexp(x)[0]) == 0.5


def _small_rem(e: Emitter, x: V, y: V, ratio: V) -> V:
    rest = e.intrinsic("fma", e.neg(e.intrinsic("trunc", ratio)), y, x)
    overshot = e.compare("lt", rest, 0.0)
    overshot = e.bit_xor(overshot, e.compare("lt", x, 0.0))
    overshot = e.bit_and(overshot, e.compare("ne", rest, 0.0))
    step = e.intrinsic("copysign", y, x)
    return e.intrinsic("copysign", e.select(overshot, e.add(rest, step), rest), x)


# -- complex ---------------------------------------------------------------------------------------


def complex_product(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """Both parts, by the schoolbook formula."""
    a, b, c, d = e.real(x), e.imag(x), e.real(y), e.imag(y)
    return e.sub(e.mul(a, c), e.mul(b, d)), e.add(e.mul(a, d), e.mul(b, c))


def c_mul(e: Emitter, x: V, y: V) -> V:
    """Multiply complex numbers as CPython does."""
    real, imag = complex_product(e, x, y)
    _bail_if_recovered(e, real, imag)
    return e.complex(real, imag, COMPLEX)


def _bail_if_recovered(e: Emitter, real: V, imag: V) -> None:
    """Python 3.14 recovers infinities from products and quotients that are NaN twice."""
    if not MIXED_COMPLEX:
        e.bail_if(condition_and(e, is_nan(e, real), is_nan(e, imag)), "complex NaN")


def c_quot(e: Emitter, x: V, y: V) -> V:
    """Divide complex numbers by Smith's method, as CPython does; division by zero bails out."""
    a, b, c, d = e.real(x), e.imag(x), e.real(y), e.imag(y)
    size_c, size_d = e.intrinsic("fabs", c), e.intrinsic("fabs", d)
    both_zero = condition_and(e, e.compare("eq", size_c, 0.0), e.compare("eq", size_d, 0.0))
    e.bail_if(both_zero, "division by zero")
    unordered = e.bit_or(is_nan(e, c), is_nan(e, d))
    wide = e.compare("ge", size_c, size_d)
    # the two cases are mirror images: divide by the larger part
    large, small = e.select(wide, c, d), e.select(wide, d, c)
    ratio = e.div(small, large)
    tail = e.mul(small, ratio)
    denominator = e.add(large, tail)
    real = e.div(e.select(wide, e.add(a, e.mul(b, ratio)), e.add(e.mul(a, ratio), b)), denominator)
    imag = e.div(e.select(wide, e.sub(b, e.mul(a, ratio)), e.sub(e.mul(b, ratio), a)), denominator)
    nan = e.const(FLOAT, float("nan"))
    real, imag = e.select(unordered, nan, real), e.select(unordered, nan, imag)
    _bail_if_recovered(e, real, imag)
    return e.complex(real, imag, COMPLEX)


def c_abs(e: Emitter, x: V) -> V:
    """Give the absolute value of a complex number; bails out where it might overflow.

    The check does without the result: a comparison may not need it either, but it needs the squares.
    """
    real, imag = e.real(x), e.imag(x)
    squares = e.add(e.mul(real, real), e.mul(imag, imag))
    e.bail_if(
        e.compare("gt", squares, 1e300),
        "absolute value too large",
        also=lambda: e.bit_and(is_finite(e, real), is_finite(e, imag)),
    )
    return e.math("hypot", real, imag)


def _uint64() -> ScalarType:
    import numpy as np

    return ScalarType(np.dtype(np.uint64))


UINT64 = _uint64()


def shift_of(e: Emitter, y: V) -> int | None:
    """The power of two that `y` is known to be: dividing by it is a shift, which rounds down; the rest is a mask."""
    known = e.constant_of(y)
    if known is None or known <= 0 or known & (known - 1):
        return None
    return known.bit_length() - 1
