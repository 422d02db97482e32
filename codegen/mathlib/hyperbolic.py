"""Hyperbolic functions.

With ``|x| = n * log(2) + r``, ``a = 2**n`` and ``b = 2**-n``::

    2 * sinh(|x|) = (a - b) * cosh(r) + (a + b) * sinh(r)
    2 * cosh(|x|) = (a + b) * cosh(r) + (a - b) * sinh(r)

The large terms are kept exactly as sums of two numbers. The coefficients are those of benchmarks/math_coefficients.py.
"""

from __future__ import annotations

from ljit.codegen.mathlib.exponentials import limited, power_of_2, power_of_half, reduce_exp
from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__: list[str] = []

_SINH = {  # (sinh(r) / r - 1) / r**2
    "double": (
        0.16666666666666669,
        0.008333333333328375,
        0.00019841269866112355,
        2.755726700980893e-06,
        2.5100272778035477e-08,
    ),
    "float": (0.1666666716337204, 0.008333305828273296, 0.00019893563876394182),
}
_COSH = {  # (cosh(r) - 1) / r**2
    "double": (
        0.5,
        0.041666666666666526,
        0.0013888888888934263,
        2.4801587247770525e-05,
        2.755732842094317e-07,
        2.090023823314493e-09,
    ),
    "float": (0.5, 0.041666414588689804, 0.001393596758134663),
}
_MOST = {"double": 710.5, "float": 89.5}  # exp of more overflows by more than 2
_FLAT = {"double": 20.0, "float": 10.0}  # tanh of more is 1
_LINEAR = {"double": 2.0**-28, "float": 2.0**-13}  # functions of less are x, or 1
_FAR = {"double": 40.0, "float": 20.0}  # exponents where 2**-n does not count beside 2**n


class _Sum(Record):
    """``high + low``, a number with more digits than one has."""

    high: Term
    low: Term


def _sum(large: Term, small: Term) -> _Sum:
    """The exact sum; `large` is greater in size, or 0."""
    high = large + small
    return _Sum(high, (large - high) + small)


class _Split(Record):
    """An operand as described above: ``cosh(r) - 1`` and ``sinh(r) - r``; 2**n over 4, and 2**-n likewise."""

    r: Term
    cosh_rest: Term
    sinh_rest: Term
    a: Term
    b: Term

    @staticmethod
    def of(size: Term) -> _Split:
        reduced = reduce_exp(size)
        r = reduced.r
        z = r * r
        cosh_rest = fma(r, reduced.rest, z * polynomial(z, z * z, _COSH[r.type]))
        sinh_rest = fma(z * r, polynomial(z, z * z, _SINH[r.type]), reduced.rest)
        b = select(reduced.n > _FAR[r.type], 0.0, power_of_half(reduced.count, -2, r.type))
        return _Split(r, cosh_rest, sinh_rest, power_of_2(reduced.count, -2, r.type), b)

    def combined(self, cosh_factor: _Sum, sinh_factor: _Sum) -> _Sum:
        """``cosh(r) * cosh_factor + sinh(r) * sinh_factor``; the former is greater, or its factor is 0."""
        c, s = cosh_factor.high, sinh_factor.high
        product = self.r * s
        total = _sum(c, product)
        small = fma(self.sinh_rest, s, fma(self.r, s, -product))
        low = fma(self.cosh_rest, c, small) + (total.low + cosh_factor.low)
        return _Sum(total.high, fma(self.r, sinh_factor.low, low))


@elementary("sinh", "double", "float")
def sinh(x: Term) -> Term:
    size = intrinsic("fabs", x)
    split = _Split.of(limited(size, 0.0, _MOST[x.type]))
    result = split.combined(_sum(split.a, -split.b), _sum(split.a, split.b))
    value = (result.high + result.low) * 2.0
    return intrinsic("copysign", select(size < _LINEAR[x.type], size, value), x)


@elementary("cosh", "double", "float")
def cosh(x: Term) -> Term:
    split = _Split.of(limited(intrinsic("fabs", x), 0.0, _MOST[x.type]))
    result = split.combined(_sum(split.a, split.b), _sum(split.a, -split.b))
    return (result.high + result.low) * 2.0


@elementary("tanh", "double", "float")
def tanh(x: Term) -> Term:
    """The quotient of both, in units of cosh; corrected by what its product with the divisor lacks."""
    size = intrinsic("fabs", x)
    split = _Split.of(limited(size, 0.0, _FLAT[x.type]))
    plus, minus = _sum(split.a, split.b), _sum(split.a, -split.b)
    over, under = split.combined(minus, plus), split.combined(plus, minus)
    divisor = _sum(under.high, under.low)
    inverse = 1.0 / divisor.high
    quotient = over.high * inverse
    lack = fma(-quotient, divisor.high, over.high) + fma(-quotient, divisor.low, over.low)
    value = fma(lack, inverse, quotient)
    return intrinsic("copysign", select(size < _LINEAR[x.type], size, value), x)
