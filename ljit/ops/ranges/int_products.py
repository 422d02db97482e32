"""What the range analysis is told of products of Python's ints, those with small constants among them.

Such a product is checked by a test of the other factor, a little more narrowly than it must be (`has_room`).
"""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.ranges import float_bounds
from ljit.ops.ranges.int_ranges import FITS, exact, fits, is_proven_to_fit
from ljit.types import INT, INT_MAX

__all__ = ["MUL", "ROOM", "has_room"]

ROOM = 2**31  # that products leave: sums with most numbers fit
_MOST_FACTOR = 2**10  # with larger ones numbers are packed into one, which may just fit


def has_room(factor: int) -> bool:
    """Whether products with a factor are checked to stay `ROOM` away from what does not fit.

    That is a test of the other operand. LLVM makes one or two additions and shifts of such a product, and of a sum
    with it that needs no check any more.
    """
    has_few_bits = factor.bit_count() <= 2 or (factor + 1).bit_count() == 1
    return 2 < factor <= _MOST_FACTOR and has_few_bits


def _roomy_limit(node: Node) -> int | None:
    """How large the magnitude of a product is at most, where that is not what fits."""
    factors = (v.constant for v in node.inputs if v.is_constant)
    return INT_MAX - ROOM if any(type(x) is int and has_room(x) for x in factors) else None


def _checks_of_mul(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    if node.output.type != INT:
        return
    x, y = map(s.value, node.inputs)
    limit = _roomy_limit(node)
    if limit is None:
        yield from fits(x * y)
        return
    yield FITS, x * y + limit
    yield FITS, limit - x * y


def _facts_of_mul(s: Symbolic, node: Node) -> Iterable[Linear]:
    limit = _roomy_limit(node) if node.output.type == INT else None
    if limit is not None and FITS not in node.proven:  # by a pass that knows of no limit
        out = s.value(node.output)
        yield limit - out
        yield out + limit


_PRODUCT = exact(lambda x, y: x * y)
MUL = RangeRules(
    value=_PRODUCT.value,
    bounds=_PRODUCT.bounds,
    facts=_facts_of_mul,
    checks=_checks_of_mul,
    floats=float_bounds.product,
    is_complete=is_proven_to_fit,
)
