"""Bounds of ints that follow from those of the operands alone (`RangeRules.bounds`), wherever the op stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product

import numpy as np

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, Symbolic
from ljit.packed_types import packed_limits
from ljit.types import BOOL, INT, ScalarType, Type, UnionType

__all__ = ["UNKNOWN", "are_ints", "corners", "is_bool", "is_int", "of_type", "packed_item"]
__all__ += [
    "absolute",
    "conjunction",
    "disjunction",
    "extremum",
    "quotient",
    "remainder",
    "same",
    "shifted",
]

UNKNOWN = -(2**64), 2**64  # the type says more
_Rule = Callable[[Symbolic, Node], Bounds]


def is_int(t: Type) -> bool:
    """Whether values of the type are ints of some kind."""
    return t in (INT, BOOL) or (isinstance(t, ScalarType) and t.dtype.kind in "biu")


def is_bool(t: Type) -> bool:
    """Whether values of the type are bools, Python's or NumPy's."""
    return t == BOOL or (isinstance(t, ScalarType) and t.dtype.kind == "b")


def is_either_int(t: Type) -> bool:
    """Whether it is an int of one kind or another."""
    return isinstance(t, UnionType) and all(map(is_int, t.members))


def of_type(t: Type) -> Bounds:
    """Of all values of a type of ints."""
    if isinstance(t, UnionType):
        lows, highs = zip(*map(of_type, t.members), strict=True)
        return min(lows), max(highs)
    if is_bool(t):
        return 0, 1
    return _of_dtype(t.dtype if isinstance(t, ScalarType) else np.dtype(np.int64))


@lru_cache
def _of_dtype(dtype: np.dtype) -> Bounds:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def are_ints(node: Node) -> bool:
    """Whether all operands and outputs are ints of some kind."""
    return all(is_int(v.type) for v in node.inputs) and all(is_int(v.type) for v in node.outputs)


def _of_ints(rule: _Rule) -> _Rule:
    return lambda s, node: rule(s, node) if are_ints(node) else UNKNOWN


def corners(compute: Callable[..., Linear]) -> _Rule:
    """Of operations that have their extremes where the operands have theirs; a square may have one at 0."""

    def bounds(s: Symbolic, node: Node) -> Bounds:
        ends: Iterable[tuple[Linear, ...]]
        ends = product(*(map(s.constant, s.bounds(v)) for v in node.inputs))
        if len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]:
            low, high = s.bounds(node.inputs[0])
            ends = [(s.constant(x),) * 2 for x in (low, min(max(low, 0), high), high)]
        values = [compute(*corner).constant for corner in ends]
        return min(values), max(values)

    return _of_ints(bounds)


@_of_ints
def conjunction(s: Symbolic, node: Node) -> Bounds:
    """Of ``x & y``: not below 0 if either is not."""
    highs = [high for low, high in map(s.bounds, node.inputs) if low >= 0]
    return (0, min(highs)) if highs else UNKNOWN


@_of_ints
def disjunction(s: Symbolic, node: Node) -> Bounds:
    """Of ``x | y`` and ``x ^ y``: no more bits than the operands have."""
    (low, high), (least, most) = map(s.bounds, node.inputs)
    return (0, (1 << max(high, most).bit_length()) - 1) if low >= 0 and least >= 0 else UNKNOWN


@_of_ints
def shifted(s: Symbolic, node: Node) -> Bounds:
    """Of ``x >> y``."""
    (low, high), (least, _) = map(s.bounds, node.inputs)
    least = min(max(least, 0), 64)
    return low >> least if low < 0 else 0, high >> least if high >= 0 else -1


@_of_ints
def remainder(s: Symbolic, node: Node) -> Bounds:
    """Of ``x % y``."""
    (low, high), (least, most) = map(s.bounds, node.inputs)
    return (0, min(high, most - 1) if low >= 0 else most - 1) if least > 0 else UNKNOWN


@_of_ints
def quotient(s: Symbolic, node: Node) -> Bounds:
    """Of ``x // y``."""
    (low, high), (least, _) = map(s.bounds, node.inputs)
    return (0, high // least) if low >= 0 and least > 0 else UNKNOWN


@_of_ints
def absolute(s: Symbolic, node: Node) -> Bounds:
    low, high = s.bounds(node.inputs[0])
    return max(low, -high, 0), max(abs(low), abs(high))


def extremum(choose: Callable[..., int]) -> _Rule:
    """Of ``max(...)`` or ``min(...)``."""

    def bounds(s: Symbolic, node: Node) -> Bounds:
        low, high = zip(*map(s.bounds, node.inputs), strict=True)
        return choose(low), choose(high)

    return _of_ints(bounds)


@_of_ints
def same(s: Symbolic, node: Node) -> Bounds:
    """Of a conversion."""
    return s.bounds(node.inputs[0])


def packed_item(_s: Symbolic, node: Node) -> Bounds:
    """Of the items of bytes, and of other containers of numbers."""
    return packed_limits(node.inputs[0].type) or UNKNOWN
