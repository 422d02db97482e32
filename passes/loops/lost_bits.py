"""Loops that take bits off a number: ``while x: x &= x - 1``.

They have as many trips as the number has bits. If it is not below 0 at first, it never is, and no difference in them
leaves int64. (Of one below 0 Python takes bits off for ever.)
"""

from __future__ import annotations

from collections.abc import Collection

from ljit.ir import Node, Value
from ljit.ir.range_rules import RangeRules
from ljit.ops.control import CONTINUE, YIELD
from ljit.ops.ranges.int_ranges import (
    BITS_AND,
    BITS_XOR,
    FROM_INT,
    GREATER,
    LESS,
    NEG,
    NOT_EQUAL,
    SUB,
    TRUTH,
    WIDE_NEG,
    WIDE_SUB,
    WIDE_XOR,
    WRAPPING_NEG,
    WRAPPING_SUB,
)
from ljit.records import Record

__all__ = ["MOST_TRIPS", "LostBits", "lost_bits"]

MOST_TRIPS = 65  # one for each bit, and the one that finds none

_DIFFERENCE = (SUB, WRAPPING_SUB, WIDE_SUB)
_OPPOSITE = (NEG, WRAPPING_NEG, WIDE_NEG)
_EXCLUSIVE_OR = (BITS_XOR, WIDE_XOR)


class LostBits(Record):
    """The number that a loop begins with, and the ops on ints that fit if it is not below 0."""

    first: Value
    differences: list[Node]


def lost_bits(loop: Node, condition: Value) -> LostBits | None:
    """Find the number of a loop that goes on where the condition holds."""
    body = loop.blocks[0]
    ends = [n for n in body.walk() if n.op is CONTINUE and n.target is loop]
    if body.terminator.op is YIELD:
        ends.append(body.terminator)
    for index, param in enumerate(body.params[1:]):
        if not _is_not_zero(condition, param):
            continue
        made = [_lost(end.inputs[index], param) for end in ends]
        if all(made):
            nodes = dict.fromkeys(node for nodes in made for node in nodes)
            differences = [node for node in nodes if node.op.ranges in (SUB, NEG)]
            return LostBits(loop.inputs[2 + index], differences)
    return None


def _is_not_zero(condition: Value, number: Value) -> bool:
    """Whether a condition does not hold for 0."""
    node = condition.node
    if node is None:
        return False
    if node.op.ranges is TRUTH:
        return node.inputs[0] is number or _is_not_zero(node.inputs[0], number)
    is_order = node.op.ranges in (NOT_EQUAL, GREATER, LESS)
    return is_order and number in node.inputs and any(_is_constant(v, 0) for v in node.inputs)


def _lost(value: Value, number: Value) -> list[Node]:
    """What computes ``n & (n - 1)``, or ``n ^ (n & -n)`` or ``n - (n & -n)``, which are the same; empty: it is none."""
    node = value.node
    if node is None or len(node.inputs) != 2 or number not in node.inputs:
        return []
    other = next((v.node for v in node.inputs if v is not number), None)
    if other is None:
        return []
    if node.op.ranges is BITS_AND:
        is_lost = _is_of(other, _DIFFERENCE, number) and _is_one(other.inputs[1])
        return [node, other] if is_lost else []
    is_without = _is_of(node, _DIFFERENCE, number) or node.op.ranges in _EXCLUSIVE_OR
    opposite = _opposite_in(other, number) if is_without else None
    return [node, opposite] if opposite is not None else []


def _opposite_in(node: Node, number: Value) -> Node | None:
    """What computes ``-number``, if the node is ``number & -number``."""
    opposite = next((v.node for v in node.inputs if v is not number), None)
    is_of_it = node.op.ranges is BITS_AND and number in node.inputs
    is_lowest = is_of_it and opposite is not None and _is_of(opposite, _OPPOSITE, number)
    return opposite if is_lowest else None


def _is_of(node: Node, kinds: Collection[RangeRules], number: Value) -> bool:
    """Whether it is an op of such a kind whose first operand is the number."""
    return node.op.ranges in kinds and node.inputs[0] is number


def _is_one(value: Value) -> bool:
    """Whether it is 1, of whichever kind of ints."""
    node = value.node
    if node is not None and node.op.ranges is FROM_INT:
        value = node.inputs[0]
    return _is_constant(value, 1)


def _is_constant(value: Value, number: int) -> bool:
    return value.is_constant and value.constant == number
