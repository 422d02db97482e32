"""What the range analysis is told of ops on ints, tuples and ranges (`OpDef.ranges`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ljit.ir import Node, Value
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, FloatBounds, FloatLimit, RangeRules, Symbolic
from ljit.ops.ranges import float_bounds, int_bounds
from ljit.ops.ranges.int_bounds import are_ints, is_bool, is_int
from ljit.types import BYTES, INT, INT_MAX, INT_MIN, RANGE, UINT, ArrayType, TupleType

__all__ = [
    "ABSOLUTE",
    "ADD",
    "BELOW",
    "BITS_AND",
    "BITS_OR",
    "BITS_XOR",
    "EQUAL",
    "FITS",
    "FROM_INT",
    "FROM_START",
    "GREATER",
    "GREATER_EQUAL",
    "INSIDE",
    "IN_32_BITS",
    "ITEM_OF_TUPLE",
    "LENGTH",
    "LESS",
    "LESS_EQUAL",
    "MADE_RANGE",
    "MADE_TUPLE",
    "MAXIMUM",
    "MINIMUM",
    "NEAR",
    "NEG",
    "NONNEGATIVE",
    "NOT",
    "NOT_EQUAL",
    "POWER",
    "REFUSED",
    "RSHIFT",
    "SAME_ITEMS",
    "SEQUENCE_INDEX",
    "SUB",
    "TRUTH",
    "UNPACKED",
    "WIDE_NEG",
    "WIDE_SUB",
    "WIDE_XOR",
    "WRAPPING_ADD",
    "WRAPPING_MUL",
    "WRAPPING_NEG",
    "WRAPPING_SUB",
    "are_ints",
    "exact",
    "fits",
    "is_by_constant",
    "is_int",
    "is_proven_to_fit",
    "part_of_range",
    "wraps",
]

FITS = "fits"  # the result of arithmetic on ints is an int64
NONZERO = "nonzero"  # the divisor is not 0
POSITIVE = "positive"  # the divisor is not below 0
NONNEGATIVE = "nonnegative"  # the dividend is not below 0, nor is how far is shifted
NEAR = "near"  # the dividend is not below the negative divisor, and below its double
BELOW = "below"  # the dividend is below the divisor
FROM_START = "from_start"  # an index is not below 0
REFUSED = "refused"  # what stands for an int that does not fit is refused by what follows
IN_32_BITS = "in_32_bits"  # the whole part of a float is an int32
INSIDE = "inside"  # there is an item at the index
_MOST_SHIFT = 63  # of which more is known than that nothing but the sign is left


def fits(x: Linear) -> Iterable[tuple[str, Linear]]:
    """Give the checks that an int is an int64."""
    yield FITS, x - INT_MIN
    yield FITS, INT_MAX - x


#: of powers that are floats
POWER = RangeRules(floats=float_bounds.power)

# -- + - * -----------------------------------------------------------------------------------------


def is_proven_to_fit(node: Node) -> bool:
    """Whether an op on ints makes one that is known to fit."""
    return FITS in node.proven and are_ints(node)


def exact(
    compute: Callable[..., Linear],
    floats: Callable[[Symbolic, Node], FloatBounds | None] | None = None,
    refusal: Callable[[Node], str | None] | None = None,
) -> RangeRules:
    """Give the rules of arithmetic whose result is exact if it fits."""

    def value(s: Symbolic, node: Node, _index: int) -> Linear | None:
        if node.output.type != INT:
            return None
        return compute(*map(s.value, node.inputs))

    def checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
        return fits(compute(*map(s.value, node.inputs))) if node.output.type == INT else ()

    bounds = int_bounds.corners(compute)
    return RangeRules(
        value=value,
        bounds=bounds,
        checks=checks,
        floats=floats,
        refusal=refusal,
        is_complete=is_proven_to_fit,
    )


def _refusal_of_sum(node: Node) -> str | None:
    """Sums of ints wrap instead."""
    return REFUSED if node.output.type == INT and are_ints(node) else None


ADD = exact(lambda x, y: x + y, float_bounds.total, _refusal_of_sum)
SUB = exact(lambda x, y: x - y, float_bounds.difference, _refusal_of_sum)
NEG = exact(lambda x: -x, float_bounds.negative)


def _wrapping(
    compute: Callable[..., Linear],
    floats: Callable[[Symbolic, Node], FloatBounds | None] | None = None,
) -> RangeRules:
    """Rules of NumPy's arithmetic on integers: exact if the result is one of its dtype."""
    corners = int_bounds.corners(compute)

    def unwrapped(s: Symbolic, node: Node) -> Linear | None:
        is_number = are_ints(node) and not is_bool(node.output.type)
        return compute(*map(s.value, node.inputs)) if is_number else None

    def value(s: Symbolic, node: Node, _index: int) -> Linear | None:
        return unwrapped(s, node) if bounds(s, node) != int_bounds.UNKNOWN else None

    def bounds(s: Symbolic, node: Node) -> Bounds:
        if not are_ints(node) or is_bool(node.output.type):
            return int_bounds.UNKNOWN
        low, high = corners(s, node)
        least, most = int_bounds.of_type(node.output.type)
        return (low, high) if least <= low and high <= most else int_bounds.UNKNOWN

    return RangeRules(value=value, unwrapped=unwrapped, bounds=bounds, floats=floats)


