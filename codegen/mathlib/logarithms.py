"""Logarithms.

    log(x) = k * log(2) + log(1 + f),  x = 2**k * (1 + f),  sqrt(1/2) <= 1 + f < sqrt(2)

With ``s = f / (2 + f)`` and ``h = f * f / 2``, ``log(1 + f)`` is ``f - h + s * (h + z * p(z))`` where ``z = s * s``.
All but the last term, which is small, is kept exactly as a sum of two numbers. The coefficients are those of
benchmarks/math_coefficients.py.
"""

from __future__ import annotations

import math

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__ = ["Split", "log1p_with_special_values", "rough_log", "split_next", "with_special_values"]


class _Format(Record):
    """What the functions know of a binary format."""

    digits: int  # stored bits of the significand
    bias: int
    shift: int  # bits from sqrt(1/2) to 1
    log2_high: float  # with so few digits that multiples by exponents are exact
    log2_low: float
    per_log2: float  # 1 / log(2)
    per_log2_rest: float
    per_log10: float
    per_log10_rest: float
    log10_2_high: float  # log10(2), as log(2)
    log10_2_low: float
    coefficients: tuple[float, ...]


_FORMATS = {
    "double": _Format(
        digits=52,
        bias=1023,
        shift=0x3FF0000000000000 - 0x3FE6A09E667F3BCD,
        log2_high=float.fromhex("0x1.62e42fefa38p-1"),
        log2_low=float.fromhex("0x1.ef35793c7673p-45"),
        per_log2=float.fromhex("0x1.71547652b82fep+0"),
        per_log2_rest=float.fromhex("0x1.777d0ffda0d24p-56"),
        per_log10=float.fromhex("0x1.bcb7b1526e50ep-2"),
        per_log10_rest=float.fromhex("0x1.95355baaafad3p-57"),
        log10_2_high=float.fromhex("0x1.34413509f78p-2"),
        log10_2_low=float.fromhex("0x1.fef311f12b358p-46"),
        coefficients=(
            0.6666666666666812,
            0.39999999999044256,
            0.28571428806209775,
            0.22222193274971055,
            0.18183794446260257,
            0.1530900806293376,
            0.1483994574650549,
        ),
    ),
    "float": _Format(
        digits=23,
        bias=127,
        shift=0x3F800000 - 0x3F3504F3,
        log2_high=float.fromhex("0x1.62e4p-1"),
        log2_low=float.fromhex("0x1.7f7d1cp-20"),
        per_log2=float.fromhex("0x1.715476p+0"),
        per_log2_rest=float.fromhex("0x1.4ae0c0p-26"),
        per_log10=float.fromhex("0x1.bcb7b2p-2"),
        per_log10_rest=float.fromhex("-0x1.5b235ep-27"),
        log10_2_high=float.fromhex("0x1.344p-2"),
        log10_2_low=float.fromhex("0x1.3509f8p-18"),
        coefficients=(0.666667103767395, 0.39986053109169006, 0.2963164150714874),
    ),
}


class Split(Record):
    """``2**k * part``, and the bits that were subtracted to get there: k in the exponent's place.

    `below`: the bits of `part`, such that those of sqrt(1/2) are 0.
    """

    k: Term
    part: Term
    exponent: Term
    below: Term

    @staticmethod
    def of(x: Term, *, is_normal: bool = False) -> Split:
        """Split a positive finite number."""
        constants = _FORMATS[x.type]
        digits, bias = constants.digits, constants.bias
        hidden = 2.0**digits  # whose lowest bit counts 1
        offset: Term | float = hidden + bias
        if not is_normal:
            is_subnormal = x < 2.0 ** (1 - bias)
            x = select(is_subnormal, x * hidden, x)
            offset = select(is_subnormal, hidden + bias + digits, hidden + bias, of=x)
        bits = x.bits() + constants.shift
        one = bias << digits
        k = ((bits >> digits) | ((digits + bias) << digits)).as_float() - offset
        below = bits & ((1 << digits) - 1)
        part = (below + (one - constants.shift)).as_float()
        return Split(k, part, bits - below, below)

    @property
    def f(self) -> Term:
        return self.part - 1.0


