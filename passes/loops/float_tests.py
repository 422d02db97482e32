"""Tests of floats in front of loops: that they are numbers, and not so large that what is computed of them is none.

    for i in range(n):                                  # alpha and beta are not NaN, and within 1e75
        v = alpha * pixels[i] + beta                    # so v is a number
        out[i] = int(min(max(v, 0.0), 255.0))           # and this cannot fail

A check on a float that fails for want of what is known of floats from outside of the loop needs no more than that. So
it is with elements that a loop reads again in each trip (the weights of a filter): all elements of their array are
tested, if they are few and the loop writes to other arrays only (`repeated_elements.py`). If a test fails, the
interpreter goes on in front of the loop, and the next compile keeps the check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value, get_op
from ljit.ops.control import OUT_OF_RANGE
from ljit.ops.ranges.float_bounds import is_float
from ljit.passes.loops.repeated_elements import RepeatedElements
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
        self._elements = RepeatedElements()
        self._most: dict[
            tuple[Node, Value], float
        ] = {}  # of a float, or of all elements of an array
        self._nodes: dict[tuple[Node, Value], Node] = {}  # for whose sake

    def more_proven(
        self, node: Node, known: Collection[str], loops: Iterable[Node]
    ) -> tuple[str, ...]:
        """Give the checks of a node in loops that do not fail if tests hold, and take these for granted."""
        rules = node.op.ranges
        assert rules is not None and rules.checks is not None
        if set(rules.float_checks).issubset(known):
            return ()
        unknown = self._unknown(node)
        loop = self._outermost(loops, unknown) if unknown else None
        if loop is None:
            return ()
        for most in _MOST:
            self.s.open()
            self._assume(loop, unknown, most)
            proven = {name for name, part in rules.checks(self.s, node) if self.s.proves(part)}
            self.s.close()
            if not proven.issubset(known):
                self._note(node, loop, unknown, most)
                return tuple(sorted(proven.difference(known)))
        return ()

    def _unknown(self, node: Node) -> list[Value]:
        """The floats of which too little is known; none if there is no saying what they are."""
        found = [v for x in node.inputs if is_float(x.type) for v in self.s.unknown_floats(x)]
        return list(dict.fromkeys(found)) if all(is_float(v.type) for v in found) else []

    def _outermost(self, loops: Iterable[Node], values: Collection[Value]) -> Node | None:
        """The outermost loop in front of which all values, or the arrays that they are elements of, can be tested."""
        for loop in loops:
            tested = {self._tested(loop, value) for value in values}
            if None not in tested and len(tested) <= _MAX_TESTS:
                return loop
        return None

    def _tested(self, loop: Node, value: Value) -> Value | None:
        if value.is_inside(loop):
            return self._elements.array_of(loop, value)
        return (
            value if value.block in loop.blocks_around() else None
        )  # of one case of an If: it is not known here

    def _assume(self, loop: Node, values: Iterable[Value], most: float) -> None:
        self.s.assume_limits(
            ((value, (-most, most, False)) for value in values if value.is_inside(loop)),
            in_all_trips=True,
        )
        self.s.assume_limits(
            (value, (-most, most, False)) for value in values if not value.is_inside(loop)
        )

    def _note(self, node: Node, loop: Node, values: Collection[Value], most: float) -> None:
        self._assume(loop, values, most)
        for value in values:
            tested = self._tested(loop, value)
            assert tested is not None
            self.want(node, loop, tested, most)

    def want(self, node: Node, loop: Node, tested: Value, most: float) -> None:
        """Have a float, or all elements of an array, tested in front of a loop for the sake of a node."""
        key = loop, tested
        self._most[key] = min(most, self._most.get(key, most))
        self._nodes.setdefault(key, node)

    def insert(self) -> bool:
        """Put the tests into the graph; whether there were any."""
        for (loop, tested), most in self._most.items():
            node = self._nodes[loop, tested]
            limit = insert_constant(most, loop, FLOAT)
            if is_float(tested.type):
                size = loop.create_before(get_op("math::fabs"), (tested,), like=node).output
                holds = loop.create_before(get_op("py::le"), (size, limit), like=node).output
            else:
                self._elements.leave_if_written(loop, tested, node)
                operands = tested, limit
                holds = loop.create_before(get_op("np::are_within"), operands, like=node).output
            fails = loop.create_before(get_op("py::not"), (holds,), like=node).output
            leave_in_front(loop, fails, OUT_OF_RANGE, like=node)
        return bool(self._most)
