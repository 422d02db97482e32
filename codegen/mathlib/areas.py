"""Inverse hyperbolic functions: logarithms of sums, which keep what they round off.

    asinh(x) = log(x + sqrt(x**2 + 1)),  acosh(x) = log(x + sqrt(x**2 - 1)),  atanh(x) = log((1 + x) / (1 - x)) / 2

The argument y of the logarithm is the sum of two doubles, so that y - 1 has all digits unless `x` is tiny, where two
terms of the series do.
"""

from __future__ import annotations

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select

__all__: list[str] = []

# (2 * atanh(s) - 2 * s) / s**3 in powers of s**2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)
_ATANH = (
    0.666666666666667,
    0.39999999999898445,
    0.28571428626398754,
    0.22222211072883355,
    0.181828932174336,
    0.15331596963043112,
    0.14617872982870733,
)
_ATANH_FLOAT = (0.6666666655302484, 0.40000122752452993, 0.2855073715682259, 0.233323828473859)
_SQRT_HALF = 0x3FE6A09E667F3BCD  # bits
_LOG_2 = 0.6931471803691238  # with 21 zero bits at its end: n * log(2) is exact
_LOG_2_LOW = 1.9082149292705877e-10
_FLOAT_OF_BITS = 0x4330000000000000  # 2**52: with an integer in its low bits, 2**52 and the integer
_HUGE = 2.0**30  # sqrt(x**2 + 1) is x
_TINY = 2.0**-20


def _split(y: Term) -> tuple[Term, Term, Term]:
    """Split y >= 1 into m * 2**n, sqrt(1/2) <= m < sqrt(2): m, the bits of n, n."""
    bits = y.bits()
    n = (bits - _SQRT_HALF) >> 52
    return (bits - (n << 52)).as_float(), n, (n | _FLOAT_OF_BITS).as_float() - 2.0**52


def _logarithm(y: Term, low: Term, halved: Term | None) -> Term:
    """Give log(y + low), plus 2 * log(2) where they are `halved`; 1 <= y < 2**1023."""
    m, n_bits, n = _split(y)
    if halved is not None:
        n = n + select(halved, y.constant(2.0), 0.0)
    low = low * ((1023 - n_bits) << 52).as_float()
    first = m - 1.0
    f = first + low
    f_low = (first - f) + low
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5
    near = fma(-half, f, f)
    rest = fma(-half, f, f - near)
    rest = fma(f_low, fma(f, f - 1.0, 1.0), rest)  # over 1 + f, nearly
    rest = fma(s, fma(z, polynomial(z, z * z, _ATANH), half * f), rest)
    high = n * _LOG_2
    result = high + near
    return result + ((high - result) + near + fma(n, _LOG_2_LOW, rest))


def _rough_logarithm(y: Term) -> Term:
    m, _, n = _split(y)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    return fma(n, _LOG_2, s * fma(z, polynomial(z, z * z, _ATANH_FLOAT), 2.0))


def _with_root(x: Term, one: float) -> tuple[Term, Term]:
    """Give x + sqrt(x*x + one) as a sum, one = 1 or -1."""
    square = x * x
    total = square + one
    root = intrinsic("sqrt", total)
    lost = _rounded_off(square, one, total) + fma(x, x, -square)
    root_low = (fma(-root, root, total) + lost) / select(root == 0.0, 1.0, root * 2.0)
    y = x + root
    return y, _rounded_off(x, root, y) + root_low


def _rounded_off(x: Term, y: Term | float, total: Term) -> Term:
    """What ``total = x + y`` rounded off."""
    part = total - x
    return (x - (total - part)) + (y - part)


@elementary("asinh", "double", "float")
def asinh(x: Term) -> Term:
    wide = x.to("double")
    size = intrinsic("fabs", wide)
    huge = size > _HUGE
    if x.is_double:
        y, low = _with_root(size, 1.0)
        result = _logarithm(select(huge, size * 0.5, y), select(huge, 0.0, low), huge)
    else:
        y = size + intrinsic("sqrt", fma(size, size, 1.0))
        result = _rough_logarithm(y)
    series = fma(size * size * size, -1 / 6, size)
    result = select(size < (_TINY if x.is_double else 2.0**-12), series, result)
    result = select(size < float("inf"), result, size)
    return intrinsic("copysign", result, wide).to(x.type)


@elementary("acosh", "double", "float")
def acosh(x: Term) -> Term:
    wide = x.to("double")
    huge = wide > _HUGE
    if x.is_double:
        y, low = _with_root(wide, -1.0)
        result = _logarithm(select(huge, wide * 0.5, y), select(huge, 0.0, low), huge)
    else:
        t = wide - 1.0  # exact
        result = _rough_logarithm(wide + intrinsic("sqrt", fma(t, t, t + t)))
    result = select(wide < float("inf"), result, wide)
    return select(wide < 1.0, float("nan"), result).to(x.type)


@elementary("atanh", "double", "float")
def atanh(x: Term) -> Term:
    wide = x.to("double")
    size = intrinsic("fabs", wide)
    above, below = size + 1.0, 1.0 - size
    inverse = 1.0 / below
    y = above * inverse
    if x.is_double:
        above_low = size - (above - 1.0)
        below_low = (1.0 - below) - size
        low = fma(-y, below_low, fma(-y, below, above) + above_low) * inverse
        result = _logarithm(y, low, None)
    else:
        result = _rough_logarithm(y)
    cube = size * size * size
    result = select(
        size < (_TINY if x.is_double else 2.0**-12), fma(cube, 1 / 3, size), result * 0.5
    )
    result = select(
        size < 1.0, result, select(size == 1.0, wide.constant(float("inf")), float("nan"))
    )
    return intrinsic("copysign", result, wide).to(x.type)
