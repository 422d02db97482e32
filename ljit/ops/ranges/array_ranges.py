"""What the range analysis is told of the sizes of new arrays (`OpDef.ranges`)."""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.ranges.int_ranges import is_int
from ljit.types import INT, ArrayType, TupleType

__all__ = ["COUNTED", "LIKE_FIRST", "OF_SHAPE"]

_MOST_BYTES = 2**63 - 1


def _size_of_shape(s: Symbolic, node: Node, axis: int) -> Linear | None:
    """Give a size of ``zeros(n)`` or ``zeros((m, n))``: as there is such an array, the number is not below 0."""
    shape = node.inputs[0]
    if isinstance(shape.type, TupleType):
        return s.item(shape, axis) if is_int(shape.type.items[axis]) else None
    return s.value(shape) if is_int(shape.type) else None


def _facts_of_shape(s: Symbolic, node: Node) -> Iterator[Linear]:
    """No size is below 0; an array of one axis has less bytes than 2**63."""
    made = node.output.type
    if isinstance(made, ArrayType):
        for axis in range(made.ndim):
            yield s.size(node.output, axis)
        if made.ndim == 1:
            yield _MOST_BYTES // max(made.dtype.itemsize, 1) - s.size(node.output, 0)


def _size_of_first(s: Symbolic, node: Node, axis: int) -> Linear | None:
    first, made = node.inputs[0].type, node.output.type
    if not isinstance(first, ArrayType) or not isinstance(made, ArrayType):
        return None
    return s.size(node.inputs[0], axis) if first.ndim == made.ndim else None


def _facts_of_count(s: Symbolic, node: Node) -> Iterator[Linear]:
    """Give the size of ``arange(n)``: n, or 0 if n is below."""
    if isinstance(node.output.type, ArrayType) and [v.type for v in node.inputs] == [INT]:
        size, count = s.size(node.output, 0), s.value(node.inputs[0])
        yield size - count
        if s.proves(count):
            yield count - size


OF_SHAPE = RangeRules(size=_size_of_shape, facts=_facts_of_shape)
LIKE_FIRST = RangeRules(size=_size_of_first)
COUNTED = RangeRules(facts=_facts_of_count)
