"""Cube root and hypotenuse."""

from __future__ import annotations

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, select

__all__: list[str] = []

_START = 0x553EE800  # of the high words: 4/3 of the bias, less what makes the error smallest
_THIRD = 0xAAAAAAAB  # times a number below 2**32, shifted by 33: a third of it


@elementary("hypot", "double", "float")
def hypot(x: Term, y: Term) -> Term:
    """The root of the sum of squares, with what squares and sum round off, scaled away from overflow."""
    if not x.is_double:
        a, b = x.to("double"), y.to("double")
        result = intrinsic("sqrt", fma(a, a, b * b)).to(x.type)
        x, y = intrinsic("fabs", x), intrinsic("fabs", y)
    else:
        x, y = intrinsic("fabs", x), intrinsic("fabs", y)
        result = _scaled_hypotenuse(x, y)
    infinity = x.constant(float("inf"))
    return select(x == infinity, infinity, select(y == infinity, infinity, result))


def _scaled_hypotenuse(x: Term, y: Term) -> Term:
    swap = y > x
    a, b = select(swap, y, x), select(swap, x, y)
    one = x.constant(1.0)
    large, small = a > 2.0**500, a < 2.0**-400
    scale = select(large, 2.0**-600, select(small, x.constant(2.0**600), one))
    back = select(large, 2.0**600, select(small, x.constant(2.0**-600), one))
    a, b = a * scale, b * scale
    square, other = a * a, b * b
    total = square + other
    low = (square - total) + other + fma(a, a, -square) + fma(b, b, -other)
    root = intrinsic("sqrt", total)
    low = fma(-root, root, total) + low
    twice = root + root
    low = low / select(twice == 0.0, one, twice)
    return (root + low) * back


@elementary("cbrt", "double", "float")
def cbrt(x: Term) -> Term:
    """The cube root is x * y**2, where y = x**(-1/3).

    `y` is made from the bits of `x`, as 1 / (x * y**3) = 1 +- 0.1, and two steps of the series of (1 - e)**(-1/3); then
    what `root` rounded off is found.
    """
    wide = x.to("double")
    size = intrinsic("fabs", wide)
    small = size < 2.0**-1000
    a = size
    if x.is_double:
        a = select(small, size * 2.0**120, size)
    high = a.bits() >> 32
    third = (high * _THIRD) >> 33
    y = ((_START - third) << 32).as_float()
    for _ in range(2):
        e = fma(-(y * y), y * a, 1.0)
        y = fma(y * e, fma(e, fma(e, fma(e, 35 / 243, 14 / 81), 2 / 9), 1 / 3), y)
    square = y * y
    root = a * square
    if x.is_double:
        two = root * root
        rest = fma(two, root, -a) + root * fma(root, root, -two)
        root = fma(rest * square, -1 / 3, root)
        root = select(small, root * 2.0**-40, root)
    root = select(size == 0.0, size, root)
    root = select(size == float("inf"), size, root)
    return intrinsic("copysign", root, wide).to(x.type)