def _parts(f: Term) -> tuple[Term, Term]:
    """``log(1 + f)`` as a sum of two numbers, the second below a 25th of the first."""
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5
    h = half * f
    high = f - h
    lost = (f - high) - h - fma(half, f, -h)
    curve = polynomial(z, z * z, _FORMATS[f.type].coefficients)
    return high, fma(s, fma(z, curve, h), lost)


def _sum(whole: Term, part: Term, low: Term) -> Term:
    """``whole + part + low``: `whole` is 0 or greater than `part`, `low` is small."""
    high = whole + part
    return high + (((whole - high) + part) + low)


def _times(f: Term, factor: float, factor_rest: float) -> tuple[Term, Term]:
    """``log(1 + f) * (factor + factor_rest)`` as a sum of two numbers."""
    high, low = _parts(f)
    product = high * factor
    return product, fma(high, factor, -product) + fma(high, factor_rest, low * factor)


def with_special_values(x: Term, result: Term) -> Term:
    """The result of a logarithm that is right for positive finite `x`."""
    result = select(x < math.inf, result, x)
    return select(x > 0.0, result, select(x == 0.0, -math.inf, math.nan, of=x))


def rough_log(x: Term) -> Term:
    """The logarithm of a positive finite number that is not subnormal, with 40 bits."""
    constants = _FORMATS[x.type]
    split = Split.of(x, is_normal=True)
    f = split.f
    s = f / (f + 2.0)
    z = s * s
    curve = polynomial(z, z * z, constants.coefficients)
    return fma(split.k, constants.log2_high + constants.log2_low, s * fma(z, curve, 2.0))


@elementary("log", "double", "float")
def log(x: Term) -> Term:
    constants = _FORMATS[x.type]
    split = Split.of(x)
    high, low = _parts(split.f)
    whole = split.k * constants.log2_high
    return with_special_values(x, _sum(whole, high, fma(split.k, constants.log2_low, low)))


@elementary("log2", "double", "float")
def log2(x: Term) -> Term:
    constants = _FORMATS[x.type]
    split = Split.of(x)
    high, low = _times(split.f, constants.per_log2, constants.per_log2_rest)
    return with_special_values(x, _sum(split.k, high, low))


@elementary("log10", "double", "float")
def log10(x: Term) -> Term:
    constants = _FORMATS[x.type]
    split = Split.of(x)
    high, low = _times(split.f, constants.per_log10, constants.per_log10_rest)
    whole = split.k * constants.log10_2_high
    return with_special_values(x, _sum(whole, high, fma(split.k, constants.log10_2_low, low)))


def split_next(x: Term) -> tuple[Split, Term]:
    """Split 1 + x; with what it lost by rounding, in units of 2**k."""
    constants = _FORMATS[x.type]
    total = x + 1.0
    large = select(x > 1.0, x, 1.0)
    small = select(x > 1.0, 1.0, x)
    lost = (large - total) + small
    split = Split.of(total, is_normal=True)
    scale = ((2 * constants.bias << constants.digits) - split.exponent).as_float()  # 2**-k
    return split, select(x < 2.0 ** (constants.digits + 2), lost * scale, 0.0)


def log1p_with_special_values(x: Term, result: Term) -> Term:
    """The result of `log1p` that is right for finite `x` above -1 which are not tiny."""
    result = with_special_values(x + 1.0, result)
    return select(intrinsic("fabs", x) < 2.0 ** -(_FORMATS[x.type].digits + 2), x, result)


@elementary("log1p", "double", "float")
def log1p(x: Term) -> Term:
    """What 1 + x lost by rounding is added to `f`."""
    constants = _FORMATS[x.type]
    split, lost = split_next(x)
    f = split.f + lost
    rest = (split.f - f) + lost
    high, low = _parts(f)
    whole = split.k * constants.log2_high
    result = _sum(whole, high, fma(split.k, constants.log2_low, low + rest))
    return log1p_with_special_values(x, result)
