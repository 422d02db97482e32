"""Bounds of floats that follow from those of the operands (`RangeRules.floats`), and from comparisons (`limits`).

Rounding is monotone: the least result of an operation is that of the least operands, computed as the program computes
it. So bounds are exact to the last bit: ``0.299 * r + 0.587 * g + 0.114 * b`` of bytes is at most 255.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import product as pairs

import numpy as np

from ljit.ir import Node
from ljit.ir.range_rules import FloatBounds, FloatLimit, Symbolic
from ljit.types import BOOL, FLOAT, INT, ScalarType, Type

__all__ = ["ANYTHING", "dtype_of_float", "is_float", "joined", "met", "within"]
__all__ += [
    "absolute",
    "difference",
    "extremum",
    "in_between",
    "monotone",
    "negative",
    "numpys_extremum",
    "of_first",
    "ordered",
    "power",
    "product",
    "quotient",
    "remainder",
    "root",
    "total",
]

ANYTHING: FloatBounds = (-math.inf, math.inf, True)
_EXACT = 2.0**53  # ints below are floats exactly
_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
_Rule = Callable[[Symbolic, Node], FloatBounds | None]


def is_float(t: Type) -> bool:
    """Whether values of the type are floats, Python's or NumPy's."""
    return t == FLOAT or (isinstance(t, ScalarType) and t.dtype.kind == "f")


def dtype_of_float(*types: Type) -> np.dtype | None:
    """The dtype in which operands of these types meet, if it is float64 or float32."""
    dtypes = [t.dtype for t in types if isinstance(t, ScalarType)]
    if not all(t in (FLOAT, INT, BOOL) for t in types if not isinstance(t, ScalarType)):
        return None
    met_in = np.result_type(*dtypes) if dtypes else _DOUBLE
    if met_in.kind in "biu":
        met_in = _DOUBLE if FLOAT in types else met_in
    return met_in if met_in in (_DOUBLE, _SINGLE) else None


def joined(x: FloatBounds, y: FloatBounds) -> FloatBounds:
    """Bounds of what is one or the other."""
    return min(x[0], y[0]), max(x[1], y[1]), x[2] or y[2]


def met(x: FloatBounds, y: FloatBounds) -> FloatBounds:
    """Bounds of what is within both; the least is above the greatest where that is NaN, or nothing."""
    return max(x[0], y[0]), min(x[1], y[1]), x[2] and y[2]


def within(bounds: FloatBounds, least: int, most: int) -> bool:
    """Whether it is a number whose whole part is within bounds."""
    low, high, may_be_nan = bounds
    return not may_be_nan and least - 1 < low <= high < most + 1


# -- arithmetic ------------------------------------------------------------------------------------


def _operands(s: Symbolic, node: Node) -> tuple[np.dtype, list[FloatBounds]] | None:
    """In which dtype a node computes, and the bounds of its operands, rounded to it."""
    t = node.output.type
    dtype = t.dtype if isinstance(t, ScalarType) else _DOUBLE if t == FLOAT else None
    if dtype not in (_DOUBLE, _SINGLE):
        return None
    found = [s.floats(v) for v in node.inputs]
    if dtype == _SINGLE:
        with np.errstate(all="ignore"):
            found = [(float(dtype.type(a)), float(dtype.type(b)), c) for a, b, c in found]
    return dtype, found


def _of_corners(
    dtype: np.dtype,
    compute: Callable[..., float],
    ends: Iterable[tuple[float, ...]],
    *,
    is_nan: bool,
) -> FloatBounds:
    """The extremes of what is computed of some operands; NaN stands for what is between infinities."""
    if dtype == _SINGLE:
        with np.errstate(all="ignore"):
            values = [float(compute(*map(dtype.type, corner))) for corner in ends]
    else:
        values = [compute(*corner) for corner in ends]
    if any(map(math.isnan, values)):
        return ANYTHING
    return min(values), max(values), is_nan


def total(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x + y``."""
    return _sum(s, node, 1)


