"""Infer rules and lowerings of ``<< >> & | ^ ~`` on Python's bools and ints."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ljit.ir import Effect, Emitter, Value
from ljit.ir.emitter import V
from ljit.ir.parts import Parts
from ljit.ops.python.numbers import plain_effect, to_type
from ljit.types import ANY, BOOL, INT, Type

__all__ = [
    "can_lower_bits",
    "can_lower_invert",
    "effect_of_bits",
    "effect_of_invert",
    "infer_bits",
    "infer_invert",
    "infer_shift",
    "lower_and",
    "lower_invert",
    "lower_lshift",
    "lower_or",
    "lower_rshift",
    "lower_xor",
    "product_for_shift",
    "shift_count",
]

_INTS = (BOOL, INT)
# later versions warn of ``~True``: a call
_INVERTIBLE = _INTS if sys.version_info < (3, 12) else (INT,)


def infer_shift(x: Type, y: Type) -> Type:
    """Infer shifts: bools are ints."""
    return INT if x in _INTS and y in _INTS else ANY


def infer_bits(x: Type, y: Type) -> Type:
    """Infer ``& | ^``: bools give a bool."""
    return BOOL if x == y == BOOL else infer_shift(x, y)


def infer_invert(x: Type) -> Type:
    """Infer ``~x``."""
    return INT if x in _INTS else ANY


def can_lower_invert(x: Type) -> bool:
    """Whether nothing but an int comes of ``~x``."""
    return x in _INVERTIBLE


def effect_of_invert(x: Type) -> Effect:
    """A warning is a call: the user may have asked to be told in a way of his own."""
    if can_lower_invert(x):
        return Effect.PURE
    return Effect.CALL if x == BOOL else plain_effect(x)


def can_lower_bits(*types: Type) -> bool:
    """Whether all are bools or ints."""
    return all(t in _INTS for t in types)


def effect_of_bits(*types: Type) -> Effect:
    """Bit operations on ints are pure."""
    return Effect.PURE if can_lower_bits(*types) else plain_effect(*types)


def _bitwise(operation: Callable[[Emitter, V, V], V]) -> Callable[[Emitter, V, V], V]:
    def lower(e: Emitter, x: V, y: V) -> V:
        type_ = infer_bits(x.type, y.type)
        return operation(e, to_type(e, x, type_), to_type(e, y, type_))

    return lower


lower_and = _bitwise(lambda e, x, y: e.bit_and(x, y))
lower_or = _bitwise(lambda e, x, y: e.bit_or(x, y))
lower_xor = _bitwise(lambda e, x, y: e.bit_xor(x, y))


def lower_invert(e: Emitter, x: V) -> V:
    """Lower ``~x``."""
    return e.bit_not(to_type(e, x, INT))


def shift_count(e: Emitter, y: V) -> tuple[V, V]:
    """Give the shift count within [0, 63] and whether it was larger; a negative one bails out."""
    e.bail_if(e.compare("lt", y, 0), "negative shift count")
    is_large = e.compare("gt", y, 63)
    return e.select(is_large, 63, y), is_large


def product_for_shift(parts: Parts, x: Value, count: Value) -> Value | None:
    """``x << 3`` is ``x * 8``: the range analysis knows products, and the machine says when they overflow."""
    number = count.constant if count.is_constant else None
    if parts.type != INT or type(number) is not int or not 0 <= number < 63:
        return None
    return parts.apply("py::mul", x, parts.constant(1 << number))


def lower_lshift(e: Emitter, x: V, y: V) -> V:
    """Lower ``x << y``; a result beyond int64 bails out."""
    x, y = to_type(e, x, INT), to_type(e, y, INT)
    count, is_large = shift_count(e, y)
    result = e.shl(x, count)
    nonzero = e.compare("ne", x, 0)
    e.bail_if(e.bit_and(is_large, nonzero), "int overflow")
    e.bail_if(e.compare("ne", e.shr(result, count), x), "int overflow")
    return result


def lower_rshift(e: Emitter, x: V, y: V) -> V:
    """Lower ``x >> y``; counts beyond 63 leave the sign."""
    x, y = to_type(e, x, INT), to_type(e, y, INT)
    count, _ = shift_count(e, y)
    return e.shr(x, count)
