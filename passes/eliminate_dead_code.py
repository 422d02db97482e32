"""Remove nodes that nobody can see the effect of, and values that nobody reads.

Contract: keeps every node whose effects are not removable (`Effect.is_removable`: writes, calls,
what may raise), the checks of a loop that is there for them, and every exit. Outputs of Ifs and
Regions and carried values of Loops that only feed themselves go away too. A loop without an end in
sight (a `while`) stays, as it may run for ever.

Mark and sweep: liveness flows from effects and exits to operands, from a live output to the
operands of the exits that define it, and from a live node to the nodes around it. Cost: linear.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Graph, Node, Value
from ljit.ops.control import DEOPTIMIZE, IF, LOOP, REGION, RERAISE, RETURN, TRY, UNREACHABLE, YIELD
from ljit.passes.manager import graph_pass

__all__ = ["eliminate_dead_code"]

_MANY_TRIPS = 2**62
_STRUCTURES = (IF, LOOP, REGION, TRY)


@graph_pass("eliminate_dead_code", is_idempotent=True)
def eliminate_dead_code(graph: Graph) -> bool:
    """Remove what is not needed; whether anything was."""
    before = graph.version
    marker = _Marker(graph)
    marker.run()
    _sweep(graph, marker)
    return graph.version != before


class _Marker:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.exits: dict[Node, list[Node]] = {}  # by the node that they leave
        self.structures: list[Node] = []
        self.nodes: set[Node] = set()
        self.slots: set[tuple[Node, int]] = set()  # of structures: outputs, carried values
        self._todo: list[Node] = []
        self._todo_slots: list[tuple[Node, int]] = []

    def run(self) -> None:
        for node in self.graph.walk():
            if node.target is not None and node.op.is_terminator:
                self.exits.setdefault(node.target, []).append(node)
            if node.blocks and node.op in _STRUCTURES:
                self.structures.append(node)
            if _is_root(node):
                self._node(node)
            if node.attrs.get("checks") == "made":
                self._checks(node)
        while self._todo or self._todo_slots:
            if self._todo:
                self._visit(self._todo.pop())
            else:
                self._visit_slot(*self._todo_slots.pop())

    def _checks(self, loop: Node) -> None:
        """Mark what a loop of checks is there for: sums that may not fit are checked, though they raise nothing."""
        for node in loop.blocks[0].walk():
            if not (node.blocks or node.op.is_terminator) and node.op.can_leave(node):
                self._node(node)

    def _node(self, node: Node) -> None:
        if node not in self.nodes:
            self.nodes.add(node)
            self._todo.append(node)

    def _visit(self, node: Node) -> None:
        owner = node.block.owner if node.block is not None else None
        if owner is not None and owner not in self.nodes:
            self._node(owner)
        if node.target is not None:
            self._node(node.target)
        if node.blocks:
            self._ends(node)
        if node.blocks and node.op in _STRUCTURES:
            self._values(node.inputs[:2])  # condition; start and stop
        elif not node.op.is_terminator or node.op is RETURN:
            self._values(node.inputs)
        elif node.inputs:
            destination = node.target or owner
            assert destination is not None
            for index, value in enumerate(node.inputs):
                if destination.op not in _STRUCTURES or (destination, index) in self.slots:
                    self._value(value)

    def _ends(self, node: Node) -> None:
        """Mark what ends the blocks of a node, and what leaves it from further inside."""
        for exit_ in self.exits.get(node, ()):
            self._node(exit_)
        for block in node.blocks:
            self._node(block.terminator)

    def _values(self, values: Sequence[Value]) -> None:
        for value in values:
            owner = value.owner
            if not isinstance(owner, Node) or owner.blocks:
                self._value(value)
            elif owner not in self.nodes:
                self._node(owner)

    def _value(self, value: Value) -> None:
        owner = value.owner
        if isinstance(owner, Node):
            if owner.op in _STRUCTURES:
                self._slot(owner, value.index)
            else:
                self._node(owner)
        elif owner.owner is not None and owner.owner.op is LOOP:
            is_body = owner is owner.owner.blocks[0]
            if value.index >= is_body:
                self._slot(owner.owner, value.index - is_body)

    def _slot(self, node: Node, index: int) -> None:
        if (node, index) not in self.slots:
            self.slots.add((node, index))
            self._todo_slots.append((node, index))
            self._node(node)

    def _visit_slot(self, node: Node, index: int) -> None:
        """Mark what defines an output of a structure."""
        if node.op is LOOP:
            self._value(node.inputs[2 + index])
        for exit_ in _defining_exits(node, self.exits):
            self._value(exit_.inputs[index])


def _defining_exits(node: Node, exits: dict[Node, list[Node]]) -> list[Node]:
    falling = [b.terminator for b in node.blocks if b.terminator.op is YIELD]
    return falling + exits.get(node, [])


def _is_root(node: Node) -> bool:
    if node.op.is_terminator:
        return node.op in (DEOPTIMIZE, RERAISE, RETURN, UNREACHABLE)
    if node.op is LOOP:
        stop = node.inputs[1]
        return stop.is_constant and isinstance(stop.constant, int) and stop.constant > _MANY_TRIPS
    return not node.op.effects_of(node).is_removable


def _sweep(graph: Graph, marker: _Marker) -> None:
    """Drop dead operands, then dead nodes (which may use dead parameters), then dead definitions."""
    dead_slots = [
        (node, index)
        for node in marker.structures
        if node in marker.nodes
        for index in reversed(range(len(node.outputs)))
        if (node, index) not in marker.slots
    ]
    for node, index in dead_slots:
        for exit_ in _defining_exits(node, marker.exits):
            exit_.remove_input(index)
        if node.op is LOOP:
            node.remove_input(2 + index)
    _erase_dead(graph.block, marker)
    for node, index in dead_slots:
        if node.op is LOOP:
            node.blocks[0].remove_param(1 + index)
            if len(node.blocks) == 2:
                node.blocks[1].remove_param(index)
        node.remove_output(index)


def _erase_dead(block: Block, marker: _Marker) -> None:
    for node in reversed(block):
        if node not in marker.nodes:
            node.erase()
            continue
        for inner in node.blocks:
            _erase_dead(inner, marker)
