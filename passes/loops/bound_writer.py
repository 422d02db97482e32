"""Writes the numbers that loops begin and end with: in front of a node, or into a block that is being made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from ljit.ir import Block, Node, OpDef, Value, get_op
from ljit.ops.control import IF, YIELD
from ljit.ops.ranges.int_ranges import FITS, NONZERO, POSITIVE
from ljit.passes.rewriting import insert_constant
from ljit.types import INT

__all__ = ["BoundWriter"]

_PROVEN = {
    "py::floordiv": (NONZERO, POSITIVE),
    "py::mod": (NONZERO, POSITIVE),
    "py::add": (FITS,),
    "py::sub": (FITS,),
    "py::mul": (FITS,),
}


class BoundWriter:
    """Arithmetic that cannot leave native code."""

    def __init__(self, before: Node) -> None:
        self.before = before
        self.within: Block | None = None  # where to write; None: in front of the node

    def constant(self, number: int) -> Value:
        """Make a constant, in front of the node in any case."""
        return insert_constant(number, self.before)

    def op(self, name: str, *operands: Value) -> Value:
        node = self.before.graph.create(get_op(name), operands, like=self.before)
        node.proven = _PROVEN.get(name, ())
        return self._place(node)

    def add(self, op: OpDef, operands: Sequence[Value], attrs: Mapping[str, object]) -> Node:
        """Add a node without outputs."""
        node = self.before.graph.create(op, operands, attrs, outputs=(), like=self.before)
        if self.within is not None:
            return self.within.append(node)
        return node.insert_before(self.before)

    def plus(self, x: Value, number: int) -> Value:
        return self.op("py::add", x, self.constant(number)) if number else x

    def largest(self, values: Sequence[Value]) -> Value:
        return reduce(lambda x, y: self.choose(self.op("py::gt", x, y), x, y), values)

    def smallest(self, values: Sequence[Value]) -> Value:
        return reduce(lambda x, y: self.choose(self.op("py::lt", x, y), x, y), values)

    def choose(self, condition: Value, x: Value, y: Value) -> Value:
        graph = self.before.graph
        choice = graph.create(IF, (condition,), outputs=(INT,), like=self.before)
        for value in (x, y):
            choice.add_block().create(YIELD, (value,), like=self.before)
        return self._place(choice)

    def _place(self, node: Node) -> Value:
        made = node.insert_before(self.before) if self.within is None else self.within.append(node)
        return made.output
