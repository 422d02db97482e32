"""Tests of floats in front of loops: that they are numbers, and not so large that what is computed of them is none.

    for i in range(n):                                  # alpha and beta are not NaN, and within 1e75
        v = alpha * pixels[i] + beta                    # so v is a number
        out[i] = int(min(max(v, 0.0), 255.0))           # and this cannot fail

A check on a float that fails for want of what is known of floats from outside of the loop needs no more than that. If
a test fails, the interpreter goes on in front of the loop, and the next compile keeps the check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value, get_op
from ljit.ops.control import OUT_OF_RANGE
from ljit.ops.float_bounds import is_float
from ljit.passes.rewriting import insert_constant, leave_in_front
from ljit.types import FLOAT

__all__ = ["FloatTests"]

#: products and sums of some numbers up to here are numbers; or whole parts of those with short ints fit
_MOST = (1e75, 2.0**20)
_MAX_TESTS = 8


class FloatTests:
    """The tests that one walk over a graph finds."""

    def __init__(self, s: Ranges) -> None:
        self.s = s
        self._most: dict[tuple[Node, Value], float] = {}
        self._nodes: dict[tuple[Node, Value], Node] = {}  # for whose sake

    def more_proven(
        self, node: Node, known: Collection[str], loops: Iterable[Node]
    ) -> tuple[str, ...]:
        """Give the checks of a node in loops that do not fail if tests hold, and take these for granted."""
        rules = node.op.ranges
        assert rules is not None and rules.checks is not None
        unknown = self._unknown(node)
        loop = _outermost(loops, unknown) if unknown else None
        if loop is None:
            return ()
        for most in _MOST:
            self.s.open()
            self.s.assume_limits((value, (-most, most, False)) for value in unknown)
            proven = {name for name, part in rules.checks(self.s, node) if self.s.proves(part)}
            self.s.close()
            if not proven.issubset(known):
                self._note(node, loop, unknown, most)
                return tuple(sorted(proven.difference(known)))
        return ()

    def _unknown(self, node: Node) -> list[Value]:
        """The floats of which too little is known; none if there is no saying what they are."""
        found = [v for x in node.inputs if is_float(x.type) for v in self.s.unknown_floats(x)]
        is_simple = all(is_float(v.type) for v in found) and len(found) <= _MAX_TESTS
        return list(dict.fromkeys(found)) if is_simple else []

    def _note(self, node: Node, loop: Node, values: Iterable[Value], most: float) -> None:
        values = list(values)
        self.s.assume_limits((value, (-most, most, False)) for value in values)
        for value in values:
            key = loop, value
            self._most[key] = min(most, self._most.get(key, most))
            self._nodes.setdefault(key, node)

    def insert(self) -> bool:
        """Put the tests into the graph; whether there were any."""
        for (loop, value), most in self._most.items():
            node = self._nodes[loop, value]
            limit = insert_constant(most, loop, FLOAT)
            size = loop.create_before(get_op("math::fabs"), (value,), like=node).output
            is_small = loop.create_before(get_op("py::le"), (size, limit), like=node).output
            fails = loop.create_before(get_op("py::not"), (is_small,), like=node).output
            leave_in_front(loop, fails, OUT_OF_RANGE, like=node)
        return bool(self._most)


def _outermost(loops: Iterable[Node], values: Iterable[Value]) -> Node | None:
    """The outermost loop in front of which all values are known."""
    values = list(values)
    for loop in loops:
        around = set(loop.blocks_around())
        if all(value.block in around for value in values):
            return loop
    return None