WRAPPING_ADD = _wrapping(lambda x, y: x + y, float_bounds.total)
WRAPPING_SUB = _wrapping(lambda x, y: x - y, float_bounds.difference)
WRAPPING_MUL = _wrapping(lambda x, y: x * y, float_bounds.product)
WRAPPING_NEG = _wrapping(lambda x: -x, float_bounds.negative)


def wraps(node: Node) -> bool:
    """Whether only the low bits of the result are asked for."""
    return bool(node.attrs.get("wraps"))


# Of ints beyond int64 no polynomials are known; these only say what an op is.
WIDE_NEG = RangeRules(is_complete=wraps)
WIDE_SUB = RangeRules(is_complete=wraps)
WIDE_XOR = RangeRules(is_complete=lambda _node: True)
FROM_INT = RangeRules(is_complete=wraps)


def is_by_constant(node: Node) -> bool:
    """Whether a positive constant divides, or says how far is shifted, so that nothing is to be checked."""
    y = node.inputs[1]
    constant = y.constant if y.is_constant else None
    return are_ints(node) and type(constant) is int and constant > 0


# -- bits, abs, min, max ---------------------------------------------------------------------------


def _facts_of_and(s: Symbolic, node: Node) -> Iterable[Linear]:
    if not are_ints(node):
        return
    out = s.value(node.output)
    for x in map(s.value, node.inputs):
        if s.proves(x):
            yield out
            yield x - out


def _facts_of_or(s: Symbolic, node: Node) -> Iterable[Linear]:
    """Give those of ``x | y`` and ``x ^ y``."""
    if not are_ints(node):
        return
    x, y = map(s.value, node.inputs)
    if s.proves(x) and s.proves(y):
        out = s.value(node.output)
        yield out
        yield x + y - out


def _facts_of_rshift(s: Symbolic, node: Node) -> Iterable[Linear]:
    """Give those of a quotient, ``x // 2**count``, for small constant counts."""
    if not are_ints(node):
        return
    x, count = map(s.value, node.inputs)
    out = s.value(node.output)
    if s.proves(x):
        yield out
        yield x - out
    if not count.terms and 0 <= count.constant < _MOST_SHIFT:
        rest = x - out * 2**count.constant
        yield rest
        yield 2**count.constant - 1 - rest


