"""``**`` on Python's numbers: lowerings, and which operands have them."""

from __future__ import annotations

from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.python_arithmetic import can_lower_real
from ljit.ops.python_numbers import (
    c_mul,
    check_result,
    condition_not,
    is_infinite,
    to_common_type,
    to_type,
)
from ljit.types import BOOL, COMPLEX, FLOAT, INT, Type

__all__ = ["can_lower_pow", "float_pow", "lower_pow"]

_BITS = 6  # of the exponent of an int: 2 ** 64 is none of int64
_ERROR = 1.05  # times the rounding error, at which C's pow may round otherwise
_SMALL, _LARGE = 1e-90, 1e90  # between these results are not far from 1


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
    return check_result(e, _rounded_pow(e, x, y), (x, y), "power too large, of zero or not real")


def _rounded_pow(e: Emitter, x: V, y: V) -> V:
    """C's pow; squares and square roots without the call where that surely gives the same float.

    The C library errs by less than 0.525 units in the last place (glibc: 0.511 and, the farther a result is
    from 1, up to 0.03 more). So it gives the correctly rounded result, unless the exact one is so near the
    middle of two floats that 1.05 times the rounding error leads to the next float: one case in 21.
    """

    def power() -> V:
        return e.math("pow", x, y)

    def square() -> V:
        result = e.mul(x, x)
        error = e.intrinsic("fma", x, x, e.neg(result))
        is_exact = e.bit_or(e.compare("eq", x, 0.0), _is_settled(e, result, error))
        return e.branch(is_exact, lambda: result, power)

    def root() -> V:
        result = e.intrinsic("sqrt", x)
        rest = e.intrinsic("fma", e.neg(result), result, x)
        error = e.div(e.mul(rest, 0.5), result)
        return e.branch(_is_settled(e, result, error), lambda: result, power)

    is_square = e.compare("eq", y, 2.0)
    is_root = e.compare("eq", y, 0.5)
    return e.branch(is_square, square, lambda: e.branch(is_root, root, power))


def _is_settled(e: Emitter, result: V, error: V) -> V:
    """Whether a slightly larger rounding error would leave `result` the same; not if that is far from 1."""
    beyond = e.add(result, e.mul(error, _ERROR))
    size = e.intrinsic("fabs", result)
    is_near = e.bit_and(e.compare("gt", size, _SMALL), e.compare("lt", size, _LARGE))
    return e.bit_and(is_near, e.compare("eq", beyond, result))


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
