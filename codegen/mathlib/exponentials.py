"""Exponential functions.

    exp(x) = 2**n * exp(r),  n = round(x / log(2)),  |r| <= log(2) / 2

`r` has a second part, what it lost by rounding, and 1 + r is kept exactly as a sum of two numbers; so all rounding
errors but the last one are small. The coefficients are those of benchmarks/math_coefficients.py.
"""

from __future__ import annotations

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, polynomial, select
from ljit.records import Record

__all__ = ["Reduced", "exp_of", "reduce_exp", "scaled"]


class _Format(Record):
    """What the functions know of a binary format."""

    digits: int  # stored bits of the significand
    round: float  # added to a number of moderate size it leaves an integer in the low bits, 2 * bias more than rounded
    least: float  # exp of less is 0
    most: float  # exp of more is infinite
    per_log2: float  # 1 / log(2)
    log2: float
    log2_high: float  # with so few digits that multiples by exponents are exact
    log2_low: float  # the rest of it
    log2_rest: float  # of `log2`
    coefficients: tuple[float, ...]  # (exp(r) - 1 - r) / r**2


_FORMATS = {
    "double": _Format(
        digits=52,
        round=1.5 * 2.0**52 + 2046,
        least=-746.0,
        most=710.0,
        per_log2=1.4426950408889634,
        log2=0.6931471805599453,
        log2_high=float.fromhex("0x1.62e42fefa38p-1"),
        log2_low=float.fromhex("0x1.ef35793c7673p-45"),
        log2_rest=2.3190468138462996e-17,
        coefficients=(
            0.5,
            0.1666666666666667,
            0.04166666666666507,
            0.008333333333325013,
            0.0013888888889665844,
            0.0001984126988028282,
            2.4801585894305956e-05,
            2.7557247977047735e-06,
            2.7558389183261636e-07,
            2.5108235039261136e-08,
            2.060040385341458e-09,
        ),
    ),
    "float": _Format(
        digits=23,
        round=1.5 * 2.0**23 + 254,
        least=-104.0,
        most=89.0,
        per_log2=1.4426950408889634,
        log2=0.6931471824645996,
        log2_high=float.fromhex("0x1.62e4p-1"),
        log2_low=float.fromhex("0x1.7f7d1cp-20"),
        log2_rest=-1.904654323148236e-09,
        coefficients=(
            0.5,
            0.1666666716337204,
            0.04166637733578682,
            0.008333368226885796,
            0.0013937390179576356,
            0.00019845952920150012,
        ),
    ),
}


class Reduced(Record):
    """``n * log(2) + r + rest``; the low bits of `count` are n + 2 * bias."""

    count: Term
    n: Term
    r: Term
    rest: Term


def _limited(x: Term, least: float, most: float) -> Term:
    """Bring `x` into an interval; NaN stays."""
    x = select(x < least, least, x)
    return select(x > most, most, x)


def reduce_exp(x: Term) -> Reduced:
    """Reduce the operand of exp, which must be NaN or within [least, most]."""
    constants = _FORMATS[x.type]
    rounded = fma(x, constants.per_log2, constants.round)
    n = rounded - constants.round
    first = fma(n, -constants.log2_high, x)
    r = fma(n, -constants.log2_low, first)
    return Reduced(rounded.bits(), n, r, fma(n, -constants.log2_low, first - r))


def exp_of(x: Reduced) -> Term:
    """The exponential of ``r + rest``."""
    square = x.r * x.r
    curve = polynomial(x.r, square, _FORMATS[x.r.type].coefficients)
    high = x.r + 1.0
    low = (1.0 - high) + x.r
    return high + (low + fma(square, curve, x.rest))


def scaled(x: Term, count: Term) -> Term:
    """``x * 2**n`` with one rounding, in two steps: neither factor overflows."""
    digits = _FORMATS[x.type].digits
    half = count >> 1
    return x * (half << digits).as_float() * ((count - half) << digits).as_float()


@elementary("exp", "double", "float")
def exp(x: Term) -> Term:
    constants = _FORMATS[x.type]
    reduced = reduce_exp(_limited(x, constants.least, constants.most))
    return scaled(exp_of(reduced), reduced.count)
