"""Powers of real floats to small whole exponents: products of squares, right within one unit in the last place.

Reference: Dekker, A Floating-Point Technique for Extending the Available Precision, Numerische Mathematik 18, 1971.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir.emitter import Emitter, V
from ljit.ops.ufuncs.ufuncs import scalar_type_of
from ljit.types import FLOAT

__all__ = ["power_product"]


def power_product(e: Emitter, x: V, exponent: int) -> V:
    """``x ** exponent``: of float64 a product of sums of two numbers, but for the last sum, which is rounded once.

    What rounding leaves is exact, or so small that the power is subnormal: then it is still right within one unit.
    """
    bits = f"{exponent:b}"[1:]
    steps = [is_square for bit in bits for is_square in (True, False)[: 1 + int(bit)]]
    if scalar_type_of(x).dtype.itemsize == 4:
        return e.cast(_plain_product(e, e.cast(x, FLOAT), steps), x.type)
    high, low = x, None
    for is_square in steps[:-1]:
        high, low = _double_product(e, high, low, *((high, low) if is_square else (x, None)))
    y = high if steps[-1] else x
    product = e.mul(high, y)
    if low is None:
        return product
    rest = e.mul(low, e.add(high, high) if steps[-1] else x)
    # of an infinite product `rest` may be NaN, and 0.0 * -1.0 + 0.0 is not -0.0
    is_sum = e.compare("lt", e.intrinsic("fabs", rest), e.intrinsic("fabs", product))
    return e.select(is_sum, e.intrinsic("fma", high, y, rest), product)


def _plain_product(e: Emitter, x: V, steps: Sequence[bool]) -> V:
    """Squares, where `steps` say so, and products with `x`."""
    power = x
    for is_square in steps:
        power = e.mul(power, power if is_square else x)
    return power


def _double_product(e: Emitter, x: V, x_low: V | None, y: V, y_low: V | None) -> tuple[V, V]:
    """``(x + x_low) * (y + y_low)`` as such a sum."""
    high = e.mul(x, y)
    low = e.intrinsic("fma", x, y, e.neg(high))
    if x_low is not None:
        low = e.intrinsic("fma", x_low, y, low)
    if y_low is not None:
        low = e.intrinsic("fma", x, y_low, low)
    return high, low
