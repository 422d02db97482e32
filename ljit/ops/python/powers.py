"""``**`` on Python's numbers: lowerings, and which operands have them.

Of floats it is C's pow, without the call where the rounded power is surely what it gives. The C library errs by less
than 0.525 units in the last place (glibc: 0.511 and, the farther a result is from 1, up to 0.03 more). So it gives the
correctly rounded result, unless the exact one is so near the middle of two floats that 1.05 times the rounding error
leads to the next float: one case in 21. Of results between 2**-16 and 2**16 it errs by less than 0.512 units, so that
1.025 times do: one case in 41. Whole powers are computed with the rest that rounding takes away (a sum of two
floats, of 100 bits), square roots with theirs, so that the rounding error is known.

Reference: Dekker, A Floating-Point Technique for Extending the Available Precision, Numerische Mathematik 18, 1971.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.python.arithmetic import can_lower_real
from ljit.ops.python.numbers import (
    c_mul,
    check_result,
    condition_not,
    is_infinite,
    to_common_type,
    to_type,
)
from ljit.types import BOOL, COMPLEX, FLOAT, INT, Type

__all__ = ["POWER_ERROR", "can_lower_pow", "float_pow", "lower_pow", "settled"]

POWER_ERROR = "power too large, of zero or not real"

_BITS = 6  # of the exponent of an int: 2 ** 64 is none of int64
_WHOLE = (-2, -1, 2, 3, 4, 5, 6)  # exponents of floats: others take as long as the C library
_ERROR = 1.05  # times the rounding error, at which C's pow may round otherwise
# The bits of about 1e-90 and 5e89: results between them are not far from 1.
_LEAST, _MOST = 0x2D40000000000000, 0x5290000000000000
_ERROR_NEAR_1 = 1.025  # the same for results between 2**-16 and 2**16
_LEAST_NEAR_1, _MOST_NEAR_1 = 0x3EF0000000000000, 0x40F0000000000000
_WITHOUT_SIGN = 2**63 - 1  # the bits of a float


def can_lower_pow(x: Type, y: Type) -> bool:
    """Whether ``x ** y`` has native code: reals, and complex to an int."""
    return can_lower_real(x, y) or (x == COMPLEX and y in (BOOL, INT))


def lower_pow(e: Emitter, x: V, y: V) -> V:
    """Lower ``x ** y``."""
    if x.type == COMPLEX:
        return _complex_pow(e, x, to_type(e, y, INT))
    x, y = to_common_type(e, x, y)
    return _int_pow(e, x, y) if x.type == INT else float_pow(e, x, y)


def _int_pow(e: Emitter, x: V, n: V) -> V:
    """Square and multiply over the low bits of n; larger n only for 0, 1 and -1."""
    one = e.const(INT, 1)
    e.bail_if(e.compare("lt", n, 0), "negative power")
    is_large = e.compare("ge", n, 2**_BITS)
    is_unit = e.bit_and(e.compare("ge", x, -1), e.compare("le", x, 1))
    e.bail_if(e.bit_and(is_large, condition_not(e, is_unit)), "int overflow")
    n = e.select(is_large, e.add(2**_BITS - 2, e.bit_and(n, one)), n)
    result, power = one, x
    for bit in range(_BITS):
        rest = e.shr(n, bit)
        is_set = e.compare("ne", e.bit_and(rest, one), 0)
        product, overflows = e.mul_overflow(result, power)
        e.bail_if(e.bit_and(is_set, overflows), "int overflow")
        result = e.select(is_set, product, result)
        if bit < _BITS - 1:
            power, overflows = e.mul_overflow(power, power)
            e.bail_if(e.bit_and(e.compare("gt", rest, one), overflows), "int overflow")
    return result


def float_pow(e: Emitter, x: V, y: V) -> V:
    """C's pow; where Python raises or gives a complex number, pow gives NaN or inf from neither."""

    def power() -> V:
        return check_result(e, e.math("pow", x, y), (x, y), POWER_ERROR)

    exponent = e.float_constant_of(y)
    if exponent is not None:
        if exponent in _WHOLE:
            return _whole_power(e, x, int(exponent), power)
        return _root(e, x, power) if exponent == 0.5 else power()
    is_square, is_root = e.compare("eq", y, 2.0), e.compare("eq", y, 0.5)
    return e.branch(
        is_square,
        lambda: _whole_power(e, x, 2, power),
        lambda: e.branch(is_root, lambda: _root(e, x, power), power),
    )


