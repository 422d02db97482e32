"""What an int may be that an If gives or a loop carries: the numbers that come there, one by one.

    x = 0                                   # x is 0, or v where v is between -100 and 100
    for v in numbers:
        x = 100 if v > 100 else -100 if v < -100 else v

Bounds of each number count where what was asked on the way to it holds. Of a variable that is made of itself nothing is
assumed, so bounds hold for all trips.
"""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Node, Value
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Symbolic
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, YIELD
from ljit.ops.ranges.int_bounds import is_int

__all__ = ["bounds_of_cases", "told"]

_DEPTH = 3  # Ifs in one another that are looked into

Facts = tuple[Linear, ...]
Case = tuple[Value, Facts]


def bounds_of_cases(s: Symbolic, value: Value) -> tuple[int, int] | None:
    """Give bounds of what an If or a Region gives, or a loop counts or carries; None if nothing is known."""
    loop = _loop_of(value)
    if loop is not None and not value.index:
        return s.bounds(loop.inputs[0])[0], s.bounds(loop.inputs[1])[1] - 1
    found = [_bounds_where(s, case, facts) for case, facts in _cases_of(s, value)]
    known = [bounds for bounds in found if bounds is not None]
    if not found or len(known) < len(found):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _loop_of(value: Value) -> Node | None:
    """The loop of whose body a value is a parameter."""
    loop = value.block.owner if value.node is None else None
    return loop if loop and loop.op is LOOP and value.block is loop.blocks[0] else None


def _cases_of(s: Symbolic, value: Value) -> Iterator[Case]:
    if value.node is not None:
        ways = [value] if value.node.op is IF else _given_by(value.node, value.index)
        for way in ways:
            yield from _cases(s, way, ())
        return
    body = value.block
    loop = _loop_of(value)
    if loop is None:
        return
    yield loop.inputs[1 + value.index], ()
    if body.terminator.op is YIELD:
        yield from _cases(s, body.terminator.inputs[value.index - 1], ())
    for node in body.walk():
        if node.op is CONTINUE and node.target is loop:
            yield node.inputs[value.index - 1], ()


def _given_by(region: Node, index: int) -> list[Value]:
    """What the ways out of a Region give."""
    body = region.blocks[0]
    ends = [node for node in body.walk() if node.op is BREAK and node.target is region]
    if body.terminator.op is YIELD:
        ends.append(body.terminator)
    return [end.inputs[index] for end in ends]


def _cases(s: Symbolic, value: Value, facts: Facts, depth: int = _DEPTH) -> Iterator[Case]:
    """What the output of an If may be, and what is at least 0 where it is that."""
    node = value.node
    if node is None or node.op is not IF or not depth:
        yield value, facts
        return
    for block, holds in zip(node.blocks, (True, False), strict=True):
        if block.terminator.op is YIELD:
            given = block.terminator.inputs[value.index]
            known = (*_replaced(s, value, given, facts), *s.implied(node.inputs[0], holds=holds))
            yield from _cases(s, given, known, depth - 1)


def _replaced(s: Symbolic, value: Value, given: Value, facts: Facts) -> Iterator[Linear]:
    """What was asked of the output of an If is known of the number that it gives."""
    if facts and is_int(value.type) and is_int(given.type):
        same = {atom: s.value(given) for atom in s.value(value).atoms()}
        for fact in facts:
            yield fact.substitute(same)


def _bounds_where(s: Symbolic, value: Value, facts: Facts) -> tuple[int, int] | None:
    """Bounds of a number where polynomials are at least 0; None if it is no int."""
    if not is_int(value.type):
        return None
    low, high = s.bounds(value)
    number = s.value(value) if facts else Linear()
    for fact in facts:
        above, below = fact + number, fact - number
        high = high if above.terms else min(high, above.constant)
        low = low if below.terms else max(low, -below.constant)
    return low, high


def told(condition: Value, *, holds: bool) -> Iterator[tuple[Node, bool]]:
    """What a bool that holds, or does not hold, says of those that it was made of.

    ``p and q`` that holds, ``p or q`` that does not: an If whose other block gives a constant, or p itself.
    """
    node = condition.node
    if node is None:
        return
    if node.op is not IF:
        yield node, holds
        return
    first, second = (block.last for block in node.blocks)
    if first is None or second is None or first.op is not YIELD or second.op is not YIELD:
        return
    x, y = first.inputs[condition.index], second.inputs[condition.index]
    for value, other, side in ((x, y, True), (y, x, False)):
        is_p = other is node.inputs[0] and side is holds  # which is known in that block
        if is_p or (other.is_constant and other.constant is (not holds)):
            yield from told(node.inputs[0], holds=side)
            yield from told(value, holds=holds)
            return