def _checks_of_rshift(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    if are_ints(node):
        yield NONNEGATIVE, s.value(node.inputs[1])


def _facts_of_abs(s: Symbolic, node: Node) -> Iterable[Linear]:
    if are_ints(node):
        out, x = s.value(node.output), s.value(node.inputs[0])
        yield out
        yield out - x
        yield out + x
        low, high = x.bounds()
        yield max(-low, high) - out
        if s.proves(x):
            yield x - out


def _extremum(choose: Callable[..., Any], sign: int) -> RangeRules:
    def facts(s: Symbolic, node: Node) -> Iterable[Linear]:
        if not are_ints(node) or not node.inputs:
            return
        out = s.value(node.output)
        values = [s.value(v) for v in node.inputs]
        for x in values:
            yield (out - x) * sign
        for x in values:  # it is one of them: no further out than where all others surely are
            if all(s.proves((x - other) * sign) for other in values):
                yield (x - out) * sign
        low, high = zip(*(x.bounds() for x in values), strict=True)
        yield out - (max(low) if sign > 0 else min(low))
        yield (max(high) if sign > 0 else min(high)) - out

    bounds = int_bounds.extremum(choose)
    floats = float_bounds.extremum(choose)
    return RangeRules(bounds=bounds, facts=facts, floats=floats, is_complete=_is_one_of_ints)


def _is_one_of_ints(node: Node) -> bool:
    """Whether it is the least or the greatest of some of Python's ints."""
    return len(node.inputs) > 1 and all(v.type == INT for v in (*node.inputs, *node.outputs))


def _are_ints_or_uints(node: Node) -> bool:
    return are_ints(node) or all(v.type == UINT for v in node.inputs)


BITS_AND = RangeRules(
    bounds=int_bounds.conjunction, facts=_facts_of_and, is_complete=_are_ints_or_uints
)
BITS_OR = RangeRules(bounds=int_bounds.disjunction, facts=_facts_of_or, is_complete=are_ints)
BITS_XOR = RangeRules(bounds=int_bounds.disjunction, facts=_facts_of_or, is_complete=are_ints)
RSHIFT = RangeRules(
    bounds=int_bounds.shifted,
    facts=_facts_of_rshift,
    checks=_checks_of_rshift,
    is_complete=is_by_constant,
)
ABSOLUTE = RangeRules(
    bounds=int_bounds.absolute,
    facts=_facts_of_abs,
    checks=lambda s, node: [(FITS, s.value(node.inputs[0]) + INT_MAX)] if are_ints(node) else (),
    floats=float_bounds.absolute,
    is_complete=is_proven_to_fit,
)
MAXIMUM, MINIMUM = _extremum(max, 1), _extremum(min, -1)


# -- conditions ------------------------------------------------------------------------------------


def _order(
    true: Callable[[Linear, Linear], Linear],
    false: Callable[[Linear, Linear], Linear],
    limits: Callable[..., Iterable[FloatLimit]],
) -> RangeRules:
    def implies(s: Symbolic, node: Node, holds: bool) -> Iterable[Linear]:
        if are_ints(node):
            x, y = map(s.value, node.inputs)
            yield true(x, y) if holds else false(x, y)

    return RangeRules(implies=implies, limits=limits)


_FLOATS = {
    (swapped, or_equal): float_bounds.ordered(swapped=swapped, or_equal=or_equal)
    for swapped in (False, True)
    for or_equal in (False, True)
}
LESS = _order(lambda x, y: y - x - 1, lambda x, y: x - y, _FLOATS[False, False])
LESS_EQUAL = _order(lambda x, y: y - x, lambda x, y: x - y - 1, _FLOATS[False, True])
GREATER = _order(lambda x, y: x - y - 1, lambda x, y: y - x, _FLOATS[True, False])
GREATER_EQUAL = _order(lambda x, y: x - y, lambda x, y: y - x - 1, _FLOATS[True, True])


def _equality(*, when: bool) -> RangeRules:
    def implies(s: Symbolic, node: Node, holds: bool) -> Iterable[Linear]:
        if not are_ints(node):
            return
        x, y = map(s.value, node.inputs)
        if holds is when:
            yield x - y
            yield y - x
        elif s.proves(x - y):  # different, and not less
            yield x - y - 1
        elif s.proves(y - x):
            yield y - x - 1

    return RangeRules(implies=implies)


EQUAL, NOT_EQUAL = _equality(when=True), _equality(when=False)


def _truth(value: Value, s: Symbolic, *, holds: bool) -> Iterable[Linear]:
    """Give what follows from the truth of a bool, or of an int that is not 0."""
    if is_bool(value.type):
        yield from s.implied(value, holds=holds)
    elif is_int(value.type):
        x = s.value(value)
        if not holds:
            yield x
            yield -x
        elif s.proves(x):
            yield x - 1


TRUTH = RangeRules(
    implies=lambda s, node, holds: _truth(node.inputs[0], s, holds=holds),
    limits=lambda s, node, holds: s.limits(node.inputs[0], holds=holds),
)
NOT = RangeRules(
    implies=lambda s, node, holds: _truth(node.inputs[0], s, holds=not holds),
    limits=lambda s, node, holds: s.limits(node.inputs[0], holds=not holds),
)


# -- tuples, ranges, sequences -----------------------------------------------------------------------


def _item_of_made_tuple(s: Symbolic, node: Node, index: int) -> Linear | None:
    value = node.inputs[index]
    return s.value(value) if is_int(value.type) else None


def _item_of_tuple(s: Symbolic, node: Node, _index: int) -> Linear | None:
    index, t = node.attrs["index"], node.inputs[0].type
    assert isinstance(index, int)
    if not isinstance(t, TupleType) or not is_int(node.output.type):
        return None
    return s.item(node.inputs[0], index % len(t.items))


def _unpacked(s: Symbolic, node: Node, index: int) -> Linear | None:
    is_known = isinstance(node.inputs[0].type, TupleType) and node.attrs["star"] is None
    return s.item(node.inputs[0], index) if is_known and is_int(node.outputs[index].type) else None


def _item_of_range(s: Symbolic, node: Node, index: int) -> Linear | None:
    """Give start, stop or step of ``range(stop)`` or ``range(start, stop, step)``."""
    if not all(is_int(v.type) for v in node.inputs):
        return None
    parts = [s.value(v) for v in node.inputs]
    if len(parts) == 1:
        parts.insert(0, s.constant(0))
    return (*parts, s.constant(1))[index]


def part_of_range(index: int) -> RangeRules:
    """Rules of ``x.start`` and so on."""
    return RangeRules(
        value=lambda s, node, _: (
            s.item(node.inputs[0], index) if node.inputs[0].type == RANGE else None
        )
    )


def _length(s: Symbolic, node: Node, _index: int) -> Linear | None:
    t = node.inputs[0].type
    if isinstance(t, TupleType):
        return s.constant(len(t.items))
    has_size = t == BYTES or (isinstance(t, ArrayType) and t.ndim)
    return s.size(node.inputs[0], 0) if has_size else None


def _facts_of_length(s: Symbolic, node: Node) -> Iterable[Linear]:
    if node.output.type == INT:
        yield s.value(node.output)


def _sequence_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    if is_int(node.inputs[1].type):
        index = s.value(node.inputs[1])
        yield FROM_START, index
        if node.inputs[0].type == BYTES:
            yield INSIDE, index
            yield INSIDE, s.size(node.inputs[0], 0) - 1 - index


MADE_TUPLE = RangeRules(item=_item_of_made_tuple)
ITEM_OF_TUPLE = RangeRules(value=_item_of_tuple, is_complete=lambda _node: True)
UNPACKED = RangeRules(value=_unpacked)
MADE_RANGE = RangeRules(item=_item_of_range)
SAME_ITEMS = RangeRules(item=lambda s, node, index: s.item(node.inputs[0], index))
LENGTH = RangeRules(value=_length, facts=_facts_of_length)
SEQUENCE_INDEX = RangeRules(bounds=int_bounds.packed_item, checks=_sequence_checks)
