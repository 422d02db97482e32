"""What the range analysis is told of ints that are made of floats, and of roots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, FloatBounds, RangeRules, Symbolic
from ljit.ops.ranges import float_bounds, int_bounds
from ljit.ops.ranges.float_bounds import is_float
from ljit.ops.ranges.int_bounds import are_ints, is_int
from ljit.ops.ranges.int_ranges import FITS, IN_32_BITS, NONNEGATIVE, REFUSED
from ljit.types import ANY, INT_MAX, INT_MIN

__all__ = ["CEIL", "CONVERT", "FLOOR", "ROOT", "ROUND"]


def _converted(s: Symbolic, node: Node, _index: int) -> Linear | None:
    return s.value(node.inputs[0]) if len(node.inputs) == 1 and are_ints(node) else None


def _bounds(s: Symbolic, node: Node) -> Bounds:
    """Of a float, those that its op gives wherever it stands."""
    x = node.inputs[0] if len(node.inputs) == 1 else None
    if x is None or x.node is None or not is_float(x.type):
        return int_bounds.same(s, node)
    rules = x.node.op.ranges
    if rules is None or rules.bounds is None:
        return int_bounds.UNKNOWN
    return rules.bounds(s, x.node)


def _whole(rounding: Callable[[float], int]) -> RangeRules:
    """Rules of ints that are made of floats, and of ints as they are."""

    def reach(s: Symbolic, node: Node) -> FloatBounds:
        is_known = len(node.inputs) == 1 and s.has_exact_floats and is_float(node.inputs[0].type)
        return s.floats(node.inputs[0]) if is_known else float_bounds.ANYTHING

    def facts(s: Symbolic, node: Node) -> Iterable[Linear]:
        low, high, _ = reach(s, node)
        if low > INT_MIN:
            yield s.value(node.output) - rounding(min(low, INT_MAX))
        if high < INT_MAX:
            yield rounding(max(high, INT_MIN)) - s.value(node.output)

    def checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
        bounds = reach(s, node)
        for name, most in ((FITS, 2**63), (IN_32_BITS, 2**31)):
            if float_bounds.within(bounds, 1 - most, most - 2):
                yield name, s.constant(0)

    return RangeRules(
        value=_converted,
        bounds=_bounds,
        facts=facts,
        checks=checks,
        float_checks=(FITS, IN_32_BITS),
        refusal=_refusal,
        is_complete=_is_surely_int64,
    )


def _root_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    x = node.inputs[0]
    if is_int(x.type):
        yield NONNEGATIVE, s.constant(s.bounds(x)[0]) if s.bounds(x)[0] >= 0 else s.value(x)
    elif s.floats(x)[0] >= 0.0:
        yield NONNEGATIVE, s.constant(0)


def _refusal(node: Node) -> str | None:
    """Of floats: those beyond int64 give the least int."""
    given = node.inputs[0].type if len(node.inputs) == 1 else ANY
    return REFUSED if is_float(given) else None


def _is_surely_int64(node: Node) -> bool:
    """Whether an int is made of another one that an int64 surely holds, or of a float of which that is proven."""
    if FITS in node.proven:
        return True
    return are_ints(node) and all(int_bounds.of_type(v.type)[1] <= INT_MAX for v in node.inputs)


CONVERT, ROUND = _whole(math.trunc), _whole(round)
FLOOR, CEIL = _whole(math.floor), _whole(math.ceil)
ROOT = RangeRules(
    floats=float_bounds.root(raises=True),
    checks=_root_checks,
    is_complete=lambda node: NONNEGATIVE in node.proven,
)
