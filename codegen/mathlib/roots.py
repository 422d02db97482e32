"""Cube root and hypotenuse."""

from __future__ import annotations

from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.tables import SIZE, look_up
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.records import Record

__all__: list[str] = []

# the cube root is x * y**2, where y = x**(-1/3)
_START = 0x553EE800  # of the high words: 4/3 of the bias, less what makes the error smallest
_THIRD = 0xAAAAAAAB  # times a number below 2**32, shifted by 33: a third of it
_THIRD_OF_EXPONENT = 21846  # times a number below 2**12, shifted by 16, likewise
_SERIES = (1 / 3, 2 / 9, 14 / 81, 35 / 243, 91 / 729)
_OF_LEADING_BITS = [(1 + (i + 0.5) / SIZE) ** (-1 / 3) for i in range(SIZE)]
_OF_REMAINDERS = [
    2.0 ** (341 - min(i % 4, 2) / 3) for i in range(SIZE)
]  # 341 is a third of the bias


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
    """From a start made of the bits of `x`, as 1 / (x * y**3) = 1 +- 0.1, in two steps."""
    wide = x.to("double")
    scale = _Scale.of(wide) if x.is_double else None
    size = scale.size if scale is not None else intrinsic("fabs", wide)
    third = ((size.bits() >> 32) * _THIRD) >> 33
    y = ((_START - third) << 32).as_float()
    y = _nearer(size, _nearer(size, y, 4), 4)
    root = size * (y * y)
    if scale is not None:
        root = scale.back(_corrected(size, y, root))
    return _with_special_values(wide, root).to(x.type)


@elementary("cbrt", "double", with_tables=True)
def cbrt_with_tables(x: Term) -> Term:
    """From a start of 1 +- 0.03 in one step: powers of the leading bits, and of the exponent's remainder."""
    scale = _Scale.of(x)
    bits = scale.size.bits()
    product = (bits >> 52) * _THIRD_OF_EXPONENT  # two bits below the point tell the remainder
    of_remainder = look_up(product >> 14, _OF_REMAINDERS)
    power = look_up(bits >> 48, _OF_LEADING_BITS) * of_remainder
    y = (power.bits() - ((product >> 16) << 52)).as_float()
    y = _nearer(scale.size, y, 5)
    root = _corrected(scale.size, y, scale.size * (y * y))
    return _with_special_values(x, scale.back(root))


class _Scale(Record):
    """The absolute value of an operand, so scaled that it is a normal number; root of what was small."""

    size: Term
    is_small: Term

    @staticmethod
    def of(x: Term) -> _Scale:
        size = intrinsic("fabs", x)
        is_small = size < 2.0**-1000
        return _Scale(select(is_small, size * 2.0**120, size), is_small)

    def back(self, root: Term) -> Term:
        return select(self.is_small, root * 2.0**-40, root)


def _nearer(x: Term, y: Term, terms: int) -> Term:
    """One step to ``x**(-1/3)``: so many terms of the series of (1 - e)**(-1/3)."""
    e = fma(-(y * y), y * x, 1.0)
    return fma(y * e, polynomial(e, e * e, _SERIES[:terms]), y)


def _corrected(x: Term, y: Term, root: Term) -> Term:
    """What a root of 27 bits and more lacks; `y` is its reciprocal."""
    two = root * root
    rest = fma(two, root, -x) + root * fma(root, root, -two)
    return fma(rest * (y * y), -1 / 3, root)


def _with_special_values(x: Term, root: Term) -> Term:
    size = intrinsic("fabs", x)
    root = select(size == 0.0, size, root)
    return intrinsic("copysign", select(size == float("inf"), size, root), x)
