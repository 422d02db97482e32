"""Loops that the trips side by side leave at different times (`passes/unroll_and_jam`).

    while n < limit and abs(z) <= 2.0:        while True:
        z = z * z + c                             c0 = n0 < limit and abs(z0) <= 2.0; ...; c7 = ...
        n += 1                                    if not (c0 or ... or c7): break
                                                  z0, n0 = (z0 * z0 + c, n0 + 1) if c0 else (z0, n0); ...

A lane that is done keeps its values, so that its condition stays false: no mask is carried. That holds for a ``while``
whose condition, the first thing in the body, depends on carried and invariant values only, and breaks with the carried
values. Everything is computed for all lanes, whatever the conditions say, so it must be pure, or leave native code
at most for extreme operands (`OpDef.is_speculatable`).

Reference: Allen, Kennedy, Porterfield, Warren, Conversion of Control Dependence to Data Dependence, 1983.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ljit.ir import Node, Value, get_op
from ljit.ops.arrays.rules import is_scalar
from ljit.ops.control import BREAK, IF, LOOP, SNAPSHOT, YIELD
from ljit.types import BOOL

if TYPE_CHECKING:
    from ljit.passes.unroll_and_jam import Jam

__all__ = ["is_maskable", "write_masked"]


def is_maskable(loop: Node) -> bool:
    """Whether the loop is a ``while`` of the form above."""
    stop, body = loop.inputs[1], loop.blocks[0]
    if not stop.is_endless or len(loop.blocks) > 1:
        return False
    if body.terminator.op is not YIELD or not all(map(is_scalar, (p.type for p in body.params))):
        return False
    exits = [n for n in body if n.op is IF and _has_exit(n)]
    if len(exits) != 1 or _breaking_block(exits[0], loop) is None:
        return False
    others = (n for child in body if child is not exits[0] for n in child.walk())
    return all(_may_run(n, body.params[0]) for n in others)


def _breaking_block(node: Node, loop: Node) -> int | None:
    """Which block of an If breaks with the carried values of the loop, where the other one just goes on."""
    if node.outputs:
        return None
    for index, (leaves, stays) in enumerate((node.blocks, node.blocks[::-1])):
        last = leaves.last
        if (
            leaves.first is last
            and last is not None
            and last.op is BREAK
            and last.target is loop
            and list(last.inputs) == list(loop.blocks[0].params[1:])
            and stays.first is stays.last
            and stays.terminator.op is YIELD
        ):
            return index
    return None


def _may_run(node: Node, trip: Value) -> bool:
    """Whether a lane that is done may do it as well."""
    if node.op in (SNAPSHOT, YIELD):
        return True
    if trip in node.inputs or node.op is LOOP or node.op.is_terminator:
        return False
    if node.op is IF:
        return all(is_scalar(out.type) for out in node.outputs)
    return not node.blocks and node.op.can_be_speculated(node)


def write_masked(jam: Jam, loop: Node) -> Node:
    """Make the loop of all lanes out of one that is maskable."""
    slots = [*loop.inputs[:2], *loop.outputs]
    attrs = {"lanes": len(jam.lanes)}
    made = jam.graph.create(LOOP, jam.expand(loop.inputs, slots), attrs, outputs=(), like=loop)
    jam.add_params(loop.blocks[0], made.add_block())
    _Writer(jam, loop, made).body()
    jam.add_outputs(loop, made)
    return made


class _Writer:
    def __init__(self, jam: Jam, loop: Node, made: Node) -> None:
        self.jam = jam
        self.loop = loop
        self.made = made
        self.into = made.blocks[0]

    def body(self) -> None:
        body = self.loop.blocks[0]
        carried = body.params[1:]
        goes_on: list[Value] = []
        for node in body:
            index = _breaking_block(node, self.loop) if node.op is IF else None
            if index is not None:
                goes_on = self.leave(node, index, carried)
            elif node.op is YIELD:
                nexts = [
                    self.choose(goes_on[lane], values.get(new, new), values[old])
                    for new, old in zip(node.inputs, carried, strict=True)
                    for lane, values in enumerate(self.jam.lanes)
                    if lane in self.jam.copies(old)
                ]
                self.into.create(YIELD, nexts, like=node)
            elif node.op is not SNAPSHOT:
                self.compute(node)

    def leave(self, node: Node, index: int, carried: Sequence[Value]) -> list[Value]:
        """Break if no lane goes on; which ones do."""
        condition = node.inputs[0]
        conditions = [values.get(condition, condition) for values in self.jam.lanes]
        if index == 0:
            conditions = [self.emit("py::not", [c]) for c in conditions]
        some = reduce(lambda x, y: self.emit("py::or", [x, y]), conditions)
        choice = self.into.create(IF, [some], outputs=(), like=node)
        choice.add_block().create(YIELD, like=node)
        leave = self.jam.graph.create(BREAK, self.jam.expand(carried, carried), like=node)
        leave.target = self.made
        choice.add_block().append(leave)
        return conditions

    def compute(self, node: Node) -> None:
        """Compute a node, of an If both sides, for all lanes."""
        if node.op is not IF:
            self.jam.jam(node, self.into, None)
            return
        for block in node.blocks:
            for inner in block:
                if inner.op is not YIELD:
                    self.compute(inner)
        condition = node.inputs[0]
        yes, no = (block.terminator.inputs for block in node.blocks)
        for out, a, b in zip(node.outputs, yes, no, strict=True):
            for lane in self.jam.copies(out):
                values = self.jam.lanes[lane]
                values[out] = self.choose(*(values.get(v, v) for v in (condition, a, b)))
            self.jam.spread(out)

    def choose(self, condition: Value, x: Value, y: Value) -> Value:
        """An If that computes nothing: a select."""
        if x is y:
            return x
        if x.type == BOOL and y.is_constant and y.constant is False:
            return self.emit("py::and", [condition, x])
        choice = self.jam.graph.create(IF, [condition], outputs=(y.type,), like=self.loop)
        for value in (x, y):
            block = choice.add_block()
            block.create(YIELD, [value], like=self.loop)
        return self.into.append(choice).output

    def emit(self, name: str, operands: Sequence[Value]) -> Value:
        return self.into.create(get_op(name), operands, like=self.loop).output


def _has_exit(node: Node) -> bool:
    return any(n.op.is_terminator and n.op is not YIELD for n in node.walk())
