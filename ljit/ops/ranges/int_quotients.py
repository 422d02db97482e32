"""What the range analysis is told of quotients and remainders of ints, Python's and NumPy's."""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.ranges import float_bounds, int_bounds
from ljit.ops.ranges.int_ranges import (
    BELOW,
    NEAR,
    NONNEGATIVE,
    NONZERO,
    POSITIVE,
    are_ints,
    is_by_constant,
)

__all__ = ["FLOORDIV", "MOD", "QUOTIENT", "REMAINDER", "TRUE_QUOTIENT"]


def _division_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    """A divisor of which nothing is known is positive in most programs: that is worth a test in front of a loop."""
    if not are_ints(node):
        return
    x, y = map(s.value, node.inputs)
    sign = s.sign(y)
    yield NONZERO, y * (sign or 1) - 1
    if sign >= 0:
        yield POSITIVE, y - 1
    if sign > 0 or (sign == 0 and s.proves(x)):
        yield NONNEGATIVE, x


def _remainder_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    """Give those of a division, or where none is needed (``(i + 1) % n``) what is known anyway, without tests."""
    if not are_ints(node):
        return
    x, y = map(s.value, node.inputs)
    if not (s.proves(x + y) and s.proves(y * 2 - x - 1)):
        yield from _division_checks(s, node)
        return
    yield NONZERO, y - 1
    yield NEAR, x + y
    if s.proves(x):
        yield NONNEGATIVE, x
    if s.proves(y - x - 1):
        yield BELOW, y - x - 1


def _facts_of_mod(s: Symbolic, node: Node) -> Iterable[Linear]:
    """Give the bounds of ``x % y``; where y is a constant, how it hangs together with x is in ``x // y`` only."""
    if not are_ints(node):
        return
    x, y = map(s.value, node.inputs)
    out = s.value(node.output)
    sign = s.sign(y)
    if sign > 0 and s.proves(x):
        yield x - out
    if sign:  # the last facts are tried first: these make the better tests
        yield out * sign
        yield (y - out) * sign - 1


def _facts_of_floordiv(s: Symbolic, node: Node) -> Iterable[Linear]:
    """Give ``0 <= x - y * q < y``, which is of use where y is a constant."""
    if not are_ints(node):
        return
    x, y = map(s.value, node.inputs)
    out = s.value(node.output)
    if not s.proves(y - 1):
        return
    if s.proves(x):
        yield out
        yield x - out
    if not y.terms:
        rest = x - out * y
        yield rest
        yield y - 1 - rest


MOD = RangeRules(
    bounds=int_bounds.remainder,
    floats=float_bounds.remainder,
    facts=_facts_of_mod,
    checks=_remainder_checks,
    is_complete=is_by_constant,
)
FLOORDIV = RangeRules(
    bounds=int_bounds.quotient,
    facts=_facts_of_floordiv,
    checks=_division_checks,
    is_complete=is_by_constant,
)


def _numpys_division_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    """Nothing is refused: what is known saves instructions. A divisor is worth a test in front of a loop."""
    if not are_ints(node) or node.inputs[1].is_constant:
        return
    x, y = map(s.value, node.inputs)
    if s.sign(y) >= 0:
        yield POSITIVE, y - 1
    if s.proves(x):
        yield NONNEGATIVE, x


# NumPy's divide by zero as well: nothing is known then.
REMAINDER = RangeRules(
    bounds=int_bounds.remainder,
    floats=float_bounds.remainder,
    facts=_facts_of_mod,
    checks=_numpys_division_checks,
)
QUOTIENT = RangeRules(
    bounds=int_bounds.quotient, facts=_facts_of_floordiv, checks=_numpys_division_checks
)
TRUE_QUOTIENT = RangeRules(floats=float_bounds.quotient)
