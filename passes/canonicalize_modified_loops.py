"""Turn loops over views of known length into counted loops.

Contract: a ``Loop(start, 2**63 - 1, ...)`` whose body starts with ``%more = prim::has_next(%it, %k)``
and ``If(%more) {} {else...; Break}``, with `it` from outside and of a type of fixed length (range,
array, tuple, views of these), gets the stop ``prim::view_size(%it)``; the If goes away. An else
clause that does more than give the carried values moves to block 1 of the Loop, behind a copy of
the Snapshot that the body starts with (for the trip index that is one too far, which is where the
interpreter finds out, too). Anything else is left alone.
"""

from __future__ import annotations

from ljit.ir import Block, Graph, Node, Value, copy_node, get_op
from ljit.ops.containers.iteration_rules import has_fixed_size
from ljit.ops.control import BREAK, IF, LOOP, REGION, SNAPSHOT, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import dissolve, insert_constant
from ljit.records import Record

__all__ = ["canonicalize_modified_loops"]

NAME = "canonicalize_modified_loops"


@graph_pass(NAME)
def canonicalize_modified_loops(graph: Graph) -> bool:
    """Rewrite the loops; whether there were any."""
    changed = False
    for node in reversed(list(graph.walk())):  # inner loops first: an else clause is copied
        head = _head_of(node) if node.op is LOOP else None
        if head is not None and is_allowed(NAME, node):
            _rewrite(head)
            changed = True
    return changed


class _Head(Record):
    """The parts that a loop over a view starts with."""

    loop: Node
    snapshot: Node | None
    has_next: Node
    choice: Node

    @property
    def exit_block(self) -> Block:
        """The block that runs when the trips are used up."""
        return self.choice.blocks[1]


def _head_of(loop: Node) -> _Head | None:
    if len(loop.blocks) != 1 or not loop.inputs[1].is_endless:
        return None
    node = loop.blocks[0].first
    snapshot = None
    while node is not None and (node.op is SNAPSHOT or node.op.is_constant):
        snapshot = node if node.op is SNAPSHOT else snapshot
        node = node.next
    if node is None or node.op is not get_op("prim::has_next") or node.next is None:
        return None
    head = _Head(loop, snapshot, node, node.next)
    return head if _fits(head) else None


def _fits(head: _Head) -> bool:
    view, k = head.has_next.inputs
    if k is not head.loop.blocks[0].params[0] or not has_fixed_size(view.type):
        return False
    if view.node is not None and view.node.is_inside(head.loop):
        return False
    if view.node is None and view.owner is head.loop.blocks[0]:
        return False
    choice = head.choice
    if choice.op is not IF or choice.inputs[0] is not head.has_next.output:
        return False
    if choice.outputs or choice.blocks[0].first is not choice.blocks[0].terminator:
        return False
    return choice.blocks[0].terminator.op is YIELD and _can_move(head)


def _can_move(head: _Head) -> bool:
    """Whether the code of the exit block can run behind the loop."""
    end = head.exit_block.terminator
    body = head.loop.blocks[0]
    for node in head.exit_block.walk():
        if node is not end and node.target is head.loop:
            return False
        if body.params[0] in node.inputs and node.op is not SNAPSHOT:
            return False
    return end.op is not YIELD


def _rewrite(head: _Head) -> None:
    loop, carried = head.loop, head.loop.blocks[0].params[1:]
    view = head.has_next.inputs[0]
    size = _whole(loop).create_before(get_op("prim::view_size"), [view], like=head.has_next)
    end = head.exit_block.terminator
    is_plain = end is head.exit_block.first and end.op is BREAK and end.target is loop
    if not (is_plain and end.inputs == carried):
        _move_exit(head, size.output)
    loop.set_input(1, size.output)
    true = insert_constant(value=True, before=head.has_next)
    head.choice.set_input(0, true)
    head.has_next.output.replace_all_uses_with(true)
    dissolve(head.choice, head.choice.blocks[0], ())
    head.has_next.erase()
    if not true.uses:
        assert true.node is not None
        true.node.erase()


def _whole(loop: Node) -> Node:
    """The node that stands for the loop of the program: Regions that it was written twice in are part of it."""
    owner = loop.block.owner if loop.block is not None else None
    if owner is not None and owner.op is REGION and owner.origin == loop.origin:
        return _whole(owner)
    return loop


def _move_exit(head: _Head, size: Value) -> None:
    """Make block 1 of the loop from the exit block."""
    loop, body = head.loop, head.loop.blocks[0]
    after = loop.add_block((p.name, p.type) for p in body.params[1:])
    values: dict[Value, Value] = dict(zip(body.params[1:], after.params, strict=True))
    values[body.params[0]] = size
    values[head.has_next.output] = insert_constant(value=False, before=loop)
    before = body.first
    while before is not None and before is not head.has_next:
        if before.op.is_constant or before is head.snapshot:
            after.append(copy_node(before, loop.graph, values, {}))
        before = before.next
    for node in head.exit_block:
        if node.op is BREAK and node.target is loop:
            given = [values.get(v, v) for v in node.inputs]
            after.create(YIELD, given, like=node)
        else:
            after.append(copy_node(node, loop.graph, values, {}))