def difference(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x - y``."""
    return _sum(s, node, -1)


def _sum(s: Symbolic, node: Node, sign: int) -> FloatBounds | None:
    found = _operands(s, node)
    if found is None:
        return None
    dtype, (x, y) = found
    if sign < 0:
        y = (-y[1], -y[0], y[2])
    low, high = (_added(dtype, x[end], y[end]) for end in (0, 1))
    if math.isnan(low) or math.isnan(high):
        return ANYTHING
    may_cancel = math.isnan(x[0] + y[1]) or math.isnan(x[1] + y[0])  # infinities
    return low, high, x[2] or y[2] or may_cancel


def _added(dtype: np.dtype, x: float, y: float) -> float:
    if dtype == _DOUBLE:
        return x + y
    with np.errstate(all="ignore"):
        return float(dtype.type(x) + dtype.type(y))


def product(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x * y``; a square is not below 0."""
    found = _operands(s, node)
    if found is None:
        return None
    dtype, (x, y) = found
    is_nan = x[2] or y[2]
    if node.inputs[0] is node.inputs[1]:
        ends = [(end, end) for end in x[:2]]
        least = 0.0 if x[0] <= 0.0 <= x[1] else math.inf
        low, high, _ = _of_corners(dtype, lambda a, b: a * b, ends, is_nan=is_nan)
        return min(low, least), high, is_nan
    if (_has_zero(x) and _is_infinite(y)) or (_has_zero(y) and _is_infinite(x)):
        is_signless = x[0] >= 0.0 <= y[0]
        return (0.0, math.inf, True) if is_signless else ANYTHING
    return _of_corners(dtype, lambda a, b: a * b, pairs(x[:2], y[:2]), is_nan=is_nan)


def quotient(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x / y``."""
    found = _operands(s, node)
    if found is None:
        return None
    dtype, (x, y) = found
    if _has_zero(y) or (_is_infinite(x) and _is_infinite(y)):
        may_be_signed = _has_zero(y) and is_float(node.inputs[1].type)  # NumPy's 1 / -0.0 is -inf
        return (0.0, math.inf, True) if x[0] >= 0.0 <= y[0] and not may_be_signed else ANYTHING
    return _of_corners(dtype, lambda a, b: a / b, pairs(x[:2], y[:2]), is_nan=x[2] or y[2])


def _has_zero(x: FloatBounds) -> bool:
    return x[0] <= 0.0 <= x[1]


def _is_infinite(x: FloatBounds) -> bool:
    return x[0] == -math.inf or x[1] == math.inf


def remainder(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x % y`` for divisors above 0; a small negative dividend may give the divisor itself."""
    found = _operands(s, node)
    if found is None or not found[1][1][0] > 0.0:
        return None
    _, (x, y) = found
    return 0.0, y[1], x[2] or y[2] or _is_infinite(x)


def negative(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``-x``."""
    low, high, may_be_nan = s.floats(node.inputs[0])
    return -high, -low, may_be_nan


def absolute(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``abs(x)``, that of a complex number too."""
    low, high, may_be_nan = s.floats(node.inputs[0])
    return max(low, -high, 0.0), max(-low, high), may_be_nan


def of_first(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of what gives its operand as it is, or as a float."""
    return s.floats(node.inputs[0]) if node.inputs else None


def monotone(function: Callable[[float], float]) -> _Rule:
    """Of a function that is computed exactly, or rounded correctly."""

    def floats(s: Symbolic, node: Node) -> FloatBounds | None:
        low, high, may_be_nan = s.floats(node.inputs[0])
        ends = [x if math.isinf(x) else float(function(x)) for x in (low, high)]
        return ends[0], ends[1], may_be_nan

    return floats


def root(*, raises: bool) -> _Rule:
    """Of a square root: that of what is below 0 is NaN, or raises."""

    def floats(s: Symbolic, node: Node) -> FloatBounds | None:
        if node.output.type not in (FLOAT, ScalarType(_DOUBLE)):
            return None
        low, high, may_be_nan = s.floats(node.inputs[0])
        ends = math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
        return *ends, may_be_nan or (low < 0.0 and not raises)

    return floats


def in_between(low: float, high: float) -> _Rule:
    """Of functions with bounds, of which the last bits are not known."""

    def floats(s: Symbolic, node: Node) -> FloatBounds | None:
        x = s.floats(node.inputs[0])
        return low * 1.001, high * 1.001, x[2] or _is_infinite(x)

    return floats


def power(s: Symbolic, node: Node) -> FloatBounds | None:
    """Of ``x ** y``: of a number below 0 only even ones are known."""
    x, exponent = node.inputs[:2]
    if not is_float(node.output.type):
        return None
    low, high, may_be_nan = s.floats(x)
    if exponent.is_constant and exponent.constant in (2, 4, 6):
        most = max(-low, high)
        is_ordinary = most < 1e50
        return 0.0, most**exponent.constant * 1.001 if is_ordinary else math.inf, may_be_nan
    return (0.0, math.inf, True) if low > 0.0 else None  # NumPy's -0.0 ** -1 is -inf


# -- the less and the greater one ------------------------------------------------------------------


def extremum(choose: Callable[[float, float], float]) -> _Rule:
    """Of Python's ``max(x, y)`` or ``min(x, y)``, which keeps the first one unless another is surely better."""

    def floats(s: Symbolic, node: Node) -> FloatBounds | None:
        if len(node.inputs) < 2:
            return None
        found, *others = map(s.floats, node.inputs)
        if (
            dtype_of_float(*(v.type for v in node.inputs)) != _DOUBLE
        ):  # the other is rounded to compare
            return reduce(joined, others, found)
        for other in others:
            low, high = choose(found[0], other[0]), choose(found[1], other[1])
            if other[2]:  # NaN is never better
                low, high = min(low, found[0]), max(high, found[1])
            found = low, high, found[2]
        return found

    return floats


def numpys_extremum(choose: Callable[[float, float], float]) -> _Rule:
    """Of NumPy's, which is NaN if an operand is."""

    def floats(s: Symbolic, node: Node) -> FloatBounds | None:
        found = _operands(s, node)
        if found is None:
            return None
        x, y = found[1]
        return choose(x[0], y[0]), choose(x[1], y[1]), x[2] or y[2]

    return floats


# -- comparisons -----------------------------------------------------------------------------------


def ordered(*, swapped: bool, or_equal: bool) -> Callable[..., Iterator[FloatLimit]]:
    """What ``x < y``, ``x <= y``, and with swapped operands ``x > y`` and ``x >= y``, say of x and y."""

    def limits(s: Symbolic, node: Node, holds: bool) -> Iterator[FloatLimit]:
        x, y = node.inputs if swapped is not holds else node.inputs[::-1]
        # now x is below y; where the comparison does not hold, either may be NaN instead
        dtype = dtype_of_float(x.type, y.type)
        if dtype is None:
            return
        may_be_nan, may_be_equal = not holds, or_equal is holds
        (low, _, x_may_be_nan), (_, high, y_may_be_nan) = s.floats(x), s.floats(y)
        if _is_compared_as_it_is(x.type, dtype) and (holds or not y_may_be_nan):
            yield x, (-math.inf, _near(dtype, high, -1, may_be_equal), may_be_nan)
        if _is_compared_as_it_is(y.type, dtype) and (holds or not x_may_be_nan):
            yield y, (_near(dtype, low, 1, may_be_equal), math.inf, may_be_nan)

    return limits


def _is_compared_as_it_is(t: Type, dtype: np.dtype) -> bool:
    """Whether it is a float that is not rounded to be compared in the dtype."""
    return is_float(t) and (dtype == _DOUBLE or t == ScalarType(_SINGLE))


def _near(dtype: np.dtype, limit: float, sign: int, may_be_equal: bool) -> float:
    """What a number of the dtype is at most (`sign` -1), or at least, if it is below or above a limit."""
    kind = dtype.type
    with np.errstate(all="ignore"):
        taken = kind(limit)
        if abs(limit) >= _EXACT and not math.isinf(limit):
            taken = np.nextafter(taken, kind(-sign * math.inf))  # ints are rounded
        elif not may_be_equal:
            taken = np.nextafter(taken, kind(sign * math.inf))
    return float(taken)
