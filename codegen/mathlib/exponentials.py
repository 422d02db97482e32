"""Exponential functions.

    exp(x) = 2**n * exp(r),  n = round(x / log(2)),  |r| <= log(2) / 2

`r` has a second part, what it lost by rounding, and 1 + r is kept exactly as a sum of two numbers; so all rounding
errors but the last one are small. The coefficients are those of benchmarks/math_coefficients.py.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__ = [
    "LEAST_EXP",
    "MOST_EXP",
    "Reduced",
    "limited",
    "power_of_2",
    "power_of_half",
    "reduce_exp",
    "reduce_exp2",
    "rest_of_exp",
    "scaled",
    "vanishing",
]


LEAST_EXP, MOST_EXP = -746.0, 710.0  # of doubles: exp of less is 0, of more infinite


class _Format(Record):
    """What the functions know of a binary format."""

    digits: int  # stored bits of the significand
    bias: int
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
        bias=1023,
        round=1.5 * 2.0**52 + 2046,
        least=LEAST_EXP,
        most=MOST_EXP,
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
        bias=127,
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


def limited(x: Term, least: float, most: float) -> Term:
    """Bring `x` into an interval; NaN stays."""
    x = select(x < least, least, x)
    return select(x > most, most, x)


def vanishing(x: Term, least: float, function: Callable[[Term], Term]) -> Term:
    """A function that is 0 below `least`: computed of 0 there, as products that vanish take a hundred times as long."""
    vanishes = x < least
    return select(vanishes, 0.0, function(select(vanishes, 0.0, x)))


def reduce_exp(x: Term) -> Reduced:
    """Reduce the operand of exp, which must be NaN or within [least, most]."""
    constants = _FORMATS[x.type]
    rounded = fma(x, constants.per_log2, constants.round)
    n = rounded - constants.round
    first = fma(n, -constants.log2_high, x)
    r = fma(n, -constants.log2_low, first)
    return Reduced(rounded.bits(), n, r, fma(n, -constants.log2_low, first - r))


def reduce_exp2(x: Term) -> Reduced:
    """Reduce the operand of exp2, likewise: ``2**x = exp(x * log(2))``."""
    constants = _FORMATS[x.type]
    rounded = x + constants.round
    n = rounded - constants.round
    f = x - n
    r = f * constants.log2
    return Reduced(rounded.bits(), n, r, fma(f, constants.log2_rest, fma(f, constants.log2, -r)))


def rest_of_exp(x: Reduced) -> tuple[Term, Term]:
    """The exponential of ``r + rest`` as a sum of two numbers, the second one small."""
    r = x.r
    square = r * r
    curve = polynomial(r, square, _FORMATS[r.type].coefficients)
    high = r + 1.0
    low = ((1.0 - high) + r) + fma(r, x.rest, x.rest)
    return high, fma(square, curve, low)


def scaled(high: Term, low: Term, count: Term) -> Term:
    """``(high + low) * 2**n``, rounded twice, in two steps: neither factor overflows."""
    digits = _FORMATS[high.type].digits
    half = count >> 1
    factor = (half << digits).as_float()
    return fma(low, factor, high * factor) * ((count - half) << digits).as_float()


def power_of_2(count: Term, offset: int, type_: str) -> Term:
    """``2**(n + offset)``, which must be a normal number."""
    constants = _FORMATS[type_]
    return ((count + (offset - constants.bias)) << constants.digits).as_float()


def power_of_half(count: Term, offset: int, type_: str) -> Term:
    """``2**(-n + offset)``, which must be a normal number."""
    constants = _FORMATS[type_]
    return ((3 * constants.bias + offset - count) << constants.digits).as_float()


@elementary("exp", "double", "float")
def exp(x: Term) -> Term:
    constants = _FORMATS[x.type]

    def finite(x: Term) -> Term:
        reduced = reduce_exp(select(x > constants.most, constants.most, x))
        return scaled(*rest_of_exp(reduced), reduced.count)

    return vanishing(x, constants.least, finite)


@elementary("exp2", "double", "float")
def exp2(x: Term) -> Term:
    constants = _FORMATS[x.type]
    most = float(constants.bias + 2)

    def finite(x: Term) -> Term:
        reduced = reduce_exp2(select(x > most, most, x))
        return scaled(*rest_of_exp(reduced), reduced.count)

    return vanishing(x, -float(constants.bias + constants.digits + 2), finite)


@elementary("expm1", "double", "float")
def expm1(x: Term) -> Term:
    """``2**n - 1 + 2**n * (r + r**2 / 2)`` exactly, and a small rest; in units of 2, so that 2**n does not overflow."""
    constants = _FORMATS[x.type]
    digits = constants.digits
    reduced = reduce_exp(limited(x, -float(digits), constants.most))
    scale = power_of_2(reduced.count, -1, x.type)
    r = reduced.r
    half = r * 0.5
    h = half * r
    square = r * r
    rest = fma(r, reduced.rest, reduced.rest) + fma(half, r, -h)
    rest = fma(square * r, polynomial(r, square, constants.coefficients[1:]), rest)
    whole = scale - 0.5
    low = (scale - whole) - 0.5
    high = whole
    for part in (scale * r, scale * h):
        before, high = high, high + part
        low = ((before - high) + part) + low
    result = (high + fma(scale, rest, low)) * 2.0
    return select(intrinsic("fabs", x) < 2.0 ** -(digits + 2), x, result)
