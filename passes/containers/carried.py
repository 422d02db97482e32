"""What Loops carry and Ifs and Regions give: which values one variable is, and what flows into it."""

from __future__ import annotations

from collections.abc import Callable

from ljit.ir import Graph, Node, Value
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, PROFILE, REGION, YIELD
from ljit.records import Record

__all__ = ["Slot", "carried_values", "find_slots", "handed_on"]


class Slot(Record, frozen=False):
    """One carried value of a Loop, or one output of an If or Region."""

    node: Node
    index: int
    members: list[Value]  # the output, and parameters of blocks
    edges: list[tuple[Node, int]]  # operands that flow into it
    original: Value | None = None  # the parameter of the function that it may be

    @property
    def sources(self) -> list[Value]:
        """The operands that flow into it."""
        return [user.inputs[index] for user, index in self.edges]


def find_slots(graph: Graph, is_wanted: Callable[[Value], bool]) -> list[Slot]:
    """Give the slots whose outputs are wanted."""
    leaving: dict[Node, list[Node]] = {}
    for node in graph.walk():
        owner = node.target or (node.block.owner if node.block is not None else None)
        if node.op in (YIELD, CONTINUE, BREAK) and owner is not None:
            leaving.setdefault(owner, []).append(node)
    return [
        _slot(node, index, leaving.get(node, []))
        for node in graph.walk()
        if node.op in (IF, LOOP, REGION)
        for index, out in enumerate(node.outputs)
        if is_wanted(out)
    ]


def _slot(node: Node, index: int, leaving: list[Node]) -> Slot:
    members = [node.outputs[index]]
    edges = [(end, index) for end in leaving]
    if node.op is LOOP:
        members.append(node.blocks[0].params[1 + index])
        members += [block.params[index] for block in node.blocks[1:]]
        edges.insert(0, (node, 2 + index))
    return Slot(node, index, members, edges)


def handed_on(user: Node, position: int) -> list[Value]:
    """The values that an operand becomes where control goes on; none: something is done with it."""
    if user.op is LOOP:
        return carried_values(user, position - 2) if position >= 2 and len(user.blocks) == 1 else []
    if user.op is PROFILE:
        return list(user.outputs)
    if user.op is YIELD:
        assert user.block is not None
        target = user.block.owner
    else:
        target = user.target if user.op in (BREAK, CONTINUE) else None
    if target is None or (target.op is LOOP and len(target.blocks) > 1):
        return []
    is_next_trip = target.op is LOOP and user.op is not BREAK
    return carried_values(target, position) if is_next_trip else [target.outputs[position]]


def carried_values(loop: Node, index: int) -> list[Value]:
    return [loop.blocks[0].params[1 + index], loop.outputs[index]]
