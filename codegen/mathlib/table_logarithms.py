"""Logarithms of doubles, with a table of sixteen divisors and their logarithms.

    log(x) = k * log(2) - log(c) + log(1 + r),  x = 2**k * m,  sqrt(1/2) <= m < sqrt(2),  r = m * c - 1

The leading bits of m choose c; near 1 that is 1, otherwise with so few digits that r is exact wherever that matters.
``log(1 + r)`` is ``r + r**2 * q(r)``, whose second term is small, and |r| is below 1/25. The coefficients are those of
benchmarks/math_coefficients.py.
"""

from __future__ import annotations

from decimal import Decimal

from ljit.codegen.mathlib.logarithms import (
    Split,
    log1p_with_special_values,
    split_next,
    with_special_values,
)
from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.tables import Table, look_up, parts_of
from ljit.codegen.mathlib.terms import Term, fma, polynomial
from ljit.records import Record

__all__: list[str] = []

_CHOOSING = 48  # bits of a number below those that choose
_DIVISORS = [
    *(11 / 8, 85 / 64, 41 / 32, 39 / 32, 75 / 64, 9 / 8, 35 / 32, 17 / 16),
    *(33 / 32, 1.0, 15 / 16, 7 / 8, 27 / 32, 51 / 64, 3 / 4, 23 / 32),
]
_COEFFICIENTS = (  # (log(1 + r) - r) / r**2
    -0.49999999999999994,
    0.3333333333333094,
    -0.25000000000095335,
    0.20000000016719116,
    -0.16666666362575422,
    0.14285678151360462,
    -0.12500329044814062,
    0.11141941653939474,
    -0.09896151322591688,
)


class _Base(Record):
    """What the logarithms to one base have: log(2) with so few digits that multiples by exponents are exact, its rest.

    `high` and `low` are the negative logarithms of the divisors; `factor` and `factor_rest` are 1 / log(base).
    """

    log2_high: float
    log2_low: float
    high: Table
    low: Table
    factor: float
    factor_rest: float

    @staticmethod
    def of(base: Decimal | None) -> _Base:
        """The base e is None."""
        log_base = Decimal(1) if base is None else base.ln()
        unit = 2.0**-42
        (log2_high, *high), (log2_low, *low) = parts_of(
            [Decimal(2).ln() / log_base, *(-Decimal(c).ln() / log_base for c in _DIVISORS)], unit
        )
        (factor,), (factor_rest,) = parts_of([1 / log_base])
        return _Base(log2_high, log2_low, high, low, factor, factor_rest)


_E, _2, _10 = _Base.of(None), _Base.of(Decimal(2)), _Base.of(Decimal(10))


class _Divided(Record):
    """``2**k * (1 + r) / c``, and the bits of a number that choose c."""

    k: Term
    r: Term
    c: Term
    chosen: Term

    @staticmethod
    def of(split: Split) -> _Divided:
        chosen = split.below >> _CHOOSING
        c = look_up(chosen, _DIVISORS)
        return _Divided(split.k, fma(split.part, c, -1.0), c, chosen)


def _logarithm(x: _Divided, base: _Base, rest: Term | float = 0.0) -> Term:
    """The logarithm of ``2**k * (1 + r + rest) / c``."""
    r = x.r
    square = r * r
    curve = polynomial(r, square, _COEFFICIENTS)
    whole = fma(x.k, base.log2_high, look_up(x.chosen, base.high))
    low = look_up(x.chosen, base.low)
    if base.log2_low:
        low = fma(x.k, base.log2_low, low)
    if isinstance(rest, Term):
        low = low + rest
    part = r
    if base.factor == 1.0:
        low = fma(square, curve, low)
    else:
        part = r * base.factor
        low = low + fma(r, base.factor, -part)
        low = fma(square * curve, base.factor, fma(r, base.factor_rest, low))
    high = whole + part
    return high + (((whole - high) + part) + low)


@elementary("log", "double", with_tables=True)
def log(x: Term) -> Term:
    return with_special_values(x, _logarithm(_Divided.of(Split.of(x)), _E))


@elementary("log2", "double", with_tables=True)
def log2(x: Term) -> Term:
    return with_special_values(x, _logarithm(_Divided.of(Split.of(x)), _2))


@elementary("log10", "double", with_tables=True)
def log10(x: Term) -> Term:
    return with_special_values(x, _logarithm(_Divided.of(Split.of(x)), _10))


@elementary("log1p", "double", with_tables=True)
def log1p(x: Term) -> Term:
    """What 1 + x lost by rounding is added to `r`."""
    split, lost = split_next(x)
    divided = _Divided.of(split)
    lost = lost * divided.c
    r = divided.r + lost
    rest = (divided.r - r) + lost
    divided = _Divided(divided.k, r, divided.c, divided.chosen)
    return log1p_with_special_values(x, _logarithm(divided, _E, rest))
