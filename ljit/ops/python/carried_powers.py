"""Powers of one float whose exponents go up by a fixed step: each is the one before times the same factor.

A power is the sum of two floats, of about 100 bits, which the rounding of all factors together leaves: so it is known
how far what is rounded to one float is from it, and whether C's pow gives just that (`powers.settled`). The first float
is a mere product in each trip, for which the next one does not wait long: what rounding leaves adds up in the second
one, until that is too large and they are added. Of what is so small or so large that a part of it may not be exact the
second float is NaN from there on; then C's pow is called.

Reference: Dekker, A Floating-Point Technique for Extending the Available Precision, Numerische Mathematik 18, 1971.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.python.numbers import UINT64, check_result, condition_and
from ljit.ops.python.powers import POWER_ERROR, settled
from ljit.types import ANY, FLOAT, INT, ScalarType, TupleType, Type

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["BASES", "POWER_BEGINS", "POWER_ENDS", "POWER_GOES_ON"]

_PARTS = TupleType((FLOAT, FLOAT))
_NUMPYS = ScalarType(
    np.dtype(np.float64)
)  # NumPy's powers of numbers are C's pow, too, and raise nothing
BASES = (FLOAT, _NUMPYS)
_MOST_BITS = 24  # of an exponent to begin with
_FURTHEST = 2**32  # exponents up to here: what factors leave is still far less than what counts
_LEAST, _MOST = 2.0**-900, 2.0**900  # a part between them has its rest exactly
# parts of the first float that the second one may be: of their product a part of 2**-99 is left out
_LARGE = 2.0**-46

_Parts = tuple[V, V]


def _infer(*types: Type) -> Type:
    is_known = types == (_PARTS, _PARTS) or types in [(base, INT) for base in BASES]
    return _PARTS if is_known else ANY


def _infer_end(parts: Type, x: Type, n: Type) -> Type:
    return x if parts == _PARTS and x in BASES and n == INT else ANY


def _effect_of_end(_parts: Type, x: Type, _n: Type) -> Effect:
    return Effect.RAISE if x == FLOAT else Effect.PURE


def _times(e: Emitter, x: _Parts, y: _Parts) -> _Parts:
    """The product, as a float and what rounding leaves of it."""
    product = e.mul(x[0], y[0])
    rest = e.intrinsic("fma", x[0], y[0], e.neg(product))
    rest = e.intrinsic("fma", x[0], y[1], e.intrinsic("fma", x[1], y[0], rest))
    return _sum(e, product, rest)


def _sum(e: Emitter, x: V, rest: V) -> _Parts:
    """``x + rest`` of a rest that is not larger."""
    total = e.add(x, rest)
    return total, e.sub(rest, e.sub(total, x))


def _if_exact(e: Emitter, x: _Parts, *conditions: V) -> V:
    """The parts, unless one of them may not be exact."""
    size = e.intrinsic("fabs", x[0])
    within = e.bit_and(e.compare("gt", size, _LEAST), e.compare("lt", size, _MOST))
    is_exact = condition_and(e, within, *conditions)
    return e.tuple_make([x[0], e.select(is_exact, x[1], e.const(FLOAT, math.nan))])


def _lower_begin(e: Emitter, x: V, n: V) -> V:
    """Squares and products by the bits of the exponent."""
    x = e.retype(x, FLOAT)
    zero, one = e.const(FLOAT, 0.0), e.const(FLOAT, 1.0)
    is_below = e.compare("lt", n, 0)
    size = e.select(is_below, e.neg(n), n)
    is_known = e.compare("lt", e.cast(size, UINT64), 2**_MOST_BITS)
    size = e.select(is_known, size, e.const(INT, 0))

    def next_bit(state: V) -> V:
        bits, *floats = e.tuple_items(state)
        result, square = (floats[0], floats[1]), (floats[2], floats[3])
        is_set = e.compare("ne", e.bit_and(bits, 1), 0)
        product = _times(e, result, square)
        result = e.select(is_set, product[0], result[0]), e.select(is_set, product[1], result[1])
        return e.tuple_make([e.shr(bits, 1), *result, *_times(e, square, square)])

    start = e.tuple_make([size, one, zero, x, zero])
    state = e.repeat(start, lambda s: e.compare("gt", e.tuple_items(s)[0], 0), next_bit)
    _, high, low, *_ = e.tuple_items(state)
    inverse = e.div(one, high)
    left = e.intrinsic("fma", e.neg(inverse), high, one)
    left = e.intrinsic("fma", e.neg(inverse), low, left)
    inverted = _sum(e, inverse, e.mul(left, inverse))
    size_of_whole = e.intrinsic("fabs", high)
    return _if_exact(
        e,
        (e.select(is_below, inverted[0], high), e.select(is_below, inverted[1], low)),
        is_known,
        e.bit_and(e.compare("gt", size_of_whole, _LEAST), e.compare("lt", size_of_whole, _MOST)),
    )


def _lower_go_on(e: Emitter, power: V, factor: V) -> V:
    x, y = (e.tuple_items(parts) for parts in (power, factor))
    product = e.mul(x[0], y[0])
    rest = e.intrinsic("fma", x[0], y[0], e.neg(product))
    rest = e.intrinsic("fma", x[1], y[0], e.intrinsic("fma", x[0], y[1], rest))
    limit = e.mul(e.intrinsic("fabs", product), _LARGE)
    is_large = e.compare("gt", e.intrinsic("fabs", rest), limit)
    parts = e.branch(
        is_large,
        lambda: e.tuple_make(list(_sum(e, product, rest))),
        lambda: e.tuple_make([product, rest]),
        unlikely=True,
    )
    high, low = e.tuple_items(parts)
    return _if_exact(e, (high, low))


def _lower_end(e: Emitter, parts: V, x: V, n: V) -> V:
    (high, low), type_ = e.tuple_items(parts), x.type
    x = e.retype(x, FLOAT)

    def power() -> V:
        y = e.cast(n, FLOAT)
        if type_ == _NUMPYS:
            return e.math("pow", x, y)
        return check_result(e, e.math("pow", x, y), (x, y), POWER_ERROR)

    shifted = e.cast(e.add(n, _FURTHEST), UINT64)
    low = e.select(e.compare("lt", shifted, 2 * _FURTHEST), low, e.const(FLOAT, math.nan))
    result, error = _sum(e, high, low)
    return e.retype(settled(e, result, error, power, may_be_negative=True), type_)


def _parts_of(x: Fraction) -> tuple[float, float]:
    high = float(x)
    return (high, float(x - _whole((high, 0.0)))) if _LEAST < abs(high) < _MOST else (0.0, math.nan)


def _whole(parts: tuple[float, float]) -> Fraction:
    from fractions import Fraction  # no compile needs it

    return Fraction(parts[0]) + Fraction(parts[1])


def _begin(x: float, n: int) -> tuple[float, float]:
    is_known = math.isfinite(x) and abs(n) < 2**_MOST_BITS and (x or n >= 0)
    return _parts_of(_whole((x, 0.0)) ** n) if is_known else (0.0, math.nan)


def _go_on(power: tuple[float, float], factor: tuple[float, float]) -> tuple[float, float]:
    if math.isnan(power[1] + factor[1]):
        return 0.0, math.nan
    return _parts_of(_whole(power) * _whole(factor))


POWER_BEGINS = declare(
    OpDef(
        "prim::power_begins",
        Schema("(x, n)"),
        "``x ** n`` as the sum of two floats; the second one is NaN where that is not known.",
        infer=_infer,
        evaluate=_begin,
        lower=_lower_begin,
    )
)
POWER_GOES_ON = declare(
    OpDef(
        "prim::power_goes_on",
        Schema("(power, factor)"),
        "The product of two powers that are sums of two floats.",
        infer=_infer,
        evaluate=_go_on,
        lower=_lower_go_on,
    )
)
POWER_ENDS = declare(
    OpDef(
        "prim::power_ends",
        Schema("(parts, x, n)"),
        "``x ** n``, of which `parts` are the sum, if that is known.",
        infer=_infer_end,
        evaluate=lambda parts, x, n: x**n,
        lower=_lower_end,
        effects=_effect_of_end,
    )
)
