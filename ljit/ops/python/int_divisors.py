"""Divisors of integers in native code: what `math` and NumPy have of them shares this."""

from __future__ import annotations

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.types import INT, ScalarType

__all__ = ["greatest_divisor", "magnitude"]


def magnitude(e: Emitter, x: V) -> V:
    """The absolute value, as an unsigned number of the same size: that of the least integer fits."""
    dtype = np.dtype(np.int64) if x.type == INT else x.type.dtype  # type: ignore[attr-defined]
    size = x if dtype.kind == "u" else e.intrinsic("abs", x)
    return e.retype(size, ScalarType(np.dtype(f"u{dtype.itemsize}")))


def greatest_divisor(e: Emitter, x: V, y: V) -> V:
    """The greatest common divisor of unsigned numbers; of a zero and another, the other.

    Stein's algorithm: the difference of odd numbers is even, and loses its factors of two at once.
    """

    def odd(z: V) -> V:
        return e.shr(z, e.intrinsic("cttz", z))

    def smaller(pair: V) -> V:
        low, rest = e.tuple_items(pair)
        other = odd(rest)
        is_lower = e.compare("lt", other, low)
        difference = e.select(is_lower, e.sub(low, other), e.sub(other, low))
        return e.tuple_make((e.select(is_lower, other, low), difference))

    def common() -> V:
        twos = e.intrinsic("cttz", e.bit_or(x, y))
        last = e.repeat(
            e.tuple_make((odd(x), y)),
            lambda pair: e.compare("ne", e.tuple_items(pair)[1], 0),
            smaller,
        )
        return e.shl(e.tuple_items(last)[0], twos)

    is_one_zero = e.bit_or(e.compare("eq", x, 0), e.compare("eq", y, 0))
    return e.branch(is_one_zero, lambda: e.bit_or(x, y), common)
