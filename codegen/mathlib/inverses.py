"""Inverse trigonometric functions."""

from __future__ import annotations

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select

__all__: list[str] = []

_ATAN = (
    -0.33333333333333326,
    0.19999999999991105,
    -0.142857142839261,
    0.1111111096542198,
    -0.09090902836965507,
    0.07692147710307887,
    -0.06664066345910426,
    0.05854663658049173,
    -0.05068848988059985,
    0.038791586943241654,
    -0.018678974308818846,
)
_ATAN_FLOAT = (
    -0.3333332944705136,
    0.19999258265979553,
    -0.14257093283411368,
    0.10686320343600234,
    -0.06296482548670712,
)
_ASIN = (
    0.1666666666666667,
    0.07499999999995081,
    0.04464285715183227,
    0.03038194377445289,
    0.02237218575467553,
    0.0173521221235846,
    0.01397488126483107,
    0.011446131329486133,
    0.010522875999970002,
    0.004652801010604156,
    0.019463345684828194,
    -0.01790055609999933,
    0.03073594364829861,
)
_ASIN_FLOAT = (
    0.16666666430167879,
    0.07500116135685189,
    0.04459423789569894,
    0.031131694099689508,
    0.01711911528212551,
    0.033579984081007395,
)
_PI_4 = 0.7853981633974483
_PI_4_LOW = 3.061616997868383e-17
_PI_2 = 2 * _PI_4
_PI_2_LOW = 2 * _PI_4_LOW
_TAN_PI_8 = 0.41421356237309503
_INVERSE = 0x7FDE623822FC16E6  # less the bits of a number: those of its inverse, to 12 %


def _with_sign(x: Term, sign: Term) -> Term:
    """A number that is not negative with the sign of another."""
    return intrinsic("copysign", x, sign)


# -- arc tangent -------------------------------------------------------------------------------------


def _angle(a: Term, b: Term, swapped: Term, turned: Term | None) -> Term:
    """The angle of the point (a, b), 0 <= b <= a, with its coordinates swapped or its first one negated.

    Above pi/8 the angle is pi/4 less that of (a + b, a - b), so that the quotient t is at most tan(pi/8). What is
    wanted is k * pi/4 plus or minus (t + low + t**3 * polynomial), and each sum keeps what it rounds off.
    """
    above = b > a * _TAN_PI_8
    difference = b - a
    total = a + b
    over = select(above, difference, b)
    under = select(above, total, a)
    inverse = 1.0 / under
    t = over * inverse
    over_low = select(above, b - (difference + a), 0.0)
    under_low = select(above, b - (total - a), 0.0)
    low = (fma(-t, under, over) + fma(-t, under_low, over_low)) * inverse
    square = t * t
    rest = fma(t * square, polynomial(square, square * square, _ATAN), fma(-square, low, low))
    eighths = select(above, 1.0, select(swapped, a.constant(2.0), 0.0))
    if turned is not None:
        eighths = select(turned, 4.0 - eighths, eighths)
        swapped = swapped ^ turned
    t = select(swapped, -t, t)
    rest = select(swapped, -rest, rest)
    high = eighths * _PI_4
    high_low = eighths * _PI_4_LOW
    if turned is not None:
        # three quarters of pi have a longer product
        high_low = high_low + fma(eighths, _PI_4, -high)
    result = high + t
    return result + ((high - result) + t + (high_low + rest))


def _rough_angle(a: Term, b: Term, swapped: Term, turned: Term | None) -> Term:
    """The same without what is rounded off, for results that become floats."""
    above = b > a * _TAN_PI_8
    t = select(above, b - a, b) / select(above, a + b, a)
    square = t * t
    t = fma(t * square, polynomial(square, square * square, _ATAN_FLOAT), t)
    eighths = select(above, 1.0, select(swapped, a.constant(2.0), 0.0))
    if turned is not None:
        eighths = select(turned, 4.0 - eighths, eighths)
        swapped = swapped ^ turned
    return fma(eighths, _PI_4, select(swapped, -t, t))


@elementary("atan", "double", "float")
def atan(x: Term) -> Term:
    wide = x.to("double")
    size = intrinsic("fabs", wide)
    size = select(size > 2.0**60, 2.0**60, size)  # its inverse is 0 to all digits of pi/2
    swapped = size > 1.0
    a = select(swapped, size, 1.0)
    b = select(swapped, 1.0, size)
    angle = (_angle if x.is_double else _rough_angle)(a, b, swapped, None)
    return _with_sign(angle, wide).to(x.type)


