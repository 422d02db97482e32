"""Exponential functions and the hyperbolic tangent of doubles, with a table of the sixteenth powers of 2.

    exp(x) = 2**n * exp(r),  n = round(16 * x / log(2)) / 16,  |r| <= log(2) / 32

``2**n`` is a number of the table times a power of 2, and ``exp(r) - 1`` is small, so that it takes no more digits than
a double has. The coefficients are those of benchmarks/math_coefficients.py.
"""

from __future__ import annotations

from decimal import Decimal

from ljit.codegen.mathlib.exponentials import LEAST_EXP, MOST_EXP, vanishing
from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.tables import SIZE, look_up, parts_of, rough_reciprocal, scaled
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__: list[str] = []

_ROUND = 1.5 * 2.0**52 / SIZE  # added to a moderate number it leaves sixteenths in the low bits
_PER_LOG2 = 1.4426950408889634
_LOG2 = 0.6931471805599453
_LOG2_HIGH = float.fromhex("0x1.62e42fefa38p-1")  # multiples by exponents are exact
_LOG2_LOW = float.fromhex("0x1.ef35793c7673p-45")
_POWERS, _POWERS_REST = parts_of([Decimal(2) ** (Decimal(i) / SIZE) for i in range(SIZE)])
_LEAST_EXP2, _MOST_EXP2 = -1077.0, 1025.0  # exp2 of less is 0, of more infinite
_MOST_TANH = 20.0  # tanh of more is 1
_COEFFICIENTS = (  # (exp(r) - 1 - r) / r**2
    0.5000000000000003,
    0.16666666666666677,
    0.04166666666130765,
    0.008333333332344784,
    0.0013889102129557706,
    0.00019841563359807482,
)


class _Reduced(Record):
    """``n * log(2) + r + rest``; the low bits of `count` are sixteenths of n."""

    count: Term
    n: Term
    r: Term
    rest: Term

    @staticmethod
    def of(x: Term) -> _Reduced:
        """Reduce an operand that is NaN or of moderate size."""
        rounded = fma(x, _PER_LOG2, _ROUND)
        n = rounded - _ROUND
        first = fma(n, -_LOG2_HIGH, x)
        r = fma(n, -_LOG2_LOW, first)
        return _Reduced(rounded.bits(), n, r, fma(n, -_LOG2_LOW, first - r))


def _curve(r: Term) -> Term:
    """``exp(r) - 1 - r``."""
    square = r * r
    return square * polynomial(r, square, _COEFFICIENTS)


def _power(count: Term, n: Term, r: Term) -> Term:
    """``2**n * exp(r)``."""
    high, low = look_up(count, _POWERS), look_up(count, _POWERS_REST)
    square = r * r
    small = fma(square, polynomial(r, square, _COEFFICIENTS), r)
    return scaled(high + fma(high, small, low), n)


@elementary("exp", "double", with_tables=True)
def exp(x: Term) -> Term:
    def finite(x: Term) -> Term:
        reduced = _Reduced.of(select(x > MOST_EXP, MOST_EXP, x))
        return _power(reduced.count, reduced.n, reduced.r)

    return vanishing(x, LEAST_EXP, finite)


@elementary("exp2", "double", with_tables=True)
def exp2(x: Term) -> Term:
    def finite(x: Term) -> Term:
        x = select(x > _MOST_EXP2, _MOST_EXP2, x)
        rounded = x + _ROUND
        n = rounded - _ROUND
        return _power(rounded.bits(), n, (x - n) * _LOG2)

    return vanishing(x, _LEAST_EXP2, finite)


@elementary("tanh", "double", with_tables=True)
def tanh(x: Term) -> Term:
    """``(1 - e) / (1 + e)`` with ``e = exp(-2 * |x|)``, both as sums of two numbers.

    The quotient of the rough reciprocal is corrected by what its product with the divisor lacks.
    """
    size = intrinsic("fabs", x)
    reduced = _Reduced.of(select(size > _MOST_TANH, _MOST_TANH, size) * -2.0)
    r, n = reduced.r, reduced.n
    power = scaled(look_up(reduced.count, _POWERS), n)
    power_rest = scaled(look_up(reduced.count, _POWERS_REST), n)
    whole = 1.0 - power
    part = power * r
    over = whole - part
    rounded_off = ((1.0 - whole) - power) - fma(power, r, -part)
    small = fma(power, _curve(r) + reduced.rest, fma(power_rest, r, power_rest))
    over_rest = ((whole - over) - part) + (rounded_off - small)
    under = 2.0 - over
    under_rest = ((2.0 - under) - over) - over_rest
    inverse = rough_reciprocal(under + under_rest)
    quotient = (over + over_rest) * inverse
    lack = fma(-quotient, under, over) + fma(-quotient, under_rest, over_rest)
    return intrinsic("copysign", fma(lack, inverse, quotient), x)