def _whole_power(e: Emitter, x: V, n: int, power: Callable[[], V]) -> V:
    product, rest = _product(e, x, abs(n))
    if n < 0:
        product, rest = _reciprocal(e, product, rest)
    if n in (-1, 2):  # the rest is what one operation rounds away
        result, error = product, rest
    else:
        result = e.add(product, rest)
        error = e.sub(rest, e.sub(result, product))

    def other() -> V:
        """Zeros are exact, and frequent where numbers are cut off at 0."""
        return power() if n < 0 else e.branch(e.compare("eq", x, 0.0), lambda: product, power)

    return settled(e, result, error, other, may_be_negative=n % 2 == 1)


def _product(e: Emitter, x: V, n: int) -> tuple[V, V]:
    """``x ** n`` for n of at least 1, as a float and the rest: squares and products, by the bits of n."""
    result, rest = x, e.const(FLOAT, 0.0)
    for position, bit in enumerate(f"{n:b}"[1:]):
        twice = e.mul(rest, 2.0) if position else None
        result, rest = _times(e, result, result, twice)
        if bit == "1":
            result, rest = _times(e, result, x, rest)
    return result, rest


def _times(e: Emitter, x: V, y: V, rest: V | None) -> tuple[V, V]:
    """``(x + rest) * y``."""
    product = e.mul(x, y)
    error = e.intrinsic("fma", x, y, e.neg(product))
    return product, error if rest is None else e.intrinsic("fma", rest, y, error)


def _reciprocal(e: Emitter, x: V, rest: V) -> tuple[V, V]:
    """``1 / (x + rest)``."""
    result = e.div(e.const(FLOAT, 1.0), x)
    left = e.intrinsic("fma", e.neg(result), x, e.const(FLOAT, 1.0))
    left = e.intrinsic("fma", e.neg(result), rest, left)
    return result, e.mul(left, result)


def _root(e: Emitter, x: V, power: Callable[[], V]) -> V:
    result = e.intrinsic("sqrt", x)
    left = e.intrinsic("fma", e.neg(result), result, x)
    error = e.div(e.mul(left, 0.5), result)
    return settled(e, result, error, power)


def settled(
    e: Emitter, result: V, error: V, power: Callable[[], V], *, may_be_negative: bool = False
) -> V:
    """The result if a slightly larger rounding error would leave it the same, and it is not far from 1."""
    bits = e.retype(result, INT)
    size = e.bit_and(bits, _WITHOUT_SIGN) if may_be_negative else bits

    def issettled(factor: float, least: int, most: int) -> V:
        beyond = e.intrinsic("fma", error, e.const(FLOAT, factor), result)
        is_near = e.bit_and(e.compare("gt", size, least), e.compare("lt", size, most))
        return e.bit_and(e.compare("eq", e.retype(beyond, INT), bits), is_near)  # none is NaN

    return e.branch(
        issettled(_ERROR_NEAR_1, _LEAST_NEAR_1, _MOST_NEAR_1),  # most are: it is asked at once
        lambda: result,
        lambda: e.branch(issettled(_ERROR, _LEAST, _MOST), lambda: result, power),
    )


def _complex_pow(e: Emitter, x: V, n: V) -> V:
    """``x ** 2`` and ``x ** 3`` by the products that CPython forms; others bail out."""
    one = e.complex(e.const(FLOAT, 1.0), e.const(FLOAT, 0.0), COMPLEX)
    is_two = e.compare("eq", n, 2)
    is_three = e.compare("eq", n, 3)
    e.bail_if(condition_not(e, e.bit_or(is_two, is_three)), "complex power")
    square = c_mul(e, x, x)
    result = e.branch(
        is_two, lambda: c_mul(e, one, square), lambda: c_mul(e, c_mul(e, one, x), square)
    )
    overflows = e.bit_or(is_infinite(e, e.real(result)), is_infinite(e, e.imag(result)))
    e.bail_if(overflows, "complex power too large")
    return result
