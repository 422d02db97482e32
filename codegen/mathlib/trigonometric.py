"""Sine, cosine and tangent.

    sin(r + low) = r + r**3 * polynomial + low * cos(r),  cos(r + low) = 1 - r**2 / 2 + r**4 * polynomial - r * low

The quadrant says which of the two it is, and the sign. The tangent divides them, each as a sum of two numbers.
"""

from __future__ import annotations

from ljit.codegen.mathlib.reduction import LIMIT, reduce, reduce_huge, reduce_quickly
from ljit.codegen.mathlib.registry import Beyond, Writer, elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__: list[str] = []

_SIN = (
    -0.16666666666666666,
    0.008333333333333328,
    -0.0001984126984126083,
    2.7557319216980375e-06,
    -2.5052105615870352e-08,
    1.6058455521485787e-10,
    -7.583123365170232e-13,
)
_COS = (
    0.04166666666666662,
    -0.001388888888887789,
    2.4801587291928778e-05,
    -2.7557315099211303e-07,
    2.0875831041620495e-09,
    -1.1365569357150794e-11,
)
_SIN_FLOAT = (
    -0.1666666664536286,
    0.008333329970402441,
    -0.0001983957036047771,
    2.7209151016091777e-06,
)
_COS_FLOAT = (
    0.041666666629225434,
    -0.0013888884465660723,
    2.4799742903729386e-05,
    -2.72310939944723e-07,
)


class _Parts(Record):
    """``n * pi/2 + r`` has this sine and cosine, or minus them, or they are swapped: what is rounded, and the rest."""

    n: Term  # in the low bits
    sine: Term
    sine_rest: Term
    cosine: Term
    cosine_rest: Term


def _parts(reduced: tuple[Term, Term, Term]) -> _Parts:
    n, r, low = reduced
    square = r * r
    quartic = square * square
    minus_half = r * -0.5
    cosine = fma(minus_half, r, 1.0)
    rest = fma(-low, r, fma(minus_half, r, 1.0 - cosine))
    cosine_rest = fma(quartic, polynomial(square, quartic, _COS), rest)
    sine_rest = fma(r * square, polynomial(square, quartic, _SIN), low * cosine)
    return _Parts(n, r, sine_rest, cosine, cosine_rest)


def _parts_of(x: Term) -> _Parts:
    return _parts(reduce(intrinsic("fabs", x)))


def _parts_of_huge(x: Term) -> _Parts:
    n, r, low = reduce_huge(intrinsic("fabs", x))
    return _parts((n, r + (x - x), low))  # NaN if `x` is infinite


def _rough_parts(x: Term) -> tuple[Term, Term, Term]:
    """Quadrant, sine and cosine for results that become floats."""
    n, r = reduce_quickly(intrinsic("fabs", x))
    square = r * r
    quartic = square * square
    sine = fma(r * square, polynomial(square, quartic, _SIN_FLOAT), r)
    return n, sine, fma(quartic, polynomial(square, quartic, _COS_FLOAT), fma(square, -0.5, 1.0))


def _negated_if(x: Term, sign: Term) -> Term:
    return (x.bits() ^ (sign & -(2**63))).as_float()


# -- sine and cosine ---------------------------------------------------------------------------------


def _choose(n: Term, sine: Term, cosine: Term) -> Term:
    """Give sin(n * pi/2 + r), if those are the sine and cosine of r."""
    return _negated_if(select((n & 1) == 0, sine, cosine), n << 62)


def _sine_of(x: Term, parts: _Parts) -> Term:
    result = _choose(parts.n, parts.sine + parts.sine_rest, parts.cosine + parts.cosine_rest)
    return _negated_if(result, x.bits())


def _cosine_of(parts: _Parts) -> Term:
    return _choose(parts.n + 1, parts.sine + parts.sine_rest, parts.cosine + parts.cosine_rest)


def _huge(writer: Writer) -> Beyond:
    return Beyond(lambda x: intrinsic("fabs", x) > LIMIT, (2 * LIMIT,), writer)


@elementary("sin", "double", beyond=_huge(lambda x: _sine_of(x, _parts_of_huge(x))))
def sin(x: Term) -> Term:
    return _sine_of(x, _parts_of(x))


@elementary("sin", "float", beyond=_huge(lambda x: _sine_of(x, _parts_of_huge(x))))
def sin_of_float(x: Term) -> Term:
    x = x.to("double")
    return _negated_if(_choose(*_rough_parts(x)), x.bits()).to("float")


@elementary("cos", "double", beyond=_huge(lambda x: _cosine_of(_parts_of_huge(x))))
def cos(x: Term) -> Term:
    return _cosine_of(_parts_of(x))


@elementary("cos", "float", beyond=_huge(lambda x: _cosine_of(_parts_of_huge(x))))
def cos_of_float(x: Term) -> Term:
    n, sine, cosine = _rough_parts(x.to("double"))
    return _choose(n + 1, sine, cosine).to("float")


# -- tangent -----------------------------------------------------------------------------------------


def _tangent_of(x: Term, parts: _Parts) -> Term:
    """Divide; what the quotient lacks is found from the parts that were rounded off."""
    sine = parts.sine + parts.sine_rest
    cosine = parts.cosine + parts.cosine_rest
    sine_low = (parts.sine - sine) + parts.sine_rest
    cosine_low = (parts.cosine - cosine) + parts.cosine_rest
    swap = (parts.n & 1) != 0
    above, above_low = select(swap, cosine, sine), select(swap, cosine_low, sine_low)
    below, below_low = select(swap, sine, cosine), select(swap, sine_low, cosine_low)
    inverse = 1.0 / below
    quotient = above * inverse
    remainder = fma(-quotient, below_low, fma(-quotient, below, above) + above_low)
    return _negated_if(fma(remainder, inverse, quotient), (parts.n << 63) ^ x.bits())


@elementary("tan", "double", beyond=_huge(lambda x: _tangent_of(x, _parts_of_huge(x))))
def tan(x: Term) -> Term:
    return _tangent_of(x, _parts_of(x))


@elementary("tan", "float", beyond=_huge(lambda x: _tangent_of(x, _parts_of_huge(x))))
def tan_of_float(x: Term) -> Term:
    x = x.to("double")
    n, sine, cosine = _rough_parts(x)
    swap = (n & 1) != 0
    quotient = select(swap, cosine, sine) / select(swap, sine, cosine)
    return _negated_if(quotient, (n << 63) ^ x.bits()).to("float")
