"""Powers: ``exp(y * log(|x|))`` with the logarithm and the product as sums of two numbers, and C's special cases.

The product is up to 745, and its error is that of the result: so the logarithm needs 13 bits more than a double has.
It is ``k * log(2) + s * (2 + z * (2/3 + z * p(z)))`` with `k`, `s` and `z` as for logarithms, all but `p` in two parts.
float32 goes by way of float64, where one part will do. Exponents that are often wanted (`OFTEN_WANTED`) have functions
of their own, of roots, reciprocals and products in two parts, which take a third of the time. The coefficients are
those of benchmarks/math_coefficients.py.
"""

from __future__ import annotations

import math

from ljit.codegen.mathlib.exponentials import (
    LEAST_EXP,
    MOST_EXP,
    power_of_2,
    reduce_exp,
    rest_of_exp,
    scaled,
    vanishing,
)
from ljit.codegen.mathlib.logarithms import Split, rough_log
from ljit.codegen.mathlib.registry import elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, polynomial, select
from ljit.ops.ufuncs.powers import OFTEN_WANTED

__all__ = ["constant_power"]

_LOG2_HIGH = float.fromhex("0x1.62e42fefa38p-1")  # multiples by exponents are exact
_LOG2_LOW = float.fromhex("0x1.ef35793c7673p-45")
_TWO_THIRDS = 2.0 / 3.0
_TWO_THIRDS_LOW = float.fromhex("0x1.5555555555555p-55")
_COEFFICIENTS = (  # (log((1 + s) / (1 - s)) / s - 2 - 2/3 * z) / z**2
    0.39999999999999997,
    0.2857142857143249,
    0.22222222220345858,
    0.18181818550883974,
    0.15384577285603895,
    0.13335574588321025,
    0.11689200425443497,
    0.11873935759199254,
)
_SIGNS = {"double": -(1 << 63), "float": -(1 << 31)}
#: the sum of both; the second is smaller than the first one's rounding error
_Pair = tuple[Term, Term]


def _sum(large: Term, small: Term) -> _Pair:
    high = large + small
    return high, (large - high) + small


def _product(x: _Pair, y: _Pair) -> _Pair:
    high = x[0] * y[0]
    return high, fma(x[0], y[0], -high) + fma(x[0], y[1], x[1] * y[0])


def _log(x: Term) -> _Pair:
    """The logarithm of a positive finite number, with an error of 2**-66 of it."""
    split = Split.of(x)
    f = split.f
    divisor = f + 2.0
    divisor_low = (2.0 - divisor) + f
    inverse = 1.0 / divisor
    s_high = f * inverse
    s = s_high, fma(-s_high, divisor_low, fma(-s_high, divisor, f)) * inverse
    z = _product(s, s)
    curve = polynomial(z[0], z[0] * z[0], _COEFFICIENTS)
    factor = fma(z[0], curve, _TWO_THIRDS)
    factor_low = fma(z[0], curve, _TWO_THIRDS - factor) + fma(z[1], curve, _TWO_THIRDS_LOW)
    rest = _product(s, _product(z, (factor, factor_low)))
    total, low = _sum(split.k * _LOG2_HIGH, s_high * 2.0)
    total, lower = _sum(total, rest[0])
    low = low + lower + fma(s[1], 2.0, fma(split.k, _LOG2_LOW, rest[1]))
    return _sum(total, low)


def _exp(x: Term, low: Term) -> Term:
    """The exponential of ``x + low``; `x` is not too large."""
    reduced = reduce_exp(x)
    high, rest = rest_of_exp(reduced)
    return scaled(high, fma(low, high + rest, rest), reduced.count)


_EXP = (1.0, 1.0, *(1.0 / math.factorial(n) for n in range(2, 10)))
_FAR = 800.0  # exp of it is infinite or 0, whatever is added: the rest of an infinite product would be NaN
_LEAST_NARROW, _MOST_NARROW = -110.0, 95.0  # exp of less is 0 as a float, of more infinite


@elementary("pow", "double")
def pow_double(x: Term, y: Term) -> Term:
    size = intrinsic("fabs", x)
    log, log_low = _log(size)
    log = _at_ends(size, log)
    product = y * log
    low = fma(y, log, -product) + y * log_low
    low = select(intrinsic("fabs", product) < _FAR, low, 0.0)
    product = select(product > MOST_EXP, MOST_EXP, product)
    result = vanishing(product, LEAST_EXP, lambda product: _exp(product, low))
    return _with_special_values(x, y, result)


