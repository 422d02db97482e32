"""What the range analysis is told of integers that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.ranges.int_ranges import is_int
from ljit.types import NONE

__all__ = ["INTEGERS", "RANDINT", "RANDRANGE"]

Bounds = Callable[[Symbolic, Node], tuple[Linear, Linear]]


def _from(bounds: Bounds) -> RangeRules:
    """Rules of a draw from ``low <= x < high``."""

    def facts(s: Symbolic, node: Node) -> Iterable[Linear]:
        given = [v.type for v in node.inputs[1:] if v.type != NONE]
        if not all(map(is_int, (*given, node.output.type))):
            return
        (low, high), drawn = bounds(s, node), s.value(node.output)
        yield drawn - low
        yield high - drawn - 1
        yield high - low - 1

    return RangeRules(facts=facts)


def _of_randint(s: Symbolic, node: Node) -> tuple[Linear, Linear]:
    return s.value(node.inputs[1]), s.value(node.inputs[2]) + 1


def _of_randrange(s: Symbolic, node: Node) -> tuple[Linear, Linear]:
    _, low, *high = node.inputs
    if not high or high[0].type == NONE:
        return s.constant(0), s.value(low)
    return s.value(low), s.value(high[0])


def _of_integers(s: Symbolic, node: Node) -> tuple[Linear, Linear]:
    low, high = _of_randrange(s, node)
    return low, high + 1 if node.attrs.get("endpoint") else high


RANDINT = _from(_of_randint)
RANDRANGE = _from(_of_randrange)
INTEGERS = _from(_of_integers)