@elementary("atan2", "double", "float")
def atan2(y: Term, x: Term) -> Term:
    """The larger coordinate is made 1 if it is 0 or infinite, and scaled where its inverse or a sum would overflow."""
    wide_y, wide_x = y.to("double"), x.to("double")
    height, width = intrinsic("fabs", wide_y), intrinsic("fabs", wide_x)
    swapped = height > width
    a = select(swapped, height, width)
    b = select(swapped, width, height)
    infinite = a == float("inf")
    b = select(infinite, select(b == a, a.constant(1.0), 0.0), b)
    a = select(infinite | (a == 0.0), 1.0, a)
    if y.is_double:
        scale = select(a < 2.0**-900, 2.0**120, select(a > 2.0**1000, a.constant(2.0**-4), 1.0))
        a, b = a * scale, b * scale
    angle = (_angle if y.is_double else _rough_angle)(a, b, swapped, wide_x.bits() < 0)
    angle = select(
        wide_x != wide_x, wide_x, select(wide_y != wide_y, wide_y, _with_sign(angle, wide_y))
    )
    return angle.to(y.type)


# -- arc sine ----------------------------------------------------------------------------------------


def _half_angle(x: Term) -> tuple[Term, Term, Term]:
    """Whether |x| > 1/2, and asin(|x|) as a sum, or else half of acos(|x|) = 2 * asin(sqrt((1 - |x|) / 2))."""
    size = intrinsic("fabs", x)
    big = size > 0.5
    half = fma(size, -0.5, 0.5)
    square = select(big, half, size * size)
    root = intrinsic("sqrt", half)
    # The root's error is within its last place: its inverse need have only a few digits.
    inverse = (_INVERSE - root.bits()).as_float()
    root_low = fma(-root, root, half) * inverse * 0.5
    high = select(big, root, size)
    rest = fma(
        high * square, polynomial(square, square * square, _ASIN), select(big, root_low, 0.0)
    )
    return big, high, rest


@elementary("asin", "double")
def asin(x: Term) -> Term:
    big, high, rest = _half_angle(x)
    twice = high * -2.0
    other = twice + _PI_2
    other_rest = (_PI_2 - other) + twice + fma(rest, -2.0, _PI_2_LOW)
    return _with_sign(select(big, other, high) + select(big, other_rest, rest), x)


@elementary("acos", "double")
def acos(x: Term) -> Term:
    """2 * half, pi - 2 * half, or pi/2 - asin(|x|), pi/2 + asin(|x|)."""
    big, high, rest = _half_angle(x)
    negative = x < 0.0
    factor = select(big, 2.0, x.constant(-1.0))
    factor = select(negative, -factor, factor)
    base = select(big, select(negative, x.constant(2 * _PI_2), 0.0), _PI_2)
    base_low = select(big, select(negative, x.constant(2 * _PI_2_LOW), 0.0), _PI_2_LOW)
    high = high * factor
    result = base + high
    error = (base - result) + high
    return result + (error + fma(rest, factor, base_low))


def _rough_half_angle(x: Term) -> tuple[Term, Term]:
    size = intrinsic("fabs", x)
    big = size > 0.5
    square = select(big, fma(size, -0.5, 0.5), size * size)
    high = select(big, intrinsic("sqrt", square), size)
    return big, fma(high * square, polynomial(square, square * square, _ASIN_FLOAT), high)


@elementary("asin", "float")
def asin_of_float(x: Term) -> Term:
    big, angle = _rough_half_angle(x.to("double"))
    return _with_sign(select(big, fma(angle, -2.0, _PI_2), angle).to("float"), x)


@elementary("acos", "float")
def acos_of_float(x: Term) -> Term:
    wide = x.to("double")
    big, angle = _rough_half_angle(wide)
    negative = wide < 0.0
    factor = select(big, 2.0, wide.constant(-1.0))
    factor = select(negative, -factor, factor)
    base = select(big, select(negative, wide.constant(2 * _PI_2), 0.0), _PI_2)
    return fma(angle, factor, base).to("float")