@elementary("pow", "float")
def pow_float(x: Term, y: Term) -> Term:
    """In float64, with half its digits."""
    size = intrinsic("fabs", x).to("double")
    product = y.to("double") * _at_ends(size, rough_log(size))
    product = select(product > _MOST_NARROW, _MOST_NARROW, product)
    return _with_special_values(x, y, vanishing(product, _LEAST_NARROW, _narrow_exp))


def _narrow_exp(x: Term) -> Term:
    reduced = reduce_exp(x)
    curve = polynomial(reduced.r, reduced.r * reduced.r, _EXP)
    return (curve * power_of_2(reduced.count, 0, "double")).to("float")


def _at_ends(x: Term, log: Term) -> Term:
    return select(x == 0.0, -math.inf, select(x < math.inf, log, x))


def _with_special_values(x: Term, y: Term, size: Term) -> Term:
    """The power, whose `size` is right if neither y nor log(x) is 0 or infinite and the other one the opposite."""
    is_whole = intrinsic("floor", y) == y
    half = y * 0.5
    is_odd = is_whole & (intrinsic("floor", half) != half)
    sign = select(is_odd, x.bits() & _SIGNS[x.type], 0)
    result = (size.bits() | sign).as_float()
    result = select((x < 0.0) & (x > -math.inf) & (is_whole ^ 1), math.nan, result)
    is_one = (x == -1.0) & (intrinsic("fabs", y) == math.inf)
    return select((y == 0.0) | (x == 1.0) | is_one, 1.0, result)


# -- constant exponents ----------------------------------------------------------------------------


def constant_power(exponent: float | None) -> str | None:
    """The name of the function of one operand that gives this power, if there is one."""
    if exponent not in OFTEN_WANTED:
        return None
    return "pow_" + f"{exponent:g}".replace("-", "m").replace(".", "_")


def _declare(exponent: float) -> None:
    name = constant_power(exponent)
    assert name is not None

    @elementary(name, "double")
    def double(x: Term) -> Term:
        return _small_power(x, exponent)

    @elementary(name, "float")
    def single(x: Term) -> Term:
        """The rounding errors of some operations with doubles are nothing."""
        size = intrinsic("fabs", x).to("double")
        base = 1.0 / size if exponent < 0 else size
        result = intrinsic("sqrt", base) if exponent % 1 else None
        for _ in range(int(abs(exponent))):
            result = base if result is None else result * base
        assert result is not None
        return _with_sign(x, result.to("float"), exponent)


def _small_power(x: Term, exponent: float) -> Term:
    """A product of sums of two numbers.

    It is made in other units where it, or what a root is taken of, may be subnormal: the second numbers would be lost.
    """
    size, count = intrinsic("fabs", x), abs(exponent)
    unit = int(_UNIT / count) // 2 * 2
    unit = -unit if exponent < -0.5 else unit
    is_far = size > 1.0 if unit < 0 else size < 1.0
    base = size * select(is_far, 2.0**unit, 1.0, of=x)
    if exponent > 0:
        high, low = _times((base, base.constant(0.0)), int(count))
        if count % 1:
            high, low = _product((high, low), _root(base))
    elif count % 1:
        high, low = _times(_inverse_root(base), int(2 * count))
    else:
        high, low = _times(_inverse(base), int(count))
    high = select((high > 0.0) & (high < math.inf), high + low, high)
    return _with_sign(x, high * select(is_far, 2.0 ** (-unit * exponent), 1.0, of=x), exponent)


_UNIT = 240  # a power of 2


def _with_sign(x: Term, size: Term, exponent: float) -> Term:
    """The power, whose size is right; roots of -inf are those of inf, as in C."""
    if exponent % 1:
        return select((x < 0.0) & (x > -math.inf), math.nan, size)
    if exponent % 2:
        return (size.bits() | (x.bits() & _SIGNS[x.type])).as_float()
    return size


def _times(x: _Pair, count: int) -> _Pair:
    """So many times the same factor."""
    product = x
    for _ in range(count - 1):
        product = _product(product, x)
    return product


def _root(x: Term) -> _Pair:
    root = intrinsic("sqrt", x)
    return root, fma(-root, root, x) / (root + root)


def _inverse(x: Term) -> _Pair:
    inverse = 1.0 / x
    return inverse, fma(-x, inverse, 1.0) * inverse


def _inverse_root(x: Term) -> _Pair:
    root = intrinsic("sqrt", x)
    inverse, low = _inverse(root)
    lack = fma(-root, root, x) * -0.5 * (inverse * inverse)  # of the root, as a part of it
    return inverse, fma(lack, inverse, low)


for _exponent in OFTEN_WANTED:
    _declare(_exponent)
