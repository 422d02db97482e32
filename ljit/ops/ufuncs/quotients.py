"""Quotients and remainders of NumPy's integers: rounded down, and 0 for a divisor of 0."""

from __future__ import annotations

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.python.numbers import at_least, shift_of
from ljit.ops.ranges.int_ranges import NONNEGATIVE, POSITIVE
from ljit.ops.ufuncs.ufuncs import constant, is_zero, kind, scalar_type_of

__all__ = ["integer_divmod", "safe_divisor"]


def safe_divisor(e: Emitter, x: V, y: V) -> V:
    """Give 1 for the divisors that a processor cannot take: 0, and -1 for the least integer."""
    one = constant(e, x, 1)
    unsafe = is_zero(e, y)
    if kind(x) == "i":
        least = constant(e, x, int(np.iinfo(scalar_type_of(x).dtype).min))
        overflow = e.bit_and(e.compare("eq", x, least), e.compare("eq", y, constant(e, y, -1)))
        unsafe = e.bit_or(unsafe, overflow)
    return e.select(unsafe, one, y)


def integer_divmod(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """Floored quotient and remainder; both 0 for a divisor of 0."""
    shift = shift_of(e, y)
    if shift is not None:
        mask = constant(e, x, (1 << shift) - 1)
        return e.shr(x, constant(e, x, shift)), e.bit_and(x, mask)
    floored = e.floored_quotient(x, y)
    if floored is not None:
        return _unless_by_zero(e, x, y, floored)
    if kind(x) == "i" and (e.constant_of(y) or 0) > 0:
        return _divmod_by_constant(e, x, y)
    if e.is_proven(POSITIVE):
        return _divmod_by_positive(e, x, y)
    divisor = safe_divisor(e, x, y)
    quotient, remainder = e.div(x, divisor), e.rem(x, divisor)
    zero, by_zero = constant(e, x, 0), is_zero(e, y)
    if kind(x) == "i":
        differ = e.compare("lt", e.bit_xor(remainder, divisor), zero)
        adjust = e.bit_and(e.compare("ne", remainder, zero), differ)
        quotient = e.select(adjust, e.sub(quotient, constant(e, x, 1)), quotient)
        remainder = e.select(adjust, e.add(remainder, divisor), remainder)
    return e.select(by_zero, zero, quotient), e.select(by_zero, zero, remainder)


def _divmod_by_positive(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """Floored quotient and remainder for a positive divisor; where the program does not come, it may be another."""
    zero, one = constant(e, x, 0), constant(e, x, 1)
    divisor = at_least(e, y, one)
    quotient, remainder = e.div(x, divisor), e.rem(x, divisor)
    if kind(x) == "i" and not e.is_proven(NONNEGATIVE):
        is_below = e.compare("lt", remainder, zero)
        quotient = e.select(is_below, e.sub(quotient, one), quotient)
        remainder = e.select(is_below, e.add(remainder, divisor), remainder)
    return quotient, remainder


def _divmod_by_constant(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """Floored quotient and remainder for a positive divisor; of a negative number ``~(~x // y)``, rounded to 0."""
    limits = np.iinfo(scalar_type_of(x).dtype)
    sign = e.shr(x, constant(e, x, limits.bits - 1))
    size = e.bit_and(e.bit_xor(x, sign), constant(e, x, int(limits.max)))  # as LLVM does not see
    quotient = e.bit_xor(e.div(size, y), sign)
    return quotient, e.sub(x, e.mul(quotient, y))


def _unless_by_zero(e: Emitter, x: V, y: V, quotient: V) -> tuple[V, V]:
    """The quotient and what it leaves, both 0 for a divisor of 0: with a mask, as LLVM doubles loops for conditions."""
    zero, one = constant(e, x, 0), constant(e, x, 1)
    mask = e.sub(e.select(is_zero(e, y), one, zero), one)
    remainder = e.sub(x, e.mul(quotient, y))
    return e.bit_and(quotient, mask), e.bit_and(remainder, mask)
