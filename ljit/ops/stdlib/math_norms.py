"""Norms of the module `math`: `hypot` and `dist`, of two to four numbers.

The result is within one unit of the last place, with CPython's bits: scaled squares are summed in twice the precision,
and the root is corrected. Tiny and huge numbers, whose scale is not a normal float, are left to CPython.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ljit.ir import Effect, Emitter
from ljit.ir.emitter import V
from ljit.ops.python.numbers import (
    condition_and,
    condition_not,
    condition_or,
    is_infinite,
    is_nan,
    plain_effect,
    to_float,
)
from ljit.ops.stdlib.math_functions import PAIR_SAMPLES, all_real, declare_math, effect_of_partial
from ljit.types import ANY, FLOAT, INT, UINT, ArrayType, TupleType, Type, scalar_type

__all__: list[str] = []

_DIMENSIONS = (2, 3, 4)

# Of the bits of floats:
_EXPONENT = 0x7FF << 52
_TWICE = 1 << 52  # more: of twice the number
_INVERSES = (2 * 1023 - 1) << 52  # less those of a power of two: of half its inverse
_LEAST, _MOST = (
    1 << 52,
    (2 * 1023 - 1) << 52,
)  # from 2**-1022 on, below 2**1022: such inverses are normal


def _vector_norm(e: Emitter, coordinates: Sequence[V]) -> V:
    """As `vector_norm` of CPython: scaled squares summed in twice the precision, root corrected."""
    sizes = [e.intrinsic("fabs", x) for x in coordinates]
    largest = sizes[0]
    for x in sizes[1:]:
        largest = e.select(e.compare("gt", x, largest), x, largest)
    bits = e.retype(largest, UINT)
    smooth = condition_and(
        e,
        e.compare("lt", e.sub(bits, _LEAST), _MOST - _LEAST),
        *(condition_not(e, is_nan(e, x)) for x in sizes),
    )
    return e.branch(smooth, lambda: _norm(e, sizes, bits), lambda: _odd_norm(e, sizes, largest))


def _odd_norm(e: Emitter, sizes: list[V], largest: V) -> V:
    """The norm where it is infinite, NaN or zero; that of tiny and of huge numbers bails out."""
    infinite = condition_or(e, *(is_infinite(e, x) for x in sizes))
    nan = condition_or(e, *(is_nan(e, x) for x in sizes))
    zero = e.compare("eq", largest, 0.0)
    is_known = condition_or(e, infinite, nan, zero)
    e.bail_if(condition_not(e, is_known), "norm of tiny or huge numbers")
    result = e.select(nan, math.nan, largest)
    return e.select(infinite, math.inf, result)


def _norm(e: Emitter, sizes: list[V], bits: V) -> V:
    """`bits`: those of the largest number; the scale is a power of two that brings this into [0.5, 1)."""
    one = e.const(FLOAT, 1.0)
    unit = e.bit_and(bits, _EXPONENT)  # the largest power of two that is not above it
    scale = e.retype(e.sub(_INVERSES, unit), FLOAT)
    total, low, lost = one, e.const(FLOAT, 0.0), e.const(FLOAT, 0.0)
    for x in sizes:
        x = e.mul(x, scale)
        total, low, lost = _add_product(e, (total, low, lost), x, x)
    root = e.intrinsic("sqrt", e.add(e.sub(total, one), e.add(low, lost)))
    total, low, lost = _add_product(e, (total, low, lost), e.neg(root), root)
    rest = e.add(e.sub(total, one), e.add(low, lost))
    root = e.add(root, e.div(rest, e.mul(2.0, root)))
    return e.mul(root, e.retype(e.add(unit, _TWICE), FLOAT))


def _add_product(e: Emitter, total: tuple[V, V, V], x: V, y: V) -> tuple[V, V, V]:
    """Add x * y to a sum and keep the rounding errors of product and sum."""
    high, low, lost = total
    product = e.mul(x, y)
    error = e.intrinsic("fma", x, y, e.neg(product))
    new = e.add(high, product)
    return new, e.add(low, error), e.add(lost, e.add(e.sub(high, new), product))


# -- of a vector, and between two points -----------------------------------------------------------


def _items(x: Type) -> tuple[Type, ...]:
    """The types of the coordinates of a point, of two to four real numbers; (): they are not known."""
    items: tuple[Type, ...] = ()
    if isinstance(x, TupleType):
        items = x.items
    elif isinstance(x, ArrayType) and len(x.shape) == 1 and x.shape[0] in _DIMENSIONS:
        items = (scalar_type(x.dtype),) * x.shape[0]
    return items if len(items) in _DIMENSIONS and all_real(*items) else ()


def _are_points(p: Type, q: Type) -> bool:
    return len(_items(p)) == len(_items(q)) > 0


def _coordinates(e: Emitter, x: V) -> list[V]:
    is_array = isinstance(x.type, ArrayType)
    places = [e.const(INT, i) for i in range(len(_items(x.type)))]
    items = [e.array_load(x, [i]) for i in places] if is_array else e.tuple_items(x)
    return [to_float(e, item) for item in items]


def _lower_dist(e: Emitter, p: V, q: V) -> V:
    pairs = zip(_coordinates(e, p), _coordinates(e, q), strict=True)
    return _vector_norm(e, [e.sub(x, y) for x, y in pairs])


def _effect_of_dist(p: Type, q: Type) -> Effect:
    if not _are_points(p, q):
        return plain_effect(p, q)
    has_arrays = isinstance(p, ArrayType) or isinstance(q, ArrayType)
    return Effect.RAISE | (Effect.READ if has_arrays else Effect.PURE)


declare_math(
    "hypot", "(*coordinates)", "Euclidean norm.",
    lower=lambda e, *xs: _vector_norm(e, [to_float(e, x) for x in xs]),
    can_lower=lambda *types: len(types) in _DIMENSIONS and all_real(*types),
    effects=effect_of_partial,  # tiny numbers are left to CPython
    samples=(*PAIR_SAMPLES, (), (2,), (1, 2.5, -3.0), (0.1, 0.2, 0.3, 0.4), (5e-324, 0.0, 1.0)),
)  # fmt: skip
declare_math(
    "dist", "(p, q, /)", "The Euclidean distance between two points.",
    infer=lambda p, q: FLOAT if _are_points(p, q) else ANY,
    lower=_lower_dist,
    can_lower=_are_points,
    number_type=None,
    effects=_effect_of_dist,
    samples=(
        *(((0.1, 0.2), (1, True)), ((1, 2, 3), (4.5, 6.5, 8)), ((1.0,) * 4, (-1e300,) * 4)),
        *(((math.inf, 1.0), (math.inf, 2.0)), ((math.nan, 0.0), (math.inf, 0.0)), ((1.0,), (3.5,))),
        *(((1, 2), (1, 2)), ((1, 2), (1, 2, 3)), ([1.0, 2.0], (2, 3)), ((), ()), ((1j, 2), (1, 2))),
        *((np.array([1.0, 2.5]), (3, 4)), (np.array([1, 2, 3]), np.array([1.5, 2.5, 9.0]))),
        *((2, 3), ((5e-324, 0.0), (0.0, 0.0)), ((2**70, 1), (1, 2)), ("ab", "ab")),
    ),
)  # fmt: skip
